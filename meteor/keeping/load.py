"""What a peer carries, as far as a split of its arc relieves it.

Law of this file: it counts, and decides nothing.  A record at one index of the curve counts where
that index is; one with ranges lies at many peers, whoever splits what, and counts nowhere.  A
joiner's place goes by what everybody may see: cut at a hidden record, it would tell where it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Final

from chord import Arc, ChordConfig, ChordNode, Placing, Runtime, identifier, split_id
from meteor.keeping.shelf import Shelf
from squid import HilbertCurve, of_arc

COUNT_S: Final = 1.0
"""How old a count may be ..."""
COUNT_S_PER_RECORD: Final = 50e-6
"""... for each record: counting takes a hundredth of the time at most."""
SAMPLE: Final = 20_000
"""Of more records than this every n-th is looked at, so that no count holds a peer up."""


class ShelfBurden:
    """The load of a shelf (`chord.Burden`)."""

    def __init__(
        self, shelf: Shelf, curve: HilbertCurve, id_bits: int, now: Callable[[], float]
    ) -> None:
        self._shelf, self._curve, self._now = shelf, curve, now
        self._id_bits = id_bits
        self._indexes: dict[bool, list[int]] = {False: [], True: []}
        """Of all records, and of the public ones."""
        self._stride = 1
        self._fresh_until_s = float("-inf")

    def load(self, arc: Arc, *, public: bool = False) -> int:
        """How many records lie at one index, and in this arc; beyond `SAMPLE` an estimate."""
        self._count()
        return self._stride * len(self._within(arc, self._indexes[public]))

    def split(self, arc: Arc, *, public: bool = False) -> int | None:
        """The identifier of a new peer that takes half of them, never the same one twice: who was
        named it before may have fallen, or be late, and come to its place after all."""
        self._count()
        shift = self._id_bits - self._curve.index_bits
        keys = [index << shift for index in self._within(arc, self._indexes[public])]
        place = split_id(arc, keys, self._id_bits, 1 << shift)
        if place is None or not shift:
            return place
        return place + identifier(f"{place:x} {arc.last:x} {self._now()!r}", shift)

    def _within(self, arc: Arc, indexes: list[int]) -> list[int]:
        intervals = of_arc(arc.after, arc.last, self._curve.index_bits, self._id_bits)
        return [
            index
            for first, last in intervals
            for index in indexes[bisect_left(indexes, first) : bisect_right(indexes, last)]
        ]

    def _count(self) -> None:
        now = self._now()
        if now < self._fresh_until_s:
            return
        table = self._shelf.table
        self._stride = 1 + len(table) // SAMPLE
        found, public = table.point_indexes(self._stride)
        self._indexes = {False: sorted(found), True: sorted(public)}
        self._fresh_until_s = now + max(COUNT_S, COUNT_S_PER_RECORD * len(table))


def placing_of(
    node: ChordNode, runtime: Runtime, config: ChordConfig, shelf: Shelf, curve: HilbertCurve
) -> Placing:
    """One peer's part in load-aware placement, by what lies on its shelf."""
    burden = ShelfBurden(shelf, curve, config.bits, runtime.now)
    return Placing(node, runtime, config.bits, config.successor_count, burden)
