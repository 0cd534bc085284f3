"""The verbs that everybody has who can post: clients, and peers themselves.

Law of this file: the verbs come together here; each stands in the file of its kind.  A post is
validated when the verb is called, before anything is sent, and carried out when its result is
awaited, entered or iterated over (SPEC section 4).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Iterable
from typing import Any, Literal, cast, overload

from meteor.client.interest_verbs import InterestVerbs
from meteor.client.keeping_verbs import KeepingVerbs
from meteor.client.post_many import CONCURRENCY, MessageLike, Posting, Receipts
from meteor.client.posting_verbs import PostingVerbs
from meteor.errors import Interval, MeteorError
from meteor.lifetimes import checked_timeout_s
from meteor.receipt import Receipt
from meteor.wire.messages import RingPicture
from meteor.wrong_values import checked_whole, said


class Verbs(PostingVerbs, InterestVerbs, KeepingVerbs):
    """What a poster can do.  A profile is text, a `Profile` or a mapping of plain values; times
    are seconds.

    Every verb raises `SelectorError`, `ProfileError`, `TypeMismatch` and `LimitExceeded` when it
    is called, for what is wrong with the post; and when it is carried out `Incomplete` (unless
    `allow_partial`), `Timeout`, `NotConnected`, `Refused`, `Busy` and `Closed`."""

    @overload
    def post_many(
        self,
        messages: Iterable[MessageLike] | AsyncIterable[MessageLike],
        *,
        concurrency: int = CONCURRENCY,
        return_errors: Literal[False] = False,
    ) -> Receipts[Receipt]: ...
    @overload
    def post_many(
        self,
        messages: Iterable[MessageLike] | AsyncIterable[MessageLike],
        *,
        concurrency: int = CONCURRENCY,
        return_errors: Literal[True],
    ) -> Receipts[Receipt | MeteorError]: ...
    def post_many(
        self,
        messages: Iterable[MessageLike] | AsyncIterable[MessageLike],
        *,
        concurrency: int = CONCURRENCY,
        return_errors: bool = False,
    ) -> Receipts[Any]:
        """Post many messages, `concurrency` at once: `async for receipt in client.post_many(...)`,
        in the order of the messages.

        A message is a `Message`, or profile and data to store; they are read as there is room for
        them.  One that fails raises its error, with a note that names it, and ends it all; with
        `return_errors` a `MeteorError` comes in the receipt's place instead."""
        return Receipts(
            Posting(
                self._session,
                lambda message: cast(
                    Awaitable[Receipt],
                    self.post(message.profile, message.action, **message.options),
                ),
                messages,
                concurrency,
                return_errors=return_errors,
            )
        )

    async def ring(self, *, timeout: float = 10) -> RingPicture:
        """The peers in ring order as the serving peer sees them, and what each holds.

        Raises `Timeout` and `NotConnected`."""
        return await self._session.ring(checked_timeout_s(timeout))

    async def forget(self, *lost: Interval, timeout: float = 10) -> tuple[Interval, ...]:
        """Declare the past of lost intervals of curve indexes gone: answers are complete there from
        then on.  For operators; returns what was forgotten.

        Raises `Refused` (rule `not lost`) for what has its past, `Timeout` and `NotConnected`."""
        timeout_s = checked_timeout_s(timeout)
        intervals = tuple(map(_checked_interval, lost))
        return (await self._session.forget(intervals, timeout_s)).intervals


def _checked_interval(interval: Interval) -> Interval:
    """The interval of plain numbers; raises `TypeError`."""
    if not (isinstance(interval, tuple | list) and len(interval) == 2):
        raise TypeError(f"lost: give intervals, as (first, last), not {said(interval)}")
    first, last = interval
    return checked_whole("lost: an end", first), checked_whole("lost: an end", last)
