"""The shelf: what one peer keeps, in memory for matching, in the journal for ever.

Law of this file: nothing is put into memory before it is durable.  A record's number says when it
was written among all that its holders have seen (Lamport); it travels with it, so that watermarks
mean the same at every holder.  A change has a number of this shelf alone besides, so that a
hand-off can ask for "what changed since".  The journal keeps wall-clock expiry, everything else the
local clock (DESIGN sections 4 and 5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain

from arms import Profile, Record, Store
from chord import replace
from meteor.errors import ProfileError
from meteor.journal.journal import Entry, Journal, UnreadJournal
from meteor.journal.no_collections import no_collections
from meteor.keeping.attic import Attic
from meteor.keeping.expiry_clock import ExpiryClock
from meteor.keeping.out_of_reach import gives_way
from meteor.keeping.owed import Owed
from meteor.keeping.placement import (
    GONE,
    MOVED,
    Admission,
    Key,
    Keyed,
    Placed,
    journal_key,
    key_of,
    keyed,
)
from meteor.keeping.readable_shelf import PAGE_BYTES, ReadableShelf
from meteor.keeping.shelf_journal import Contents, Restored, anew, noted, read, row_of
from meteor.keeping.standing import is_earlier_elsewhere, is_numbered_later, is_renewal
from meteor.keeping.views import Views
from meteor.wire.operations import Carried
from meteor.wire.record_id import place_of, stem_of
from squid import Box, HilbertCurve, Intervals

OWED_AT_ONCE = 256
"""What is owed is looked at for so long in one turn."""


class Shelf(ReadableShelf):
    """All records, tombstones and holdings of one peer."""

    def __init__(
        self,
        store: Store,
        journal: Journal,
        curve: HilbertCurve,
        now: Callable[[], float],
        wall_clock: Callable[[], float],
        steady_clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(curve, now, ExpiryClock(steady_clock or now, wall_clock))
        self.store = store
        self._journal = journal
        self._is_written = not isinstance(journal, UnreadJournal)
        self.attic = Attic(curve, self._clock.as_written)
        self.owed = Owed()
        self._over: list[Key] = []
        """What had run out before this peer was started, and is in the journal still."""
        self.number = 0  # the latest that was drawn here, or heard of
        self._drawn: dict[int, Carried] = {}
        """The changes under way that have a number of their own, by it, the lowest first."""
        self.displaced: Callable[[Carried, Carried], None] = lambda _, __: None
        """Hears of a record that takes the place here of its own version from another region."""
        self.others: Callable[[], list[Entry]] = list
        """What others have in this journal by now, as far as they wrote it in this life."""
        self.given_way: Callable[[Carried, Carried], object] = lambda _, __: None
        """Hears of a delegate's record, which is to go, and what it gives way to."""
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
        or when they failed.  Behind them what they leave word of: see `leave`."""
        numbered: list[Carried] = []
        words: list[Carried] = []
        now_ms = self.wall_ms()
        for one in carried:
            known = self.table.find(key_of(one))
            numbered.append(replace(one, number=self._number_for(one, known)))
            if known is None or known.number != numbered[-1].number:
                self._drawn[numbered[-1].number] = numbered[-1]
            if known is not None and known.carried.ttl_ms > now_ms:
                word = self._word_over(numbered[-1], known.carried, now_ms)
                words += [] if word is None else [word]
        numbered += words
        self._begun.add(map(key_of, numbered), numbered)
        return numbered

    def leave(self, words: Iterable[Carried]) -> None:
        """Word shows of what is about to be followed by something that lives shorter; who shows
        that, in this very turn, finds it still here."""
        for word in words:
            if self.may_show(word):
                self.place(word)

    async def commit(self, numbered: Sequence[Carried]) -> None:
        """Return when these records are durable here, and what they take the place of is gone.

        Where no later life reads them they are not put into the form of rows: that is a tenth of
        what a store costs, and most of its memory once more."""
        if not self._is_written:
            await self.barrier()
            return
        keys = list(map(key_of, numbered))
        self._coming.add(keys, numbered)  # what comes with a word may be what is here from now on
        entries = [
            Entry(journal_key(key), row_of(one, self._curve))
            for key, one in zip(keys, self._clock.as_written(numbered), strict=True)
        ]
        for one in numbered:
            left = self._left_behind(one) if one.kind == MOVED else None
            if left is not None and not self._goes_on(left, one):
                entries.append(Entry(journal_key(left), None))
        await self._journal.append(entries)
        self._coming.remove(keys, numbered)

    def _goes_on(self, key: Key, word: Carried) -> bool:
        """Whether a record is written, beside the word that it lives elsewhere, or is over."""
        return self._coming.outlives(key, word) or self._begun.outlives(key, word)

    def end(self, numbered: Collection[Carried]) -> None:
        """The changes show, or will not."""
        for one in numbered:
            if self._drawn.get(one.number) is one:
                del self._drawn[one.number]
        self._begun.remove(map(key_of, numbered), numbered)

    def shown_up_to(self, number: int) -> int:
        """The latest up to this number before which nothing is under way: what another holder
        writes shows at once, also with a later number than what waits for a copy here."""
        return min(number, next(iter(self._drawn), number + 1) - 1)

    def place(self, carried: Carried) -> None:
        """Note where a record lives that the store has taken, or a tombstone."""
        _, box, lowest = place_of(carried.id, self._curve)
        self._place(key_of(carried), box, carried, lowest, self.wall_ms())

    def show(self, carried: Carried, profile: Profile | None = None) -> None:
        """Put a durable record, or a tombstone, into memory unmatched, if nothing later came."""
        key, now_ms = key_of(carried), self.wall_ms()
        if not self.table.may_show(key, carried, now_ms):
            return
        self.make_way(key, carried)
        place = place_of(carried.id, self._curve)
        if carried.kind == GONE:
            self.store.tombstone(*key, self._expires_s(carried))
        elif carried.kind == MOVED:
            left = self._left_behind(carried)
            if left is not None:
                self.store.remove(*left)
                self.table.remove(left, now_ms)
        else:
            record = self.record_of(carried, profile, place)
            if self.store.put(record, self._now()) == "same":
                self.store.update(record)
        _, box, lowest = place
        self._place(key, box, carried, lowest, now_ms)

    def make_way(self, key: Key, carried: Carried) -> Record | None:
        """What is here of a delegate's goes where this is out of his reach; returns it."""
        placed = self.table.find(key)
        if placed is None or not gives_way(placed.carried, carried):
            return None
        self.given_way(placed.carried, carried)
        self.table.remove(key, self.wall_ms())
        return self.store.remove(*key)

    def _keep_away(self, batch: Iterable[Keyed]) -> None:
        """What of these gives way to what is here, or on its way, is to go where it is."""
        for key, one in batch:
            for known in [its for its in self._states_of(key) if gives_way(one, its)]:
                self.given_way(one, known)

    async def admit(self, carried: Iterable[Carried], admission: Admission) -> None:
        """Take records of another holder in, without matching: their interval is not held here,
        or only as a copy.  They keep the numbers that they were given there.  All shows when this
        returns, also what a change of this peer's own, that waits for a silent copy, says too."""
        batch, now_ms = list(map(keyed, carried)), self.wall_ms()
        for key, one in batch:
            admission.enter(key, one)
        news = self._news(batch, now_ms, shown=True)
        later: list[Carried] = []
        if len(news) < len(batch):
            later = self._numbered_later(batch, {key for key, _, _ in news})
            self._keep_away(batch)
        words = self._words_over(batch, now_ms, either=True)
        changes = [one for _, one, _ in news] + later
        for one in changes:
            self.number = max(self.number, one.number, one.acknowledged)
        await self.commit(changes + words)
        self.leave(words)
        for key, one, profile in news:  # another one may have come meanwhile
            if self._is_news(key, one, self.wall_ms(), shown=True):
                self.take_in(one, profile)
        for one in later:
            placed = self.find(key_of(one))
            if placed is not None and is_numbered_later(one, placed.carried):
                self.show(one)

    def news_of(self, carried: Iterable[Carried], held: Intervals) -> list[Carried]:
        """What of these, that another holder writes here, is news of what is `held` as well: of
        what lies at several peers.  What was known was written by this peer, or is owed."""
        wide = [one for one in carried if self._is_wide(one)]
        return [one for one in self.news(wide) if self.meets(one, held)] if wide else []

    def _is_wide(self, carried: Carried) -> bool:
        try:
            return place_of(carried.id, self._curve)[2] is None
        except ProfileError:  # another peer says so
            return False

    def owe(self, changes: Iterable[Carried], held: Intervals) -> None:
        """These are here, and may not be with all copies of what of them is `held`."""
        for one in changes:
            if self.meets(one, held):
                self.owed.note(one)

    def owed_in(
        self, part: Intervals, keys: Iterable[Key] | None = None, box: Box | None = None
    ) -> Iterator[list[Carried]]:
        """What is owed of `part`, of some identities or all, as it is here when each page is asked
        for: what fits into one message, or nothing where many were looked at in vain.  Not what is
        followed by what is on its way: behind that it would be what a restart finds."""
        page, size = list[Carried](), 0
        for at, key in enumerate(self.owed if keys is None else keys, 1):
            placed = self.find(key) if key in self.owed else None
            if placed is None or (placed.is_point and self.owed.is_unseen(key)):
                self.owed.forget(key)  # a point has one holder: its copies have what he has
            elif placed.carried.ttl_ms <= self.wall_ms():
                self.owed.forget(key)
            elif (box is None or placed.box.intersection(box)) and self.meets(placed.carried, part):
                one = placed.carried
                if not self.is_over(one):
                    page.append(one)
                    size += len(one.blob) + 200
            if size >= PAGE_BYTES or at % OWED_AT_ONCE == 0:
                yield page
                page, size = [], 0
        if page:
            yield page

    def owes_within(self, keys: Iterable[Key], held: Intervals) -> None:
        """What of these is not answered for here any more is owed to nobody."""
        for key in keys:
            placed = self.find(key)
            if placed is None or not self.meets(placed.carried, held):
                self.owed.forget(key)

    def paid(self, written: Iterable[Carried], beyond: Intervals) -> None:
        """One's own copies have these, but for what of them lies `beyond`."""
        self.owed.paid(one for one in written if not self.meets(one, beyond))

    def _numbered_later(self, batch: Iterable[Keyed], news: Collection[Key]) -> list[Carried]:
        """Data that is here just as it came has the later of both numbers from now on: whoever
        wrote it beside what it had draws its marks over that.  Not what is being written anew."""
        found: list[Carried] = []
        for key, one in batch:
            placed = None if key in news else self.find(key)
            if placed is None or self.is_coming((key,)):
                continue
            if is_numbered_later(one, placed.carried):
                found.append(replace(placed.carried, number=one.number))
        return found

    def _number_for(self, carried: Carried, known: Placed | None) -> int:
        """The next number; of a renewal the one that the record has: its pairs are as old as they
        were, and an heir need not tell of them again."""
        if known is not None and is_renewal(carried, known.carried):
            return known.number
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
        durable = [one for one in self._begun if self.may_show(one)]
        records = [*(placed.carried for placed in self.table), *durable, *self._coming]
        written = self._clock.as_written(records)
        entries = anew(scan, written, self.attic, views, self._curve)
        # What others wrote while the scan was waited for is not in it: of a key the last counts.
        await self._journal.replace([*entries, *self.others()])

    # -- leaving things behind, and coming back

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

    async def erase_over(self, limit: int) -> None:
        """Forget in the journal, of what had run out before this peer was started, so many."""
        some = self._over[-limit:]
        del self._over[-limit:]
        await self.erase(some)

    def stones_over(self, limit: int) -> list[Key]:
        """Tombstones whose time is over, at most so many."""
        return self.table.stones_over(self.wall_ms(), limit)

    def forget_outside(self, held: Intervals) -> list[Key]:
        """Take from memory what lives in none of `held`; returns what to `erase`."""
        return self.forget(key for key in self.table.outside(held) if not self.needed(key))

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
        if found.damaged:
            await self._journal.append([found.loss])
        return found.restored(len(self.table))

    @no_collections()
    def _load(self, found: Contents) -> None:
        clock_s = self._now() - self._clock.now_s()
        self.table = found.loaded.begin(self.store, clock_s)
        self.number = found.loaded.number
        self._over = [*found.over, *(key_of(one) for one in self._expired_of(found))]
        now_ms = self.wall_ms()
        living: list[Record] = []
        for carried, profile, box, lowest in found.shown:
            if self._expires_s(carried) > self._now():
                self.number = max(self.number, carried.number, carried.acknowledged)
                place = stem_of(carried.id), box, lowest
                living.append(self.record_of(carried, profile, place))
                self._place(key_of(carried), box, carried, lowest, now_ms)
        self.store.load(living)
        for word in found.words:
            if self._expires_s(word) > self._now():
                self.number = max(self.number, word.number)
                self.show(word)
        for key, carried in found.stored:
            self.attic.restore(key, carried)

    def _expired_of(self, found: Contents) -> Iterator[Carried]:
        """What came one by one, and is over."""
        some = chain((carried for carried, *_ in found.shown), found.words)
        return (one for one in some if self._expires_s(one) <= self._now())

    def _place(
        self, key: Key, box: Box, carried: Carried, lowest: int | None, now_ms: int
    ) -> None:
        known = self.table.find(key)
        if known is not None and known.carried.id != carried.id:
            self.displaced(known.carried, carried)
        elif known is not None and is_earlier_elsewhere(carried, known):
            carried = replace(carried, number=known.number)
        self.table.place(key, box, carried, now_ms, lowest)
