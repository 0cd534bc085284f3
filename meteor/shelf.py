"""The shelf: what one peer keeps, in memory for matching, in the journal for ever.

Law of this file: nothing is put into memory before it is durable, and both change in the journal's
order.  Every change has a number, so that a hand-off can ask for "what changed since".  The
journal keeps wall-clock expiry, everything else the local clock (DESIGN sections 4 and 5).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from arms import Profile, Record, Store
from chord import MeteorError
from meteor import codec
from meteor.document import decode_document, unpack_profile
from meteor.holdings import Intervals
from meteor.journal import Entry, Journal
from meteor.operations import Carried, HeldNote, PulledPage, Route
from meteor.record_id import split_id, stem_of
from squid import Box, HilbertCurve, Interval, intersect, merge

PAGE_BYTES = 64 * 1024
"""A page of a hand-off: small enough to leave the link free for others in between."""

GONE, MOVED = "gone", "moved"
"""Kinds of tombstone: deleted for good, or replaced and living elsewhere under a newer version."""

Key = tuple[str, str]
"""Owner and stem: a record's identity."""


@dataclass(slots=True)
class Placed:
    """Where a record lives on the curve, and when it changed last."""

    box: Box
    lowest: int
    """The lowest index of its box: who holds it counts the record."""
    number: int
    carried: Carried
    """As it was written; expiry in it is wall-clock milliseconds."""


@dataclass(slots=True)
class Admission:
    """One hand-off's records in the giver's order: the giver's number, and ours."""

    numbers: list[tuple[int, int]] = field(default_factory=list)
    watermarks: dict[Key, int] = field(default_factory=dict)

    def enter(self, carried: Carried, number: int) -> None:
        """A record was taken in under `number`."""
        self.numbers.append((carried.number, number))
        self.watermarks[carried.owner, stem_of(carried.id)] = carried.acknowledged

    def acknowledged(self, key: Key) -> int:
        """An interest's watermark in our numbers: every pair up to it reached its client."""
        theirs = self.watermarks.get(key, 0)
        return max((ours for number, ours in self.numbers if number <= theirs), default=0)


@dataclass(frozen=True, slots=True)
class Restored:
    """What a journal held."""

    held: Intervals
    lost: Intervals
    records: int
    damaged: tuple[bytes, ...]


class Shelf:
    """All records, tombstones and holdings of one peer."""

    def __init__(
        self,
        store: Store,
        journal: Journal,
        curve: HilbertCurve,
        now: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self.store = store
        self._journal, self._curve = journal, curve
        self._now, self._wall_clock = now, wall_clock
        self._placed: dict[Key, Placed] = {}
        self._changes: list[tuple[int, Key]] = []
        self._stones: list[tuple[int, Key]] = []
        self._number = 0
        self._remembered: Intervals = ()

    # -- changes, each durable before it shows

    async def write(self, carried: Iterable[Carried]) -> list[Carried]:
        """Make these records durable, each with the number of its change; `show` them afterwards,
        in the same order and in the same turn."""
        numbered = [replace(one, number=self._next_number()) for one in carried]
        await self._journal.append([self._entry(one) for one in numbered])
        return numbered

    def record_of(self, carried: Carried, profile: Profile | None = None) -> Record:
        """The record in the form of the store."""
        if profile is None:
            profile = unpack_profile(decode_document(carried.blob).profile)
        _, box = split_id(carried.id, self._curve)
        return Record(
            kind=carried.kind,  # type: ignore[arg-type]  # the journal's and our own words
            stem=stem_of(carried.id),
            owner=carried.owner,
            version=carried.version,
            id=carried.id,
            action=carried.action,
            profile=profile,
            blob=carried.blob,
            expires_s=self._expires_s(carried),
            region=box,
            route=carried.route,
        )

    def place(self, carried: Carried) -> None:
        """Note where a record lives that the store has taken, or a tombstone."""
        _, box = split_id(carried.id, self._curve)
        self._place((carried.owner, stem_of(carried.id)), box, carried)

    def show(self, carried: Carried) -> None:
        """Put a durable record, or a tombstone, into memory without matching it."""
        key = (carried.owner, stem_of(carried.id))
        if carried.kind in {GONE, MOVED}:
            self.store.remove(*key)
            if carried.kind == GONE:
                self.store.tombstone(*key, self._expires_s(carried))
            self.place(carried)
            return
        record = self.record_of(carried)
        if self.store.put(record, self._now()) == "same":
            self.store.update(record)
        self.place(carried)

    async def admit(self, carried: Iterable[Carried], admission: Admission) -> None:
        """Take records of a hand-off in, without matching: their interval is not held yet.

        What is known here in a newer version stays.  Every record gets a number of ours in the
        giver's order, so that the giver's watermarks can be said in our numbers."""
        batch = list(carried)
        news = [self._with_wall_expiry(one) for one in batch if self._is_news(one)]
        written = {(one.owner, one.id): one for one in await self.write(news)}
        for one in batch:
            mine = written.get((one.owner, one.id))
            if mine is not None:
                self.show(mine)
            else:
                self._renumber((one.owner, stem_of(one.id)))
            admission.enter(one, self._number_of(one))

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _renumber(self, key: Key) -> None:
        placed = self._placed.get(key)
        if placed is not None:
            self._place(key, placed.box, replace(placed.carried, number=self._next_number()))

    def _number_of(self, carried: Carried) -> int:
        placed = self._placed.get((carried.owner, stem_of(carried.id)))
        return placed.number if placed is not None else self._number

    async def barrier(self) -> None:
        """Return when everything written before is durable and shown."""
        await self._journal.append([])

    async def write_holdings(self, held: Iterable[Interval], lost: Iterable[Interval]) -> None:
        """Make durable what this peer answers for."""
        value = codec.encode(HeldNote(merge(tuple(held)), merge(tuple(lost))))
        await self._journal.append([Entry(b"holdings", value)])

    # -- questions

    def placed(self, record: Record) -> Placed:
        """Where a stored record lives."""
        return self._placed[record.key]

    def ttl_ms(self, record: Record) -> int:
        """The remaining life of a record, rounded down."""
        return max(0, int((record.expires_s - self._now()) * 1000))

    def find(self, key: Key) -> Placed | None:
        """The record or tombstone of an identity."""
        return self._placed.get(key)

    def number_of_pair(self, left: Record, right: Record) -> int:
        """A pair has the number of its later arrival."""
        places = (self.find(one.key) for one in (left, right))
        return max((placed.number for placed in places if placed is not None), default=0)

    def wall_ms(self) -> int:
        """The wall clock in milliseconds: the journal's time."""
        return int(self._wall_clock() * 1000)

    def lowest_common(self, left: Record, right: Record) -> int | None:
        """The lowest index that two records' regions share: its holder reports the pair."""
        return lowest_of(self._curve, _box(left), _box(right))

    def page(self, interval: Interval, cursor: int, *, whole: bool = False) -> PulledPage:
        """The records of an interval changed after `cursor`, oldest change first."""
        carried: list[Carried] = []
        size = 0
        start = bisect_right(self._changes, cursor, key=lambda change: change[0])
        for number, key in self._changes[start:]:
            placed = self._placed.get(key)
            if placed is None or placed.number != number or not self._meets(placed, interval):
                cursor = number
                continue
            if carried and size >= PAGE_BYTES and not whole:
                return PulledPage(tuple(carried), cursor, more=True)
            one = self._with_ttl(placed.carried)
            cursor = number
            if one is not None:
                carried.append(one)
                size += len(one.blob) + 200
        return PulledPage(tuple(carried), cursor, more=False)

    # -- leaving things behind

    async def drop(self, keys: Iterable[Key]) -> None:
        """Forget what the store gave up (expired), in memory and in the journal."""
        gone = [key for key in keys if self._placed.pop(key, None) is not None]
        if gone:
            await self._journal.append([Entry(_journal_key(key), None) for key in gone])

    def stones_over(self) -> list[Key]:
        """The tombstones whose time is over."""
        now_ms = self.wall_ms()
        over = []
        while self._stones and self._stones[0][0] <= now_ms:
            _, key = heappop(self._stones)
            placed = self._placed.get(key)
            if placed is not None and placed.carried.kind in {GONE, MOVED}:
                over.append(key)
        return over

    def forget_outside(self, held: Intervals) -> list[Key]:
        """Take from the store what lives in none of `held`; returns what to `drop`."""
        gone = [
            key
            for key, placed in self._placed.items()
            if not any(self._meets(placed, interval) for interval in held)
        ]
        for key in gone:
            self.store.remove(*key)
        return gone

    def settled(self) -> None:
        """The peer holds its arc: what it remembered of a former life counts no more."""
        self._remembered = ()

    def remembered(self, part: Intervals) -> Intervals:
        """What of `part` this peer held when it stopped: its records are still here."""
        return intersect(part, self._remembered)

    async def restore(self) -> Restored:
        """Read the journal back; what expired meanwhile is left out.  Nothing is held yet."""
        scan = await self._journal.scan()
        held: Intervals = ()
        lost: Intervals = ()
        damaged = list(scan.damaged)
        for entry in scan.entries:
            if entry.value is None or not entry.key.startswith((b"holdings", b"r:")):
                continue
            try:
                note = codec.decode(entry.value)
            except MeteorError:
                damaged.append(entry.key)
                continue
            if isinstance(note, HeldNote):
                held, lost = note.held, note.lost
            elif isinstance(note, Carried) and self._expires_s(note) > self._now():
                self._number = max(self._number, note.number)
                self.show(note)
        self._changes.sort()
        self._remembered = merge(held)
        return Restored(held, lost, len(self._placed), tuple(damaged))

    # -- forms

    def _expires_s(self, carried: Carried) -> float:
        return self._now() + carried.ttl_ms / 1000 - self._wall_clock()

    def _with_wall_expiry(self, carried: Carried) -> Carried:
        return replace(carried, ttl_ms=carried.ttl_ms + self.wall_ms())

    def _with_ttl(self, carried: Carried) -> Carried | None:
        """As it travels: the remaining time, rounded down; None once it is over."""
        left_ms = carried.ttl_ms - self.wall_ms()
        return replace(carried, ttl_ms=left_ms) if left_ms > 0 else None

    def _is_news(self, carried: Carried) -> bool:
        known = self._placed.get((carried.owner, stem_of(carried.id)))
        if known is None:
            return True
        if known.carried.kind == GONE:
            return False
        return carried.kind == GONE or carried.version > known.carried.version

    def _place(self, key: Key, box: Box, carried: Carried) -> None:
        if box.is_point:
            lowest: int | None = self._curve.encode(box.low)
        else:
            lowest = self._curve.next_match(box, 0)
        assert lowest is not None, "a box has at least one cell"
        self._placed[key] = Placed(box, lowest, carried.number, carried)
        self._changes.append((carried.number, key))
        if carried.kind in {GONE, MOVED}:
            heappush(self._stones, (carried.ttl_ms, key))
        if len(self._changes) > 2 * len(self._placed) + 64:
            current = self._placed
            self._changes = [
                (number, key)
                for number, key in self._changes
                if key in current and current[key].number == number
            ]

    def _meets(self, placed: Placed, interval: Interval) -> bool:
        if placed.box.is_point:
            return interval[0] <= placed.lowest <= interval[1]
        return self._curve.has_match(placed.box, *interval)

    def _entry(self, carried: Carried) -> Entry:
        key = (carried.owner, stem_of(carried.id))
        return Entry(_journal_key(key), codec.encode(carried))


def lowest_of(curve: HilbertCurve, left: Box, right: Box) -> int | None:
    """The lowest curve index that two boxes share; None when they share none."""
    common = left.intersection(right)
    if common is None:
        return None
    return curve.encode(common.low) if common.is_point else curve.next_match(common, 0)


def route_of(record: Record) -> Route | None:
    """Whom to tell of a record's matches."""
    return record.route if isinstance(record.route, Route) else None


def _box(record: Record) -> Box:
    assert isinstance(record.region, Box)
    return record.region


def _journal_key(key: Key) -> bytes:
    owner, stem = key
    return b"r:" + owner.encode() + b"\0" + stem.encode()
