"""Deriving: which pairs a client is told of that were found before, and in which turn.

Law of this file: a stream is not stored.  It is derived again when an interval is gained, and when
a client that was far behind has caught up with what fitted; some pairs are looked at, or told of,
in every turn, and until all were, no watermark passes what it was (DESIGN section 4).  What comes
next waits in the order of the stream (`meteor.rendezvous.backlog`), and is told of as it then is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Final

from arms import INTEREST, WATCH, Reaction, Record, Rendezvous, Return, Tell
from chord import Runtime
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import Admission, Key, route_of
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.backlog import Behind, Position
from meteor.rendezvous.outbox import Outbox, stream_name
from meteor.wire.document import wishes_in
from meteor.wire.letters import id_of
from squid import covers

DERIVED_AT_ONCE: Final = 32
"""Pairs that are looked at, or told of, in one turn."""
FIRST: Final[Position] = (0, "")
"""The beginning of every stream."""


class Deriving:
    """The streams of one rendezvous peer that are behind."""

    def __init__(
        self,
        runtime: Runtime,
        shelf: Shelf,
        holdings: Holdings,
        rendezvous: Rendezvous,
        outbox: Outbox,
        add: Callable[[Tell, Position], None],
        flush: Callable[[], None],
    ) -> None:
        self._runtime, self._shelf = runtime, shelf
        self._holdings, self._rendezvous = holdings, rendezvous
        self._outbox, self._add, self._flush = outbox, add, flush
        self._catching_up: set[str] = set()
        """Streams of which a conversation tells what did not fit before."""
        self._held_back: list[int] = []
        """Of arrivals that not all have been told of yet."""
        self._gained: list[Admission] = []
        """How far clients were when an interval was gained whose pairs not all were derived yet."""

    # -- what watermarks must not pass

    def hold_back(self, number: int) -> int:
        """See `Telling.hold_back`."""
        self._held_back.append(number)
        return number

    def let_go(self, number: int) -> None:
        """See `Telling.let_go`."""
        self._held_back.remove(number)

    def watermark_below(self, key: Key, mark: int) -> int:
        """A watermark of an interest, as far as it may be told: of what is under way, nobody was
        told yet."""
        mark = self._shelf.shown_up_to(mark)
        if self._held_back:
            mark = min(mark, min(self._held_back) - 1)
        for admission in self._gained:
            mark = min(mark, admission.acknowledged(key))
        return mark

    # -- an interval was gained

    def derive(self, part: Intervals, admission: Admission) -> None:
        """Match its pairs again, above what their clients acknowledged, one interest after the
        other in later turns.  Until then no watermark passes what it was."""
        # Its giver's other intervals may have had later numbers: none of these comes a second time.
        self._shelf.number = max(self._shelf.number, admission.latest())
        store = self._shelf.store
        asking = chain(store.all_of(INTEREST), store.all_of(WATCH))
        self._gained.append(admission)
        self._runtime.spawn(self._derive_each(asking, part, admission))

    async def _derive_each(
        self, asking: Iterable[Record], part: Intervals, admission: Admission
    ) -> None:
        try:
            for record in asking:
                if route_of(record) is not None and self._shelf.store.holds(record):
                    above = admission.acknowledged(record.key)
                    if above:
                        self._outbox.start(name_of(record), above)
                    await self._derive_one(record, part, above)
                    await self._runtime.sleep(0.0)
        finally:
            self._gained.remove(admission)

    async def _derive_one(self, record: Record, part: Intervals, above: int) -> None:
        """Tell of the pairs of a record in `part` that were not met before."""

        def belongs(left: Record, right: Record) -> bool:
            if self._shelf.was_met_by(above, right if left is record else left):
                return False
            lowest = self._shelf.lowest_common(left, right)
            return lowest is not None and covers(part, lowest)

        await self._find_out(record, belongs, FIRST)
        if self._outbox.has_backlog(name_of(record)):
            await self._runtime.sleep(0.0)
            await self._tell_next(record)

    # -- a client has caught up with what fitted

    def go_on(self, name: str, record: Record) -> None:
        """Tell of the next that fit."""
        if name not in self._catching_up:
            self._catching_up.add(name)
            self._runtime.spawn(self._catch_up(name, record))

    async def _catch_up(self, name: str, record: Record) -> None:
        try:
            while self._outbox.is_behind(name):
                present = self._shelf.store.get(*record.key)
                if present is None:
                    return
                if self._shelf.placed(present).number in self._held_back:
                    pass  # what follows from its own arrival is still found out
                elif self._outbox.has_backlog(name):
                    await self._tell_next(present)
                else:
                    await self._derive_again(present)
                await self._runtime.sleep(0.0)
        finally:
            self._catching_up.discard(name)

    async def _derive_again(self, record: Record) -> None:
        """Find out all pairs from the first on that was missed: they are told of as they fit."""
        missed = self._outbox.catch_up(name_of(record))
        if missed is None:
            return
        first = missed[0]

        def belongs(left: Record, right: Record) -> bool:
            if self._shelf.number_of_pair(left, right) < first:
                return False
            return self._is_here(left, right)

        hold = self.hold_back(first)
        try:
            await self._find_out(record, belongs, missed)
        finally:
            self.let_go(hold)

    # -- both

    async def _find_out(
        self, record: Record, belongs: Callable[[Record, Record], bool], first: Position
    ) -> None:
        """Let a record's pairs wait from the first on, in the order of its stream: some are looked
        at in every turn."""
        name = name_of(record)
        steps = self._rendezvous.meet(record, self._runtime.now(), belongs)
        while some := list(islice(steps, DERIVED_AT_ONCE)):
            if not self._shelf.store.holds(record):
                return
            for told in _told_to(record, some):
                position = position_of(self._shelf, told)
                if position >= first:
                    one = Behind(position, told.about, told.kind)
                    self._outbox.put_behind(name, one, record.version)
            if len(some) == DERIVED_AT_ONCE:
                await self._runtime.sleep(0.0)

    async def _tell_next(self, record: Record) -> None:
        """Tell a client of what waits and fits, a few in every turn: if it still is as it was."""
        name, said = name_of(record), 0
        while self._shelf.store.holds(record):
            one = self._outbox.take_behind(name)
            if one is None:
                break
            present = self._shelf.store.get(*record.key)
            if present is not None and self._is_due(present, one):
                self._add(Tell(present, one.about, one.kind), one.position)
            said += 1
            if said % DERIVED_AT_ONCE == 0:
                self._flush()
                await self._runtime.sleep(0.0)
        self._flush()

    def _is_due(self, record: Record, one: Behind) -> bool:
        placed = self._shelf.find(record.key)
        own = 0 if placed is None else placed.number
        if wishes_in(record.blob).once and self._outbox.has_told(name_of(record), own):
            return False
        if one.kind == "gone":
            return True
        about = self._shelf.store.get(*one.about.key)
        return (
            about is not None
            and about.version == one.about.version
            and about.lives(self._runtime.now())
            and self._is_here(record, about)
        )

    def _is_here(self, left: Record, right: Record) -> bool:
        """Whether this peer tells of a pair that may know of each other."""
        lowest = self._shelf.lowest_common(left, right)
        return lowest is not None and covers(self._holdings.held, lowest)


def position_of(shelf: Shelf, reaction: Tell) -> Position:
    """Where a pair stands in the stream of whom it is told to."""
    told, about = reaction.to, reaction.about
    id = id_of(told.stem, about.owner, about.stem, about.version, reaction.kind)
    return shelf.number_of_pair(told, about), id


def name_of(record: Record) -> str:
    """The name of a record's stream."""
    return stream_name(record.owner, record.stem)


def _told_to(record: Record, steps: Iterable[Reaction | None]) -> Iterator[Tell]:
    """What a record's own client is told."""
    for step in steps:
        if isinstance(step, Return):
            yield Tell(record, step.record, "match")
        elif step is not None and step.to is record:
            yield step
