"""A table of the index: rows, the columns over them, and how both follow what comes and goes.

Law of this file: a row counts from the moment it is put until it is taken.  What is new waits
beside the bitmaps and is confirmed with their candidates; what is gone loses its `live` bit; the
bitmaps follow in batches, and columns are planned anew one after the other, so that no change
holds a peer up for long.  At most 4,095 columns exist: what has none shares one that meets
everything and leaves its rows to the tree, so that nobody can fill the memory with names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Final, Generic, TypeVar

import numpy as np

from arms.index_bits import (
    BITS,
    Slots,
    are_set,
    empty_words,
    grown,
    set_bits,
    slots_in,
    sorted_once,
    words_for,
)
from arms.index_column import MOST_EDGES, Column
from arms.index_rows import Row
from arms.index_store import Intervals, Numbers, RowStore
from arms.index_vocabulary import Floats
from arms.profile import Profile
from arms.values import WILDCARD

K = TypeVar("K", bound=Hashable)

MOST_COLUMNS: Final = 4095
MOST_CUTS: Final = 640
"""Edges of all columns together: two bitmaps each, 160 bytes a row."""
MOST_WAITING: Final = 512
"""New or gone rows that the bitmaps do not know yet.  To let a column know takes about as long for
one row as for some hundred."""
WORTH_SETTLING: Final = 32
QUESTIONS_WAITED: Final = 8
"""After so many questions without a change, rows that still wait are worth the work."""
QUESTIONS_WAITED_BY_FEW: Final = 64
"""The same for few rows: to look at them so often takes as long as the work."""
MOST_REACHED: Final = 1024
"""Kinds of tests of which it is remembered where they may be met."""
_SHARED_OUT: Final = 128
"""With more columns than these none has many edges, and to share out what is left takes long."""
_LEARNT_AT_ONCE: Final = 1 << 15
_PLANNED_AT_ONCE: Final = 1 << 14
"""Rows that are looked at to plan columns anew, in one go."""
_ELSEWHERE: Final = ("", -1)
"""The path and axis of what has no column of its own."""
EVERYTHING: Final = (float("-inf"), float("inf"))
"""The interval that overlaps every other."""

Ends = tuple[float, float]


class Table(ABC, Generic[K]):
    """Rows of one role and width."""

    def __init__(
        self, width: int, place_of: Callable[[K], float] | None, *, marks_misses: bool
    ) -> None:
        self.store = RowStore[K](width, place_of)
        self.columns: list[Column | None] = [None]
        self.paths: dict[str, dict[int, int]] = {}
        self.patterns: dict[str, None] = {}
        """Those of the paths that look anywhere (`//`)."""
        self.live = empty_words(words_for(self.store.capacity))
        self.waiting: dict[int, None] = {}
        self._waiting_slots: Slots | None = None
        self._waited = 0
        self._gone: list[int] = []
        self._fresh: dict[int, None] = {}
        self._stale: dict[int, None] = {}
        self._spare_numbers: list[int] = []
        self._entries = 0
        self._marks_misses = marks_misses
        self._reached: dict[tuple[str, int], list[int]] = {}
        """What was found out about the columns as they are."""

    # -- changes

    def insert(self, owner: K, profile: Profile, row: Row, flagged: bool) -> int:
        """Keep one row; returns its slot."""
        if self._stale and not self.waiting:
            self._plan_some()
        ends: dict[int, Ends] | None = None
        while ends is None:
            ends = self._ends_of(row)
        if len(ends) < len(row) or (_ELSEWHERE[0] in self.paths and self.elsewhere() in ends):
            flagged = True
        slot = self.store.put(owner, profile, ends, flagged)
        self.waiting[slot] = None
        self._waiting_slots = None
        if len(self.waiting) >= MOST_WAITING:
            self.settle()
        return slot

    def delete(self, slot: int) -> None:
        """Forget a row."""
        if slot in self.waiting:
            del self.waiting[slot]
            self._waiting_slots = None
            self.store.free(slot)
            if len(self._fresh) >= MOST_WAITING:
                self.settle()
            return
        self.live[slot >> 6] &= ~BITS[slot & 63]
        self._gone.append(slot)
        if len(self._gone) >= MOST_WAITING:
            self.settle()

    def settle(self) -> None:
        """Let the bitmaps follow."""
        self._forget(np.array(sorted(self._gone), np.intp))
        self._learn(np.array(sorted(self.waiting), np.intp))
        self._gone, self.waiting, self._waiting_slots = [], {}, None
        for number in self._fresh:
            column = self.columns[number]
            if column is not None and not column.count:
                self._stale[number] = None
        self._fresh.clear()

    def _plan_some(self) -> None:
        """Plan some columns anew; only when nothing waits, and not in one step with `settle`."""
        looked_at = 0
        while self._stale and looked_at < _PLANNED_AT_ONCE:
            number = next(iter(self._stale))
            del self._stale[number]
            column = self.columns[number]
            if column is not None:
                looked_at += column.count + self.store.used // 8
                self._plan(number, column)

    def load(self, slots: range, intervals: Sequence[Intervals]) -> None:
        """Take many new rows into the bitmaps at once, column by column; nothing else waits."""
        words = words_for(self.store.used)
        if len(self.live) < words:
            self.live = grown(self.live, words_for(self.store.capacity))
        self._entries += sum(len(each.rows) for each in intervals)
        for each in intervals:
            column = self.columns[each.column]
            assert column is not None, "a number in use has a column"
            at = slots.start + each.rows
            if column.count:
                column.enter(at, each.low, each.high, words)
                if column.is_stale(self.store.used):
                    self._plan(each.column, column)
            else:
                self._build(column, at, each.low, each.high)
        columns, _, _ = self.store.all_rows()
        for first in range(slots.start, slots.stop, _LEARNT_AT_ONCE):
            some = range(first, min(first + _LEARNT_AT_ONCE, slots.stop))
            numbers = np.arange(some.start, some.stop)
            set_bits(self.live, numbers)
            self._entered(numbers, columns[some.start : some.stop])
        self._fresh.clear()

    def relabel(self, number: int, column: Column) -> None:
        """Space the labels of a column's words anew, as there is no room between two."""
        self._relabel(number, column, None)

    @abstractmethod
    def _both(self, one: Ends, other: Ends) -> Ends:
        """What a row keeps of two intervals in one column; the tree decides then."""

    def _entered(self, slots: Slots, columns: Numbers) -> None:
        """Rows are in the bitmaps from now on."""

    def _left(self, slots: Slots) -> None:
        """Rows are in no bitmap any more."""

    def _learn(self, slots: Slots) -> None:
        if not len(slots):
            return
        words = words_for(self.store.used)
        if len(self.live) < words:
            self.live = grown(self.live, words_for(self.store.capacity))
        columns, low, high = self.store.rows(slots)
        for number, chosen, places in _by_column(columns):
            column = self.columns[number]
            assert column is not None, "a number in use has a column"
            column.enter(slots[chosen], low[chosen, places], high[chosen, places], words)
            self._entries += len(chosen)
            if column.is_stale(self.store.used):
                self._stale[number] = None
        set_bits(self.live, slots)
        self._entered(slots, columns)

    def _forget(self, slots: Slots) -> None:
        if not len(slots):
            return
        columns, _, _ = self.store.rows(slots)
        for number, chosen, _ in _by_column(columns):
            column = self.columns[number]
            assert column is not None, "a number in use has a column"
            column.leave(slots[chosen])
            self._entries -= len(chosen)
            if column.is_stale(self.store.used) or not column.count:
                self._stale[number] = None
        self.store.free_all(slots)
        self._left(slots)

    # -- columns

    def column_for(self, path: str, axis: int) -> int:
        """The number of a column, new where there is room for one."""
        axes = self.paths.get(path)
        if axes is not None and axis in axes:
            return axes[axis]
        if len(self.columns) - len(self._spare_numbers) >= MOST_COLUMNS:
            path, axis = _ELSEWHERE
            if path in self.paths:
                return self.paths[path][axis]
        column = Column(path, axis, marks_misses=self._marks_misses)
        if self._spare_numbers:
            number = self._spare_numbers.pop()
            self.columns[number] = column
        else:
            number = len(self.columns)
            self.columns.append(column)
        self.paths.setdefault(path, {})[axis] = number
        if "//" in path:
            self.patterns[path] = None
        self._fresh[number] = None
        self._reached.clear()
        return number

    def elsewhere(self) -> int | None:
        """The column of what has none of its own, if there is such a thing."""
        return self.paths[_ELSEWHERE[0]][_ELSEWHERE[1]] if _ELSEWHERE[0] in self.paths else None

    def _ends_of(self, row: Row) -> dict[int, Ends] | None:
        """A row by column; None when a column had to be labelled anew for it."""
        ends: dict[int, Ends] = {}
        paths, columns = self.paths, self.columns
        for path, value in row:
            try:
                number = paths[path][value[0]]
            except KeyError:
                number = self.column_for(path, value[0])
            column = columns[number]
            assert column is not None, "a number in use has a column"
            interval: Ends | None
            if column.axis <= WILDCARD:
                interval = EVERYTHING
            elif column.vocabulary is None:
                interval = float(value[1]), float(value[2])
            else:
                interval = column.stored(value)
            if interval is None:
                self._relabel(number, column, None)
                return None
            ends[number] = self._both(ends[number], interval) if number in ends else interval
        return ends

    def _relabel(self, number: int, column: Column, used: Floats | None) -> None:
        words = column.vocabulary
        assert words is not None, "only keywords have labels"
        old, new = words.relabel(used)
        slots = self._rows_with(number, column)
        _, low, high = self.store.all_rows()
        places = self.store.places(slots, number)
        for ends in (low, high):
            labels = ends[slots, places]
            finite = np.isfinite(labels)
            labels[finite] = new[np.searchsorted(old, labels[finite])]
            ends[slots, places] = labels
        if used is None:
            column.relabelled(old, new)

    def _rows_with(self, number: int, column: Column) -> Slots:
        """All rows that have a column, those that wait and those that are gone included."""
        waiting = np.fromiter(self.waiting, np.intp, len(self.waiting))
        columns, _, _ = self.store.rows(waiting)
        fresh = waiting[(columns == number).any(axis=1)]
        return np.concatenate([column.slots(), fresh])

    def _plan(self, number: int, column: Column) -> None:
        """Plan a column anew, or drop it; only when nothing waits."""
        slots = column.slots()
        if not len(slots):
            self._drop(number, column)
            return
        ends = column.ends  # there at hand, in the rows one line of memory for each
        low, high = self.store.entries(slots, number) if ends is None else ends.at(slots)
        words = column.vocabulary
        if words is not None and len(words) > 3 * len(slots) + MOST_WAITING:
            self._relabel(number, column, sorted_once([low, high]))
            low, high = self.store.entries(slots, number)
        self._build(column, slots, low, high)

    def _build(self, column: Column, slots: Slots, low: Floats, high: Floats) -> None:
        used = self.store.used
        column.rebuild(slots, low, high, used, words_for(used), self._edges_due(len(slots)))

    def _edges_due(self, rows: int) -> int:
        """How many edges a column of so many rows may have: a share of all by its rows, and of
        what the columns of most rows leave over."""
        entries = max(1, self._entries)
        share = MOST_CUTS * rows // entries
        if share >= MOST_EDGES or len(self.columns) > _SHARED_OUT:
            return share
        counts = [column.count for column in self.columns if column is not None]
        full = [count for count in counts if MOST_CUTS * count // entries >= MOST_EDGES]
        others = entries - sum(full)
        return (MOST_CUTS - MOST_EDGES * len(full)) * rows // max(1, others, rows)

    def _drop(self, number: int, column: Column) -> None:
        del self.paths[column.path][column.axis]
        if not self.paths[column.path]:
            del self.paths[column.path]
            self.patterns.pop(column.path, None)
        self.columns[number] = None
        self._reached.clear()
        self._spare_numbers.append(number)

    # -- questions

    def reached(self, path: str, axis: int) -> list[int]:
        """The numbers of the columns where a test, or an offer, of this kind may be met."""
        numbers = self._reached.get((path, axis))
        if numbers is None:
            if len(self._reached) >= MOST_REACHED:
                self._reached.clear()
            numbers = self._reached[path, axis] = self._reaching(path, axis)
        return numbers

    @abstractmethod
    def _reaching(self, path: str, axis: int) -> list[int]:
        """The same, found out about the columns as they are."""

    def _living(self, slots: Slots) -> Slots:
        """Those of the slots, in bitmaps or sets, that are not gone."""
        return slots[are_set(self.live, slots)] if len(slots) else slots

    def prepare(self) -> None:
        """Before a question: what has waited through several of them, let the bitmaps know."""
        if self._stale and not self.waiting:
            self._plan_some()
        if self._waiting_slots is None:
            self._waiting_slots = np.fromiter(self.waiting, np.intp, len(self.waiting))
            self._waited = 0
        elif self.waiting:
            self._waited += 1
            worth_it = len(self.waiting) >= WORTH_SETTLING
            if self._waited >= (QUESTIONS_WAITED if worth_it else QUESTIONS_WAITED_BY_FEW):
                self.settle()
                self._waiting_slots = np.zeros(0, np.intp)

    def waiting_slots(self) -> Slots:
        """The rows that the bitmaps do not know yet."""
        if self._waiting_slots is None:
            self._waiting_slots = np.fromiter(self.waiting, np.intp, len(self.waiting))
        return self._waiting_slots

    def _used_words(self) -> int:
        """How many words of the bitmaps are in use; what waits may lie beyond."""
        return min(words_for(self.store.used), len(self.live))

    def _column(self, number: int, words: int) -> Column:
        """A column in use, with bitmaps of at least so many words."""
        column = self.columns[number]
        assert column is not None, "a number in use has a column"
        if column.rare is None:
            column.reach(words)
        return column

    def everything(self) -> Slots:
        """All rows."""
        return np.concatenate([slots_in(self.live), self.waiting_slots()])

    def nbytes(self) -> int:
        """The bytes of rows, bitmaps and sets."""
        columns = [column for column in self.columns if column is not None]
        return self.store.nbytes() + self.live.nbytes + sum(c.nbytes() for c in columns)


def _by_column(columns: Numbers) -> list[tuple[int, Slots, Slots]]:
    """For each column number: the lines that have it, in order, and where in the line."""
    lines, places = np.nonzero(columns)
    numbers = columns[lines, places]
    order = np.argsort(numbers, kind="stable")
    lines, places, numbers = lines[order], places[order], numbers[order]
    starts = [*np.flatnonzero(np.diff(numbers, prepend=0)).tolist(), len(numbers)]
    return [
        (int(numbers[start]), lines[start:end], places[start:end])
        for start, end in pairwise(starts)
    ]
