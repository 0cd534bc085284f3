"""The intervals of a column that most rows have, by slot: what decides about many rows at once.

Law of this file: exact.  A slot that is not in the column holds NaN, which overlaps nothing and
misses nothing.  The rows of `index_store` say the same, but lie 144 bytes apart: to look at one
column of a thousand rows there takes five times as long.  Columns that few rows have go without:
16 bytes a slot for each of them would be more than all the rest (matching note, section 1).
"""

from __future__ import annotations

import numpy as np

from arms.index_bits import WORD_BITS, Slots
from arms.index_vocabulary import Floats


class Ends:
    """Where the intervals of a column begin and end; points are kept once."""

    __slots__ = ("_high", "_low")

    def __init__(self, slots: Slots, low: Floats, high: Floats, words: int) -> None:
        self._low = self._high = np.full(words * WORD_BITS, np.nan)
        self.put(slots, low, high)

    def put(self, slots: Slots, low: Floats, high: Floats) -> None:
        """Note the intervals of slots."""
        if self._high is self._low and high is not low and not np.array_equal(low, high):
            self._high = self._low.copy()
        self._low[slots] = low
        if self._high is not self._low:
            self._high[slots] = high

    def forget(self, slots: Slots) -> None:
        """The slots have none any more."""
        self._low[slots] = self._high[slots] = np.nan

    def reach(self, words: int) -> None:
        """Have room for so many words of slots."""
        points = self._high is self._low
        self._low = _longer(self._low, words)
        self._high = self._low if points else _longer(self._high, words)

    def relabel(self, old: Floats, new: Floats) -> None:
        """The labels were spaced anew."""
        for ends in (self._low,) if self._high is self._low else (self._low, self._high):
            labelled = np.isfinite(ends)
            ends[labelled] = new[np.searchsorted(old, ends[labelled])]

    def at(self, slots: Slots) -> tuple[Floats, Floats]:
        """The beginnings and ends of the slots' intervals."""
        low = self._low.take(slots)
        return low, low if self._high is self._low else self._high.take(slots)

    def meeting(self, slots: Slots, low: float, high: float) -> Slots:
        """Those of the slots whose interval overlaps [low, high]."""
        met = self._low.take(slots) <= high
        met &= self._high.take(slots) >= low
        found: Slots = slots[met]
        return found

    def without_misses(self, slots: Slots, low: float, high: float) -> Slots:
        """The slots without those whose interval does not overlap [low, high]."""
        missed = self._low.take(slots) > high
        missed |= self._high.take(slots) < low
        left: Slots = slots[np.invert(missed, missed)]
        return left

    def nbytes(self) -> int:
        """The bytes of it."""
        return self._low.nbytes + (0 if self._high is self._low else self._high.nbytes)


def _longer(ends: Floats, words: int) -> Floats:
    longer = np.full(words * WORD_BITS, np.nan)
    longer[: len(ends)] = ends
    return longer
