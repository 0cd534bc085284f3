"""Query terms to cell ranges of one axis.

Law of this file: the cells of a term hold the cell of every value that the term can meet (the
contract with the matcher); a border cell may hold others besides.
"""

from __future__ import annotations

from typing import Protocol

from squid.coders import ABSENT_CELL, WordCoder, hull
from squid.errors import SpaceError, TypeMismatch
from squid.query import Absent, Hull, NumberInterval, Prefix, Term, Whole, WordInterval
from squid.region import Interval


class NumericCoder(Protocol):
    """Numbers to cells, monotone."""

    def cell(self, value: float, /) -> int:
        """The cell of a number."""


class Axis:
    """One dimension of a space, `bits` wide."""

    __slots__ = ("_last", "name")

    def __init__(self, name: str, bits: int) -> None:
        self.name, self._last = name, (1 << bits) - 1

    def cells(self, term: Term) -> Interval:
        """First and last cell of a term.  Raises TypeMismatch when the term is not for this kind of
        dimension, SpaceError when it is empty."""
        # By its type: isinstance of a struct, where the answer is no, takes ten times as long.
        if type(term) is Whole:
            return ABSENT_CELL, self._last
        if type(term) is Absent:
            return ABSENT_CELL, ABSENT_CELL
        if type(term) is Hull:
            if not term.parts:
                raise SpaceError(f"{self.name}: a hull of no parts has no cells")
            return hull(self.cells(part) for part in term.parts)
        return self._value_cells(term)

    def _value_cells(self, term: Term) -> Interval:
        raise TypeMismatch(self.name, term, "a term for this dimension")

    def _checked(self, low: object, high: object, cells: Interval) -> Interval:
        if cells[0] > cells[1]:
            raise SpaceError(f"{self.name}: the range {low!r} to {high!r} is reversed")
        return cells


class WordAxis(Axis):
    """An axis of words."""

    __slots__ = ("_coder",)

    def __init__(self, name: str, bits: int, alphabet: str) -> None:
        super().__init__(name, bits)
        self._coder = WordCoder(alphabet, bits)

    def _value_cells(self, term: Term) -> Interval:
        if type(term) is Prefix:
            return self._coder.prefix_cells(term.stem)
        if not isinstance(term, WordInterval):
            raise TypeMismatch(self.name, term, "a keyword")
        if term.low == term.high and term.low is not None:
            cell = self._coder.cell(term.low)
            return cell, cell
        first = 1 if term.low is None else self._coder.cell(term.low)
        last = self._last if term.high is None else self._coder.cell(term.high)
        return self._checked(term.low, term.high, (first, last))


class NumberAxis(Axis):
    """An axis of numbers, of times in milliseconds, or of ranks."""

    __slots__ = ("_coder",)

    def __init__(self, name: str, bits: int, coder: NumericCoder) -> None:
        super().__init__(name, bits)
        self._coder = coder

    def _value_cells(self, term: Term) -> Interval:
        if not isinstance(term, NumberInterval):
            raise TypeMismatch(self.name, term, "a number, a time or a declared value")
        first = 1 if term.low is None else self._cell(term.low)
        if term.low == term.high and term.low is not None:
            return first, first
        last = self._last if term.high is None else self._cell(term.high)
        return self._checked(term.low, term.high, (first, last))

    def _cell(self, value: float) -> int:
        if value != value:  # noqa: PLR0124 - only NaN differs from itself, an int has no isnan
            raise TypeMismatch(self.name, value, "a number")
        return self._coder.cell(value)
