"""Values to cells of one axis, monotone and in exact integers.

Law of this file: if one value is not above another, neither is its cell; so the cells of a range
run from its low end's cell to its high end's, and two values that a matcher lets meet never lie
in cells that a router holds apart.  Cell 0 means that the attribute is absent; values take the
others.  No floating-point arithmetic and no libm: a float is the fraction that it stands for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Literal

from squid.region import Interval

ABSENT_CELL = 0
Scale = Literal["linear", "log"]
Ratio = tuple[int, int]
"""Numerator and positive denominator."""


class WordCoder:
    """Words as fractions in the alphabet's base, an end-of-word digit 0 before its characters.

    So a word comes before all that begin with it, and `net*` is exactly an interval.  At the first
    character that is not of the alphabet a word goes to the last cell of the prefix that it shares
    with that character's *floor* (the greatest alphabet character below it, or the end of word),
    and stops there: after every word of the floor, before every word of the next character."""

    def __init__(self, alphabet: str, bits: int) -> None:
        self._alphabet = sorted(alphabet)
        self._digits = {character: place for place, character in enumerate(self._alphabet, 1)}
        self._base = len(self._alphabet) + 1
        self._cells = (1 << bits) - 1
        self._powers = [1]
        while self._powers[-1] < self._cells * self._base:
            self._powers.append(self._powers[-1] * self._base)
        self._depth = len(self._powers) - 1

    def cell(self, word: str) -> int:
        """The cell of a word in normal form."""
        number, length, inside = self._fraction(word)
        return self._first(number, length) if inside else self._last(number, length)

    def prefix_cells(self, stem: str) -> Interval:
        """The cells of all words that begin with `stem`, which is in normal form."""
        number, length, inside = self._fraction(stem)
        last = self._last(number, length)
        return (self._first(number, length), last) if inside else (last, last)

    def _fraction(self, word: str) -> tuple[int, int, bool]:
        """A word's digits as a number, how many they are, and whether all of them are the word's
        own.  Digits beyond what the cells can tell apart are left off."""
        number = 0
        for length, character in enumerate(word[: self._depth]):
            if character not in self._digits:
                floor = bisect_right(self._alphabet, character)
                return number * self._base + floor, length + 1, False
            number = number * self._base + self._digits[character]
        return number, min(len(word), self._depth), True

    def _first(self, number: int, length: int) -> int:
        return 1 + number * self._cells // self._powers[length]

    def _last(self, number: int, length: int) -> int:
        return 1 + ((number + 1) * self._cells - 1) // self._powers[length]


class NumberCoder:
    """Numbers between two bounds, which those outside share the end cells with.

    On the log scale a number's place is its binary exponent plus its mantissa's way from 1 to 2:
    equal cells an octave, exactly, and within 9 % of an octave of the logarithm."""

    def __init__(self, low: float, high: float, bits: int, scale: Scale = "linear") -> None:
        self._low, self._high, self._log = low, high, scale == "log"
        self._cells = (1 << bits) - 1
        start, end = self._place(low), self._place(high)
        self._start = start
        self._span = end[0] * start[1] - start[0] * end[1], start[1] * end[1]

    def cell(self, value: float) -> int:
        """The cell of a number, infinities included."""
        if value <= self._low:
            return 1
        if value >= self._high:
            return self._cells
        numerator, denominator = self._place(value)
        way = numerator * self._start[1] - self._start[0] * denominator
        whole = denominator * self._start[1]
        return 1 + way * self._span[1] * self._cells // (whole * self._span[0])

    def _place(self, value: float) -> Ratio:
        """Where a number stands on the scale."""
        numerator, denominator = value.as_integer_ratio()
        if not self._log:
            return numerator, denominator
        exponent = numerator.bit_length() - denominator.bit_length()
        numerator, denominator = _scaled(numerator, denominator, exponent)
        if numerator < denominator:
            exponent, numerator = exponent - 1, numerator << 1
        return (exponent - 1) * denominator + numerator, denominator


def _scaled(numerator: int, denominator: int, exponent: int) -> Ratio:
    """A ratio divided by a power of two."""
    if exponent >= 0:
        return numerator, denominator << exponent
    return numerator << -exponent, denominator


class RankCoder:
    """The ranks of a declared list of values, spread over the cells."""

    def __init__(self, count: int, bits: int) -> None:
        self._count, self._cells = count, (1 << bits) - 1

    def cell(self, rank: float) -> int:
        """The cell of a rank; those outside the list share the end ranks' cells."""
        within = min(max(rank, 0), self._count - 1)
        return 1 + int(within) * self._cells // self._count


def hull(ranges: Iterable[Interval]) -> Interval:
    """The smallest range that holds all of `ranges`, of which there is at least one."""
    lows, highs = zip(*ranges, strict=True)
    return min(lows), max(highs)
