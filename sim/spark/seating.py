"""The identifiers of a ring that grows, in rising order, each with a number beside it.

Law of this file: a plain container, pure numpy; it knows no placement.  With one array, half of it
would be moved for every peer that joins, which among half a million costs more than all else.  So
the newest stand apart, in a short row, and are merged into the long one when that is full; what
stands n-th in both together is found for many n at once.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sim.spark.rings import Numbers

NEWEST_MAX: Final = 1024
"""How many stand apart."""
_NEVER: Final = np.iinfo(np.int64).max


class Seating:
    """Rising identifiers, and a number beside each."""

    def __init__(self, newest_max: int = NEWEST_MAX) -> None:
        self.newest_max = newest_max
        """How many can be added after a `merge` before the next one."""
        self._merged = 0
        self._newest = 0
        self._ids = np.empty(newest_max, dtype=np.int64)
        """The long row, and behind it the short one."""
        self._beside = np.empty(newest_max, dtype=np.int64)
        """By place in `_ids`."""
        self._places = np.full(newest_max + 1, _NEVER)
        """By place in the short row: that in both together."""

    def __len__(self) -> int:
        return self._merged + self._newest

    def of(self, places: Numbers) -> tuple[Numbers, Numbers]:
        """The identifiers at these places, from 0, and the numbers beside them."""
        newer = np.searchsorted(self._places, places)
        at = np.where(self._places[newer] == places, self._merged + newer, places - newer)
        return self._ids[at], self._beside[at]

    def all(self) -> tuple[Numbers, Numbers]:
        """All identifiers, and the numbers beside them."""
        return self.of(np.arange(len(self)))

    def merged_before(self, ids: Numbers) -> Numbers:
        """How many of those that are merged stand before each; the same until the next `merge`."""
        return np.searchsorted(self._ids[: self._merged], ids)

    def newest_before(self, ids: Numbers) -> Numbers:
        """How many of those that stand apart stand before each."""
        return np.searchsorted(self._ids[self._merged : len(self)], ids)

    def add(self, new: int, beside: int) -> None:
        """An identifier that is not there yet, and the number beside it."""
        if self._newest == self.newest_max:
            self.merge()
        one = np.array([new])
        newer = int(self.newest_before(one)[0])
        place = newer + int(self.merged_before(one)[0])
        begin, end = self._merged + newer, len(self)
        for row, value in ((self._ids, new), (self._beside, beside)):
            row[begin + 1 : end + 1] = row[begin:end]
            row[begin] = value
        self._places[newer + 1 : self._newest + 1] = self._places[newer : self._newest] + 1
        self._places[newer] = place
        self._newest += 1

    def merge(self) -> None:
        """Put those that stand apart among the others."""
        room = np.empty(self.newest_max, dtype=np.int64)
        ids, beside = self.all()
        self._ids, self._beside = np.concatenate([ids, room]), np.concatenate([beside, room])
        self._merged, self._newest = len(ids), 0
        self._places.fill(_NEVER)
