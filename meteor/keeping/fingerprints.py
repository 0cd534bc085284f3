"""What a shelf holds, in fingerprints: for any intervals, what would be compared with a copy.

Law of this file: pure; the shelf says what comes and goes, a caller gives `now_ms`.  Points stand
in one tree over the curve, of which every interval is a sum.  A wide record (its box is more than
one cell) counts in whole for every interval that its box meets; which those are is asked of the
curve once for each set of intervals that is compared, and kept up to date from then on: few sets,
those that this peer holds or keeps copies of.  What expired here is remembered a little, so that
a copy whose clock is behind does not bring it back (DESIGN section 5).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from meteor.keeping.key_tree import Digest, InOrder, KeyTree, Piece
from meteor.keeping.placement import Placed
from meteor.keeping.standing import FINGERPRINT_BITS, fingerprint_of
from squid import Box, HilbertCurve, Intervals, covers

SECTIONS_MAX: Final = 16
"""Sets of intervals that are kept up to date at once: the own views and those of k - 1
predecessors, while some of them change ..."""
SECTION_IDLE: Final = 64
"""... and one that was not among the last so many asked for is forgotten: every wide record that
comes costs some microseconds for each."""
EXPIRED_MAX: Final = 4096
"""Expired states that are remembered; 8 bytes each and what a dictionary takes."""
EXPIRING_MS: Final = 2_000
"""What is taken out when it had no more left has expired, and is not moved or given away."""

Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Slots = npt.NDArray[np.intp]
Span = tuple[int, int]
"""Positions of a section: the first, and the one after the last."""


class Section:
    """The fingerprints of what lives in some intervals.

    Its positions are those of the points in the order of the curve, then, one bit higher, those of
    the wide records by the lowest index of their boxes."""

    def __init__(self, curve: HilbertCurve, intervals: Intervals, points: KeyTree, wide: KeyTree):
        self._curve, self._intervals = curve, intervals
        self._points, self._all_wide = points, wide
        self._wide = KeyTree()
        self._unknown = [*wide.entries(0, curve.size << FINGERPRINT_BITS)]
        self._unknown.reverse()
        self._border = curve.size << FINGERPRINT_BITS
        self.asked = 0
        """When it was asked for last, in the count of `Fingerprints.section`."""

    # -- what belongs to it

    def learn(self, steps: int) -> bool:
        """Ask of at most `steps` wide records whether they belong here; True when all is known."""
        while self._unknown and steps > 0:
            fingerprint, placed = self._unknown.pop()
            if self._all_wide.holds(fingerprint, placed):
                self.add(fingerprint, placed)
            steps -= 1
        return not self._unknown

    def add(self, fingerprint: int, placed: Placed) -> None:
        """A wide record came to the shelf."""
        if self._meets(placed):
            self._wide.add(fingerprint, placed)

    def remove(self, fingerprint: int, placed: Placed) -> None:
        """A wide record left the shelf."""
        self._wide.remove(fingerprint, placed)

    def holds(self, box: Box) -> bool:
        """Whether a record of this box lives here."""
        return any(self._curve.has_match(box, first, last) for first, last in self._intervals)

    def _meets(self, placed: Placed) -> bool:
        if covers(self._intervals, placed.lowest):
            return True
        return any(
            placed.lowest < first and self._curve.has_match(placed.box, first, last)
            for first, last in self._intervals
        )

    # -- its sums

    @property
    def spans(self) -> tuple[Span, ...]:
        """All its positions: the intervals, and the wide records."""
        points = [
            (first << FINGERPRINT_BITS, (last + 1) << FINGERPRINT_BITS)
            for first, last in self._intervals
        ]
        return (*points, (self._border, 2 * self._border))

    def contains(self, span: Span) -> bool:
        """Whether a span is part of one of `spans`."""
        first, end = span
        return first < end and any(low <= first and end <= high for low, high in self.spans)

    @property
    def whole(self) -> Digest:
        """Of everything here."""
        total = Digest()
        for span in self.spans:
            total += self.digest(span)
        return total

    def digest(self, span: Span) -> Digest:
        """Of what stands in a span."""
        tree, base = self._tree(span)
        return tree.digest(span[0] - base, span[1] - base)

    def entries(self, span: Span) -> Iterator[tuple[int, Placed]]:
        """What stands in a span, under its fingerprints; nothing may change meanwhile."""
        tree, base = self._tree(span)
        return tree.entries(span[0] - base, span[1] - base)

    def split(self, span: Span, parts: int) -> list[Piece]:
        """A span in up to `parts` pieces without a gap."""
        tree, base = self._tree(span)
        pieces = tree.split(span[0] - base, span[1] - base, parts)
        return [Piece(piece.first + base, piece.end + base, piece.digest) for piece in pieces]

    def _tree(self, span: Span) -> tuple[KeyTree, int]:
        return (self._points, 0) if span[0] < self._border else (self._wide, self._border)


class Fingerprints:
    """The fingerprints of everything on one shelf."""

    def __init__(self, curve: HilbertCurve) -> None:
        self._curve = curve
        self._points, self._wide = KeyTree(), KeyTree()
        self._sections: OrderedDict[Intervals, Section] = OrderedDict()
        self._expired: OrderedDict[int, None] = OrderedDict()
        self._asked = 0

    def __len__(self) -> int:
        return len(self._points) + len(self._wide)

    def add(self, placed: Placed) -> None:
        """A record or tombstone shows on the shelf."""
        fingerprint = fingerprint_of(placed.carried)
        self._expired.pop(fingerprint, None)
        if placed.is_point:
            self._points.add(fingerprint, placed)
        elif self._wide.add(fingerprint, placed):
            for section in self._sections.values():
                section.add(fingerprint, placed)

    def load(
        self,
        fingerprints: Words,
        indexes: Words,
        points: Mask,
        lowest: Sequence[int],
        placed: Callable[[int], Placed],
    ) -> None:
        """Many records of an empty shelf, by number, with their lowest indexes, and those as lines
        of 64-bit words."""
        for chosen, tree in ((points, self._points), (~points, self._wide)):
            at = np.flatnonzero(chosen)
            at = at[order_of(fingerprints[at], indexes[at])]
            own, there = fingerprints[at], indexes[at]
            first = np.ones(len(at), bool)  # of several at one position only the first counts
            first[1:] = (own[1:] != own[:-1]) | (there[1:] != there[:-1]).any(axis=1)
            tree.load(InOrder(own[first], at[first], lowest, placed))

    def remove(self, placed: Placed, now_ms: int) -> None:
        """A record or tombstone is on the shelf no more; `now_ms` is the wall clock's."""
        fingerprint = fingerprint_of(placed.carried)
        if placed.carried.ttl_ms <= now_ms + EXPIRING_MS:
            self._expired[fingerprint] = None
            while len(self._expired) > EXPIRED_MAX:
                self._expired.popitem(last=False)
        if placed.is_point:
            self._points.remove(fingerprint, placed)
        elif self._wide.remove(fingerprint, placed):
            for section in self._sections.values():
                section.remove(fingerprint, placed)

    def has_expired(self, fingerprint: int) -> bool:
        """Whether a state was here lately and has run out."""
        return fingerprint in self._expired

    def section(self, intervals: Intervals) -> Section:
        """What lives in these intervals; it is to `learn` before it can be summed up.

        Kept up to date while it is among the last few asked for: ask again after a pause."""
        section = self._sections.get(intervals)
        if section is None:
            section = Section(self._curve, intervals, self._points, self._wide)
            self._sections[intervals] = section
        self._sections.move_to_end(intervals)
        self._asked = section.asked = self._asked + 1
        while len(self._sections) > SECTIONS_MAX or self._is_idle(next(iter(self._sections))):
            self._sections.popitem(last=False)
        return section

    def _is_idle(self, intervals: Intervals) -> bool:
        return self._asked - self._sections[intervals].asked >= SECTION_IDLE


def order_of(fingerprints: Words, indexes: Words) -> Slots:
    """Sorts positions, those that are the same in their order here: by the highest word of the
    index, as few have that in common, and only these by the rest."""
    order: Slots = np.argsort(indexes[:, 0])
    highest = indexes[order, 0]
    is_alike = np.zeros(len(order), bool)
    is_alike[:-1] = highest[:-1] == highest[1:]
    is_alike[1:] |= is_alike[:-1].copy()
    alike = np.sort(order[is_alike])
    order[is_alike] = alike[np.lexsort((fingerprints[alike], *indexes[alike].T[::-1]))]
    return order
