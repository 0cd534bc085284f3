"""Stored subjects, asked by selectors.

Law of this file: `candidates` leaves no match out; what it does not call doubtful is one.  Every
test of a selector's row must be met in one of the columns that it looks at: bitmaps first, the
rows themselves for what bitmaps do not decide.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Final, NamedTuple, TypeVar

import numpy as np

from arms.index_bits import (
    WORD_BITS,
    Mask,
    Slots,
    Words,
    joined,
    set_bits,
    slots_in,
    slots_up_to,
    sorted_once,
)
from arms.index_column import Column, Cut, is_exact
from arms.index_rows import Row
from arms.index_store import any_in_line
from arms.index_table import Ends, Table
from arms.tree import fits
from arms.values import NONE, NUMBERS, WILDCARD, WORDS, Value

K = TypeVar("K")

FEW_CANDIDATES: Final = 512
ROWS_A_CANDIDATE: Final = 256
"""Up to so many, or one for so many rows, it is quicker to look at them than at more bitmaps."""
ROWS_AT_ONCE: Final = 4096
"""Rows that are looked at in one go, so that they fit the cache."""
_ASKED: Final[dict[int, tuple[int, ...]]] = {
    NONE: (NONE, WILDCARD, NUMBERS, WORDS),
    WILDCARD: (WILDCARD, NUMBERS, WORDS),
    NUMBERS: (NUMBERS, WILDCARD),
    WORDS: (WORDS, WILDCARD),
}
"""Which axes of a path meet a test of this kind."""


_NO_SLOTS: Final = np.zeros(0, np.intp)


class _Choice(NamedTuple):
    """One column that may meet a test, and the interval to overlap there."""

    number: int
    column: Column
    low: float
    high: float
    cut: Cut | None
    """Which bitmaps tell; None where there are none."""
    is_decided: bool
    """Whether they alone decide."""


_Clause = list[_Choice]


class SubjectTable(Table[K]):
    """Rows that hold all that a subject offers."""

    def __init__(self, width: int, place_of: Callable[[K], float] | None) -> None:
        super().__init__(width, place_of, marks_misses=False)

    def candidates(self, row: Row) -> tuple[Slots, Mask | None]:
        """The subjects that a row of a selector selects, and which of them the tree must see; None
        when it need see none."""
        self.prepare()
        words = self._used_words()
        clauses = [self._clause(path, value, words) for path, value in row]
        if not clauses:
            slots = self.everything()
        elif not all(clauses):
            slots = _NO_SLOTS
        else:
            slots = self._meeting(clauses, words)
        return slots, self.store.doubtful(slots)

    def _both(self, one: Ends, other: Ends) -> Ends:
        """A subject offers both: the hull leaves nothing out."""
        return min(one[0], other[0]), max(one[1], other[1])

    def _clause(self, pattern: str, value: Value, words: int) -> _Clause:
        """The columns that may meet a test, their bitmaps of at least so many words."""
        axis = value[0]
        clause: _Clause = []
        for number in self.reached(pattern, axis):
            column = self.columns[number]
            assert column is not None, "a number in use has a column"
            low, high = -inf, inf
            if axis == column.axis and axis > WILDCARD:
                low, high = column.asked(value)
            if column.rare is None:
                column.reach(words)
                cut = column.cut(low, high)
                clause.append(_Choice(number, column, low, high, cut, is_exact(cut)))
            else:
                clause.append(_Choice(number, column, low, high, None, False))
        return clause

    def _reaching(self, path: str, axis: int) -> list[int]:
        """The columns in which a test of this pattern and kind may be met."""
        paths = [path]
        if "//" in path:
            last = path[path.rindex("/") :]
            paths = [each for each in self.paths if each.endswith(last) and fits(each, path)]
        numbers = [
            axes[each]
            for axes in (self.paths.get(each_path, {}) for each_path in paths)
            for each in _ASKED[axis]
            if each in axes
        ]
        elsewhere = self.elsewhere()
        return numbers if elsewhere is None else [*numbers, elsewhere]

    # -- from bitmaps to rows

    def _meeting(self, clauses: list[_Clause], words: int) -> Slots:
        waiting = self.waiting_slots()
        rare: list[_Clause] = []
        doubtful: list[_Clause] = []
        for clause in clauses:
            without = undecided = 0
            for choice in clause:
                without += choice.cut is None
                undecided += not choice.is_decided
            if without == len(clause):
                rare.append(clause)
            elif undecided:
                doubtful.append(clause)
        if rare:
            few = self._living(_fewest(rare))
            return self._confirmed(joined(few, waiting), clauses)
        found = self._left_by(clauses, words)
        if not doubtful:
            return joined(slots_in(found), self._confirmed(waiting, clauses))
        sure, slots = _NO_SLOTS, slots_up_to(few_of(words), found)
        if slots is None:
            surely = self._surely_left(found, doubtful)
            sure, slots = slots_in(surely), slots_in(found ^ surely)
        by_row: list[_Clause] = []
        for clause in doubtful:
            _, column, low, high, _, _ = clause[0]
            if len(clause) > 1 or column.ends is None:
                by_row.append(clause)
            elif len(slots):
                slots = column.ends.meeting(slots, low, high)
        if by_row:
            tests = clauses if len(waiting) else by_row
            return joined(self._confirmed(joined(slots, waiting), tests), sure)
        return joined(joined(slots, self._confirmed(waiting, clauses)), sure)

    def _left_by(self, clauses: list[_Clause], words: int) -> Words:
        """The rows that may meet every clause by the bitmaps."""
        left: Words = self.live[:words].copy()
        for clause in clauses:
            if len(clause) == 1:
                _narrow(left, clause[0], words)
                continue
            any_of = np.zeros(words, np.uint64)
            for choice in clause:
                if choice.cut is None:
                    set_bits(any_of, choice.column.rare_slots())
                    continue
                one = left.copy()
                _narrow(one, choice, words)
                any_of |= one
            left &= any_of
        return left

    def _surely_left(self, found: Words, doubtful: list[_Clause]) -> Words:
        """Of the rows that may meet every clause those that surely do."""
        words = len(found)
        left = found.copy()
        for clause in doubtful:
            if len(clause) == 1 and clause[0].cut is not None:
                _and_all(left, clause[0].column.tighter(clause[0].cut, words))
                continue
            any_of = np.zeros(words, np.uint64)
            for choice in clause:
                if choice.cut is not None:
                    one = left.copy()
                    _narrow(one, choice, words, sure=True)
                    any_of |= one
            left &= any_of
        return left

    def _confirmed(self, slots: Slots, clauses: list[_Clause]) -> Slots:
        """Those of the slots whose rows meet every clause."""
        if len(slots) <= ROWS_AT_ONCE:
            return self._confirmed_few(slots, clauses) if len(slots) else slots
        kept = [
            self._confirmed_few(slots[at : at + ROWS_AT_ONCE], clauses)
            for at in range(0, len(slots), ROWS_AT_ONCE)
        ]
        return np.concatenate(kept)

    def _confirmed_few(self, slots: Slots, clauses: list[_Clause]) -> Slots:
        columns, low, high = self.store.rows(slots)
        met: Mask | None = None
        for clause in clauses:
            hit: Mask | None = None
            for choice in clause:
                here = columns == choice.number
                if choice.high < inf:
                    here &= low <= choice.high
                if choice.low > -inf:
                    here &= high >= choice.low
                hit = here if hit is None else np.logical_or(hit, here, out=hit)
            if hit is not None:
                lines = any_in_line(hit)
                met = lines if met is None else np.logical_and(met, lines, out=met)
        return slots if met is None else slots[met]


def few_of(words: int) -> int:
    """Up to how many rows it is quicker to look at them than at more bitmaps of so many words."""
    return max(FEW_CANDIDATES, words * WORD_BITS // ROWS_A_CANDIDATE)


def _narrow(left: Words, choice: _Choice, words: int, *, sure: bool = False) -> None:
    """Leave only rows that may overlap, or surely do, in one column with bitmaps."""
    assert choice.cut is not None, "only columns with bitmaps narrow"
    start, end = choice.cut[2:] if sure else choice.cut[:2]
    lines = choice.column.bitmaps(start, end, words)
    _and_all(left, [choice.column.has[:words]] if lines == [] else lines)


def _and_all(left: Words, lines: list[Words] | None) -> None:
    """Leave what is in all of the lines; nothing where there are None."""
    if lines is None:
        left[:] = 0
        return
    for line in lines:
        np.bitwise_and(left, line, left)


def _rows_of(clause: _Clause) -> int:
    """At most how many rows it has."""
    if len(clause) == 1:  # as nearly all have
        return clause[0].column.count
    return sum([choice.column.count for choice in clause])


def _fewest(rare: list[_Clause]) -> Slots:
    """The slots of the clause that has the fewest rows, in order."""
    clause = rare[0] if len(rare) == 1 else min(rare, key=_rows_of)
    if len(clause) == 1:
        return clause[0].column.rare_slots()
    return sorted_once([choice.column.rare_slots() for choice in clause])
