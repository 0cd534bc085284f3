"""One point to its curve index and back, in plain Python integers.

Law of this file: arguments are already checked by `squid.hilbert`.  Up to four dimensions the
state machine runs on tables of a few levels a look-up; beyond, its tables would be too many and
Skilling's transform takes over.  A numpy call on one point would cost 20 to 300 times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from squid import skilling
from squid.state_machine import steps

MOST_TABLE_DIMENSIONS: Final = 4
LEVELS_A_STEP: Final = {1: 8, 2: 4, 3: 3, 4: 2}
"""Levels of the curve taken by one table look-up, by dimensions: tables of at most 50,000."""


class Machine(NamedTuple):
    """The level machine of a curve: states are small integers, the start is 0.

    A *cell digit* holds one bit of each coordinate, the first in its top bit; an *index digit* as
    many bits of the index."""

    index_digits: list[list[int]]
    """By state and cell digit."""
    cell_digits: list[list[int]]
    """By state and index digit."""
    next_states: list[list[int]]
    """By state and index digit."""


@cache
def machine(dimensions: int) -> Machine:
    """The whole machine of a curve of at most four dimensions, found from its start."""
    table = steps(dimensions)
    numbers, found = {table.start: 0}, [table.start]
    result = Machine([], [], [])
    for state in found:
        index_digits, cell_digits, next_states = [0] * (1 << dimensions), [], []
        for index_digit, index_bits in enumerate(product((0, 1), repeat=dimensions)):
            at, cell_digit = state, 0
            for bit in index_bits:
                dimension, upper, after_zero, after_one = table[at]
                cell_digit |= (upper ^ bit) << dimensions - 1 - dimension
                at = after_one if bit else after_zero
            if at not in numbers:
                numbers[at] = len(found)
                found.append(at)
            index_digits[cell_digit] = index_digit
            cell_digits.append(cell_digit)
            next_states.append(numbers[at])
        result.index_digits.append(index_digits)
        result.cell_digits.append(cell_digits)
        result.next_states.append(next_states)
    return result


class Tables(NamedTuple):
    """The machine over groups of levels: entry = next state << group bits | digits out.

    The state in front of a group is added to the group's digits in, so one look-up is one list
    index."""

    encode: list[int]
    decode: list[int]
    starts: list[int]
    """The state that so many all-zero levels turn into the start state: where a curve begins whose
    levels do not fill the first group."""


@cache
def tables(dimensions: int) -> Tables:
    """The grouped tables of a curve of at most four dimensions."""
    levels = LEVELS_A_STEP[dimensions]
    level_machine = machine(dimensions)
    states = range(len(level_machine.next_states))
    encode: list[int] = []
    decode: list[int] = []
    for state in states:
        forward = [0] * (1 << levels * dimensions)
        for digits in product(range(1 << dimensions), repeat=levels):
            at, indexes, cells = state, 0, 0
            for digit in digits:
                indexes = indexes << dimensions | digit
                cells = cells << dimensions | level_machine.cell_digits[at][digit]
                at = level_machine.next_states[at][digit]
            forward[cells] = at << levels * dimensions | indexes
            decode.append(at << levels * dimensions | cells)
        encode.extend(forward)
    before_zero = {level_machine.next_states[state][0]: state for state in states}
    starts = [0]
    for _ in range(levels):
        starts.append(before_zero[starts[-1]])
    return Tables(encode, decode, starts)


@cache
def spread_table(dimensions: int) -> list[int]:
    """By byte: its bits pulled apart, so that bit k stands at k * dimensions."""
    return [sum((byte >> bit & 1) << bit * dimensions for bit in range(8)) for byte in range(256)]


class ScalarCodec:
    """The native codec of one curve for single points."""

    __slots__ = (
        "_bits", "_decode", "_dimensions", "_encode", "_group_bits", "_shifts", "_spread", "_start",
    )  # fmt: skip

    def __init__(self, dimensions: int, bits: int) -> None:
        self._dimensions, self._bits = dimensions, bits
        self._spread = spread_table(dimensions)
        self._encode: list[int] = []
        self._decode: list[int] = []
        if dimensions <= MOST_TABLE_DIMENSIONS:
            levels = LEVELS_A_STEP[dimensions]
            self._encode, self._decode, starts = tables(dimensions)
            self._group_bits = levels * dimensions
            groups = -(-bits // levels)
            self._shifts = [self._group_bits * group for group in reversed(range(groups))]
            self._start = starts[-bits % levels] << self._group_bits

    def encode(self, point: Sequence[int]) -> int:
        """The index of a cell."""
        if not self._encode:
            cells = list(point)
            skilling.transpose(cells, self._bits)
            return self._interleave(cells)
        word, table = self._interleave(point), self._encode
        group_bits, state, index = self._group_bits, self._start, 0
        mask = (1 << group_bits) - 1
        for shift in self._shifts:
            entry = table[state | word >> shift & mask]
            digits = entry & mask
            state = entry ^ digits
            index = index << group_bits | digits
        return index

    def decode(self, index: int) -> tuple[int, ...]:
        """The cell at an index."""
        if not self._decode:
            cells = self._separate(index)
            skilling.restore(cells, self._bits)
            return tuple(cells)
        table, group_bits, state, word = self._decode, self._group_bits, self._start, 0
        mask = (1 << group_bits) - 1
        for shift in self._shifts:
            entry = table[state | index >> shift & mask]
            digits = entry & mask
            state = entry ^ digits
            word = word << group_bits | digits
        return tuple(self._separate(word))

    def _interleave(self, cells: Sequence[int]) -> int:
        """One word with a bit of each cell in turn, the first cell's foremost."""
        spread, dimensions = self._spread, self._dimensions
        word, shift = 0, dimensions
        for cell in cells:
            shift -= 1
            rest, place = cell, shift
            while rest:
                word |= spread[rest & 255] << place
                rest >>= 8
                place += 8 * dimensions
        return word

    def _separate(self, word: int) -> list[int]:
        """The inverse of `_interleave`."""
        digits = format(word, f"0{self._dimensions * self._bits}b")
        return [int(digits[place :: self._dimensions], 2) for place in range(self._dimensions)]
