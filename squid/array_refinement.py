"""Refinement of many boxes at once, in numpy: the questions of `squid.refinement` for studies.

Law of this file: the same answers as the tree of one box, whatever the batch.  All descents go
down level by level together, so one numpy call does one index bit of them all; a descent that
leaves its box is taken again along the last half that it passed by.  Indexes are signed 64-bit
integers, so a curve has at most 62 index bits here, and four dimensions.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from squid.errors import CurveError
from squid.scalar_codec import MOST_TABLE_DIMENSIONS, machine
from squid.state_machine import steps

MOST_INDEX_BITS: Final = 62
NO_MATCH: Final = -1
"""Where no index is left whose cell lies in the box."""

Indexes = npt.NDArray[np.int64]
Cells = npt.NDArray[np.int64]
"""One row a dimension, one column a box."""
Flags = npt.NDArray[np.bool_]


class _Steps(NamedTuple):
    """The machine of `squid.state_machine`, by small numbers of states; the start is 0."""

    dimension: npt.NDArray[np.intp]
    """Which dimension the next index bit halves."""
    upper: Flags
    """Whether a zero bit takes the upper half."""
    after: npt.NDArray[np.intp]
    """By index bit: the state after it."""


@cache
def _steps(dimensions: int) -> _Steps:
    table = steps(dimensions)
    numbers, found = {table.start: 0}, [table.start]
    rows = []
    for state in found:
        dimension, upper, *after = table[state]
        for follower in after:
            if follower not in numbers:
                numbers[follower] = len(found)
                found.append(follower)
        rows.append((dimension, upper, *(numbers[follower] for follower in after)))
    columns = np.array(rows, dtype=np.intp).T
    return _Steps(columns[0], columns[1].astype(bool), np.ascontiguousarray(columns[2:]))


class ArrayRefinement:
    """The refinement trees of many boxes of one curve.

    Raises CurveError for a curve of more than four dimensions or 62 index bits."""

    def __init__(self, dimensions: int, bits: int) -> None:
        if not (1 <= dimensions <= MOST_TABLE_DIMENSIONS and bits >= 1):
            raise CurveError(
                f"many boxes at once: 1 to {MOST_TABLE_DIMENSIONS} dimensions, not {dimensions}"
            )
        if dimensions * bits > MOST_INDEX_BITS:
            raise CurveError(
                f"many boxes at once: at most {MOST_INDEX_BITS} index bits, "
                f"not {dimensions} x {bits}"
            )
        self.dimensions, self.bits, self.index_bits = dimensions, bits, dimensions * bits
        levels = machine(dimensions)
        self.cell_digits = np.array(levels.cell_digits, dtype=np.int64)
        """Level by level, by state (0 at the root) and index digit: one bit of each coordinate, the
        first dimension's on top."""
        self.next_states = np.array(levels.next_states, dtype=np.int64)
        """By state and index digit: the state of the next level."""

    def next_matches(self, low: Cells, high: Cells, indexes: Indexes) -> Indexes:
        """For each box the smallest index not below the given one whose cell lies in the box,
        NO_MATCH where there is none.  Indexes are not negative; one at or beyond the end of the
        curve has no match."""
        found = indexes.copy()
        within = indexes >> self.index_bits == 0
        found[~within] = NO_MATCH
        ask = np.flatnonzero(within)
        passed_by, matches = self._follow(low[:, ask], high[:, ask], indexes[ask])
        again = ask[~matches]
        turned = passed_by[~matches]
        found[again[turned < 0]] = NO_MATCH
        again, turned = again[turned >= 0], turned[turned >= 0]
        start = (indexes[again] >> turned | 1) << turned
        found[again] = self._lowest(low[:, again], high[:, again], start, turned)
        return found

    def _follow(self, low: Cells, high: Cells, indexes: Indexes) -> tuple[Indexes, Flags]:
        """Go down the bits of each index: the free bits below the last half that was passed by on
        the right and meets the box (-1: none), and whether the index itself is a match."""
        descent = _Descent(self.dimensions, low, high)
        passed_by = np.full(len(indexes), -1, dtype=np.int64)
        inside = np.arange(len(indexes))
        for free_bits in reversed(range(self.index_bits)):
            zero, one = descent.halves(free_bits // self.dimensions)
            ones = (indexes[inside] >> free_bits & 1).astype(bool)
            passed_by[inside[one & ~ones]] = free_bits
            descent.take(ones)
            on = np.where(ones, one, zero)
            if not on.all():  # most leave their box within a third of the bits
                inside = inside[on]
                descent.keep(on)
        matches = np.zeros(len(indexes), dtype=bool)
        matches[inside] = True
        return passed_by, matches

    def _lowest(self, low: Cells, high: Cells, start: Indexes, free: Indexes) -> Indexes:
        """The first match below each prefix: `start` without its `free` lowest bits."""
        descent, match = _Descent(self.dimensions, low, high), start.copy()
        for free_bits in reversed(range(self.index_bits)):
            zero, _ = descent.halves(free_bits // self.dimensions)
            ones = np.where(free_bits >= free, (start >> free_bits & 1).astype(bool), ~zero)
            match |= ones.astype(np.int64) << free_bits
            descent.take(ones)
        return match


class _Descent:
    """Where each descent stands: its state, and the corner of its cells."""

    def __init__(self, dimensions: int, low: Cells, high: Cells) -> None:
        self._steps, self._count = _steps(dimensions), low.shape[1]
        self._low, self._high = low.ravel(), high.ravel()
        self._corner = np.zeros(low.size, dtype=np.int64)
        self._columns = np.arange(self._count, dtype=np.intp)
        self._state = np.zeros(self._count, dtype=np.intp)

    def halves(self, level: int) -> tuple[Flags, Flags]:
        """Whether the half of a zero index bit meets the box, and that of a one, given that the
        whole does."""
        self._place = self._steps.dimension.take(self._state) * self._count + self._columns
        self._half = np.int64(1 << level)
        middle = self._corner.take(self._place) + self._half
        lower, upper = self._low.take(self._place) < middle, self._high.take(self._place) >= middle
        self._zero_is_upper = self._steps.upper.take(self._state)
        zero = np.where(self._zero_is_upper, upper, lower)
        return zero, np.where(self._zero_is_upper, lower, upper)

    def keep(self, some: Flags) -> None:
        """Go on with some of the descents only."""
        of_all = np.tile(some, len(self._low) // self._count)
        self._low, self._high = self._low[of_all], self._high[of_all]
        self._corner, self._state = self._corner[of_all], self._state[some]
        self._count = len(self._state)
        self._columns = np.arange(self._count, dtype=np.intp)

    def take(self, ones: Flags) -> None:
        """Go down into the half of each index bit."""
        moved = self._place[self._zero_is_upper ^ ones]
        self._corner[moved] += self._half
        self._state = self._steps.after[ones.astype(np.intp), self._state]
