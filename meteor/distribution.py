"""How values are distributed, as far as some bounds tell: what a histogram needs and no more.

Law of this file: plain numbers that only grow; no clock, no library of metrics.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


class Distribution:
    """How often values fell up to each of some bounds; what is above the last is counted too."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def note(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value
