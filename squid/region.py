"""Regions of the keyword space: a box of cells, and the indexes that it covers on the curve.

Law of this file: plain values; a region knows nothing of peers.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as plain_integer
from typing import Protocol

from chord import dataclass
from squid.errors import CurveError

Interval = tuple[int, int]
"""First and last curve index, both included."""


class CurveShape(Protocol):
    """What a box asks of a curve: how many dimensions it has, and cells on each."""

    @property
    def dimensions(self) -> int:
        """Number of dimensions."""

    @property
    def side(self) -> int:
        """Cells on one dimension."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box of cells: on each dimension those from `low` to `high`, both included.

    Raises CurveError when a dimension has no cell, or the two ends differ in dimensions."""

    low: tuple[int, ...]
    high: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.low) != len(self.high) or not self.low:
            raise CurveError(f"a box needs as many low as high cells, not {self.low}, {self.high}")
        for low, high in zip(self.low, self.high, strict=True):
            if not 0 <= low <= high:
                raise CurveError(f"cells {low} to {high} are no range: 0 <= low <= high")

    @classmethod
    def of(cls, ranges: Box | Sequence[tuple[int, int]]) -> Box:
        """A box from one inclusive `(low, high)` a dimension; a box is returned as it is."""
        if isinstance(ranges, Box):
            return ranges
        return cls(
            tuple(plain_integer(low) for low, _ in ranges),
            tuple(plain_integer(high) for _, high in ranges),
        )

    @classmethod
    def point(cls, cells: Sequence[int]) -> Box:
        """The box of a single cell."""
        point = tuple(map(plain_integer, cells))
        return cls(point, point)

    @classmethod
    def whole(cls, curve: CurveShape) -> Box:
        """The box of every cell of a curve."""
        return cls((0,) * curve.dimensions, (curve.side - 1,) * curve.dimensions)

    @property
    def is_point(self) -> bool:
        """Whether the box is one cell."""
        return self.low == self.high

    def is_whole(self, curve: CurveShape) -> bool:
        """Whether the box holds every cell of the curve."""
        return not any(self.low) and min(self.high) >= curve.side - 1

    def contains(self, point: Sequence[int]) -> bool:
        """Whether a cell lies in the box."""
        return len(point) == len(self.low) and all(
            low <= cell <= high for low, cell, high in zip(self.low, point, self.high, strict=True)
        )

    def intersection(self, other: Box) -> Box | None:
        """The cells of both boxes; None when there is none."""
        low = tuple(map(max, self.low, other.low))
        high = tuple(map(min, self.high, other.high))
        if any(first > last for first, last in zip(low, high, strict=True)):
            return None
        return Box(low, high)
