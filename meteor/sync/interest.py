"""An interest or watch, taken from by blocking.

Law of this file: `meteor.client.interest` decides; here somebody waits for it.  A handler has a
thread of its own, so that it may block and use the client.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from meteor.client.attachment import State
from meteor.client.draft import ProfileLike
from meteor.client.interest import Interest as AsyncInterest
from meteor.client.watch import Watch as AsyncWatch
from meteor.errors import Closed, Interval, MeteorError, Timeout
from meteor.lifetimes import check_wait_s
from meteor.receipt import Receipt
from meteor.sync.loop_thread import LoopThread
from meteor.sync.streams import Stream
from meteor.values import Notification

NotificationHandler = Callable[[Notification], Any]
"""A plain function; called in order, one notification at a time, in a thread of its own."""


class Interest(Stream[Notification]):
    """A living interest: no matching post is missed.  Iterate over it, from any number of threads,
    `recv()` from it, or give it a handler."""

    def __init__(self, owner: object, thread: LoopThread, inner: AsyncInterest) -> None:
        super().__init__(owner, thread, inner.mailbox, inner.take_now)
        self._inner = inner
        self._handler: NotificationHandler | None = None

    def __repr__(self) -> str:
        return f"<meteor.sync.{repr(self._inner)[1:]}"

    @property
    def id(self) -> str:
        """The full id; it changes when the interest is replaced."""
        return self._inner.id

    @property
    def state(self) -> State:
        """`active`, then `expired`, `closed`, `detached` or `failed`."""
        return self._inner.state

    @property
    def missing(self) -> tuple[Interval, ...]:
        """Intervals of curve indexes where the interest is not (yet again) kept."""
        return self._inner.missing

    @property
    def receipt(self) -> Receipt | None:
        """What the overlay said last."""
        return self._inner.receipt

    @property
    def dropped(self) -> int:
        """Notifications that nobody will take, as the queue was full."""
        return self._inner.dropped

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Notification:
        """The next notification; ends when the interest is closed or has expired, raises
        `SlowConsumer` once what was queued before the overflow is taken."""
        self._check_unhandled()
        return self._take()

    def recv(self, timeout: float | None = None) -> Notification:
        """The next notification; raises `Timeout` after `timeout` seconds, `Closed` when none will
        come, `SlowConsumer`."""
        self._check_unhandled()
        check_wait_s(timeout)
        try:
            notification = self._take_within(timeout)
        except StopIteration:
            raise Closed(f"recv of interest {self.id}: it is {self.state}") from None
        if notification is None:
            raise Timeout(
                f"recv of interest {self.id}: no notification within {timeout} s; wait longer, or "
                "iterate without a limit"
            )
        return notification

    def replace(self, profile: ProfileLike, *, timeout: float = 10.0) -> Receipt:
        """Ask for something else from now on; the stream goes on, also while it moves.

        Raises as the first post, `Closed` if the interest has ended."""
        return self._thread.wait(self._inner.replace, profile, timeout=timeout)

    def renew(self, ttl: float, *, timeout: float = 10.0) -> Receipt:
        """Give it `ttl` seconds from now, and at every later renewal."""
        return self._thread.wait(self._inner.renew, ttl, timeout=timeout)

    def close(self) -> None:
        """Delete it in the overlay and end the iteration.

        Harmless when repeated.  If the overlay cannot be told, `on_error` is, and the record runs
        out by its ttl."""
        self._thread.wait(self._inner.close)

    def detach(self) -> str:
        """End the iteration here and leave it in the overlay, for its whole ttl from now; returns
        the id by which `attach` takes it up again, in this process or another.

        What was not taken from the queue comes again there.  Harmless when repeated.  If the
        overlay cannot be told, `on_error` is, and the ttl runs from the last renewal."""
        return self._thread.wait(self._inner.detach)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def handled_by(self, handler: NotificationHandler | None, report: Callable[..., None]) -> Self:
        """Let a handler have what comes, in a thread of its own; what it raises is reported."""
        if handler is not None:
            self._handler = handler
            serve = threading.Thread(
                target=self._serve, args=(handler, report), name="meteor-handler", daemon=True
            )
            serve.start()
        return self

    def _serve(self, handler: NotificationHandler, report: Callable[..., None]) -> None:
        while True:
            try:
                notification = self._take()
            except (StopIteration, Closed):
                return
            except MeteorError as error:  # a slow handler
                report(error)
                return
            try:
                handler(notification)
            except BaseException as error:  # its own; SystemExit would end this thread, unsaid
                report(error)

    def _check_unhandled(self) -> None:
        if self._handler is not None:
            raise RuntimeError(
                f"interest {self.id}: its handler takes the notifications; leave out handler= to "
                "take them yourself"
            )


class Watch(Interest):
    """A subject without data.  Beside the notifications (`appeared`, `gone`) of an interest it
    knows whether anybody is interested now."""

    def __init__(self, owner: object, thread: LoopThread, inner: AsyncWatch) -> None:
        super().__init__(owner, thread, inner)
        self._watch = inner

    @property
    def active(self) -> bool:
        """Whether at least one interest in what it would publish lives."""
        return self._watch.active

    def wait_active(self, timeout: float | None = None) -> None:
        """Until somebody is interested; raises `Timeout` after `timeout` seconds, `Closed`."""
        self._thread.wait(self._watch.wait_active, timeout)

    def wait_idle(self, timeout: float | None = None) -> None:
        """Until nobody is interested; raises `Timeout` after `timeout` seconds, `Closed`."""
        self._thread.wait(self._watch.wait_idle, timeout)
