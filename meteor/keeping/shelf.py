"""The shelf: what one peer keeps, in memory for matching, in the journal for ever.

Law of this file: nothing is put into memory before it is durable.  A record's number says when it
was written among all that its holders have seen (Lamport); it travels with it, so that watermarks
mean the same at every holder.  A change has a number of this shelf alone besides, so that a
hand-off can ask for "what changed since".  The journal keeps wall-clock expiry, everything else the
local clock (DESIGN sections 4 and 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from arms import Profile, Record, Store
from chord import replace
from meteor.journal.journal import Entry, Journal
from meteor.journal.no_collections import no_collections
from meteor.keeping.attic import Attic
from meteor.keeping.coming import Coming
from meteor.keeping.placement import (
    GONE,
    MOVED,
    Admission,
    Key,
    Placed,
    box_of,
    journal_key,
    key_of,
    lowest_of,
    readable,
)
from meteor.keeping.placement_table import PlacementTable
from meteor.keeping.shelf_journal import Contents, Restored, anew, entry_of, noted, read
from meteor.keeping.standing import is_later, is_renewal
from meteor.keeping.views import Views
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.operations import Carried, PulledPage
from meteor.wire.record_id import place_of, split_id, stem_of
from squid import Box, HilbertCurve, Interval, Intervals

PAGE_BYTES = 64 * 1024
"""A page of a hand-off: small enough to leave the link free for others in between."""


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
        self.table = PlacementTable(curve)
        self.attic = Attic(curve)
        self._begun = Coming()
        """Changes under way that do not show yet."""
        self._coming = Coming()
        """On their way to the journal: of a record the last one that is written counts there."""
        self.number = 0  # the latest that was drawn here, or heard of
        self.acknowledged: Callable[[Carried], int] = lambda one: one.acknowledged
        """What an interest's client has of it; who tells clients sets it."""
        self.displaced: Callable[[Carried, Carried], None] = lambda _, __: None
        """Hears of a record that takes the place here of its own version from another region."""
        self.sees: Callable[[str, Record | Carried], bool] = lambda _, __: True
        """Whether an owner may know of a record; the peer's policy sets it."""
        self.take_in: Callable[[Carried, Profile | None], None] = self.show
        """Shows what another holder wrote; who also answers for it sees to what follows."""

    # -- changes, each durable before it shows

    async def write(self, carried: Iterable[Carried]) -> list[Carried]:
        """Make these records durable here, each with its number; `show` them afterwards."""
        numbered = self.begin(carried)
        await self.commit(numbered)
        self.end(numbered)
        return numbered

    def begin(self, carried: Iterable[Carried]) -> list[Carried]:
        """Number changes that are about to be written; `end` them in the turn in which they show,
        or when they failed."""
        numbered = [replace(one, number=self._number_for(one)) for one in carried]
        self._begun.add(numbered)
        return numbered

    async def commit(self, numbered: Sequence[Carried]) -> None:
        """Return when these records are durable here, and what they take the place of is gone."""
        left = [
            key for one in numbered if (key := self._left_behind(one)) is not None
            and not self._coming.outlives(key, one) and not self._begun.outlives(key, one)
        ]  # fmt: skip
        self._coming.add(numbered)
        entries = [entry_of(one, self._curve) for one in numbered]
        await self._journal.append(entries + [Entry(journal_key(key), None) for key in left])
        self._coming.remove(numbered)

    def end(self, numbered: Iterable[Carried]) -> None:
        """The changes show, or will not."""
        self._begun.remove(numbered)

    def under_way(self, part: Intervals) -> tuple[Carried, ...]:
        """Changes of what lives in `part` that do not show yet, as they travel."""
        return tuple(self.outgoing(one) for one in self._begun if self.meets(one, part))

    def is_coming(self, keys: Iterable[Key]) -> bool:
        """Whether a change of one of these is on its way here, whoever wrote it."""
        return any(key in self._coming or key in self._begun for key in keys)

    def is_begun(self, keys: Iterable[Key]) -> bool:
        """Whether a change of one of these is under way: what one decides about it now would be
        out of date when it is durable."""
        return any(key in self._begun for key in keys)

    def record_of(
        self,
        carried: Carried,
        profile: Profile | None = None,
        box: Box | None = None,
        index: int | None = None,
    ) -> Record:
        """The record in the form of the store; `box`, and of a point its `index`, save reading them
        from the id."""
        if profile is None:
            profile = unpack_profile(decode_document(carried.blob).profile)
        if box is None:
            _, box, index = place_of(carried.id, self._curve)
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
            visible_to=carried.visible_to,
            index=index,
        )

    def place(self, carried: Carried) -> None:
        """Note where a record lives that the store has taken, or a tombstone."""
        _, box, lowest = place_of(carried.id, self._curve)
        self._place(key_of(carried), box, carried, lowest)

    def show(self, carried: Carried, profile: Profile | None = None) -> None:
        """Put a durable record, or a tombstone, into memory unmatched, if nothing later came."""
        if not self.table.may_show(carried, self.wall_ms()):
            return
        left = self._left_behind(carried)
        if left is not None:
            self.store.remove(*left)
            self.table.remove(left, self.wall_ms())
        if carried.kind == GONE:
            self.store.tombstone(*key_of(carried), self._expires_s(carried))
        elif carried.kind != MOVED:
            record = self.record_of(carried, profile)
            if self.store.put(record, self._now()) == "same":
                self.store.update(record)
        self.place(carried)

    def news(self, carried: Iterable[Carried]) -> list[tuple[Carried, Profile | None]]:
        """What of another peer's records is not known here in this or a newer version, with the
        local time of expiry; what cannot be read is left out."""
        found: list[tuple[Carried, Profile | None]] = []
        for one in carried:
            profile = readable(one, self._curve)
            if profile is None:
                continue
            mine = replace(one, ttl_ms=one.ttl_ms + self.wall_ms())
            if self._is_news(mine):
                found.append((mine, profile or None))
        return found

    async def admit(self, carried: Iterable[Carried], admission: Admission) -> None:
        """Take records of another holder in, without matching: their interval is not held here,
        or only as a copy.  They keep the numbers that they were given there."""
        batch = list(carried)
        for one in batch:
            admission.enter(one)
        news = self.news(batch)
        self.number = max((self.number, *(max(one.number, one.acknowledged) for one, _ in news)))
        await self.commit([one for one, _ in news])
        for one, profile in news:
            if self._is_news(one):  # another one may have come meanwhile
                self.take_in(one, profile)

    def _number_for(self, carried: Carried) -> int:
        """The next number; of a renewal the one that the record has: its pairs are as old as they
        were, and an heir need not tell of them again."""
        placed = self.table.find(key_of(carried))
        if placed is not None and is_renewal(carried, placed.carried):
            return placed.number
        self.number += 1
        return self.number

    async def barrier(self) -> None:
        """Return when everything written before is durable and shown."""
        await self._journal.append([])

    async def note(self, views: Views) -> None:
        """Make durable what this peer has a part in, as it is now, and what went to the attic."""
        await self._journal.append([*self.attic.unwritten(), noted(views)])

    async def rewrite(self, views: Views) -> None:
        """Begin the journal anew with what is here, and what is not this shelf's."""
        await self.barrier()
        scan = await self._journal.scan()
        now_ms = self.wall_ms()
        durable = [one for one in self._begun if self.table.may_show(one, now_ms)]
        records = [*(placed.carried for placed in self.table), *durable, *self._coming]
        await self._journal.replace(anew(scan, records, self.attic, views, self._curve))

    # -- questions

    def placed(self, record: Record) -> Placed:
        """Where a stored record lives."""
        return self.table[record.key]

    def meets(self, carried: Carried, part: Intervals) -> bool:
        """Whether a record, here or on its way, lives in any of `part`."""
        _, box = split_id(carried.id, self._curve)
        return any(self._curve.has_match(box, *interval) for interval in part)

    def lives_in(self, record: Record, part: Intervals) -> bool:
        """Whether a stored record's region meets any of `part`."""
        placed = self.placed(record)
        return any(self.table.meets(placed, interval) for interval in part)

    def ttl_ms(self, record: Record) -> int:
        """The remaining life of a record, rounded down."""
        return max(0, int((record.expires_s - self._now()) * 1000))

    def find(self, key: Key) -> Placed | None:
        """The record or tombstone of an identity."""
        return self.table.find(key)

    def buried(self, operation: bytes) -> Iterator[Placed]:
        """The tombstones that this delete put here, or where it was handed over from, in turn."""
        return self.table.buried(operation)

    def number_of_pair(self, left: Record, right: Record) -> int:
        """A pair has the number of its later arrival."""
        one, other = self.find(left.key), self.find(right.key)
        if one is None or other is None:
            return max((placed.number for placed in (one, other) if placed is not None), default=0)
        return max(other.number, one.number)

    def was_met_by(self, mark: int, told: Record, about: Record) -> bool:
        """Whether a pair is no later than a watermark of `told` (0 for none), whoever drew it.

        A mark lies beyond its interest's own number where it was drawn.  An interest that lies in
        several places may have a higher number here, from another of them, which says nothing of
        the pair; what lies in one place has one number everywhere."""
        placed = self.find(about.key)
        if mark and placed is not None and placed.is_point:
            return placed.number <= mark
        return self.number_of_pair(told, about) <= mark

    def wall_ms(self) -> int:
        """The wall clock in milliseconds: the journal's time."""
        return int(self._wall_clock() * 1000)

    def lowest_common(self, asker: Record, asked: Record) -> int | None:
        """The lowest index that the regions of two records that match share: its holder reports the
        pair to the sender of `asker`; None also where that must not know of the other."""
        if asked.visible_to and not self.sees(asker.owner, asked):
            return None
        if asked.index is not None:  # two that match share a cell, and this has one
            return asked.index
        return lowest_of(self._curve, box_of(asker), box_of(asked))

    def page(self, interval: Interval, cursor: int, *, whole: bool = False) -> PulledPage:
        """The records of an interval changed here after `cursor`, oldest change first."""
        carried: list[Carried] = []
        size, newest = 0, self.table.newest
        for number, placed in self.table.changed_after(cursor, interval):
            if carried and size >= PAGE_BYTES and not whole:
                return PulledPage(tuple(carried), cursor, more=True)
            cursor = number
            one = self.outgoing(placed.carried)
            if one.ttl_ms > 0:
                carried.append(one)
                size += len(one.blob) + 200
        return PulledPage(tuple(carried), newest, more=False)

    # -- leaving things behind

    async def drop(self, keys: Iterable[Key]) -> None:
        """Forget what the store gave up (expired), in memory and in the journal; not what is
        being written anew."""
        gone = [key for key in keys if key in self.table and key not in self._begun]
        for key in gone:
            self.table.remove(key, self.wall_ms())
        await self.erase(gone)

    async def erase(self, keys: Iterable[Key]) -> None:
        """Forget in the journal what is in memory no more."""
        gone = [key for key in keys if key not in self.table and not self.is_coming((key,))]
        if gone:
            await self._journal.append([Entry(journal_key(key), None) for key in gone])

    def stones_over(self, limit: int) -> list[Key]:
        """Tombstones whose time is over, at most so many."""
        return self.table.stones_over(self.wall_ms(), limit)

    def forget_outside(self, held: Intervals) -> list[Key]:
        """Take from memory what lives in none of `held`; returns what to `erase`."""
        return self.forget(self.table.outside(held))

    def forget(self, keys: Iterable[Key]) -> list[Key]:
        """Take records from memory; returns what to `erase`."""
        gone = list(keys)
        for key in gone:
            self.store.forget(*key)
            self.table.remove(key, self.wall_ms())
        return gone

    def store_lot(self, part: Intervals) -> int:
        """Put what lives in `part` into the attic as well; the number of its lot."""
        return self.attic.put(
            placed.carried
            for placed in self.table
            if any(self.table.meets(placed, interval) for interval in part)
        )

    async def restore(self, found: Contents | None = None) -> Restored:
        """Read the journal back, or take what was `found` in it by now; what expired meanwhile is
        left out.  Nothing is held yet."""
        if found is None:
            found = read(await self._journal.scan(), self._curve, self.wall_ms())
        self._load(found)
        return Restored(found.note, len(self.table), tuple(found.damaged), found.incomplete)

    @no_collections()
    def _load(self, found: Contents) -> None:
        clock_s = self._now() - self._wall_clock()
        self.table = found.loaded.begin(self.store, clock_s)
        self.number = found.loaded.number
        living: list[Record] = []
        for carried, profile, box, lowest in found.shown:
            if self._expires_s(carried) > self._now():
                self.number = max(self.number, carried.number, carried.acknowledged)
                living.append(self.record_of(carried, profile, box, lowest))
                self._place(key_of(carried), box, carried, lowest)
        self.store.load(living)
        for word in found.words:
            if self._expires_s(word) > self._now():
                self.number = max(self.number, word.number)
                self.show(word)
        for key, carried in found.stored:
            self.attic.restore(key, carried)

    # -- forms

    def _expires_s(self, carried: Carried) -> float:
        return self._now() + carried.ttl_ms / 1000 - self._wall_clock()

    def outgoing(self, carried: Carried) -> Carried:
        """As it travels: the remaining time, rounded down, and what its client has of it."""
        acknowledged = carried.acknowledged
        if carried.route is not None:
            acknowledged = self.acknowledged(carried)
        left_ms = max(carried.ttl_ms - self.wall_ms(), 0)
        return replace(carried, ttl_ms=left_ms, acknowledged=acknowledged)

    def is_over(self, carried: Carried) -> bool:
        """Whether something counts more, also under way: written after what is just being written,
        an earlier one would be what a restart finds."""
        under_way = (*self._coming.of(key := key_of(carried)), *self._begun.of(key))
        is_late = any(is_later(one, carried) for one in under_way)
        return is_late or not self.table.may_show(carried, self.wall_ms())

    def _is_news(self, carried: Carried) -> bool:
        """Whether it counts more than all that is known of its identity."""
        key = key_of(carried)
        known = (*self._begun.of(key), *self.table.known(key, self.wall_ms()))
        return not self.is_over(carried) and all(is_later(carried, one) for one in known)

    def _place(self, key: Key, box: Box, carried: Carried, lowest: int | None) -> None:
        known = self.table.find(key)
        if known is not None and known.carried.id != carried.id:
            self.displaced(known.carried, carried)
        self.table.place(key, box, carried, self.wall_ms(), lowest)

    def _left_behind(self, word: Carried) -> Key | None:
        """The record that the word of a move speaks of, if it is still here as it was."""
        key = (word.owner, stem_of(word.id))
        placed = self.table.find(key)
        if word.kind != MOVED or placed is None or placed.carried.id != word.id:
            return None
        is_left = placed.carried.kind != GONE and placed.carried.version < word.version
        return key if is_left else None
