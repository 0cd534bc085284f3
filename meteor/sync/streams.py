"""What blocking streams share: whose they are, and how an item is taken.

Law of this file: what is queued is taken in the caller's own thread, by one atomic step, so that
any number of threads may iterate over one stream and each item goes to exactly one of them.  Only
an empty queue costs a visit to the event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from meteor.sync.loop_thread import LoopThread

ItemT = TypeVar("ItemT")


class Stream(Generic[ItemT]):
    """One stream of a client or peer, which it keeps alive."""

    def __init__(
        self,
        owner: object,
        thread: LoopThread,
        take_now: Callable[[], ItemT | None],
        ready: Callable[[], Awaitable[bool]],
    ) -> None:
        self._owner, self._thread = owner, thread
        self._take_now, self._ready = take_now, ready

    def _take(self) -> ItemT:
        """The next item; raises `StopIteration` where nothing will come any more."""
        while True:
            item = self._take_now()
            if item is not None:
                return item
            if not self._thread.wait(self._ready):
                raise StopIteration
