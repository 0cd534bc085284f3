"""Posting many messages at once: so many under way, receipts in the order of the messages.

Law of this file: at most `concurrency` messages are read ahead of the receipts that were taken, so
that a source of any length needs bounded memory.  Leaving the loop ends the reading, and whatever
is under way.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, Self, TypeVar, Unpack

from chord import Task
from meteor.client.draft import ProfileLike
from meteor.client.mailbox import Mailbox, Signal
from meteor.client.poster import PostOptions
from meteor.client.session import Session
from meteor.errors import Closed, MeteorError
from meteor.receipt import Receipt
from meteor.wrong_values import checked_truth, checked_whole, said

CONCURRENCY: Final = 64
"""Posts under way at once: enough to keep a ring on the same machine busy."""
CONCURRENCY_MAX: Final = 4096

NAMED_MAX: Final = 64
"""A longer word is no action: it is not repeated in an error."""
WITH_RECEIPT: Final = frozenset({"store", "delete_data", "delete_interest"})
"""The actions whose outcome is a receipt."""

OutcomeT = TypeVar("OutcomeT", Receipt, Receipt | MeteorError)


class Message:
    """One message for `post_many`: the arguments of `post`.

    Raises `ValueError` for an action that has no receipt."""

    __slots__ = {
        "action": "What to do with it: `store` unless said otherwise.",
        "options": "The other arguments of `post`, by name.",
        "profile": "What it is.",
    }

    def __init__(
        self, profile: ProfileLike, action: str = "store", **options: Unpack[PostOptions]
    ) -> None:
        if not (isinstance(action, str) and action in WITH_RECEIPT):
            known = isinstance(action, str) and len(action) <= NAMED_MAX
            given = repr(action) if known else f"what is given ({type(action).__name__})"
            raise ValueError(
                f"action: {given} is none of {', '.join(sorted(WITH_RECEIPT))}, which have a "
                "receipt; a payload is data="
            )
        self.profile, self.action, self.options = profile, action, options

    def __repr__(self) -> str:
        return f"<Message {self.action} of ({self.profile})>"


MessageLike = Message | tuple[ProfileLike, bytes | str]
"""A message, or profile and data to store."""


def message_of(one: MessageLike) -> Message:
    """The message itself; raises `TypeError` for what is none."""
    if isinstance(one, Message):
        return one
    if isinstance(one, tuple) and len(one) == 2:
        profile, data = one
        return Message(profile, data=data)
    raise TypeError(f"post_many takes meteor.Message or (profile, data), not {one!r:.80}")


def checked_concurrency(concurrency: int) -> int:
    """The number itself; raises `ValueError`, and `TypeError` for what is no number of messages."""
    if not 1 <= checked_whole("concurrency", concurrency) <= CONCURRENCY_MAX:
        raise ValueError(f"concurrency: {said(concurrency)} is not between 1 and {CONCURRENCY_MAX}")
    return concurrency


def check_messages(messages: object) -> None:
    """Raises `TypeError` for what gives no messages one after the other."""
    if isinstance(messages, str | bytes) or not isinstance(messages, Iterable | AsyncIterable):
        raise TypeError(f"messages: give a list of them, or what yields them, not {said(messages)}")


@dataclass(slots=True)
class _UnderWay:
    """One message whose receipt is awaited."""

    number: int
    message: MessageLike
    task: Task[None] | None = None
    outcome: Receipt | Exception | None = None


class Receipts(Generic[OutcomeT]):
    """The receipts of many messages, in their order: `async for receipt in receipts`, once.

    Nothing is posted before the first is asked for.  Leaving the loop ends the reading."""

    def __init__(self, posting: Posting) -> None:
        self._posting = posting

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> OutcomeT:
        """The next receipt.  Raises what its message failed with (unless errors are returned), and
        what the source raises; then nothing more is posted."""
        return await self._posting.take()  # type: ignore[return-value]  # errors only if asked for

    def close(self) -> None:
        """Read no more, and post no more: what is under way may be kept or not."""
        self._posting.close()

    def __del__(self) -> None:
        self._posting.let_go()


class Posting:
    """What reads and posts, while somebody takes the receipts."""

    def __init__(
        self,
        session: Session,
        post: Callable[[Message], Awaitable[Receipt]],
        messages: Iterable[MessageLike] | AsyncIterable[MessageLike],
        concurrency: int,
        *,
        return_errors: bool,
    ) -> None:
        self._session, self._post, self._messages = session, post, messages
        check_messages(messages)
        self._concurrency = checked_concurrency(concurrency)
        self._return_errors = checked_truth("return_errors", return_errors)
        self._started: Mailbox[_UnderWay] = Mailbox(session.runtime)
        self._settled, self._room = Signal(session.runtime), Signal(session.runtime)
        self._ahead: dict[int, _UnderWay] = {}
        self._count, self._is_over = 0, False
        self._reading: Task[None] | None = None
        self._failure: Exception | None = None

    async def take(self) -> Receipt | MeteorError:
        """The next outcome; raises `StopAsyncIteration` at the end."""
        if self._reading is None:
            self._session.uplink.check_process()
            self._session.pending[self] = None
            self._reading = self._session.spawn(self._read())
        while True:
            if not await self._started.ready():
                self.close()
                raise self._failure or StopAsyncIteration
            under_way = self._started.items[0]
            if under_way.outcome is not None:
                break
            await self._settled.wait()  # whoever is cancelled here leaves it to the next taker
        self._started.items.popleft()
        self._ahead.pop(under_way.number, None)
        self._room.notify()
        return self._taken(under_way, under_way.outcome)

    def _taken(self, under_way: _UnderWay, outcome: Receipt | Exception) -> Receipt | MeteorError:
        if isinstance(outcome, Receipt):
            return outcome
        outcome.add_note(f"post_many: message {under_way.number}, {under_way.message!r:.200}")
        if self._return_errors and isinstance(outcome, MeteorError):
            return outcome
        self.close()
        raise outcome

    def close(self) -> None:
        """Read no more, and post no more."""
        self._is_over = True
        self._session.pending.pop(self, None)
        for task in [self._reading, *(one.task for one in self._ahead.values())]:
            if task is not None and not task.done():
                task.cancel()
        self._ahead.clear()
        self._started.items.clear()
        self._started.end()
        self._settled.notify()

    def let_go(self) -> None:
        """Nobody is left to take the receipts: the collector says so, in whichever thread."""
        self._session.runtime.at_home(self.close)

    def abandon(self) -> None:
        """The client is closed: whoever waits is told."""
        self._failure = Closed("post_many: the client was closed before all was posted")
        self.close()

    # -- reading -----------------------------------------------------------------------------

    async def _read(self) -> None:
        """Take message after message, as long as there is room for them.  A source that awaits what
        somebody cancelled ends this, too: who takes the receipts is told that these are not all."""
        is_read = False
        try:
            if isinstance(self._messages, AsyncIterable):
                async for message in self._messages:
                    await self._begin(message)
            else:
                for message in self._messages:
                    await self._begin(message)
            is_read = True
        except Exception as error:  # the source's own: whoever takes the receipts is told
            self._failure = self._failure or error
        finally:
            if not (is_read or self._is_over or self._failure):
                self._failure = Closed("post_many: the reading of the messages was cancelled")
            self._started.end()

    async def _begin(self, message: MessageLike) -> None:
        under_way = self._ahead[self._count] = _UnderWay(self._count, message)
        self._count += 1
        under_way.task = self._session.spawn(self._carry_out(under_way))
        self._started.put(under_way)
        while len(self._ahead) >= self._concurrency:
            await self._room.wait()

    async def _carry_out(self, under_way: _UnderWay) -> None:
        try:
            under_way.outcome = await self._post(message_of(under_way.message))
        except Exception as error:  # raised to whoever takes the receipts
            under_way.outcome = error
        self._settled.notify()
