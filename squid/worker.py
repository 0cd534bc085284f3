"""What the router asks of the layer above: what a peer holds, and what it does there.

Law of this file: a protocol and its values; nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from chord import Contact, dataclass
from squid.messages import HandOn
from squid.region import Interval


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker did with its part of an operation."""

    frames: Sequence[bytes] = ()
    """Pages for the origin, in order."""
    body: bytes = b""
    """A summary for the origin."""
    missing: tuple[Interval, ...] = ()
    """The indexes of the part whose past this peer does not hold."""
    undone: tuple[Interval, ...] = ()
    """What turned out to be another peer's meanwhile: the router hands it on."""
    doubted: tuple[Interval, ...] = ()
    """The indexes of the part of which it will soon be known whether all is here: neither covered
    nor missing, so that the origin asks again."""
    speaks_for_s: float | None = None
    """So long ago a question may have begun that this is an answer to; None: whenever it did."""
    rest: Callable[[], Awaitable[Work]] | None = None
    """Brings the pages that follow in later turns, and the summary of all; None where `frames` are
    all there is."""

    def settles(self, age_s: float) -> bool:
        """Whether nothing of the part is open to a question of that age."""
        is_open = self.missing or self.undone or self.doubted or self.rest is not None
        return not is_open and (self.speaks_for_s is None or self.speaks_for_s >= age_s)


class Worker(Protocol):
    """The layer above: what a peer holds, and what it does there."""

    def held(self) -> tuple[Interval, ...]:
        """The curve indexes that this peer answers for, sorted and disjoint."""

    def holder_of(self, index: int) -> Contact | None:
        """Another peer that is known to hold `index` whatever the ring says (a hand-off)."""

    def unreachable(self, holder: Contact) -> None:
        """A peer that `holder_of` may have named does not answer."""

    def copied(self) -> tuple[Interval, ...]:
        """The indexes of which this peer keeps a whole copy for others."""

    async def stand_in(self, share: HandOn, part: tuple[Interval, ...]) -> Work | None:
        """Answer a question in `part`, of which a copy is kept here, in its holder's stead; None
        when the copy may be out of date."""

    async def settle(self, index: int, timeout_s: float) -> None:
        """Wait until an index that the ring gives to this peer is held here, or the time is up."""

    def may_come_late(self, share: HandOn) -> bool:
        """Whether it harms nobody to do an operation when others may have done it long ago."""

    def having_lain(self, share: HandOn, late_s: float) -> HandOn:
        """The operation as it is to be done now that it lay on its way for `late_s` seconds; raises
        `Fault` where its time is over."""

    def may_be_done(self, share: HandOn, part: tuple[Interval, ...]) -> bool:
        """Whether an operation that must not come late may have been done in `part` by who held it
        before this peer, which would not know of it."""

    def answer(self, share: HandOn, part: tuple[Interval, ...]) -> Work | None:
        """Do the operation at once, if it changes nothing and needs no waiting, or begin it where
        it is much; else None."""

    async def perform(self, share: HandOn, part: tuple[Interval, ...]) -> Work:
        """Do the operation in `part`, which was held when this was called."""
