"""The answer to a retrieve: matches as they come, and the truth about what is missing.

Law of this file: never silently partial.  Matches are handed out page by page while the overlay
still answers, one for each stem and version; the end of the iteration says by `Incomplete` if some
interval did not answer.  With a ttl the answer stands: after what lives come later matches, until
the ttl has run out or it is closed (SPEC section 4).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self

from chord import Task
from meteor.client.attachment import Attachment
from meteor.client.deduplication import Deduplicator
from meteor.client.draft import Draft, warn_unused
from meteor.client.mailbox import Mailbox, Overflow, Signal
from meteor.client.session import Session
from meteor.client.settling import receipt_of
from meteor.described import inner, names_for_users
from meteor.errors import Closed, Incomplete, Interval, MeteorError, SlowConsumer
from meteor.receipt import Receipt
from meteor.values import Match, Result
from meteor.wire.collector import Newest
from meteor.wire.messages import Found, Notice
from meteor.wire.record_id import stem_of

if TYPE_CHECKING:
    # a default (PEP 696): `Answer` alone is that of a retrieve; Python 3.11 has none at run time
    from typing_extensions import TypeVar

    ItemT = TypeVar("ItemT", bound=Match | Result, default=Match)
else:
    from typing import TypeVar

    ItemT = TypeVar("ItemT", bound=Match | Result)


class Answer(Generic[ItemT]):
    """The matches of one retrieve, or the results of an application's action.

    `async for match in answer`, `await answer.all()`, `await answer.first()`; awaiting the answer
    itself is `all()`.  It is asked on first use, once; leaving the loop early ends it."""

    __dir__ = names_for_users

    def __init__(
        self,
        session: Session,
        draft: Draft,
        *,
        queue: int,
        overflow: Overflow,
        timeout_s: float,
        allow_partial: bool,
        item: Callable[[Found], ItemT],
    ) -> None:
        self.receipt: Receipt | None = None
        """What the overlay said of the whole; None while it still answers."""
        self.dropped = 0
        """Later matches of a standing answer that nobody will take, as the queue was full."""
        self._session, self._draft, self._queue = session, draft, queue
        self._overflow, self._item = overflow, item
        self._timeout_s, self._allow_partial = timeout_s, allow_partial
        self._limit = sys.maxsize  # what lives already was asked for
        self._mailbox: Mailbox[ItemT | MeteorError] = Mailbox(session.runtime)
        self._seen = Deduplicator()
        self._asking: Task[None] | None = None
        self._standing: Attachment | None = None
        self._left = self._is_answered = self._is_sorted = False
        self._answered = Signal(session.runtime)
        self._newest = Newest()
        self._found: list[ItemT] = []
        """What `all` has sorted."""
        self._failure: MeteorError | None = None

    def __repr__(self) -> str:
        state = "not asked yet" if self._asking is None else "asking"
        if self.receipt is not None:
            state = "complete" if self.complete else "incomplete"
        return f"<Answer {self._draft}: {state}>"

    @property
    def complete(self) -> bool:
        """Whether every interval has answered; false while some may still."""
        return self.receipt is not None and self.receipt.complete

    @property
    def missing(self) -> tuple[Interval, ...]:
        """The intervals of curve indexes that did not answer."""
        return () if self.receipt is None else self.receipt.missing

    async def all(self) -> list[ItemT]:
        """Every match that lives now, of each stem the newest version; or every result.

        Raises `Incomplete` with what was found (unless `allow_partial`), `Timeout`,
        `NotConnected`, or what the overlay refuses with."""
        if not self._is_sorted:
            self._begin()
        while not self._is_answered:
            await self._answered.wait()
        if self._left and not self._is_sorted:
            raise self._closed()
        self._sort_what_came()
        found, failure = list(self._found), self._failure
        if isinstance(failure, Incomplete):
            raise Incomplete(str(failure), found, failure.receipt, failure.missing)
        if failure is not None:
            raise failure.with_traceback(None)
        return found

    async def first(self) -> ItemT | None:
        """The first match that comes, then the answer is closed; None if there is none.

        Raises `Incomplete` when there is none but some interval did not answer."""
        if self._is_sorted:  # `all` was here before
            return next(iter(await self.all()), None)
        self._begin()
        match, is_left = None, True
        try:
            match, is_left = await self.take(), False
        except StopAsyncIteration:
            is_left = False
        finally:
            if is_left:  # it failed, or whoever waits was cancelled, as by a time-out
                self.leave()
        await self.close()
        return match

    def __await__(self) -> Generator[Any, Any, list[ItemT]]:
        return self.all().__await__()

    async def __aenter__(self) -> Self:
        self._begin()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        if self._asking is None and not self._left:
            warn_unused(self._draft)

    def __aiter__(self) -> Matches[ItemT]:
        self.begin()
        return Matches(self)

    async def close(self) -> None:
        """Ask no more, and delete a standing retrieve in the overlay.  Harmless when repeated."""
        standing = self._standing
        if standing is None or standing.state != "active":
            self.leave()
            return
        try:
            await standing.cancel(self._session.config.close_timeout_s)
        except MeteorError as error:
            self._session.report(error)
        self.leave()

    async def detach(self) -> str:
        """End the iteration here and leave a standing retrieve in the overlay until its ttl runs
        out; returns the id by which `attach` takes it up again.

        Raises `Closed` where nothing stands: for a retrieve without a ttl, and once it is over."""
        standing = self._standing
        if standing is None or not standing.is_active:
            raise Closed(f"{self._draft}: nothing stands in the overlay; give the retrieve a ttl")
        await standing.detach(self._session.config.close_timeout_s)
        self.leave()
        return standing.id

    @inner
    def leave(self) -> None:
        """Ask no more, without waiting: what still comes is forgotten.  Whoever else takes from it,
        in another task or thread, is told of what he does not get."""
        self._left = True
        if self._standing is not None:
            self._standing.drop("closed")
        is_whole = self._mailbox.ended and not self._mailbox.items
        if self.is_standing:
            self._mailbox.items.clear()
            self._mailbox.end()
        elif not is_whole:
            self._mailbox.break_off(self._closed())
        self._settle()
        if self._asking is not None and not self._asking.done():
            self._asking.cancel()

    @inner
    def abandon(self) -> None:
        """The client is closed: whoever waits for this answer is told."""
        self._fail(Closed(f"{self._draft}: the client was closed before the answer was complete"))

    @inner
    async def take(self) -> ItemT:
        """The next match; raises `StopAsyncIteration` at a complete end, else `Incomplete`."""
        return _or_raised(await self._mailbox.take())

    @inner
    def take_now(self) -> ItemT | None:
        """The next match if it is here already, else None; from any thread.  Raises as `take`."""
        item = self._mailbox.take_now()
        return None if item is None else _or_raised(item)

    @property
    @inner
    def mailbox(self) -> Mailbox[ItemT | MeteorError]:
        """Where matches wait, for takers in other threads."""
        return self._mailbox

    @inner
    def begin(self) -> None:
        """Ask, unless that was done: one pass over the answer begins.  After `all` it is the same
        once more.  Raises `Closed`."""
        self._begin()
        if self._is_sorted and not self.is_standing:
            self._mailbox.items.extend(self._found)
            if self._failure is not None:
                self._mailbox.items.append(self._failure)

    @property
    @inner
    def is_standing(self) -> bool:
        """Whether it follows later matches."""
        return self._draft.ttl_s > 0

    # -- asking ------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Ask, unless that was done."""
        self._session.uplink.check_process()
        if self._left:
            raise self._closed()
        if self._session.uplink.closed and self._asking is None:
            self._left = True  # there is nothing to warn of
            raise Closed(f"{self._draft}: this client or peer was closed; connect again")
        if self._asking is None:
            self._session.pending[self] = None
            self._asking = self._session.runtime.begin(self._ask())

    def _closed(self) -> Closed:
        return Closed(f"{self._draft}: the answer was closed, or its loop left; retrieve again")

    async def _ask(self) -> None:
        """The conversation behind the answer; its outcome goes the way of the matches."""
        try:
            if self.is_standing:
                self._standing = Attachment(
                    self._session,
                    self._draft,
                    receive=self._receive,
                    ended=self._mailbox.end,
                    keep_alive=False,
                    collect=self._collect,
                )
                self.receipt = await self._standing.open(self._timeout_s)
                self._limit = len(self._mailbox.items) + self._queue
            else:
                reply = await self._session.post(self._draft, self._timeout_s, self._collect)
                self.receipt = receipt_of(reply, self._count())
        except MeteorError as error:
            self._fail(error)
            return
        if not self.receipt.complete and not self._allow_partial:
            self._mailbox.put(self._incomplete(self.receipt))
        self._settle()
        if not self.is_standing:
            self._mailbox.end()

    def _count(self) -> int | None:
        """A retrieve's matches are counted here, where each is known to have come once."""
        return len(self._newest) if self._draft.action == "retrieve" else None

    def _fail(self, error: MeteorError) -> None:
        """The answer ends with an error, behind what came."""
        self._mailbox.put(error)
        self._settle()
        self._mailbox.end()

    def _settle(self) -> None:
        """What lives has been answered, for better or worse."""
        self._is_answered = True
        self._session.pending.pop(self, None)
        self._answered.notify()

    def _incomplete(self, receipt: Receipt) -> Incomplete:
        return Incomplete(
            f"{self._draft}: {len(receipt.missing) or 'some'} interval(s) of its region are "
            "missing: the peer that held them is gone, or did not answer within "
            f"{self._timeout_s:g} s; ask again, give a longer timeout, or accept it with "
            f"allow_partial=True{''.join(f'; {trouble}' for trouble in receipt.troubles)}",
            receipt=receipt,
            missing=receipt.missing,
        )

    # -- receiving ---------------------------------------------------------------------------

    def _collect(self, found: Sequence[Found]) -> None:
        """A page of what lives; what stands meets it again among its notices."""
        fresh = self._newest.news(found)
        if self.is_standing:
            fresh = [one for one in fresh if self._is_new(one)]
        self._mailbox.extend(map(self._item, fresh))

    def _receive(self, notice: Notice) -> bool:
        """A later match of a standing answer; false if there is no room."""
        if not self._is_new(notice.found):
            return True
        if len(self._mailbox.items) >= self._limit and not self._make_room():
            return False
        self._mailbox.put(self._item(notice.found))
        return True

    def _make_room(self) -> bool:
        """The queue is full: forget its oldest, or fail, loudly."""
        self.dropped += 1
        if self._overflow == "drop_oldest":
            with suppress(IndexError):  # a thread of the sync side may just have taken it
                self._mailbox.items.popleft()
            return True
        self._mailbox.put(
            SlowConsumer(
                f"{self._draft}: {self._queue} matches wait to be taken and more came; take them "
                'faster, give a longer queue=, or do without the oldest by overflow="drop_oldest"',
                self._queue,
            )
        )
        if self._standing is not None:
            self._standing.drop("failed")
        return False

    def _is_new(self, found: Found) -> bool:
        now = self._session.runtime.now()
        key = f"{found.owner}/{stem_of(found.id)}:{found.version}"
        return self._seen.add(key, now + found.ttl_ms / 1000, now)

    def _sort_what_came(self) -> None:
        """Sort what is queued: of each stem the newest, and the error among it, if any."""
        self._is_sorted = True
        items = self._mailbox.items
        while items:
            item = items.popleft()
            if isinstance(item, MeteorError):
                self._failure = item
            else:
                self._found.append(item)
        if self._newest.is_superseded or self.is_standing:
            self._found = _newest_of(self._found)


def _newest_of(came: Iterable[ItemT]) -> list[ItemT]:
    """Of each stem the newest."""
    newest: dict[tuple[str, str], ItemT] = {}
    for item in came:
        key = (item.owner if isinstance(item, Match) else "", stem_of(item.id))
        known = newest.get(key)
        if known is None or known.version < item.version:
            newest[key] = item
    return list(newest.values())


def _or_raised(item: ItemT | MeteorError) -> ItemT:
    """What was queued: a match, or the error in its stead."""
    if isinstance(item, MeteorError):
        raise item
    return item


class Matches(Generic[ItemT]):
    """One pass over an answer.  When a loop over a one-time answer is left, nothing holds its
    iterator any more, and the answer stops asking."""

    __slots__ = ("_answer", "_items")

    def __init__(self, answer: Answer[ItemT]) -> None:
        self._answer: Answer[ItemT] = answer
        self._items = answer.mailbox.items

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ItemT:
        if self._items:
            return _or_raised(self._items.popleft())
        return await self._answer.take()

    def __del__(self) -> None:
        if not self._answer.is_standing:  # the collector may run in another thread
            self._answer._session.runtime.at_home(self._answer.leave)
