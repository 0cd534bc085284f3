"""What lies where on one shelf, and when it came there.

Law of this file: pure bookkeeping, no journal and no clock of its own.  Every change here has a
number of this table alone, ascending, so that a hand-off can ask for "what changed since"; the
fingerprints follow every change.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from arms import made_in_bulk
from meteor.keeping.change_log import ChangeLog
from meteor.keeping.fingerprints import Fingerprints
from meteor.keeping.holdings import Intervals
from meteor.keeping.placement import GONE, MOVED, Key, Placed, lowest_in
from meteor.keeping.plain_rows import PlainRows
from meteor.wire.operations import Carried
from squid import Box, HilbertCurve, Interval


class PlacementTable:
    """Records and tombstones by identity, by place, and by the order in which they came."""

    def __init__(self, curve: HilbertCurve) -> None:
        self._curve = curve
        self._placed: dict[Key, Placed] = {}
        self._buried: dict[bytes, dict[Key, None]] = {}
        """What each delete buried here."""
        self._changes = ChangeLog()
        self._stones: list[tuple[int, Key]] = []
        self.fingerprints = Fingerprints(curve)

    def __len__(self) -> int:
        return len(self._placed)

    def __contains__(self, key: Key) -> bool:
        return key in self._placed

    def __iter__(self) -> Iterator[Placed]:
        return iter(self._placed.values())

    def __getitem__(self, key: Key) -> Placed:
        return self._placed[key]

    def find(self, key: Key) -> Placed | None:
        """The record or tombstone of an identity."""
        return self._placed.get(key)

    def buried(self, operation: bytes) -> list[Placed]:
        """The tombstones that this delete put here, or where it was handed over from."""
        return [self._placed[key] for key in self._buried.get(operation, ())]

    def meets(self, placed: Placed, interval: Interval) -> bool:
        """Whether a record lives in an interval."""
        if placed.is_point:
            return interval[0] <= placed.lowest <= interval[1]
        return self._curve.has_match(placed.box, *interval)

    def changed_after(self, cursor: int, interval: Interval) -> Iterator[tuple[int, Placed]]:
        """What lives in an interval and changed after `cursor`, oldest change first."""
        for number, key in self._changes.after(cursor):
            placed = self._placed[key]
            if self.meets(placed, interval):
                yield number, placed

    @property
    def newest(self) -> int:
        """The number of the last change."""
        return self._changes.newest

    def outside(self, intervals: Intervals) -> list[Key]:
        """What lives in none of these intervals."""
        return [
            key
            for key, placed in self._placed.items()
            if not any(self.meets(placed, interval) for interval in intervals)
        ]

    def place(
        self, key: Key, box: Box, carried: Carried, now_ms: int, lowest: int | None = None
    ) -> None:
        """A record or tombstone shows, in the place of what had its identity; `lowest` saves
        looking for the lowest index of its box."""
        if lowest is None:
            lowest = lowest_in(self._curve, box)
        self.remove(key, now_ms)
        placed = Placed(box, lowest, carried.number, carried, self._changes.add(key))
        self._placed[key] = placed
        self.fingerprints.add(placed)
        if carried.kind in {GONE, MOVED}:
            heappush(self._stones, (carried.ttl_ms, key))
        if carried.operation:
            self._buried.setdefault(carried.operation, {})[key] = None

    def load(self, rows: PlainRows) -> list[Placed]:
        """Records of an empty shelf, at rest, in the order in which they were written."""
        assert not self._placed, "loaded before anything else comes"
        count = len(rows.keys)
        first = self._changes.extend(rows.keys)
        placed = made_in_bulk(
            Placed, count,
            rest=rows.values, lowest=rows.lowest, number=rows.numbers.tolist(),
            change=range(first, first + count), is_point=rows.points.tolist(),
        )  # fmt: skip
        self._placed.update(zip(rows.keys, placed, strict=True))
        self.fingerprints.load(rows.fingerprints, rows.words, rows.points, placed)
        return placed

    def remove(self, key: Key, now_ms: int) -> None:
        """It shows no more; harmless when it did not."""
        placed = self._placed.pop(key, None)
        if placed is None:
            return
        self._changes.drop(placed.change)
        self.fingerprints.remove(placed, now_ms)
        if placed.carried.operation:
            buried = self._buried[placed.carried.operation]
            del buried[key]
            if not buried:
                del self._buried[placed.carried.operation]

    def stones_over(self, now_ms: int, limit: int) -> list[Key]:
        """Tombstones whose time is over, at most so many; each is named once."""
        over: list[Key] = []
        while self._stones and self._stones[0][0] <= now_ms and len(over) < limit:
            _, key = heappop(self._stones)
            placed = self._placed.get(key)
            if placed is not None and placed.carried.kind in {GONE, MOVED}:
                over.append(key)
        return over
