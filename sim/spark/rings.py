"""Many rings as flat arrays: who owns an index, which indexes a peer owns.

Law of this file: pure numpy, no Spark.  A peer is a *seat*: its place in the arrays, in which the
rings stand one behind the other, each by rising identifier.  A ring is given by the last curve
index of each peer (its identifier without the bits below the curve's), so that rings of any
identifier width look the same here.  DESIGN section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def bit_lengths(numbers: Numbers) -> Numbers:
    """The `int.bit_length` of each number, which is not negative."""
    # By halves, as a float holds 53 bits: 2**60 - 1 would be rounded up to 2**60.
    high, low = numbers >> 31, numbers & (1 << 31) - 1
    above = np.frexp(high.astype(np.float64))[1].astype(np.int64)
    return np.where(high > 0, above + 31, np.frexp(low.astype(np.float64))[1])


def distinct_numbers(numbers: Numbers) -> Numbers:
    """Each number once, sorted: as `np.unique`, which since numpy 2.3 looks every number up in a
    hash table, and takes four to a hundred times as long as sorting."""
    ordered = np.sort(numbers)
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


@dataclass(frozen=True, slots=True)
class Rings:
    """Some rings, by number, and all their seats."""

    index_bits: int
    lasts: Numbers
    """By seat: the last index that the peer owns."""
    begins: Numbers
    """By ring: its first seat."""
    counts: Numbers
    """By ring: how many peers it has."""
    ring_of: Numbers
    """By seat: the ring's number."""
    before: Numbers
    """By seat: the last index of the peer before it in the ring, itself where it is alone."""

    @classmethod
    def of(cls, rings: Sequence[Sequence[int] | Numbers], index_bits: int) -> Rings:
        """Rings from the last indexes of their peers.  Raises ValueError for a ring without peers,
        indexes that are not on the curve, or do not rise: two identifiers of the same index."""
        arrays = [np.asarray(ring, dtype=np.int64) for ring in rings]
        for number, ring in enumerate(arrays):
            if not len(ring) or ring[0] < 0 or int(ring[-1]) >> index_bits:
                raise ValueError(f"ring {number}: no peers, or indexes beyond {index_bits} bits")
            if (np.diff(ring) <= 0).any():
                raise ValueError(f"ring {number}: the last indexes of its peers do not rise")
        counts = np.array([len(ring) for ring in arrays], dtype=np.int64)
        begins = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        return cls(
            index_bits,
            np.concatenate(arrays),
            begins,
            counts,
            np.repeat(np.arange(len(arrays)), counts),
            np.concatenate([np.roll(ring, 1) for ring in arrays]),
        )

    def owners(self, ring: Numbers, indexes: Numbers) -> Numbers:
        """The seat that owns each index, in the ring of that number."""
        seats = np.empty(len(indexes), dtype=np.int64)
        for number in np.flatnonzero(np.bincount(ring)).tolist():
            here = ring == number
            seats[here] = self.owners_in(number, indexes[here])
        return seats

    def owners_in(self, number: int, indexes: Numbers) -> Numbers:
        """The seat that owns each index in one ring."""
        begin, count = int(self.begins[number]), int(self.counts[number])
        found = np.searchsorted(self.lasts[begin : begin + count], indexes)
        seats: Numbers = begin + found % count
        return seats

    def places(self, seats: Numbers) -> Numbers:
        """The place of each seat in its ring, from 0, by rising identifier."""
        return seats - self.begins[self.ring_of[seats]]

    def along(self, seats: Numbers, steps: Numbers | int) -> Numbers:
        """The seat so many peers clockwise from each."""
        ring = self.ring_of[seats]
        begins = self.begins[ring]
        moved: Numbers = begins + (seats - begins + steps) % self.counts[ring]
        return moved

    def distances(self, seats: Numbers, others: Numbers) -> Numbers:
        """How many peers clockwise each of `others` is from the seat beside it, in one ring."""
        distance: Numbers = (others - seats) % self.counts[self.ring_of[seats]]
        return distance

    @property
    def grains(self) -> Numbers:
        """By seat: the bit length of the longest interval that it owns, as `squid.shares` asks."""
        top = (1 << self.index_bits) - 1
        first = self.before >= self.lasts  # the arc over 0: up to the last index, and on from 0
        upper = np.where(first, top - self.before, 0)
        lower = np.where(first, self.lasts + 1, self.lasts - self.before)
        alone = first & (self.before == self.lasts)  # one interval, the whole curve
        longest = np.where(alone, top + 1, np.maximum(upper, lower))
        return bit_lengths(longest)

    def outside(self, seats: Numbers, first: Numbers, last: Numbers) -> tuple[Numbers, ...]:
        """What of each interval the seat beside it does not own: the positions of the intervals,
        and first and last index of each piece, in rising order of a position's pieces."""
        over_zero = self.before[seats] >= self.lasts[seats]
        own_first = self.before[seats] + 1
        own_last = self.lasts[seats]
        # An arc over 0 leaves the one stretch between its two halves.
        left_first = np.where(over_zero, np.maximum(first, own_last + 1), first)
        left_last = np.minimum(last, own_first - 1)
        right_first = np.where(over_zero, last + 1, np.maximum(first, own_last + 1))
        positions = np.repeat(np.arange(len(seats)), 2)
        firsts = np.column_stack([left_first, right_first]).ravel()
        lasts = np.column_stack([left_last, last]).ravel()
        kept = firsts <= lasts
        return positions[kept], firsts[kept], lasts[kept]
