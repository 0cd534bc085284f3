"""Stored selectors, asked by subjects.

Law of this file: `candidates` leaves no match out; what it does not call doubtful is one.  A row
matches when every column that it has is served by the subject.  Which rows have no other columns
depends only on the *shape* of the subject, the columns that it serves, and is remembered as one
bitmap a shape; of these rows the bitmaps take out what misses an interval.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from arms import index_subjects
from arms.index_bits import (
    Mask,
    Slots,
    Words,
    clear_bits,
    empty_words,
    grown,
    joined,
    set_bits,
    slots_in,
    slots_up_to,
    sorted_once,
)
from arms.index_column import Column, Cut, is_exact
from arms.index_rows import Test, ambiguous_paths
from arms.index_store import Numbers
from arms.index_table import EVERYTHING, MOST_COLUMNS, Ends, Table
from arms.index_vocabulary import Floats
from arms.tree import fits
from arms.values import NONE, NUMBERS, WILDCARD, WORDS

K = TypeVar("K")

MOST_SHAPES: Final = 64
MOST_BATCHES: Final = 16
"""A shape that missed more changes than these is made anew."""
ROWS_WORTH_SIFTING: Final = 256
"""From so many on, those that miss a column that keeps its intervals go before rows are read."""
_SERVED: Final[dict[int, tuple[int, ...]]] = {
    NONE: (NONE,),
    WILDCARD: (NONE, WILDCARD, NUMBERS, WORDS),
    NUMBERS: (NONE, WILDCARD, NUMBERS),
    WORDS: (NONE, WILDCARD, WORDS),
}
"""Which axes of a path an offer of this kind may satisfy."""

_NO_SLOTS: Final = np.zeros(0, np.intp)
_NO_PATHS: Final = frozenset[str]()

Served = dict[int, Ends]
"""What a subject offers, by column: the hull where it offers several values."""


class _Shape:
    """The rows that have no columns but these."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.serves = np.zeros(MOST_COLUMNS + 2, bool)
        self.serves[[0, *numbers]] = True
        self.rows: Words = empty_words(0)
        self.seen = 0
        """Up to which batch of new rows it knows them."""

    def learn(self, slots: Slots, columns: Numbers | None, words: int) -> None:
        """Take in a batch of rows, in the place of others maybe; or, without columns, forget it."""
        if len(self.rows) < words:
            self.rows = grown(self.rows, words)
        clear_bits(self.rows, slots)
        if columns is not None:
            set_bits(self.rows, slots[self.serves[columns].all(axis=1)])


class SelectorTable(Table[K]):
    """Rows that each say what a subject must offer."""

    def __init__(self, width: int, place_of: Callable[[K], float] | None) -> None:
        super().__init__(width, place_of, marks_misses=True)
        self._shapes: dict[frozenset[int], _Shape] = {}
        self._batches: deque[tuple[Slots, Numbers | None]] = deque(maxlen=MOST_BATCHES)
        """The last batches of new rows, and of those that left: what shapes may have missed."""
        self._batch = 1
        self._lowest: Floats = np.full(MOST_COLUMNS + 2, np.nan)
        self._highest: Floats = np.full(MOST_COLUMNS + 2, np.nan)
        self._lowest[0], self._highest[0] = -np.inf, np.inf
        """What is served of each column at the moment; NaN overlaps nothing, and column 0 stands
        for the places of a row that ask nothing."""

    def candidates(self, offers: list[Test], unique: bool) -> tuple[Slots, Mask | None]:
        """The rows that a subject's offers satisfy, and which of them the tree must see; None when
        it need see none."""
        self.prepare()
        served, unclear = self._served(offers, unique)
        slots = self._satisfied(served)
        doubtful = self.store.doubtful(slots)
        if not unclear or not len(slots):
            return slots, doubtful
        columns, _, _ = self.store.rows(slots)
        touched: Mask = np.logical_or.reduce(
            np.isin(columns, np.array(sorted(unclear), np.uint16)), axis=1
        )
        if doubtful is not None:
            touched |= doubtful
        return slots, touched

    def _both(self, one: Ends, other: Ends) -> Ends:
        """A selector asks both, maybe of two elements: one of them leaves nothing out."""
        del other
        return one

    # -- what the subject serves

    def _served(self, offers: list[Test], unique: bool) -> tuple[Served, set[int]]:
        """The columns that the offers serve; in the unclear ones the hull may say too much, or
        one element must satisfy several."""
        served: Served = {}
        unclear: set[int] = set()
        ambiguous = _NO_PATHS if unique else ambiguous_paths(offers)
        for path, value in offers:
            axis = value[0]
            for number in self.reached(path, axis):
                column = self.columns[number]
                assert column is not None, "a number in use has a column"
                ends = EVERYTHING
                if column.axis == axis and axis > WILDCARD:
                    ends = column.asked(value)
                before = served.get(number)
                if before is not None:
                    ends = min(ends[0], before[0]), max(ends[1], before[1])
                if before is not None or path in ambiguous:
                    unclear.add(number)
                served[number] = ends
        elsewhere = self.elsewhere()
        if elsewhere is not None:
            served[elsewhere] = EVERYTHING
        return served, unclear

    def _reaching(self, path: str, axis: int) -> list[int]:
        """The columns that an offer at this path may satisfy."""
        reached = [path]
        if self.patterns:
            last = path[path.rindex("/") :]
            reached += [p for p in self.patterns if p.endswith(last) and fits(path, p)]
        numbers = []
        for pattern in reached:
            axes = self.paths.get(pattern)
            if axes is not None:
                numbers += [axes[each] for each in _SERVED[axis] if each in axes]
        return numbers

    # -- from bitmaps to rows

    def _satisfied(self, served: Served) -> Slots:
        words = self._used_words()
        wide: dict[int, tuple[Column, Cut]] = {}
        unclear: list[int] = []
        more = [self.waiting_slots()]
        for number, ends in served.items():
            column = self.columns[number]
            assert column is not None, "a number in use has a column"
            if column.rare is None:
                if len(column.has) < words:
                    column.reach(words)
                cut = column.cut(*ends)
                wide[number] = (column, cut)
                if not is_exact(cut):
                    unclear.append(number)
            elif column.rare:
                more.append(self._living(column.rare_slots()))
        others = more[0] if len(more) == 1 else sorted_once(more)
        fitting = self._fitting(frozenset(wide))[:words]
        if self._gone:
            fitting = fitting & self.live[:words]
        found = _without_misses(fitting, wide.values(), words)
        if not unclear:
            return joined(slots_in(found), self._confirmed(others, served))
        sure, slots = _NO_SLOTS, slots_up_to(index_subjects.few_of(words), found)
        if slots is None:
            surely = _without_more_misses(found, [wide[number] for number in unclear], words)
            sure, slots = slots_in(surely), slots_in(found ^ surely)
        by_row = [number for number in unclear if wide[number][0].ends is None]
        if not by_row or len(slots) > ROWS_WORTH_SIFTING:
            for number in unclear:
                column = wide[number][0]
                if column.ends is not None:
                    slots = column.ends.without_misses(slots, *served[number])
        if by_row:
            return joined(self._confirmed(joined(slots, others), served), sure)
        return joined(joined(slots, self._confirmed(others, served)), sure)

    def _confirmed(self, slots: Slots, served: Served) -> Slots:
        """Those of the slots whose rows are satisfied in every column."""
        if not len(slots):
            return slots
        at_once = index_subjects.ROWS_AT_ONCE
        for number, (low, high) in served.items():
            self._lowest[number], self._highest[number] = low, high
        if len(slots) <= at_once:
            kept = self._confirmed_few(slots)
        else:
            parts = range(0, len(slots), at_once)
            kept = np.concatenate([self._confirmed_few(slots[at : at + at_once]) for at in parts])
        for number in served:
            self._lowest[number] = self._highest[number] = np.nan
        return kept

    def _confirmed_few(self, slots: Slots) -> Slots:
        columns, low, high = self.store.turned(slots)
        numbers = columns.astype(np.intp, order="C")
        met = low <= self._highest.take(numbers)
        met &= high >= self._lowest.take(numbers)
        return slots[np.bitwise_and.reduce(met)]

    # -- shapes

    def _fitting(self, numbers: frozenset[int]) -> Words:
        """The rows that have no column with bitmaps but these, and no rare one."""
        shape = self._shapes.pop(numbers, None)
        if shape is None:
            shape = _Shape(numbers)
            if len(self._shapes) >= MOST_SHAPES:
                del self._shapes[next(iter(self._shapes))]
        self._shapes[numbers] = shape  # the last one asked for is the last to go
        missed = self._batch - shape.seen
        if missed > len(self._batches) or not shape.seen:
            shape.rows = self._without_others(shape.serves)
        elif missed:
            for slots, columns in list(self._batches)[-missed:]:
                shape.learn(slots, columns, len(self.live))
        shape.seen = self._batch
        return shape.rows

    def _without_others(self, serves: npt.NDArray[np.bool_]) -> Words:
        others = empty_words(len(self.live))
        for number, column in enumerate(self.columns):
            if column is None or serves[number] or not column.count:
                continue
            if column.rare is None:
                length = min(len(others), len(column.has))
                others[:length] |= column.has[:length]
            else:
                set_bits(others, column.rare_slots())
        return self.live & ~others

    def _entered(self, slots: Slots, columns: Numbers) -> None:
        self._batch += 1
        self._batches.append((slots, columns.copy()))

    def _left(self, slots: Slots) -> None:
        self._batch += 1
        self._batches.append((slots, None))


def _without_misses(fitting: Words, wide: Iterable[tuple[Column, Cut]], words: int) -> Words:
    """Of the rows those that may overlap in every column."""
    lines: list[Words] = []
    for column, (start, end, _, _) in wide:
        of_column = column.bitmaps(start, end, words)
        lines += [column.has[:words]] if of_column is None else of_column
    if not lines:
        return fitting
    if len(lines) == 1:
        return fitting & ~lines[0]
    # To begin with zeros is two passes more: a thirtieth of a question over 100,000 rows.  So is
    # each array beside this one: what nobody looked at lately comes from far away.
    missed = lines[0] | lines[1]
    for line in lines[2:]:
        np.bitwise_or(missed, line, missed)
    left: Words = np.bitwise_and(fitting, np.invert(missed, missed), missed)
    return left


def _without_more_misses(found: Words, unclear: list[tuple[Column, Cut]], words: int) -> Words:
    """Of the rows that may overlap in every column those that surely do."""
    missed: Words = np.zeros(words, np.uint64)
    for column, cut in unclear:
        lines = column.tighter(cut, words)
        for line in [column.has[:words]] if lines is None else lines:
            missed |= line
    return np.bitwise_and(found, np.invert(missed, missed), missed)
