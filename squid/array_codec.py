"""Many points to curve indexes and back, in numpy.

Law of this file: arguments are already checked by `squid.hilbert`; work goes in blocks that keep
their temporaries in the processor's cache.  Up to four dimensions the state machine runs over
table look-ups, beyond that Skilling's transform without branches (`squid.array_skilling`).

Eight levels of the curve are 8 * dimensions <= 64 index bits: one *word*, and exactly
`dimensions` key bytes.  An index is a list of words, the most significant first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from squid import array_skilling
from squid.index_keys import WORD_BITS, Keys, key_bytes
from squid.scalar_codec import MOST_TABLE_DIMENSIONS, machine

Block = npt.NDArray[np.uint32]
"""Coordinates, one row a dimension."""
Words = list[npt.NDArray[np.uint64]]

_BLOCK: Final = 1 << 14
_LEVELS_A_WORD: Final = 8
_LEVELS_A_STEP: Final = {1: 8, 2: 4, 3: 4, 4: 2}
"""Levels taken by one look-up, by dimensions: they divide a word, and the tables stay in cache."""


class ArrayTables(NamedTuple):
    """The machine over groups of levels: entry = next state << group bits | digits out.

    Coordinates stand in a group side by side, not interleaved: the tables do that as well."""

    encode: npt.NDArray[np.uint32]
    decode: npt.NDArray[np.uint32]
    starts: list[int]
    """The state that so many all-zero levels turn into the start state."""


@cache
def tables(dimensions: int) -> ArrayTables:
    """The grouped tables of a curve of at most four dimensions."""
    levels = _LEVELS_A_STEP[dimensions]
    group_bits = levels * dimensions
    level_machine = machine(dimensions)
    cell_digits = np.array(level_machine.cell_digits, dtype=np.uint32)
    next_states = np.array(level_machine.next_states, dtype=np.uint32)
    states = np.arange(len(next_states), dtype=np.uint32)[:, None]
    indexes = np.arange(1 << group_bits, dtype=np.uint32)[None, :]
    at = np.broadcast_to(states, (len(states), indexes.size))
    cells = np.zeros(at.shape, dtype=np.uint32)
    for level in reversed(range(levels)):
        digit = indexes >> np.uint32(level * dimensions) & np.uint32((1 << dimensions) - 1)
        cell_digit = cell_digits[at, digit]
        for dimension in range(dimensions):
            place = dimensions - 1 - dimension
            bit = cell_digit >> np.uint32(place) & np.uint32(1)
            cells |= bit << np.uint32(levels * place + level)
        at = next_states[at, digit]
    state_bits = at << np.uint32(group_bits)
    encode = np.empty_like(cells)
    np.put_along_axis(encode, cells.astype(np.intp), state_bits | indexes, axis=1)
    before_zero = {int(after[0]): state for state, after in enumerate(next_states)}
    starts = [0]
    for _ in range(levels):
        starts.append(before_zero[starts[-1]])
    return ArrayTables(encode.ravel(), (state_bits | cells).ravel(), starts)


class ArrayCodec:
    """The native codec of one curve for arrays."""

    __slots__ = ("_bits", "_dimensions", "_index_bits", "_word_count")

    def __init__(self, dimensions: int, bits: int) -> None:
        self._dimensions, self._bits = dimensions, bits
        self._index_bits = dimensions * bits
        self._word_count = -(-bits // _LEVELS_A_WORD)

    def encode_array(self, points: npt.NDArray[np.uint32]) -> Keys:
        """The indexes of cells, one a row."""
        narrow = self._index_bits <= WORD_BITS
        words_out = np.empty(len(points), dtype=np.uint64)
        bytes_out = np.empty((0 if narrow else len(points), key_bytes(self._index_bits)), np.uint8)
        for rows in _blocks(len(points)):
            block = np.array(points[rows].T, order="C")
            words = self._index_words(block)
            if narrow:
                words_out[rows] = self._join(words)
            else:
                self._store_bytes(words, bytes_out[rows])
        return words_out if narrow else bytes_out

    def decode_array(self, keys: Keys) -> npt.NDArray[np.uint32]:
        """The cells at indexes, one a row."""
        points = np.empty((len(keys), self._dimensions), dtype=np.uint32)
        for rows in _blocks(len(keys)):
            some = keys[rows]
            words = self._split(some) if some.ndim == 1 else self._load_bytes(some)
            points[rows] = self._cells(words).T
        return points

    def _index_words(self, block: Block) -> Words:
        """The index of a block's points; the block is overwritten."""
        if self._dimensions <= MOST_TABLE_DIMENSIONS:
            return self._encode_by_tables(block)
        array_skilling.transpose(block, self._bits)
        return [
            array_skilling.interleave(block, byte) for byte in reversed(range(self._word_count))
        ]

    def _cells(self, words: Words) -> Block:
        """The points at a block's indexes."""
        if self._dimensions <= MOST_TABLE_DIMENSIONS:
            return self._decode_by_tables(words)
        block = np.zeros((self._dimensions, len(words[0])), dtype=np.uint32)
        for word in words:
            array_skilling.separate(word, block)
        array_skilling.restore(block, self._bits)
        return block

    def _groups(self) -> tuple[int, list[list[int]]]:
        """The state to begin with, and for each word the levels below each of its groups."""
        levels = _LEVELS_A_STEP[self._dimensions]
        empty = -self._bits % _LEVELS_A_WORD  # levels of the first word above the curve's own
        start = tables(self._dimensions).starts[empty % levels] << levels * self._dimensions
        offsets = list(range(_LEVELS_A_WORD - levels, -1, -levels))
        return start, [offsets[empty // levels :]] + [offsets] * (self._word_count - 1)

    def _encode_by_tables(self, block: Block) -> Words:
        levels, table = _LEVELS_A_STEP[self._dimensions], tables(self._dimensions).encode
        group_bits = np.uint32(levels * self._dimensions)
        taken, digits_out = np.uint32((1 << levels) - 1), np.uint32((1 << int(group_bits)) - 1)
        start, groups = self._groups()
        state = np.full(block.shape[1], start, dtype=np.uint32)
        words, part = [], np.empty_like(state)
        for place, offsets in enumerate(groups):
            word = np.zeros_like(state)  # at most 32 bits up to four dimensions
            base = _LEVELS_A_WORD * (self._word_count - 1 - place)
            for offset in offsets:
                entry = state
                for dimension, row in enumerate(block):
                    np.right_shift(row, np.uint32(base + offset), out=part)
                    part &= taken
                    part <<= np.uint32(levels * (self._dimensions - 1 - dimension))
                    entry |= part
                entry = table[entry]
                np.bitwise_and(entry, digits_out, out=part)
                word <<= group_bits
                word |= part
                entry ^= part
                state = entry
            words.append(word.astype(np.uint64))
        return words

    def _decode_by_tables(self, words: Words) -> Block:
        levels, table = _LEVELS_A_STEP[self._dimensions], tables(self._dimensions).decode
        group_bits = levels * self._dimensions
        taken, digits_in = np.uint32((1 << levels) - 1), np.uint32((1 << group_bits) - 1)
        start, groups = self._groups()
        state = np.full(len(words[0]), start, dtype=np.uint32)
        block = np.zeros((self._dimensions, len(state)), dtype=np.uint32)
        part = np.empty_like(state)
        for wide, offsets in zip(words, groups, strict=True):
            word = wide.astype(np.uint32)
            for offset in offsets:
                np.right_shift(word, np.uint32(offset * self._dimensions), out=part)
                part &= digits_in
                state |= part
                entry = table[state]
                block <<= np.uint32(levels)
                for dimension in range(self._dimensions):
                    below = levels * (self._dimensions - 1 - dimension)
                    np.right_shift(entry, np.uint32(below), out=part)
                    part &= taken
                    block[dimension] |= part
                state = entry & ~digits_in
        return block

    def _join(self, words: Words) -> npt.NDArray[np.uint64]:
        """Words to one index of at most 64 bits."""
        index = words[0]
        for word in words[1:]:
            index = index << np.uint64(_LEVELS_A_WORD * self._dimensions) | word
        return index

    def _split(self, keys: Keys) -> Words:
        """The inverse of `_join`."""
        width = _LEVELS_A_WORD * self._dimensions
        mask = np.uint64((1 << width) - 1)
        index = keys.astype(np.uint64, copy=False)
        return [
            index >> np.uint64(width * place) & mask for place in reversed(range(self._word_count))
        ]

    def _store_bytes(self, words: Words, rows: npt.NDArray[np.uint8]) -> None:
        """Words to big-endian rows: the last `dimensions` bytes of each word, side by side."""
        end = rows.shape[1]
        for word in reversed(words):
            taken = min(self._dimensions, end)
            raw = word.astype(">u8").view(np.uint8).reshape(-1, 8)
            rows[:, end - taken : end] = raw[:, 8 - taken :]
            end -= taken

    def _load_bytes(self, rows: Keys) -> Words:
        """The inverse of `_store_bytes`."""
        end, words = rows.shape[1], []
        while end > 0:
            taken = min(self._dimensions, end)
            raw = np.zeros((len(rows), 8), dtype=np.uint8)
            raw[:, 8 - taken :] = rows[:, end - taken : end]
            words.append(raw.view(">u8").astype(np.uint64).reshape(-1))
            end -= taken
        return words[::-1]


def _blocks(count: int) -> Iterator[slice]:
    for start in range(0, count, _BLOCK):
        yield slice(start, min(start + _BLOCK, count))
