"""Refining an index prefix bit by bit against a box: the one algorithm behind every query.

Law of this file: the work of a question is at most one step an index bit, whatever the box; no
list of clusters is ever made here.  A node of the tree is an index prefix; it is kept only while
its cells meet the box, so every node *has* a match (Lawder and King's calculate_next_match, at
bit granularity; Squid's refinement tree, made binary by `squid.state_machine`).

A node does not carry its corner.  It carries which borders of the box still run through it:
`tight` has one bit for the low end of each dimension and one for the high end.  No bit left means
that every cell below the node lies in the box.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from squid.region import Box
from squid.state_machine import steps

_MISS: Final = -1
_HIGH_SHIFT: Final = 8
_LOW_BORDERS: Final = (1 << _HIGH_SHIFT) - 1


class Node(NamedTuple):
    """An index prefix whose cells meet the box in question."""

    prefix: int
    free_bits: int
    """Index bits not yet fixed: the node covers `2 ** free_bits` indexes."""
    state: int
    tight: int
    """Zero when all of the node lies in the box."""

    @property
    def first(self) -> int:
        """The first index of the node."""
        return self.prefix << self.free_bits

    @property
    def last(self) -> int:
        """The last index of the node."""
        return (self.prefix + 1 << self.free_bits) - 1


class Refinement:
    """The refinement tree of the curves with so many dimensions and bits."""

    __slots__ = ("_borders", "_steps", "bits", "dimensions", "index_bits", "side")

    def __init__(self, dimensions: int, bits: int) -> None:
        self.dimensions, self.bits = dimensions, bits
        self.index_bits, self.side = dimensions * bits, 1 << bits
        self._steps = steps(dimensions)
        self._borders = tuple(
            1 << dimension | 1 << dimension + _HIGH_SHIFT for dimension in range(dimensions)
        )

    def root(self, box: Box) -> Node:
        """The whole curve; every box meets it."""
        tight, top = 0, self.side - 1
        for dimension, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
            if low > 0:
                tight |= 1 << dimension
            if high < top:
                tight |= 1 << dimension + _HIGH_SHIFT
        return Node(0, self.index_bits, self._steps.start, tight)

    def children(self, node: Node, box: Box) -> list[Node]:
        """The one or two halves of a node that meet the box, in curve order."""
        prefix, free_bits, state, tight = node
        free_bits -= 1
        dimension, upper, after_zero, after_one = self._steps[state]
        zero = one = tight
        if borders := tight & self._borders[dimension]:
            zero, one = _halve(tight, borders, 1 << free_bits // self.dimensions,
                               box.low[dimension], box.high[dimension], upper)  # fmt: skip
        halves = []
        if zero >= 0:
            halves.append(Node(prefix << 1, free_bits, after_zero, zero))
        if one >= 0:
            halves.append(Node(prefix << 1 | 1, free_bits, after_one, one))
        return halves

    def next_match(self, box: Box, index: int) -> int | None:
        """The smallest index not below `index` whose cell lies in the box; None past the last.

        Goes down the bits of `index` for as long as its prefix meets the box, then into the last
        half passed by on the right, and there to the first index."""
        _, free_bits, state, tight = self.root(box)
        table, borders_of, dimensions = self._steps, self._borders, self.dimensions
        spare: tuple[int, int, int] | None = None
        on_path = True
        while tight and free_bits:
            free_bits -= 1
            dimension, upper, after_zero, after_one = table[state]
            zero = one = tight
            if borders := tight & borders_of[dimension]:
                zero, one = _halve(tight, borders, 1 << free_bits // dimensions,
                                   box.low[dimension], box.high[dimension], upper)  # fmt: skip
            if not on_path:
                if zero >= 0:
                    state, tight = after_zero, zero
                else:
                    index |= 1 << free_bits
                    state, tight = after_one, one
                continue
            if index >> free_bits & 1:
                state, tight = after_one, one
            else:
                if one >= 0:
                    spare = free_bits, after_one, one
                state, tight = after_zero, zero
            if tight < 0:
                if spare is None:
                    return None
                free_bits, state, tight = spare
                index = (index >> free_bits | 1) << free_bits
                on_path = False
        return index

    def has_match(self, box: Box, first: int, last: int) -> bool:
        """Whether the cell of some index from `first` to `last` lies in the box.

        Stops at the first node that lies wholly between the two."""
        _, free_bits, state, tight = self.root(box)
        table, borders_of, dimensions = self._steps, self._borders, self.dimensions
        beyond: int | None = None
        while tight and free_bits:
            free_bits -= 1
            dimension, upper, after_zero, after_one = table[state]
            zero = one = tight
            if borders := tight & borders_of[dimension]:
                zero, one = _halve(tight, borders, 1 << free_bits // dimensions,
                                   box.low[dimension], box.high[dimension], upper)  # fmt: skip
            if first >> free_bits & 1:
                state, tight = after_one, one
            else:
                right = (first >> free_bits | 1) << free_bits
                if one >= 0 and right <= last:
                    if right + (1 << free_bits) - 1 <= last:
                        return True
                    beyond = right
                state, tight = after_zero, zero
            if tight < 0:
                if beyond is None:
                    return False
                match = self.next_match(box, beyond)
                return match is not None and match <= last
        return True


def _halve(tight: int, borders: int, bit: int, low: int, high: int, upper: int) -> tuple[int, int]:
    """What stays tight in the two halves of a node, first the one that a zero index bit takes
    (`upper` says which that is); _MISS for a half without a cell of the box.

    The node is cut at the coordinate bit of value `bit`; `borders` is what is tight of the
    dimension that is cut, `low` and `high` the box's ends there.  A border that runs along the
    edge of a half leaves nothing of it out, and is tight no more."""
    lower_half = upper_half = tight
    below = bit - 1
    if border := borders & _LOW_BORDERS:
        if not low & bit:
            upper_half ^= border
        else:
            lower_half = _MISS
            if not low & below:
                upper_half ^= border
    if border := borders & ~_LOW_BORDERS:
        if not high & bit:
            upper_half = _MISS
            if high & below == below:
                lower_half ^= border
        elif lower_half >= 0:
            lower_half ^= border
    return (upper_half, lower_half) if upper else (lower_half, upper_half)
