"""Stored subjects, asked by selectors.

Law of this file: `candidates` leaves no match out; what it does not call doubtful is one.  Every
test of a selector's row must be met in one of the columns that it looks at: bitmaps first, the
rows themselves for what bitmaps do not decide.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

import numpy as np

from arms.index_bits import WORD_BITS, Mask, Slots, Words, bits_in, joined, set_bits, slots_in
from arms.index_column import Column, Cut
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


class _Choice(NamedTuple):
    """One column that may meet a test, and the interval to overlap there."""

    number: int
    column: Column
    low: float
    high: float
    cut: Cut | None
    """Which bitmaps tell; None where there are none."""

    @property
    def is_decided(self) -> bool:
        """Whether the bitmaps alone decide."""
        return self.cut is not None and self.cut.is_exact


_Clause = list[_Choice]


class SubjectTable(Table[K]):
    """Rows that hold all that a subject offers."""

    def __init__(self, width: int) -> None:
        super().__init__(width, marks_misses=False)

    def candidates(self, row: Row) -> tuple[Slots, Mask | None]:
        """The subjects that a row of a selector selects, and which of them the tree must see; None
        when it need see none."""
        self.prepare()
        clauses = [self._clause(path, value) for path, value in row]
        if not clauses:
            slots = self.everything()
        elif not all(clauses):
            slots = np.zeros(0, np.intp)
        else:
            slots = self._meeting(clauses)
        return slots, self.store.doubtful(slots)

    def _both(self, one: Ends, other: Ends) -> Ends:
        """A subject offers both: the hull leaves nothing out."""
        return min(one[0], other[0]), max(one[1], other[1])

    def _clause(self, pattern: str, value: Value) -> _Clause:
        paths = [pattern]
        if "//" in pattern:
            last = pattern[pattern.rindex("/") :]
            paths = [path for path in self.paths if path.endswith(last) and fits(path, pattern)]
        words = self._used_words()
        clause: _Clause = []
        for path in paths:
            axes = self.paths.get(path)
            if axes is None:
                continue
            for axis in _ASKED[value.axis]:
                if axis in axes:
                    clause.append(self._choice(axes[axis], words, value))
        elsewhere = self.elsewhere()
        if elsewhere is not None:
            clause.append(self._choice(elsewhere, words, value))
        return clause

    def _choice(self, number: int, words: int, value: Value) -> _Choice:
        column = self._column(number, words)
        low, high = -np.inf, np.inf
        if value.axis == column.axis and value.axis > WILDCARD:
            low, high = column.asked(value)
        cut = column.cut(low, high) if column.rare is None else None
        return _Choice(number, column, low, high, cut)

    # -- from bitmaps to rows

    def _meeting(self, clauses: list[_Clause]) -> Slots:
        waiting = self.waiting_slots()
        rare = [clause for clause in clauses if all(choice.cut is None for choice in clause)]
        if rare:
            few = self._living(_fewest(rare))
            return self._confirmed(joined(few, waiting), clauses)
        found = self._left_by(clauses)
        doubtful = [each for each in clauses if not all(one.is_decided for one in each)]
        if not doubtful:
            return joined(slots_in(found), self._confirmed(waiting, clauses))
        tests = clauses if len(waiting) else doubtful
        if is_few(found):
            return self._confirmed(joined(slots_in(found), waiting), tests)
        sure = self._surely_left(found, doubtful)
        unsure = joined(slots_in(found ^ sure), waiting)
        return joined(slots_in(sure), self._confirmed(unsure, tests))

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
                if choice.high < np.inf:
                    here &= low <= choice.high
                if choice.low > -np.inf:
                    here &= high >= choice.low
                hit = here if hit is None else np.logical_or(hit, here, out=hit)
            if hit is not None:
                lines = any_in_line(hit)
                met = lines if met is None else np.logical_and(met, lines, out=met)
        return slots if met is None else slots[met]


def is_few(found: Words) -> bool:
    """Whether it is quicker to look at so many rows than at more bitmaps of as many words."""
    most = max(FEW_CANDIDATES, len(found) * WORD_BITS // ROWS_A_CANDIDATE)
    return bits_in(found) <= most


def _narrow(left: Words, choice: _Choice, words: int, *, sure: bool = False) -> None:
    """Leave only rows that may overlap, or surely do, in one column with bitmaps."""
    assert choice.cut is not None, "only columns with bitmaps narrow"
    lines = choice.column.bitmaps(choice.cut, words, sure=sure)
    _and_all(left, [choice.column.has[:words]] if lines == [] else lines)


def _and_all(left: Words, lines: list[Words] | None) -> None:
    """Leave what is in all of the lines; nothing where there are None."""
    if lines is None:
        left[:] = 0
        return
    for line in lines:
        left &= line


def _fewest(rare: list[_Clause]) -> Slots:
    """The slots of the clause that has the fewest rows, in order."""
    clause = min(rare, key=lambda each: sum(choice.column.count for choice in each))
    if len(clause) == 1:
        return clause[0].column.rare_slots()
    return np.unique(np.concatenate([choice.column.rare_slots() for choice in clause]))
