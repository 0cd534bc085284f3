"""A column of the index: all rows that have an interval at one path and on one axis.

Law of this file: bitmaps never lie.  Edges cut the axis into buckets; for every edge one bitmap
says which rows begin at or before its bucket, another which end behind it, so that any overlap,
point or range on either side, is two bitmaps whatever its width.  In a column that `marks_misses`
the bitmaps say the contrary, and those of the ends hold what begins behind the next bucket too:
all that a question within that bucket misses, and most questions there are points.  The extremes
of each bucket say whether the bucket in which a question ends is decided too: then the bitmaps are
exact.  Edges steer speed, never the answer (matching note, sections 1 and 5).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Final

import numpy as np

from arms.index_bits import (
    WORD_BITS,
    Batch,
    Slots,
    Words,
    each_once,
    empty_words,
    grown,
    slots_in,
)
from arms.index_ends import Ends
from arms.index_vocabulary import Floats, Vocabulary
from arms.values import TOP, WILDCARD, WORDS, Value

MOST_EDGES: Final = 63
MOST_EDGES_OF_FEW: Final = 254
"""Of columns with so few rows that the bitmaps are made in no time all the same."""
_MARKED_AT_ONCE: Final = 1 << 21
"""Rows times edges of which that is true."""
_SAMPLED: Final = 4096
"""From so many ends on, edges are chosen from a sample."""
_COMPARED: Final = 1 << 12
"""From so many ends on, to compare all with each edge is quicker than to search for each."""
_SPARE_FROM: Final = 8
"""Room for one word in 8 to 15 more, so that columns do not all grow in the same moment."""
FEW: Final = 64
RARE: Final = 512
"""A column that fewer than one in so many rows have keeps their slots, no bitmaps."""
MOST: Final = 2
"""A column that one in so many rows have keeps their intervals beside the bitmaps."""


Cut = tuple[int, int, int, int]
"""Which bitmaps answer a question: rows that begin in a bucket up to the first number and end in
one above the second may overlap it, those of the third and fourth surely do."""


def is_exact(cut: Cut) -> bool:
    """Whether the bitmaps alone decide."""
    return cut[0] == cut[2] and cut[1] == cut[3]


class Column:
    """The intervals at one path and axis; the rows themselves lie in the table's store."""

    __slots__ = (
        "_decided", "_edges", "_extremes", "_marks_misses", "axis", "bits", "count", "edges",
        "ends", "has", "path", "planned", "rare", "vocabulary",
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
        self._edges: Floats = np.zeros(0)
        """The same side by side in memory: numbers of their own lie all over it."""
        self.has = empty_words(0)
        self.bits = _NO_BITMAPS
        """A line for every edge of beginnings, then one for every edge of ends."""
        self.ends: Ends | None = None
        """The intervals themselves, where most rows have one."""
        self._extremes = _no_extremes(0)
        self._decided: tuple[list[float], ...] | None = None
        """The same for single reads, once there is one."""

    # -- values as floats

    def stored(self, value: Value) -> tuple[float, float] | None:
        """The ends of a value to keep; None when the words must be labelled anew first."""
        words = self.vocabulary
        if words is None:
            return float(value[1]), float(value[2])
        first, last = str(value[1]), str(value[2])
        low = OUTERMOST[first] if first in OUTERMOST else words.learn(first)
        if first == last:
            return None if low is None else (low, low)
        high = OUTERMOST[last] if last in OUTERMOST else words.learn(last)
        if low is None or high is None:
            return None
        return low, high

    def asked(self, value: Value) -> tuple[float, float]:
        """The ends of a value to ask for."""
        words = self.vocabulary
        if words is None:
            return float(value[1]), float(value[2])
        return words.ends_of(str(value[1]), str(value[2]))

    def relabelled(self, old: Floats, new: Floats) -> None:
        """The labels were spaced anew: the order stays, and with it the bitmaps."""
        if self.edges:
            self._cut_at(new[np.searchsorted(old, self._edges)])
        for extreme in self._extremes:
            labelled = np.isfinite(extreme)
            extreme[labelled] = new[np.searchsorted(old, extreme[labelled])]
        if self.ends is not None:
            self.ends.relabel(old, new)
        self._decided = None

    # -- changes

    def enter(self, slots: Slots, low: Floats, high: Floats, words: int) -> None:
        """Note rows, in order of their slots; the table has `words` words."""
        self.count += len(slots)
        if self.rare is not None:
            self.rare.update(slots.tolist())
            return
        self.reach(words)
        self._mark(slots, low, high)
        if self.ends is not None:
            self.ends.put(slots, low, high)

    def leave(self, slots: Slots) -> None:
        """Forget rows, given in order of their slots."""
        self.count -= len(slots)
        if self.rare is not None:
            self.rare.difference_update(slots.tolist())
            return
        batch = Batch.of(slots)
        where, others = batch.where(), ~batch.masks()
        self.has[where] &= others
        if self.edges:
            self.bits[:, where] &= others
        if self.ends is not None:
            self.ends.forget(slots)

    def reach(self, words: int) -> None:
        """Have bitmaps of at least so many words."""
        if len(self.has) < words:
            room = words + words // (_SPARE_FROM + self.count % _SPARE_FROM)
            self.has, self.bits = grown(self.has, room), grown(self.bits, room)
            if self.ends is not None and 2 * MOST * self.count < room * WORD_BITS:
                self.ends = None
            elif self.ends is not None:
                self.ends.reach(room)

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
        self.ends = None
        if len(slots) < FEW or len(slots) * RARE < used:
            self.rare = set(slots.tolist())
            self._cut_at(np.zeros(0))
            self.has, self.bits = empty_words(0), _NO_BITMAPS
            return
        self.rare = None
        most = min(edges, edges_for(len(slots)))
        self._cut_at(_chosen_edges(low, high, most) if self.axis > WILDCARD else np.zeros(0))
        self.has = empty_words(words)
        self.bits = np.zeros((2 * len(self.edges), words), np.uint64)
        self._extremes, self._decided = _no_extremes(len(self.edges)), None
        self._mark(slots, low, high)
        if self.axis > WILDCARD and MOST * len(slots) >= used:
            self.ends = Ends(slots, low, high, words)

    def _cut_at(self, edges: Floats) -> None:
        self._edges, self.edges = edges, edges.tolist()

    def _buckets(self, low: Floats, high: Floats) -> tuple[Slots, Slots]:
        """The buckets in which intervals begin and end, of whose extremes note is taken."""
        first = _buckets_of(low, self._edges)
        last = first if high is low else _buckets_of(high, self._edges)
        first_low, last_low, first_high, last_high = self._extremes
        np.minimum.at(first_low, first, low)
        np.maximum.at(last_low, first, low)
        np.minimum.at(first_high, last, high)
        np.maximum.at(last_high, last, high)
        self._decided = None
        return first, last

    def _mark(self, slots: Slots, low: Floats, high: Floats) -> None:
        """Let the bitmaps know of rows, some thousand at a time."""
        for first in range(0, len(slots), _ROWS_AT_ONCE):
            some = slice(first, first + _ROWS_AT_ONCE)
            self._mark_some(slots[some], low[some], high[some])

    def _mark_some(self, slots: Slots, low: Floats, high: Floats) -> None:
        """The same of a few; one that is not here has a bit in none."""
        batch = Batch.of(slots)
        where, masks = batch.where(), batch.masks()
        self.has[where] |= masks
        if self.axis <= WILDCARD:
            return
        first, last = self._buckets(low, low if (low == high).all() else high)
        if not self.edges:
            return
        edges = len(self.edges)
        started = batch.up_to(first, edges)
        ended = started if last is first else batch.up_to(last, edges)
        if self._marks_misses:
            started = started ^ masks
            ended[:-1] |= started[1:]
        else:
            ended = ended ^ masks
        self.bits[:edges, where] |= started
        self.bits[edges:, where] |= ended

    # -- questions

    def cut(self, low: float, high: float) -> Cut:
        """Which bitmaps answer the question for an overlap with [low, high]."""
        decided = self._decided
        if decided is None:
            decided = self._decided = _as_lists(self._extremes)
        first_low, last_low, first_high, last_high = decided
        edges = self.edges
        start = sure_start = bucket = bisect_right(edges, high)
        if last_low[start] > high:
            sure_start -= 1
            if first_low[start] > high:
                start -= 1
        if low != high:
            bucket = bisect_right(edges, low)
        end = sure_end = bucket - 1
        if first_high[bucket] < low:
            sure_end += 1
            if last_high[bucket] < low:
                end += 1
        return start, end, sure_start, sure_end

    def bitmaps(self, start: int, end: int, words: int) -> list[Words] | None:
        """The bitmaps that together narrow the rows to those of a cut's two numbers; or None where
        no row is one of them.  Without any, all rows that are here are."""
        edges = len(self.edges)
        if start < 0 or end >= edges:
            return None
        if end < 0:
            return [self.bits[start, :words]] if start < edges else []
        if start >= edges or (self._marks_misses and start == end + 1):
            return [self._end_line(start, end, words)]  # of a point, all that it misses
        return [self.bits[start, :words], self._end_line(start, end, words)]

    def tighter(self, cut: Cut, words: int) -> list[Words] | None:
        """The bitmaps that narrow the rows that may overlap to those that surely do; or None
        where no row surely does."""
        start, end, sure_start, sure_end = cut
        edges = len(self.edges)
        if sure_start < 0 or sure_end >= edges:
            return None
        lines = []
        if sure_start != start:
            lines.append(self.bits[sure_start, :words])
        if sure_end != end:
            lines.append(self._end_line(sure_start, sure_end, words))
        return lines

    def _end_line(self, start: int, end: int, words: int) -> Words:
        """The bitmap of the ends, which a line of the beginnings may have come into."""
        line = self.bits[len(self.edges) + end, :words]
        if self._marks_misses and start > end + 1:
            return line & ~self.bits[end + 1, :words]
        return line

    def slots(self) -> Slots:
        """The slots of all rows that are here, in order."""
        return slots_in(self.has) if self.rare is None else self.rare_slots()

    def rare_slots(self) -> Slots:
        """The slots of a column without bitmaps, in order."""
        slots = np.fromiter(self.rare or (), np.intp)
        slots.sort()
        return slots

    def nbytes(self) -> int:
        """The bytes of its bitmaps and sets; words and labels come on top."""
        kept = 32 * len(self.rare) if self.rare is not None else 0
        ends = 0 if self.ends is None else self.ends.nbytes()
        return kept + self.has.nbytes + self.bits.nbytes + ends


_ROWS_AT_ONCE: Final = 1 << 14
"""What is made of them for all edges and thrown away stays in the processor's memory."""


def edges_for(rows: int) -> int:
    """How many edges a column of so many rows may have."""
    return max(MOST_EDGES, min(MOST_EDGES_OF_FEW, _MARKED_AT_ONCE // max(1, rows)))


_NO_BITMAPS: Final = np.zeros((0, 0), np.uint64)
OUTERMOST: Final = {"": -math.inf, TOP: math.inf}


def _chosen_edges(low: Floats, high: Floats, most: int) -> Floats:
    """Ends that cut what is stored into buckets of about one size; where few values are in use,
    each gets a bucket of its own."""
    some = slice(None, None, 1 + 2 * len(low) // _SAMPLED)
    ends = np.concatenate([low[some], high[some]])
    ends = np.sort(ends[np.isfinite(ends)])
    if not len(ends) or not most:
        return np.zeros(0)
    different = each_once(ends)
    if len(different) > most:
        places = np.linspace(0, len(ends) - 1, most + 2)[1:-1].astype(np.intp)
        different = each_once(ends[places])
    return different


def _buckets_of(ends: Floats, edges: Floats) -> Slots:
    """How many of the edges each end has reached."""
    if len(ends) < _COMPARED or len(edges) > MOST_EDGES:
        return edges.searchsorted(ends, "right")
    # Nothing to guess for the processor: a fourth of the time of a search for each.
    reached = np.zeros(len(ends), np.uint8)
    for edge in edges:
        reached += ends >= edge
    return reached.astype(np.intp)


def _no_extremes(edges: int) -> tuple[Floats, Floats, Floats, Floats]:
    """The lowest and highest beginning, and the lowest and highest end, of every bucket."""
    lowest, highest = np.full(edges + 1, math.inf), np.full(edges + 1, -math.inf)
    return lowest, highest, lowest.copy(), highest.copy()


def _as_lists(extremes: tuple[Floats, ...]) -> tuple[list[float], ...]:
    return tuple(extreme.tolist() for extreme in extremes)
