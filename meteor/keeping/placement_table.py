"""What lies where on one shelf, and when it came there.

Law of this file: pure bookkeeping, no journal and no clock of its own.  Every change here has a
number of this table alone, ascending, so that a hand-off can ask for "what changed since"; the
fingerprints follow every change.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import islice
from typing import Final

from meteor.keeping.change_log import ChangeLog
from meteor.keeping.fingerprints import Fingerprints
from meteor.keeping.holdings import Intervals
from meteor.keeping.placement import GONE, MOVED, Key, Placed, key_of, lowest_in
from meteor.keeping.plain_rows import PlainRows
from meteor.keeping.resting_rows import RestingRows
from meteor.keeping.standing import is_before, is_later
from meteor.wire.operations import Carried
from squid import Box, HilbertCurve, Interval

ROUNDED_MS: Final = 1000
"""A tombstone that is over by so much before its end is noted waits for that: whoever sends one
rounds its time down."""

SPARSE_MIN: Final = 64
"""So much of what is out of date is let be in any case."""


class _Grave:
    """What one delete buried, in its order; lists, as they grow without being made anew."""

    __slots__ = ("changes", "here", "keys")

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.changes = array("q")
        """What has changed since is none of its any more."""
        self.here = 0
        """How many are still as it left them."""

    def enter(self, key: Key, change: int) -> None:
        """A tombstone shows."""
        self.keys.append(key)
        self.changes.append(change)
        self.here += 1

    @property
    def is_sparse(self) -> bool:
        """Whether most of it is none of its any more."""
        return len(self.keys) > 2 * self.here + SPARSE_MIN

    def keep(self, still: Iterable[Placed]) -> None:
        """Only these are; in other lists, as somebody may just go through the former."""
        kept = [(key_of(placed.carried), placed.change) for placed in still]
        self.keys = [key for key, _ in kept]
        self.changes = array("q", [change for _, change in kept])


class PlacementTable:
    """Records and tombstones by identity, by place, and by the order in which they came."""

    def __init__(self, curve: HilbertCurve) -> None:
        self._curve = curve
        self._placed: dict[Key, Placed | int] = {}
        """Of what rests since the last start, and nobody has asked for, its number there."""
        self._resting: RestingRows | None = None
        self._graves: dict[bytes, _Grave] = {}
        """By the delete that dug them."""
        self._changes = ChangeLog()
        self._stones: list[tuple[int, Key]] = []
        self._ends: dict[Key, int] = {}
        """Which of these counts: the earliest of an identity, be a tombstone there now or not."""
        self.fingerprints = Fingerprints(curve)

    def __len__(self) -> int:
        return len(self._placed)

    def __contains__(self, key: Key) -> bool:
        return key in self._placed

    def __iter__(self) -> Iterator[Placed]:
        return map(self.__getitem__, self._placed)

    def __getitem__(self, key: Key) -> Placed:
        placed = self._placed[key]
        if type(placed) is not Placed:
            assert isinstance(placed, int), "what is not placed rests"
            placed = self._placed[key] = self._woken(placed)
        return placed

    def stones(self) -> list[Key]:
        """The keys of tombstones and words, of some that are over by now as well."""
        return [key for _, key in self._stones]

    def find(self, key: Key) -> Placed | None:
        """The record or tombstone of an identity."""
        return self[key] if key in self._placed else None

    def has_moved_on(self, carried: Carried) -> bool:
        """Whether word was left here that this very record lives elsewhere in a later version, or
        was followed by one that may be over; what was deleted lives nowhere."""
        key = (carried.owner, carried.id)
        if carried.kind == GONE or key not in self._placed:
            return False
        return is_before(carried, self[key].carried)

    def known(self, key: Key, now_ms: int) -> Carried | None:
        """What is known of an identity, and not over: not swept yet, it is as if not there."""
        carried = self[key].carried if key in self._placed else None
        return None if carried is None or carried.ttl_ms <= now_ms else carried

    def may_show(self, key: Key, carried: Carried, now_ms: int) -> bool:
        """Whether nothing that shows counts more than what was decided some time ago."""
        known = self.known(key, now_ms)
        if known is not None and is_later(known, carried):
            return False
        return not self.has_moved_on(carried)

    def point_indexes(self, stride: int) -> tuple[list[int], list[int]]:
        """Where they live, of every `stride`-th record those that live at one index; and of these
        what everybody may see."""
        found: list[int] = []
        public: list[int] = []
        for key in islice(self._placed, 0, None, stride):
            number, lowest = self._placed[key], self._resting_point(key)
            if lowest is None:
                placed = self[key]
                if not placed.is_point or placed.carried.kind in {GONE, MOVED}:
                    continue
                lowest, is_hidden = placed.lowest, bool(placed.carried.visible_to)
            else:
                assert self._resting is not None, "what has a number rests"
                assert isinstance(number, int), "what rests has a number"
                is_hidden = self._resting.is_hidden(number)
            found.append(lowest)
            if not is_hidden:
                public.append(lowest)
        return found, public

    def buried(self, operation: bytes) -> Iterator[Placed]:
        """The tombstones that this delete put here, or where it was handed over from; looked at
        one by one, as there may be a hundred thousand, and without those that go meanwhile."""
        grave = self._graves.get(operation)
        return iter(()) if grave is None else self._in(grave)

    def _in(self, grave: _Grave) -> Iterator[Placed]:
        entered = zip(grave.keys, grave.changes, strict=True)
        return self._still(islice(entered, len(grave.keys)))  # as it is now: it may be thinned out

    def _still(self, entered: Iterable[tuple[Key, int]]) -> Iterator[Placed]:
        for key, change in entered:
            placed = self.find(key)
            if placed is not None and placed.change == change:
                yield placed

    def meets(self, placed: Placed, interval: Interval) -> bool:
        """Whether a record lives in an interval."""
        if placed.is_point:
            return interval[0] <= placed.lowest <= interval[1]
        return self._curve.has_match(placed.box, *interval)

    def changed_after(self, cursor: int, interval: Interval) -> Iterator[tuple[int, Placed]]:
        """What lives in an interval and changed after `cursor`, oldest change first."""
        for number, key in self._changes.after(cursor):
            if self._lives_in(key, interval):  # what rests and lives elsewhere is left to rest
                yield number, self[key]

    @property
    def newest(self) -> int:
        """The number of the last change."""
        return self._changes.newest

    def outside(self, intervals: Intervals) -> list[Key]:
        """What lives in none of these intervals."""
        return [
            key
            for key in self._placed
            if not any(self._lives_in(key, interval) for interval in intervals)
        ]

    def place(
        self, key: Key, box: Box, carried: Carried, now_ms: int, lowest: int | None = None
    ) -> None:
        """A record or tombstone shows, in the place of what had its identity; `lowest` saves
        looking for the lowest index of its box."""
        if lowest is None:
            lowest = lowest_in(self._curve, box)
        former = self._placed.get(key)
        if former is not None:
            self._left(former, now_ms)
        placed = Placed(box, lowest, carried.number, carried, self._changes.add(key))
        # In the former's place: with each of a hundred thousand taken out and put in anew, the
        # dictionary would have to be made anew at once.
        self._placed[key] = placed
        self.fingerprints.add(placed)
        if carried.kind in {GONE, MOVED}:
            self._note_end(key, carried.ttl_ms)
        if carried.operation:
            grave = self._graves.setdefault(carried.operation, _Grave())
            grave.enter(key, placed.change)
            if grave.is_sparse:
                grave.keep(self._in(grave))

    def load(self, rows: PlainRows) -> tuple[RestingRows, Mapping[Key, int]]:
        """Records of an empty shelf, at rest, in the order in which they were written; their number
        by key, to be copied before anything else comes."""
        assert not self._placed, "loaded before anything else comes"
        resting = RestingRows(rows, self._changes.extend(rows.keys))
        self._resting = resting
        numbers = dict(zip(rows.keys, range(len(rows.keys)), strict=True))
        self._placed = numbers  # type: ignore[assignment]  # a million keys: no second dictionary
        self.fingerprints.load(
            rows.fingerprints, rows.words, rows.points, rows.lowest, resting.placed
        )
        return resting, numbers

    def remove(self, key: Key, now_ms: int) -> None:
        """It shows no more; harmless when it did not."""
        placed = self._placed.pop(key, None)
        if placed is not None:
            self._left(placed, now_ms)

    def _left(self, placed: Placed | int, now_ms: int) -> None:
        if isinstance(placed, int):
            placed = self._woken(placed)
        self._changes.drop(placed.change)
        self.fingerprints.remove(placed, now_ms)
        if self._resting is not None:
            self._resting.forget(placed)
        if placed.carried.operation:
            grave = self._graves[placed.carried.operation]
            grave.here -= 1
            if not grave.here:
                del self._graves[placed.carried.operation]

    def _note_end(self, key: Key, until_ms: int) -> None:
        """Of a tombstone, where none is noted before that: whoever comes to it finds what is there
        then.  Most come again and again, as copies do, each time for a little less."""
        noted_ms = self._ends.get(key)
        if noted_ms is None or until_ms < noted_ms - ROUNDED_MS:
            self._ends[key] = until_ms
            heappush(self._stones, (until_ms, key))

    def stones_over(self, now_ms: int, limit: int) -> list[Key]:
        """Tombstones whose time is over, at most so many; each is named once."""
        over: list[Key] = []
        while self._stones and self._stones[0][0] <= now_ms and len(over) < limit:
            end_ms, key = heappop(self._stones)
            if self._ends.get(key) != end_ms:
                continue  # an earlier one was noted since
            del self._ends[key]
            placed = self.find(key)
            if placed is None or placed.carried.kind not in {GONE, MOVED}:
                continue
            if placed.carried.ttl_ms > now_ms:  # a later one took the place of the one named
                self._note_end(key, placed.carried.ttl_ms)
            else:
                over.append(key)
        return over

    def _lives_in(self, key: Key, interval: Interval) -> bool:
        lowest = self._resting_point(key)
        if lowest is None:
            return self.meets(self[key], interval)
        return interval[0] <= lowest <= interval[1]

    def _resting_point(self, key: Key) -> int | None:
        """The index of what rests and lives at one, without an object for it."""
        number = self._placed[key]
        if self._resting is None or not isinstance(number, int):
            return None
        return self._resting.point(number)

    def _woken(self, number: int) -> Placed:
        assert self._resting is not None, "what has a number rests"
        return self._resting.placed(number)
