"""Stored subjects, asked by selectors.

Law of this file: `candidates` leaves no match out; what it does not call doubtful is one.  Every
test of a selector's row must be met in one of the columns that it looks at: bitmaps first, the
rows themselves for what bitmaps do not decide.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from operator import attrgetter
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
ROWS_WORTH_SIFTING: Final = 256
"""From so many on, those that miss a column that keeps its intervals go before rows are read."""
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

_has_bitmaps = attrgetter("cut")
_is_decided = attrgetter("is_decided")


class SubjectTable(Table[K]):
    """Rows that hold all that a subject offers."""

    def __init__(self, width: int, place_of: Callable[[K], float]) -> None:
        super().__init__(width, place_of, marks_misses=False)

    def candidates(self, row: Row) -> tuple[Slots, Mask | None]:
        """The subjects that a row of a selector selects, and which of them the tree must see; None
        when it need see none."""
        self.prepare()
        clauses = [self._clause(path, value) for path, value in row]
        if not clauses:
            slots = self.everything()
        elif not all(clauses):
            slots = _NO_SLOTS
        else:
            slots = self._meeting(clauses)
        return slots, self.store.doubtful(slots)

    def _both(self, one: Ends, other: Ends) -> Ends:
        """A subject offers both: the hull leaves nothing out."""
        return min(one[0], other[0]), max(one[1], other[1])

    def _clause(self, pattern: str, value: Value) -> _Clause:
        words = self._used_words()
        return [self._choice(number, words, value) for number in self.reached(pattern, value[0])]

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

    def _choice(self, number: int, words: int, value: Value) -> _Choice:
        column = self._column(number, words)
        low, high = -inf, inf
        if value[0] == column.axis and value[0] > WILDCARD:
            low, high = column.asked(value)
        cut = column.cut(low, high) if column.rare is None else None
        return _Choice(number, column, low, high, cut, cut is not None and is_exact(cut))

    # -- from bitmaps to rows

    def _meeting(self, clauses: list[_Clause]) -> Slots:
        waiting = self.waiting_slots()
        rare = [clause for clause in clauses if not any(map(_has_bitmaps, clause))]
        if rare:
            few = self._living(_fewest(rare))
            return self._confirmed(joined(few, waiting), clauses)
        found = self._left_by(clauses)
        doubtful = [clause for clause in clauses if not all(map(_is_decided, clause))]
        if not doubtful:
            return joined(slots_in(found), self._confirmed(waiting, clauses))
        sure, slots = _NO_SLOTS, slots_up_to(few_of(len(found)), found)
        if slots is None:
            surely = self._surely_left(found, doubtful)
            sure, slots = slots_in(surely), slots_in(found ^ surely)
        by_row = [clause for clause in doubtful if len(clause) > 1 or clause[0].column.ends is None]
        if not by_row or len(slots) > ROWS_WORTH_SIFTING:
            for clause in doubtful:
                _, column, low, high, _, _ = clause[0]
                if len(clause) == 1 and column.ends is not None:
                    slots = column.ends.meeting(slots, low, high)
        else:
            by_row = doubtful
        if by_row:
            tests = clauses if len(waiting) else by_row
            return joined(self._confirmed(joined(slots, waiting), tests), sure)
        return joined(joined(slots, self._confirmed(waiting, clauses)), sure)

    def _left_by(self, clauses: list[_Clause]) -> Words:
        """The rows that may meet every clause by the bitmaps."""
        words = self._used_words()
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
        if not len(slots):
            return slots
        kept = [
            self._confirmed_few(slots[at : at + ROWS_AT_ONCE], clauses)
            for at in range(0, len(slots), ROWS_AT_ONCE)
        ]
        return kept[0] if len(kept) == 1 else np.concatenate(kept)

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


def _fewest(rare: list[_Clause]) -> Slots:
    """The slots of the clause that has the fewest rows, in order."""
    clause = min(rare, key=lambda each: sum(choice.column.count for choice in each))
    if len(clause) == 1:
        return clause[0].column.rare_slots()
    return np.unique(np.concatenate([choice.column.rare_slots() for choice in clause]))
