"""What is counted over the profiles alone: how many each peer keeps, and how many each query should
find.

Law of this file: pure numpy, no Spark.  Every query is held against every profile, by ranks and
nothing else: no curve, no ring, no join, so that what the routed queries find is checked by code
that shares none of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.spark.questions import Question
from sim.spark.rings import Numbers
from sim.spark.systems import Overlay


class Tally:
    """Counts of the profiles that were added so far."""

    def __init__(self, overlay: Overlay, asked: Sequence[Question]) -> None:
        self._overlay, self._asked = overlay, asked
        self._limits, self._limit_of = np.unique(overlay.limits, return_inverse=True)
        self._found = np.zeros((len(asked), len(self._limits) + 1), dtype=np.int64)
        self.loads = np.zeros(len(overlay.rings.lasts), dtype=np.int64)
        """By seat: the profiles that the peer keeps."""

    def add(self, drawn: Numbers, ranks: Sequence[Numbers], indexes: Numbers) -> None:
        """Some profiles: their draws, the ranks of their values by attribute, where they lie."""
        self._load(drawn, indexes)
        # Ranks below the first wrap round to large numbers: one comparison an attribute.
        small = [rank.astype(np.uint32) for rank in ranks]
        spared = np.searchsorted(self._limits, drawn, "right")
        for query, question in enumerate(self._asked):
            inside = np.ones(len(drawn), dtype=bool)
            for rank, given in zip(small, question.given, strict=True):
                first, last = given.ranks
                inside &= rank - np.uint32(first) <= np.uint32(last - first)
            self._found[query] += np.bincount(spared[inside], minlength=len(self._limits) + 1)

    def _load(self, drawn: Numbers, indexes: Numbers) -> None:
        rings = self._overlay.rings
        for system in range(len(self._overlay.limits)):
            peers = self._overlay.places(system, indexes[self._overlay.stored(system, drawn)])
            begin, count = int(rings.begins[system]), int(rings.counts[system])
            self.loads[begin : begin + count] += np.bincount(peers, minlength=count)

    @property
    def matches(self) -> Numbers:
        """A row a query, a column a system: the profiles kept there that match."""
        below: Numbers = np.cumsum(self._found, axis=1)[:, self._limit_of]
        return below
