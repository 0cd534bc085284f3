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

    __slots__ = ("_both", "_steps", "bits", "dimensions", "index_bits", "side")

    def __init__(self, dimensions: int, bits: int) -> None:
        self.dimensions, self.bits = dimensions, bits
        self.index_bits, self.side = dimensions * bits, 1 << bits
        self._steps = steps(dimensions)
        self._both = tuple(
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
        free_bits = node.free_bits - 1
        dimension, upper, after_zero, after_one = self._steps[node.state]
        zero = one = node.tight
        if zero & self._both[dimension]:
            zero, one = _halve(zero, dimension, free_bits // self.dimensions, upper, box)
        halves = []
        if zero >= 0:
            halves.append(Node(node.prefix << 1, free_bits, after_zero, zero))
        if one >= 0:
            halves.append(Node(node.prefix << 1 | 1, free_bits, after_one, one))
        return halves

    def next_match(self, box: Box, index: int) -> int | None:
        """The smallest index not below `index` whose cell lies in the box; None past the last."""
        _, free_bits, state, tight = self.root(box)
        both, dimensions, table = self._both, self.dimensions, self._steps
        spare: Node | None = None
        while tight and free_bits:
            free_bits -= 1
            dimension, upper, after_zero, after_one = table[state]
            zero = one = tight
            if tight & both[dimension]:
                zero, one = _halve(tight, dimension, free_bits // dimensions, upper, box)
            if index >> free_bits & 1:
                tight, state = one, after_one
            else:
                if one >= 0:
                    spare = Node(index >> free_bits | 1, free_bits, after_one, one)
                tight, state = zero, after_zero
            if tight < 0:
                return None if spare is None else self._first_match(spare, box)
        return index

    def has_match(self, box: Box, first: int, last: int) -> bool:
        """Whether the cell of some index from `first` to `last` lies in the box.

        Stops at the first node that lies wholly between the two."""
        _, free_bits, state, tight = self.root(box)
        both, dimensions, table = self._both, self.dimensions, self._steps
        spare: Node | None = None
        while tight and free_bits:
            free_bits -= 1
            dimension, upper, after_zero, after_one = table[state]
            zero = one = tight
            if tight & both[dimension]:
                zero, one = _halve(tight, dimension, free_bits // dimensions, upper, box)
            if first >> free_bits & 1:
                tight, state = one, after_one
            else:
                prefix = first >> free_bits | 1
                if one >= 0 and prefix << free_bits <= last:
                    if (prefix + 1 << free_bits) - 1 <= last:
                        return True
                    spare = Node(prefix, free_bits, after_one, one)
                tight, state = zero, after_zero
            if tight < 0:
                return spare is not None and self._first_match(spare, box) <= last
        return True

    def _first_match(self, node: Node, box: Box) -> int:
        """The first index of a node whose cell lies in the box."""
        prefix, free_bits, state, tight = node
        both, dimensions, table = self._both, self.dimensions, self._steps
        while tight and free_bits:
            free_bits -= 1
            dimension, upper, after_zero, after_one = table[state]
            zero = one = tight
            if tight & both[dimension]:
                zero, one = _halve(tight, dimension, free_bits // dimensions, upper, box)
            if zero >= 0:
                prefix, state, tight = prefix << 1, after_zero, zero
            else:
                prefix, state, tight = prefix << 1 | 1, after_one, one
        return prefix << free_bits


def _halve(tight: int, dimension: int, bit: int, upper: int, box: Box) -> tuple[int, int]:
    """The tight borders of the half that a zero index bit takes and of the other, _MISS for a
    half without a cell of the box.  The node is cut along `dimension` at coordinate bit `bit`.

    A border that runs along the edge of a half leaves nothing of it out, and is tight no more."""
    lower_half = upper_half = tight
    rest = (1 << bit) - 1
    flag = 1 << dimension
    if tight & flag:
        low = box.low[dimension]
        if not low >> bit & 1:
            upper_half ^= flag
        else:
            lower_half = _MISS
            if not low & rest:
                upper_half ^= flag
    flag <<= _HIGH_SHIFT
    if tight & flag:
        high = box.high[dimension]
        if not high >> bit & 1:
            upper_half = _MISS
            if high & rest == rest:
                lower_half ^= flag
        elif lower_half >= 0:
            lower_half ^= flag
    return (upper_half, lower_half) if upper else (lower_half, upper_half)
