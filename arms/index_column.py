"""A column of the index: all rows that have an interval at one path and on one axis.

Law of this file: bitmaps never lie.  Edges cut the axis into buckets; for every edge a bitmap says
which rows begin at or before its bucket (`starts`) and which end behind it (`ends`), so that any
overlap, point or range on either side, is two bitmaps whatever its width.  In a column that
`marks_misses` the same bitmaps are kept complemented within the rows that are here.  The extremes
of each bucket say whether the bucket in which a question ends is decided too: then the bitmaps are
exact.  Edges steer speed, never the answer (matching note, sections 1 and 5).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Final, NamedTuple

import numpy as np

from arms.index_bits import (
    Slots,
    Words,
    clear_bits,
    empty_words,
    grown,
    masks_of,
    packed,
    set_bits,
)
from arms.index_vocabulary import Floats, Vocabulary
from arms.values import TOP, WORDS, Value

MOST_EDGES: Final = 63
_SAMPLED: Final = 4096
"""From so many ends on, edges are chosen from a sample."""
_ABSENT: Final = 255
FEW: Final = 64
RARE: Final = 512
"""A column that fewer than one in so many rows have keeps their slots, no bitmaps."""


class Cut(NamedTuple):
    """Which bitmaps answer a question: rows that begin in a bucket up to `start` and end in one
    above `end` may overlap it, those of `sure_start` and `sure_end` surely do."""

    start: int
    end: int
    sure_start: int
    sure_end: int

    @property
    def is_exact(self) -> bool:
        """Whether the bitmaps alone decide."""
        return self.start == self.sure_start and self.end == self.sure_end


class Column:
    """The intervals at one path and axis; the rows themselves lie in the table's store."""

    __slots__ = (
        "_extremes", "_marks_misses", "axis", "count", "edges", "ends", "has", "path", "planned",
        "rare", "starts", "vocabulary",
    )  # fmt: skip

    def __init__(self, path: str, axis: int, *, marks_misses: bool) -> None:
        self.path, self.axis = path, axis
        self._marks_misses = marks_misses
        self.vocabulary = Vocabulary() if axis == WORDS else None
        self.count = 0
        self.planned = FEW
        """It is built anew when so many rows are here."""
        self.rare: set[int] | None = set()
        self.edges: list[float] = []
        self.has = empty_words(0)
        self.starts = self.ends = np.zeros((0, 0), np.uint64)
        self._extremes = _no_extremes(0)

    # -- values as floats

    def stored(self, value: Value) -> tuple[float, float] | None:
        """The ends of a value to keep; None when the words must be labelled anew first."""
        words = self.vocabulary
        if words is None:
            return float(value[1]), float(value[2])
        first, last = str(value[1]), str(value[2])
        low = _OUTERMOST[first] if first in _OUTERMOST else words.learn(first)
        high = _OUTERMOST[last] if last in _OUTERMOST else words.learn(last)
        if low is None or high is None:
            return None
        return low, high

    def asked(self, value: Value) -> tuple[float, float]:
        """The ends of a value to ask for."""
        words = self.vocabulary
        if words is None:
            return float(value[1]), float(value[2])
        return words.lowest_at(str(value[1])), words.highest_at(str(value[2]))

    def relabelled(self, old: Floats, new: Floats) -> None:
        """The labels were spaced anew: the order stays, and with it the bitmaps."""
        self.edges = new[np.searchsorted(old, self.edges)].tolist() if self.edges else []
        for extreme in self._extremes:
            labelled = np.isfinite(extreme)
            extreme[labelled] = new[np.searchsorted(old, extreme[labelled])]

    # -- changes

    def enter(self, slots: Slots, low: Floats, high: Floats, words: int) -> None:
        """Note rows, in order of their slots; the table has `words` words."""
        self.count += len(slots)
        if self.rare is not None:
            self.rare.update(slots.tolist())
            return
        self.reach(words)
        set_bits(self.has, slots)
        first = np.searchsorted(self.edges, low, "right")
        last = np.searchsorted(self.edges, high, "right")
        _widen(self._extremes, first, last, low, high)
        places, _ = masks_of(slots)
        if not self.edges:
            return
        cuts = np.arange(len(self.edges))[:, None]
        for bits, marked in (
            (self.starts, (cuts >= first) ^ self._marks_misses),
            (self.ends, (cuts < last) ^ self._marks_misses),
        ):
            bits[:, places] |= _gathered(marked, slots)

    def leave(self, slots: Slots) -> None:
        """Forget rows, given in order of their slots."""
        self.count -= len(slots)
        if self.rare is not None:
            self.rare.difference_update(slots.tolist())
            return
        clear_bits(self.has, slots)
        if self.edges:
            places, masks = masks_of(slots)
            self.starts[:, places] &= ~masks
            self.ends[:, places] &= ~masks

    def reach(self, words: int) -> None:
        """Have bitmaps of at least so many words."""
        if len(self.has) < words:
            self.has = grown(self.has, words)
            self.starts, self.ends = grown(self.starts, words), grown(self.ends, words)

    def is_stale(self, used: int) -> bool:
        """Whether it was planned for far fewer or far more rows, of `used` in the table."""
        if self.count >= self.planned or 8 * self.count < self.planned > FEW:
            return True
        return self.rare is None and 4 * RARE * self.count < used

    def rebuild(
        self, slots: Slots, low: Floats, high: Floats, used: int, words: int, edges: int
    ) -> None:
        """Plan anew for the rows that are here, of `used` in the table, with at most so many
        edges."""
        self.count = len(slots)
        self.planned = max(FEW, 2 * len(slots))
        if len(slots) < FEW or len(slots) * RARE < used:
            self.rare = set(slots.tolist())
            self.edges, self.has = [], empty_words(0)
            self.starts = self.ends = np.zeros((0, 0), np.uint64)
            return
        self.rare = None
        self.edges = _chosen_edges(low, high, edges)
        self.has = empty_words(words)
        set_bits(self.has, slots)
        first = np.searchsorted(self.edges, low, "right")
        last = np.searchsorted(self.edges, high, "right")
        self._extremes = _no_extremes(len(self.edges))
        _widen(self._extremes, first, last, low, high)
        self._mark(slots, first, last, words)

    def _mark(self, slots: Slots, first: Slots, last: Slots, words: int) -> None:
        """Fill the bitmaps; rows that are not here have a bit in none."""
        misses = self._marks_misses
        starts = np.full(words * 64, 0 if misses else _ABSENT, np.uint8)
        ends = np.full(words * 64, _ABSENT if misses else 0, np.uint8)
        starts[slots], ends[slots] = first, last
        self.starts = np.zeros((len(self.edges), words), np.uint64)
        self.ends = np.zeros((len(self.edges), words), np.uint64)
        for cut in range(len(self.edges)):
            self.starts[cut] = packed(starts > cut if misses else starts <= cut)
            self.ends[cut] = packed(ends <= cut if misses else ends > cut)

    # -- questions

    def cut(self, low: float, high: float) -> Cut:
        """Which bitmaps answer the question for an overlap with [low, high]."""
        first_low, last_low, first_high, last_high = self._extremes
        start = sure_start = bisect_right(self.edges, high)
        if last_low[start] > high:
            sure_start -= 1
            if first_low[start] > high:
                start -= 1
        bucket = bisect_right(self.edges, low)
        end = sure_end = bucket - 1
        if first_high[bucket] < low:
            sure_end += 1
            if last_high[bucket] < low:
                end += 1
        return Cut(start, end, sure_start, sure_end)

    def nbytes(self) -> int:
        """The bytes of its bitmaps and sets; words and labels come on top."""
        kept = 32 * len(self.rare) if self.rare is not None else 0
        return kept + self.has.nbytes + self.starts.nbytes + self.ends.nbytes


_OUTERMOST: Final = {"": -math.inf, TOP: math.inf}


def _chosen_edges(low: Floats, high: Floats, most: int) -> list[float]:
    """Ends that cut what is stored into buckets of about one size; where few values are in use,
    each gets a bucket of its own."""
    ends = np.concatenate([low, high])
    ends = ends[np.isfinite(ends)]
    ends = np.sort(ends[:: 1 + len(ends) // _SAMPLED])
    if not len(ends) or not most:
        return []
    different = np.unique(ends)
    if len(different) > most:
        places = np.linspace(0, len(ends) - 1, most + 2)[1:-1].astype(np.intp)
        different = np.unique(ends[places])
    edges: list[float] = different.tolist()
    return edges


def _no_extremes(edges: int) -> tuple[Floats, Floats, Floats, Floats]:
    """The lowest and highest beginning, and the lowest and highest end, of every bucket."""
    lowest, highest = np.full(edges + 1, math.inf), np.full(edges + 1, -math.inf)
    return lowest, highest, lowest.copy(), highest.copy()


def _widen(
    extremes: tuple[Floats, Floats, Floats, Floats],
    first: Slots,
    last: Slots,
    low: Floats,
    high: Floats,
) -> None:
    first_low, last_low, first_high, last_high = extremes
    np.minimum.at(first_low, first, low)
    np.maximum.at(last_low, first, low)
    np.minimum.at(first_high, last, high)
    np.maximum.at(last_high, last, high)


def _gathered(marked: np.ndarray[tuple[int, int], np.dtype[np.bool_]], slots: Slots) -> Words:
    """The bits of the marked slots, one line for every cut, one column for every word in use."""
    places = slots >> 6
    bits = np.uint64(1) << (slots & 63).astype(np.uint64)
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    gathered: Words = np.bitwise_or.reduceat(np.where(marked, bits, np.uint64(0)), starts, axis=1)
    return gathered
