"""Skilling's transform on arrays: the codec of five and more dimensions.

Law of this file: in place on a `uint32` block of one row a dimension, and without branches: a
condition is a mask of ones, made by multiplying its bit.  The steps are those of
`squid.skilling`, for every point at once.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

Block = npt.NDArray[np.uint32]
Word = npt.NDArray[np.uint64]

_ONE: Final = np.uint32(1)
_BYTE: Final = np.uint32(255)


def transpose(block: Block, bits: int) -> None:
    """Coordinates to the transposed index, in place."""
    head, mask, swapped = block[0], np.empty_like(block[0]), np.empty_like(block[0])
    for level in range(bits - 1, 0, -1):
        below = np.uint32((1 << level) - 1)
        _bit_mask(head, level, below, mask)
        head ^= mask
        for row in block[1:]:
            _turn_or_swap(head, row, level, below, mask, swapped)
    for place in range(1, len(block)):
        block[place] ^= block[place - 1]
    correction = block[-1] >> _ONE
    reach = 1
    while reach < bits:
        correction ^= correction >> np.uint32(reach)
        reach <<= 1
    block ^= correction


def restore(block: Block, bits: int) -> None:
    """The transposed index back to coordinates, in place."""
    correction = block[-1] >> _ONE
    for place in range(len(block) - 1, 0, -1):
        block[place] ^= block[place - 1]
    head, mask, swapped = block[0], np.empty_like(block[0]), np.empty_like(block[0])
    head ^= correction
    for level in range(1, bits):
        below = np.uint32((1 << level) - 1)
        for row in block[:0:-1]:
            _turn_or_swap(head, row, level, below, mask, swapped)
        _bit_mask(head, level, below, mask)
        head ^= mask


def _bit_mask(row: Block, level: int, below: np.uint32, mask: Block) -> None:
    """`mask` becomes `below` where the row's bit at `level` is set, else 0."""
    np.right_shift(row, np.uint32(level), out=mask)
    mask &= _ONE
    mask *= below


def _turn_or_swap(
    head: Block, row: Block, level: int, below: np.uint32, mask: Block, swapped: Block
) -> None:
    """Where the row's bit is set: invert the lower bits of the head; else exchange the two's."""
    _bit_mask(row, level, below, mask)
    np.bitwise_xor(head, row, out=swapped)
    swapped &= below
    swapped |= mask
    head ^= swapped
    swapped ^= mask  # zero where the bit was set: the row stays as it is
    row ^= swapped


def interleave(block: Block, byte: int) -> Word:
    """Byte `byte` of every coordinate, bit by bit in turn: eight levels of the index."""
    spread, dimensions = _spread(len(block)), len(block)
    word = np.zeros(block.shape[1], dtype=np.uint64)
    for dimension, row in enumerate(block):
        bits = spread[row >> np.uint32(8 * byte) & _BYTE]
        bits <<= np.uint64(dimensions - 1 - dimension)
        word |= bits
    return word


def separate(word: Word, block: Block) -> None:
    """Move the coordinates on by eight bits, and fill these from eight levels of the index."""
    dimensions = len(block)
    first, moves = _gather(dimensions)
    block <<= np.uint32(8)
    for dimension in range(dimensions):
        bits = word >> np.uint64(dimensions - 1 - dimension)
        bits &= first
        for shift, mask in moves:
            bits |= bits >> shift
            bits &= mask
        block[dimension] |= bits.astype(np.uint32)


@cache
def _spread(dimensions: int) -> Word:
    """By byte: its bits pulled apart, so that bit k stands at k * dimensions."""
    byte = np.arange(256, dtype=np.uint64)
    spread = np.zeros(256, dtype=np.uint64)
    for bit in range(8):
        spread |= (byte >> np.uint64(bit) & np.uint64(1)) << np.uint64(bit * dimensions)
    return spread


@cache
def _gather(dimensions: int) -> tuple[np.uint64, list[tuple[np.uint64, np.uint64]]]:
    """The masks that pull eight bits together again: runs of 1, 2, 4 bits become 2, 4, 8."""
    first = sum(1 << bit * dimensions for bit in range(8))
    moves, run = [], 1
    while run < 8:
        shift = run * (dimensions - 1)
        run *= 2
        mask = sum((1 << run) - 1 << start * dimensions for start in range(0, 8, run))
        moves.append((np.uint64(shift), np.uint64(mask)))
    return np.uint64(first), moves
