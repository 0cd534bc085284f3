"""The tables of the dense scan: stored subjects under a selector, stored selectors under a
subject.

Law of this file: `candidates` never leaves out a match; a candidate that comes with True is one,
the others are for the tree to decide.  At most 64 interval columns and 256 paths are kept, so that
nobody can fill the memory with names; what lies beyond is left to the tree (matching note, 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from arms.index_rows import Row, Test
from arms.tree import fits
from arms.values import NONE, NUMBERS, WILDCARD, WORDS, Value
from tests.arms.dense_columns import IntervalColumn, Mask, Slots

MOST_INTERVAL_COLUMNS: Final = 64
MOST_PATHS: Final = 256
_FIRST_CAPACITY = 64
_PRESENT, _VALUED, _OPEN = 1, 2, 4

Bytes = npt.NDArray[np.uint8]
Candidates = tuple[Slots, Mask]
"""Slots, each with whether the rows alone decide it."""


class _Table:
    """Slots, their reuse, and the columns over them."""

    def __init__(self) -> None:
        self._capacity = _FIRST_CAPACITY
        self._used = 0
        self._free: list[int] = []
        self._exact: Mask = np.zeros(self._capacity, bool)
        self._columns: dict[tuple[str, int], IntervalColumn] = {}
        self._keys: list[list[tuple[str, int]]] = []

    def _take_slot(self) -> int:
        if self._free:
            return self._free.pop()
        if self._used == self._capacity:
            self._grow(2 * self._capacity)
        self._used += 1
        self._keys.append([])
        return self._used - 1

    def _grow(self, capacity: int) -> None:
        self._exact = _padded(self._exact, capacity)
        for column in self._columns.values():
            column.grow(capacity)
        self._capacity = capacity

    def _column(self, path: str, axis: int) -> IntervalColumn | None:
        """The column of a path and axis, new where there is room for one."""
        column = self._columns.get((path, axis))
        if column is None and len(self._columns) < MOST_INTERVAL_COLUMNS:
            column = self._columns[path, axis] = IntervalColumn(axis, self._capacity)
        return column

    def _clear_columns(self, slot: int) -> None:
        for key in self._keys[slot]:
            column = self._columns.get(key)
            if column is not None:
                column.clear(slot)
                if not column.count:
                    del self._columns[key]
        self._keys[slot] = []
        self._exact[slot] = False
        self._free.append(slot)


class SubjectTable(_Table):
    """Stored subjects, asked by selectors."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: dict[str, Bytes] = {}
        self._paths: dict[str, int] = {}
        self._slot_paths: list[list[str]] = []
        self._untold: Mask = np.zeros(self._capacity, bool)

    def insert(self, offers: list[Test], unique: bool) -> int:
        """Store a subject's offers; returns its slot."""
        slot = self._take_slot()
        if slot == len(self._slot_paths):
            self._slot_paths.append([])
        paths = self._slot_paths[slot] = list(dict.fromkeys(path for path, _ in offers))
        for path in paths:
            self._paths[path] = self._paths.get(path, 0) + 1
            if path not in self._marks and len(self._marks) < MOST_PATHS:
                self._marks[path] = np.zeros(self._capacity, np.uint8)
        told = True
        for path, value in offers:
            told = self._offer(slot, path, value) and told
        self._untold[slot] = not told
        self._exact[slot] = unique and told
        return slot

    def delete(self, slot: int) -> None:
        """Free a subject's slot."""
        for path in self._slot_paths[slot]:
            self._paths[path] -= 1
            if path in self._marks:
                self._marks[path][slot] = 0
            if not self._paths[path]:
                del self._paths[path]
                self._marks.pop(path, None)
        self._slot_paths[slot] = []
        self._untold[slot] = False
        self._clear_columns(slot)

    def candidates(self, row: Row, exact: bool) -> Candidates:
        """The subjects that a row of a selector may select."""
        slots: Slots | None = None
        for path, value in sorted(row, key=lambda test: -test[1].axis):
            mask = self._meeting(path, value, self._used if slots is None else slots)
            slots = np.flatnonzero(mask) if slots is None else slots[mask]
        if slots is None:
            slots = np.flatnonzero([bool(paths) for paths in self._slot_paths])
            return slots, np.zeros(len(slots), bool)
        return slots, self._exact[slots] & exact

    def _offer(self, slot: int, path: str, value: Value) -> bool:
        """Note one element; False when there is no column left for it."""
        if path not in self._marks:
            return False
        mark = _PRESENT if value.axis == NONE else _PRESENT | _VALUED
        if value.axis == WILDCARD:
            mark |= _OPEN
        elif value.axis != NONE:
            column = self._column(path, value.axis)
            if column is None:
                return False
            column.put(slot, value)
            self._keys[slot].append((path, value.axis))
        self._marks[path][slot] |= mark
        return True

    def _meeting(self, pattern: str, value: Value, slots: Slots | int) -> Mask:
        """Which slots may meet a test; those of which the columns tell too little always may."""
        paths = [pattern] if "//" not in pattern else [p for p in self._marks if fits(p, pattern)]
        mask = _chosen(self._untold, slots).copy()
        for path in paths:
            marks = self._marks.get(path)
            if marks is None:
                continue
            seen = _chosen(marks, slots)
            mask |= (seen & _ASKED_MARK[value.axis]) != 0
            column = self._columns.get((path, value.axis))
            if column is not None:
                mask |= column.overlapping(value, slots)
        return mask

    def _grow(self, capacity: int) -> None:
        super()._grow(capacity)
        for path, marks in self._marks.items():
            self._marks[path] = _padded(marks, capacity)
        self._untold = _padded(self._untold, capacity)


class SelectorTable(_Table):
    """Stored selectors, one slot a row, asked by subjects."""

    def __init__(self) -> None:
        super().__init__()
        self._plain: dict[tuple[str, int], Mask] = {}
        self._plain_counts: dict[tuple[str, int], int] = {}
        self._needed: Bytes = np.full(self._capacity, 255, np.uint8)
        self._patterns: dict[str, int] = {}

    def insert(self, row: Row, exact: bool) -> int:
        """Store one row; returns its slot."""
        slot = self._take_slot()
        needed = 0
        for path, value in row:
            if self._require(slot, path, value):
                needed += 1
            else:
                exact = False
        self._needed[slot] = needed
        self._exact[slot] = exact
        return slot

    def delete(self, slot: int) -> None:
        """Free a row's slot."""
        self._needed[slot] = 255
        for key in self._keys[slot]:
            if "//" in key[0]:
                self._patterns[key[0]] -= 1
                if not self._patterns[key[0]]:
                    del self._patterns[key[0]]
            if key in self._plain:
                self._plain[key][slot] = False
                self._plain_counts[key] -= 1
                if not self._plain_counts[key]:
                    del self._plain[key], self._plain_counts[key]
        self._clear_columns(slot)

    def candidates(self, offers: Iterable[Test], unique: bool) -> Candidates:
        """The rows that a subject's offers may satisfy."""
        served: dict[tuple[str, int], list[Value]] = {}
        for path, value in offers:
            self._serve(path, value, served)
            last = path[path.rindex("/") :]
            for pattern in self._patterns:
                if pattern.endswith(last) and fits(path, pattern):
                    self._serve(pattern, value, served)
        hits: Bytes = np.zeros(self._used, np.uint8)
        for key, values in served.items():
            hits += self._met(key, values)
        slots = np.flatnonzero(hits == self._needed[: self._used])
        return slots, self._exact[slots] & unique

    def _require(self, slot: int, path: str, value: Value) -> bool:
        """Note one test of a row; False when it is left to the tree."""
        key = (path, value.axis)
        if value.axis in {NUMBERS, WORDS}:
            column = self._column(path, value.axis)
            if column is None or not column.is_free(slot):
                return False
            column.put(slot, value)
        else:
            if key not in self._plain:
                if len(self._plain) >= MOST_PATHS:
                    return False
                self._plain[key] = np.zeros(self._capacity, bool)
                self._plain_counts[key] = 0
            if self._plain[key][slot]:
                return False
            self._plain[key][slot] = True
            self._plain_counts[key] += 1
        self._keys[slot].append(key)
        if "//" in path:
            self._patterns[path] = self._patterns.get(path, 0) + 1
        return True

    def _serve(self, path: str, value: Value, served: dict[tuple[str, int], list[Value]]) -> None:
        """Note which columns an offer may satisfy."""
        for axis in _SERVED[value.axis]:
            key = (path, axis)
            if key in self._columns or key in self._plain:
                served.setdefault(key, []).append(value)

    def _met(self, key: tuple[str, int], values: list[Value]) -> Mask:
        """Which rows have their test in this column met by one of the values."""
        if key in self._plain:
            return self._plain[key][: self._used]
        column = self._columns[key]
        if any(value.axis == WILDCARD for value in values):
            return column.held(self._used)
        mask = column.overlapping(values[0], self._used)
        for value in values[1:]:
            mask |= column.overlapping(value, self._used)
        return mask

    def _grow(self, capacity: int) -> None:
        super()._grow(capacity)
        self._needed = _padded(self._needed, capacity, 255)
        for key, mask in self._plain.items():
            self._plain[key] = _padded(mask, capacity)


_ASKED_MARK = {NONE: _PRESENT, WILDCARD: _VALUED, NUMBERS: _OPEN, WORDS: _OPEN}
"""Which mark of a path meets a test of this kind."""

_SERVED: dict[int, tuple[int, ...]] = {
    NONE: (NONE,),
    WILDCARD: (NONE, WILDCARD, NUMBERS, WORDS),
    NUMBERS: (NONE, WILDCARD, NUMBERS),
    WORDS: (NONE, WILDCARD, WORDS),
}


_S = TypeVar("_S", bound=np.generic)


def _chosen(array: npt.NDArray[_S], slots: Slots | int) -> npt.NDArray[_S]:
    """The first so many slots, or those of an array."""
    return array[:slots] if isinstance(slots, int) else array[slots]


def _padded(array: npt.NDArray[_S], capacity: int, filling: int = 0) -> npt.NDArray[_S]:
    """The array with room for `capacity` slots."""
    return np.concatenate([array, np.full(capacity - len(array), filling, array.dtype)])
