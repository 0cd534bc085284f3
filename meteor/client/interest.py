"""An interest as its poster holds it: a stream of notifications that outlives links and peers.

Law of this file: a thin view of one bounded queue.  Taking what is queued never waits and costs
no more than a callback; what does not fit is an error, never silence (SPEC section 4).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from chord import Contact, RequestTimeout
from meteor.client.attachment import Attachment, State
from meteor.client.callbacks import call
from meteor.client.draft import Draft, ProfileLike, warn_unused, with_profile
from meteor.client.mailbox import Mailbox, Overflow, Signal
from meteor.client.session import Session
from meteor.client.settling import settled
from meteor.described import inner, names_for_users
from meteor.errors import Closed, Interval, MeteorError, SlowConsumer, Timeout
from meteor.lifetimes import check_wait_s, checked_timeout_s, checked_ttl_s
from meteor.receipt import Receipt
from meteor.values import Notification
from meteor.wire.collector import Newest
from meteor.wire.messages import Found, Notice
from meteor.wire.record_id import notice_id, stem_of

NotificationHandler = Callable[[Notification], Any]
"""A function or a coroutine function; called in order, one notification at a time."""


class Interest:
    """A living interest.  Await it or enter it with `async with`; after that no matching post is
    missed.  Iterate over it, `recv()` from it, or give it a handler."""

    __dir__ = names_for_users

    def __init__(
        self,
        session: Session,
        draft: Draft,
        *,
        handler: NotificationHandler | None,
        queue: int,
        overflow: Overflow,
        keep_alive: bool,
        timeout_s: float,
        allow_partial: bool,
        found: bool = False,
    ) -> None:
        self.dropped = 0
        """Notifications that nobody will take, as the queue was full."""
        self._session = session
        self._handler, self._queue, self._overflow = handler, queue, overflow
        self._timeout_s, self._allow_partial = timeout_s, allow_partial
        self._limit = sys.maxsize  # what lives already comes before anybody can take it
        self._mailbox: Mailbox[Notification] = Mailbox(session.runtime)
        self._items = self._mailbox.items
        self._opened = Signal(session.runtime)
        self._is_told = self._is_handed_on = self._hands_on = False
        self._first: Awaitable[object] | None = None
        """Of a handler that did not look as if it were asynchronous: what its first call gave."""
        self._found = Newest()
        self._calls_now = handler is not None and not inspect.iscoroutinefunction(handler)
        self._attachment = Attachment(
            session, draft, receive=self._receive, ended=self._ended, keep_alive=keep_alive,
            collect=self._collect, found=found, renewed=self._renewed,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._attachment.draft}: {self.state}>"

    @property
    def id(self) -> str:
        """The full id; it changes when the interest is replaced."""
        return self._attachment.id

    @property
    def state(self) -> State:
        """`new`, `opening`, `active`, then `expired`, `closed`, `detached` or `failed`."""
        return self._attachment.state

    @property
    def missing(self) -> tuple[Interval, ...]:
        """Intervals of curve indexes where the interest is not (yet again) kept."""
        return self._attachment.missing

    @property
    def receipt(self) -> Receipt | None:
        """What the overlay said last; None before the first answer."""
        return self._attachment.receipt

    def __await__(self) -> Generator[Any, Any, Self]:
        """Post it; raises `Incomplete` (unless `allow_partial`), `Timeout`, `NotConnected`, or what
        the overlay refuses with."""
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        await self._open()
        if self.receipt is None:
            raise Closed(f"{self._attachment.draft}: it was closed before it was posted")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        if self.state == "new":
            warn_unused(self._attachment.draft)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notification:
        """The next notification; ends when the interest is closed or has expired, raises
        `SlowConsumer` once what was queued before the overflow is taken."""
        if self._items and self._handler is None:
            return self._items.popleft()
        if not await self.ready():
            raise StopAsyncIteration
        return self._items.popleft()

    @inner
    def take_now(self) -> Notification | None:
        """The next notification if it is here already, else None; from any thread."""
        self._check_unhandled()
        return self._mailbox.take_now()

    @property
    @inner
    def mailbox(self) -> Mailbox[Notification]:
        """Where notifications wait, for takers in other threads."""
        return self._mailbox

    async def ready(self, timeout: float | None = None) -> bool:
        """Return when a notification is here to be taken, False when none will come any more;
        raises `Timeout` after `timeout` seconds, `SlowConsumer`."""
        self._check_unhandled()
        check_wait_s(timeout)
        await self._open()
        try:
            return await self._mailbox.ready(timeout)
        except RequestTimeout:
            raise Timeout(
                f"recv of {self._attachment.draft}: no notification within {timeout} s; "
                "wait longer, or iterate without a limit"
            ) from None

    async def recv(self, timeout: float | None = None) -> Notification:
        """The next notification; raises `Timeout` after `timeout` seconds, `Closed` when none will
        come, `SlowConsumer`."""
        if self._items and self._handler is None:
            return self._items.popleft()
        if not await self.ready(timeout):
            raise Closed(f"recv of {self._attachment.draft}: the interest is {self.state}")
        return self._items.popleft()

    async def replace(self, profile: ProfileLike, *, timeout: float = 10.0) -> Receipt:
        """Ask for something else from now on; the stream goes on, also while it moves.

        Raises as the first post, `Closed` if the interest has ended."""
        timeout_s, version = checked_timeout_s(timeout), self._session.next_version()
        draft = with_profile(self._attachment.draft, profile, self._session.space, version)
        receipt = await self._attachment.replace(draft, timeout_s)
        return settled(receipt, f"replace by {draft}", allow_partial=self._allow_partial)

    async def renew(self, ttl: float, *, timeout: float = 10.0) -> Receipt:
        """Give it `ttl` seconds from now, and at every later renewal."""
        ttl_s = checked_ttl_s(self._attachment.draft.action, ttl)
        receipt = await self._attachment.renew(ttl_s, checked_timeout_s(timeout))
        operation = f"renew of {self._attachment.draft}"
        return settled(receipt, operation, allow_partial=self._allow_partial)

    async def close(self) -> None:
        """Delete it in the overlay and end the iteration.

        Harmless when repeated.  If the overlay cannot be told, `on_error` is, and the record runs
        out by its ttl."""
        try:
            await self._attachment.cancel(self._session.config.close_timeout_s)
        except MeteorError as error:
            self._session.report(error)

    async def detach(self) -> str:
        """End the iteration here and leave it in the overlay, for its whole ttl from now; returns
        the id by which `attach` takes it up again, in this process or another.

        What was not taken from the queue comes again there.  Harmless when repeated.  If the
        overlay cannot be told, `on_error` is, and the ttl runs from the last renewal."""
        try:
            await self._attachment.detach(self._session.config.close_timeout_s)
        except MeteorError as error:
            self._session.report(error)
        return self.id

    def _check_unhandled(self) -> None:
        if self._handler is not None:
            raise RuntimeError(
                f"{self._attachment.draft}: its handler takes the notifications; leave out "
                "handler= to take them yourself"
            )

    # -- opening -----------------------------------------------------------------------------

    async def _open(self) -> None:
        """Post it, or wait for whoever does."""
        self._session.uplink.check_process()
        if self.state == "new":
            await self._post()
        while self.state == "opening":
            await self._opened.wait()

    async def _post(self) -> None:
        """The first post; whoever awaits meanwhile is woken whatever comes of it."""
        try:
            receipt = await self._attachment.open(self._timeout_s)
        finally:
            self._opened.notify()
        self._limit = len(self._items) + self._queue
        if not receipt.complete and not self._allow_partial:
            self._attachment.give_up()
        settled(receipt, self._attachment.draft, allow_partial=self._allow_partial)
        self._end_if_told()
        if self._handler is not None and not self._calls_now:
            self._begin_to_hand_on()

    # -- receiving ---------------------------------------------------------------------------

    def _receive(self, notice: Notice) -> bool:
        """Take a notice in; false if there is no room.  With `once` the first is the only one."""
        if self._is_told:
            return True
        taken = self._take_in(notice)
        if taken and self._attachment.draft.once:
            self._is_told = True
            self._mailbox.end()
            self._end_if_told()
        return taken

    def _end_if_told(self) -> None:
        """Told once is enough; what is being posted is deleted when it has been."""
        if self._is_told and self._attachment.is_active:
            self._attachment.drop("closed")

    def _take_in(self, notice: Notice) -> bool:
        """Queue a notice, or hand it on at once; false if there is no room."""
        if self._calls_now:
            result = self._call_handler(Notification(notice))
            if result is not None and inspect.isawaitable(result):
                self._calls_now, self._first = False, result
                self._begin_to_hand_on()
            return True
        if len(self._items) >= self._limit and not self._make_room():
            return False
        self._mailbox.put(Notification(notice))
        return True

    def _collect(self, found: Sequence[Found]) -> None:
        """A standing retrieve that was found: what lives comes as pages."""
        source = self._session.uplink.peer or Contact.at("")
        for one in self._found.news(found):
            stem = self._attachment.stem
            id = notice_id(stem, one.owner, stem_of(one.id), one.version)
            self._attachment.accept(Notice(id, stem, "match", one, source))

    def _make_room(self) -> bool:
        """The queue is full: forget its oldest, or fail, loudly."""
        self.dropped += 1
        if self._overflow == "drop_oldest":
            with suppress(IndexError):  # a thread of the sync side may just have taken it
                self._items.popleft()
            return True
        error = SlowConsumer(
            f"{self._attachment.draft}: {self._queue} notifications wait to be taken and more "
            "came; take them faster, give a longer queue=, or do without the oldest by "
            'overflow="drop_oldest"',
            self._queue,
        )
        self._mailbox.end(error)
        self._attachment.drop("failed")
        return False

    async def _renewed(self) -> None:
        """It was renewed, or brought to another link."""

    def _ended(self) -> None:
        """The attachment is over: so is the iteration, after what is queued."""
        self._mailbox.end()
        self._opened.notify()

    def _call_handler(self, notification: Notification) -> Any:
        """Run the handler; what it raises is reported."""
        if self._handler is None:
            return None
        try:
            return call(self._handler, notification)
        except Exception as error:  # the application's own: it goes to its on_error
            self._session.callbacks.error(self._session.runtime, error)
            return None

    def _begin_to_hand_on(self) -> None:
        """One notification after the other from now on, and the next ones wait in the queue."""
        if not self._hands_on:
            self._hands_on = True
            self._session.spawn(self._hand_on())

    async def _hand_on(self) -> None:
        """Feed an asynchronous handler until there is nothing more.  Where it awaits what somebody
        cancelled, that ends the conversation which it is called in, too: another one goes on."""
        runtime = self._session.runtime
        while not self._is_handed_on:
            ended = runtime.expect(self, None)
            self._session.spawn(self._hand_on_some())
            try:
                await ended
            except RequestTimeout:  # the runtime was closed
                return
            if not self._is_handed_on:
                self._session.report(
                    MeteorError(f"{self._attachment.draft}: a call of its handler was cancelled")
                )

    async def _hand_on_some(self) -> None:
        """One notification after the other, for as long as the handler is not cancelled."""
        first, self._first = self._first, None
        try:
            await self._finish(first)
            while not self._session.uplink.closed and await self._mailbox.ready():
                await self._finish(self._call_handler(self._items.popleft()))
            self._is_handed_on = True
        except MeteorError as error:  # a slow handler
            self._is_handed_on = True
            self._session.report(error)
        finally:
            self._session.runtime.deliver(self, None)

    async def _finish(self, result: Any) -> None:
        """The rest of an asynchronous handler."""
        if result is None or not inspect.isawaitable(result):
            return
        try:
            await result
        except Exception as error:  # as in `_call_handler`
            self._session.callbacks.error(self._session.runtime, error)
