"""What blocking streams share: whose they are, and how an item is taken.

Law of this file: what is queued is taken in the caller's own thread, by one atomic step, so that
any number of threads may iterate over one stream and each item goes to exactly one of them.  Who
finds nothing sleeps on a lock that the event loop opens; a visit to the loop for each wait took
three times as long.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from meteor.client.mailbox import Mailbox
from meteor.sync.loop_thread import LoopThread

ItemT = TypeVar("ItemT")


class Stream(Generic[ItemT]):
    """One stream of a client or peer, which it keeps alive."""

    def __init__(
        self,
        owner: object,
        thread: LoopThread,
        mailbox: Mailbox[Any],
        take_now: Callable[[], ItemT | None],
    ) -> None:
        self._owner, self._thread = owner, thread
        self._mailbox, self._take_now = mailbox, take_now

    def _take(self) -> ItemT:
        """The next item; raises `StopIteration` where nothing will come any more."""
        item = self._take_within(None)
        assert item is not None
        return item

    def _take_within(self, timeout_s: float | None) -> ItemT | None:
        """The next item; None when the time is up first.  Raises as `_take`, and `Closed` in a
        child process: what is queued there is a copy of what its parent gets."""
        self._thread.check_process()
        item = self._take_now()
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while item is None:
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                return None
            is_over = self._mailbox.ended  # asked first: what was put before the end is there
            if not is_over:
                self._sleep(left_s)
            item = self._take_now()
            if item is None and is_over:
                self._mailbox.check_end()
                raise StopIteration
        return item

    def _sleep(self, timeout_s: float | None) -> None:
        """Until there may be something, or the end."""
        self._thread.check()
        asleep = threading.Lock()
        asleep.acquire()
        try:
            if not self._mailbox.wake_when_ready(asleep.release):
                most_s = -1 if timeout_s is None else min(timeout_s, threading.TIMEOUT_MAX)
                asleep.acquire(timeout=most_s)
        finally:
            self._mailbox.let_sleep(asleep.release)
