"""Carrying out what follows from a match: telling clients, and pages for who asked.

Law of this file: what follows is decided in `arms`; a pair is told of by the holder of the lowest
index that both regions share (DESIGN section 4).  No turn looks at more than `AT_ONCE` candidates,
or `SURE_AT_ONCE` of those that are only sent: what matches half of all that is kept leaves the peer
free for others in between.  Until all of them were looked at, no client's watermark passes the
arrival's number, so that whatever happens meanwhile, what was not told is told again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from arms import WATCH, Asked, Reaction, Record, Return, Steps
from chord import Runtime
from meteor.admission import KEPT_KINDS
from meteor.keeping.holdings import Intervals
from meteor.keeping.placement import MOVED
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.telling import Telling, found_of
from meteor.wire.found_pages import Pages
from meteor.wire.messages import Found
from meteor.wire.operations import Carried, Operation
from squid import covers

AT_ONCE: Final = 32
"""Candidates that are looked at in one turn: some 10 to 40 microseconds each."""
SURE_AT_ONCE: Final = 1024
"""Of records that an answer surely has, if they live here: half a microsecond each, and some eight
where nobody has looked into them since a restart."""

FEW_SURE: Final = 256
"""Of these so many are answered in the turn of the question; of more the first `FIRST_AT_ONCE`, so
that who asked has them while peers look at the others."""
FIRST_AT_ONCE: Final = 32


class Following:
    """What follows from one arrival: how many pairs it made, and pages for its sender."""

    def __init__(self, record: Record | None, shelf: Shelf) -> None:
        self.record = record
        self._owner = "" if record is None else record.owner
        self._sees = shelf.sees
        self.pairs = 0
        self.pages = Pages()

    def count(self, reaction: Reaction) -> None:
        """Note what was carried out.  Whoever posts data is not told, by a count, of interests
        that he may not see."""
        if isinstance(reaction, Return):
            self.pairs += 1
        elif reaction.kind == "match":
            self.pairs += reaction.to is self.record or self._sees(self._owner, reaction.to)
        else:  # an interest appeared: that is a pair of the watch
            self.pairs += reaction.to is self.record and reaction.to.kind == WATCH


class Reactions:
    """What one peer does about the reactions that matching decides on."""

    def __init__(self, runtime: Runtime, shelf: Shelf, telling: Telling) -> None:
        self._runtime, self._shelf, self._telling = runtime, shelf, telling

    async def follow(self, steps: Steps, record: Record) -> Following:
        """Carry out what follows from the arrival of a record."""
        following = Following(record, self._shelf)
        if self._go_on(steps, following):
            await self._follow_later(steps, following)
        return following

    async def answer(self, asked: Asked, question: Record, part: Intervals) -> Following:
        """The pages for who asked, and whatever else follows from a question."""
        following = Following(question, self._shelf)
        await self._answer_from(0, asked, following, part)
        return following

    async def _answer_from(
        self, first: int, asked: Asked, following: Following, part: Intervals
    ) -> None:
        for at in range(first, len(asked.sure), SURE_AT_ONCE):
            if at > first:
                await self._runtime.sleep(0.0)
            self._send(asked.sure[at : at + SURE_AT_ONCE], following, part)
        if self._go_on(asked.steps, following):
            await self._follow_later(asked.steps, following)

    def answer_now(
        self, asked: Asked, question: Record, part: Intervals
    ) -> tuple[Following, Callable[[], Awaitable[None]] | None]:
        """The same as far as it goes in this very turn, and what brings the rest in later ones;
        None where that is all."""
        following, first = Following(question, self._shelf), len(asked.sure)
        if first > FEW_SURE:
            first = FIRST_AT_ONCE
        self._send(asked.sure[:first], following, part)
        if first < len(asked.sure):
            return following, lambda: self._answer_from(first, asked, following, part)
        if self._go_on(asked.steps, following):
            return following, lambda: self._follow_later(asked.steps, following)
        return following, None

    def _send(self, sure: Sequence[Record], following: Following, part: Intervals) -> None:
        """Put those of some records onto the pages that live, that are told of for this part, and
        that who asked may know of."""
        assert following.record is not None, "somebody asks"
        now = self._runtime.now()
        told = _in_part(sure, part, now)
        if [one for one in told if one.visible_to or one.index is None]:
            belongs, asker = self.within(part), following.record
            told = [
                one
                for one in told
                if (one.index is not None and not one.visible_to) or belongs(asker, one)
            ]
        following.pages.add_records(told, now)
        following.pairs += len(told)

    def carry_out(self, steps: Steps, record: Record | None = None) -> None:
        """The same, and nobody waits for it: what is too much for this turn follows in a
        conversation of its own."""
        following = Following(record, self._shelf)
        if self._go_on(steps, following):
            self._runtime.spawn(self._follow_later(steps, following))

    async def _follow_later(self, steps: Steps, following: Following) -> None:
        record = following.record
        placed = None if record is None else self._shelf.find(record.key)
        hold = None if placed is None else self._telling.hold_back(placed.number)
        try:
            await self._runtime.sleep(0.0)
            while self._go_on(steps, following, late=True):
                await self._runtime.sleep(0.0)
        finally:
            if hold is not None:
                self._telling.let_go(hold)

    def _go_on(self, steps: Steps, following: Following, *, late: bool = False) -> bool:
        """Look at the next candidates; whether there may be more.  Who has left meanwhile is not
        told."""
        looked_at = 0
        for step in islice(steps, AT_ONCE):
            looked_at += 1
            if isinstance(step, Return):
                following.pages.add(found_of(self._shelf, step.record))
            elif step is None or (late and not self._shelf.store.holds(step.to)):
                continue
            else:
                self._telling.tell(step)
            following.count(step)
        self._telling.flush()
        return looked_at == AT_ONCE

    def within(self, part: Intervals) -> Callable[[Record, Record], bool]:
        """Whether a pair is told of for this part."""

        def belongs(asker: Record, asked: Record) -> bool:
            lowest = self._shelf.lowest_common(asker, asked)
            return lowest is not None and covers(part, lowest)

        return belongs


def _in_part(records: Sequence[Record], part: Intervals, now: float) -> list[Record]:
    """Those that live, without those whose one cell lies elsewhere: most, where copies are kept for
    others.  In one pass, as an answer may have many thousands."""
    if not part:
        return []
    lowest, highest = part[0][0], part[-1][1]
    found = [
        one
        for one in records
        if one.expires_s > now and ((index := one.index) is None or lowest <= index <= highest)
    ]
    if len(part) == 1:
        return found
    return [one for one in found if one.index is None or covers(part, one.index)]


def carried_of(operation: Operation, wall_ms: int) -> Carried:
    """The record that an operation posts, or the word that it leaves."""
    return Carried(
        kind=KEPT_KINDS.get(operation.verb, MOVED),
        id=operation.id,
        owner=operation.owner,
        version=operation.version,
        action=operation.verb,
        ttl_ms=wall_ms + operation.ttl_ms,
        blob=operation.document,
        number=0,
        acknowledged=0,
        route=operation.route,
        visible_to=operation.visible_to,
        limit=operation.limit if operation.verb in KEPT_KINDS else b"",
    )


def pages_of(found: Iterable[Found]) -> list[bytes]:
    """All of them by the page in which they travel."""
    pages = Pages()
    for one in found:
        pages.add(one)
    return pages.all()
