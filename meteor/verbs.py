"""The verbs that everybody has who can post: clients, and peers themselves.

Law of this file: the verbs come together here; each stands in the file of its kind.  A post is
validated when the verb is called, before anything is sent, and carried out when its result is
awaited, entered or iterated over (SPEC section 4).
"""

from __future__ import annotations

from meteor.errors import Interval
from meteor.interest_verbs import InterestVerbs
from meteor.keeping_verbs import KeepingVerbs
from meteor.lifetimes import checked_timeout_s
from meteor.messages import RingPicture
from meteor.posting_verbs import PostingVerbs


class Verbs(PostingVerbs, InterestVerbs, KeepingVerbs):
    """What a poster can do.  A profile is text, a `Profile` or a mapping of plain values; times
    are seconds.

    Every verb raises `SelectorError`, `ProfileError`, `TypeMismatch` and `LimitExceeded` when it
    is called, for what is wrong with the post; and when it is carried out `Incomplete` (unless
    `allow_partial`), `Timeout`, `NotConnected`, `Refused`, `Busy` and `Closed`."""

    async def ring(self, *, timeout: float = 10) -> RingPicture:
        """The peers in ring order as the serving peer sees them, and what each holds.

        Raises `Timeout` and `NotConnected`."""
        return await self._session.ring(checked_timeout_s(timeout))

    async def forget(self, *lost: Interval, timeout: float = 10) -> tuple[Interval, ...]:
        """Declare the past of lost intervals of curve indexes gone: answers are complete there from
        then on.  For operators; returns what was forgotten.

        Raises `Refused` (rule `not lost`) for what has its past, `Timeout` and `NotConnected`."""
        return (await self._session.forget(lost, checked_timeout_s(timeout))).intervals
