"""What lies in some of many boxes, found for all of them at once.

Law of this file: pure.  Every question looks where all of these were: a row for each, as thousands
of boxes, one after the other, take ten times as long as the question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

import numpy as np

from squid import Box

ROWS: Final = 64
"""For so many there is room at first."""

ItemT = TypeVar("ItemT")


class BoxRows(Generic[ItemT]):
    """Items, each with the box in which it lies."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions, self._puts = dimensions, 0
        self._lows = self._highs = np.empty((0, dimensions), np.int64)
        self._order = np.empty(0, np.int64)
        """How many were put up to this one; 0 of a row that is free."""
        self._items: list[ItemT | None] = []
        self._free: list[int] = []

    def put(self, item: ItemT, box: Box) -> int:
        """Keep one more; returns the row by which it is taken away."""
        row = self._free.pop() if self._free else self._new_row()
        self._puts += 1
        self._lows[row], self._highs[row], self._order[row] = box.low, box.high, self._puts
        self._items[row] = item
        return row

    def take(self, row: int) -> None:
        """Keep what is in this row no longer."""
        self._order[row], self._items[row] = 0, None
        self._free.append(row)

    def count(self, box: Box) -> int:
        """How many lie in a box, or partly."""
        return len(self._rows_in(box))

    def within(self, box: Box) -> Iterator[ItemT]:
        """What does, the last that was put first."""
        rows = self._rows_in(box)
        for row in rows[np.argsort(-self._order[rows])].tolist():
            item = self._items[row]
            assert item is not None, "a row that is not free has an item"
            yield item

    def _rows_in(self, box: Box) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        meets = (self._lows <= box.high).all(axis=1) & (self._highs >= box.low).all(axis=1)
        return np.flatnonzero(meets & (self._order > 0))

    def _new_row(self) -> int:
        rows = len(self._items)
        if rows == len(self._order):  # twice as many, as few of the questions meet many
            more = max(rows, ROWS)
            self._lows, self._highs = (
                np.concatenate([each, np.zeros((more, self._dimensions), np.int64)])
                for each in (self._lows, self._highs)
            )
            self._order = np.concatenate([self._order, np.zeros(more, np.int64)])
        self._items.append(None)
        return rows
