"""All rows of a journal's table at once, read from its pages without SQLite.

Law of this file: it may only hand out rows that are whole.  The leaves of the table are read a few
hundred at a time, numpy takes cells and columns apart, each row's checksum is tried, and what is
in any way unusual makes an end of it: SQLite reads the rows then, and the check says what is wrong.
Whether these are all rows, and in their order, the comparison with the index tells
(`meteor.journal.index_check`), and SQLite's check of its trees.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from meteor.journal.page_images import BulkPages, images_ahead, leaves_of
from meteor.journal.rows import TABLE_ROOT, checksum
from meteor.journal.sqlite_pages import TABLE_LEAF, Unreadable, table_cell
from meteor.journal.stretches import Bytes, Slots, Stretch, Stretches, lines_of
from meteor.journal.write_ahead_log import PAGE_BYTES

Integers = npt.NDArray[np.int64]
Sums = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]

_HEAD_BYTES: Final = 32
"""What is looked at of a cell: its sizes and the kinds of its columns; a usual one has 15."""
_MOST_LOCAL: Final = PAGE_BYTES - 35
"""A longer row goes on in other pages."""
_BLOB: Final = 12
"""The kind of an empty one; each byte counts two more, and a text is one above."""
_INTEGER_BYTES: Final = np.array([0, 1, 2, 3, 4, 6, 8, 0, 0, 0], np.intp)
_CHECKSUM_KINDS: Final = 6
_ODD_SHARE: Final = 16
"""With more than one odd row in so many, SQLite is quicker."""
_FEW_ODD: Final = 64


@dataclass(frozen=True, slots=True)
class PageRows:
    """The rows of a journal, each as it was written."""

    sequences: Integers
    keys: Stretch
    values: Stretches

    def __len__(self) -> int:
        return len(self.sequences)


def read_rows(pages: BulkPages, journal: str) -> tuple[PageRows, dict[int, bytes]] | None:
    """The rows of a journal, and the keys of all others by their sequences; None where the table
    cannot be read in this way, or others are not few."""
    reader = _Reader(pages, journal)
    try:
        with closing(images_ahead(pages, leaves_of(pages, TABLE_ROOT))) as some:
            for count, images in some:
                reader.take(images, count)
    except (Unreadable, OSError):  # SQLite finds out which of them, and why
        return None
    return reader.rows(), reader.others


class _Cells(NamedTuple):
    """Where the parts of rows lie in one stretch of memory; a journal's name stands before the
    key, and the value behind it."""

    sequences: Integers
    keys_at: Slots
    key_bytes: Slots
    values_at: Slots
    value_bytes: Slots
    checksums: Integers
    usual: Mask
    """Of the others nothing else is known here."""

    def picked(self, chosen: Mask) -> _Cells:
        """Of these rows alone."""
        return _Cells(
            self.sequences[chosen], self.keys_at[chosen], self.key_bytes[chosen],
            self.values_at[chosen], self.value_bytes[chosen], self.checksums[chosen],
            self.usual[chosen],
        )  # fmt: skip


class _Reader:
    """Takes leaf after leaf, in the order of the table."""

    def __init__(self, pages: BulkPages, journal: str) -> None:
        self._pages, self._journal, self._name = pages, journal, journal.encode()
        self._sequences: list[Integers] = []
        self._keys: list[Bytes] = []
        self._key_bytes: list[Slots] = []
        self._values: list[Stretch] = []
        self._odd = 0
        self._taken = 0
        self.others: dict[int, bytes] = {}

    def rows(self) -> PageRows:
        """All that was taken."""
        lengths = np.concatenate([np.zeros(0, np.intp), *self._key_bytes])
        buffer = np.concatenate([np.zeros(0, np.uint8), *self._keys])
        keys = Stretch(buffer, np.cumsum(lengths + 1) - lengths - 1, lengths)
        sequences = np.concatenate([np.zeros(0, np.int64), *self._sequences])
        return PageRows(sequences, keys, Stretches(self._values))

    def take(self, buffer: Bytes, count: int) -> None:
        """Take the rows of so many pages; raises `Unreadable` for what is not as usual."""
        at = _cells_in(buffer, count)
        cells = _taken_apart(buffer, at, self._name)
        self._taken += len(at)
        odd = np.flatnonzero(~cells.usual).tolist()
        if odd:
            buffer, cells = self._with_odd(buffer, cells, [(each, int(at[each])) for each in odd])
        if not _fit(buffer, cells, len(self._name)):
            raise Unreadable("a row does not fit its checksum")
        self._sequences.append(cells.sequences)
        keys = Stretch(buffer, cells.keys_at, cells.key_bytes)
        self._keys.append(keys.joined(0))
        self._key_bytes.append(cells.key_bytes)
        self._values.append(Stretch(buffer, cells.values_at, cells.value_bytes))

    def _with_odd(
        self, buffer: Bytes, cells: _Cells, odd: list[tuple[int, int]]
    ) -> tuple[Bytes, _Cells]:
        """The same with the odd ones of this journal, which are copied behind the pages; without
        those of others, of which note is taken."""
        self._odd += len(odd)
        if self._odd > _FEW_ODD + self._taken // _ODD_SHARE:
            raise Unreadable("many rows are odd")
        kept, end, copies = cells.usual.copy(), len(buffer), [buffer]
        for each, at in odd:
            start = at - at % PAGE_BYTES
            image = buffer[start : start + PAGE_BYTES].tobytes()
            sequence, columns = table_cell(self._pages, image, at - start)
            row = self._own_row(sequence, columns)
            if row is None:
                continue
            kept[each] = True
            copies.append(np.frombuffer(b"".join((self._name, *row[:2])), np.uint8))
            key_at = end + len(self._name)
            cells.sequences[each], cells.checksums[each] = sequence, row[2]
            cells.keys_at[each], cells.key_bytes[each] = key_at, len(row[0])
            cells.values_at[each], cells.value_bytes[each] = key_at + len(row[0]), len(row[1])
            end += len(copies[-1])
        if len(self.others) > _FEW_ODD:
            raise Unreadable("others have many rows")
        together = np.concatenate(copies) if len(copies) > 1 else buffer
        return together, cells.picked(kept)

    def _own_row(self, sequence: int, columns: Sequence[object]) -> tuple[bytes, bytes, int] | None:
        """Key, value and checksum of a row of this journal; None for one of another."""
        match columns:
            case [None, bytes(name), bytes(key), bytes(value), int(written)]:
                if name != self._name:
                    self.others[sequence] = key
                    return None
                if written == checksum(sequence, self._journal, key, value):
                    return key, value, written
        raise Unreadable("a row is none of a journal")


def _cells_in(buffer: Bytes, count: int) -> Slots:
    """Where the cells of so many leaves begin, in the order of the table."""
    images = buffer[: count * PAGE_BYTES].reshape(count, PAGE_BYTES)
    if not bool((images[:, 0] == TABLE_LEAF).all()):
        raise Unreadable("a page is no leaf of a table")
    counts = _pairs(images[:, 3:5])[:, 0]
    most = int(counts.max())
    if 8 + 2 * most > PAGE_BYTES or not int(counts.min()):
        raise Unreadable("a page has more cells than room, or none")
    pointers = _pairs(images[:, 8 : 8 + 2 * most])
    there = np.arange(most) < counts[:, None]
    if bool((there & (pointers < (8 + 2 * counts)[:, None])).any()):
        raise Unreadable("a cell begins outside of the page's room for cells")
    cells: Slots = (pointers + (np.arange(count) * PAGE_BYTES)[:, None])[there]
    if bool((pointers[there] >= PAGE_BYTES).any()):
        raise Unreadable("a cell begins behind its page")
    return cells


def _pairs(content: Bytes) -> Slots:
    """Numbers of two bytes."""
    return np.ascontiguousarray(content).view(">u2").astype(np.intp)


class _Heads:
    """The beginnings of cells, which are numbers of 1 to 9 bytes one after the other."""

    def __init__(self, lines: Bytes) -> None:
        self._lines = lines
        self._every = np.arange(len(lines))
        self.at: Slots = np.zeros(len(lines), np.intp)

    def next(self) -> Integers:
        """The next number of each; raises `Unreadable` where one is cut, or has 9 bytes."""
        read = self._read(self._every)
        value = (read & 0x7F).astype(np.int64)
        more = np.flatnonzero(read & 0x80)
        for _ in range(7):
            if not len(more):
                return value
            read = self._read(more)
            value[more] = value[more] << 7 | (read & 0x7F)
            more = more[read >= 0x80]
        raise Unreadable("a number is longer than any here")

    def _read(self, which: Slots) -> Bytes:
        at = self.at[which]
        if int(at.max(initial=0)) >= self._lines.shape[1]:
            raise Unreadable("a number is cut")
        self.at[which] += 1
        return self._lines[which, at]


def _taken_apart(buffer: Bytes, cells: Slots, name: bytes) -> _Cells:
    """The rows of a journal in these cells, as far as they are as usual."""
    heads = _Heads(lines_of(buffer, cells, _HEAD_BYTES))
    size, sequence = heads.next(), heads.next()
    begins = heads.at.copy()
    header, none, text, key, value, kind = (heads.next() for _ in range(6))
    key_bytes, value_bytes = (key - _BLOB) >> 1, (value - _BLOB) >> 1
    sum_bytes = _INTEGER_BYTES[np.minimum(kind, len(_INTEGER_BYTES) - 1)]
    usual = (heads.at == begins + header) & (none == 0) & (text == _BLOB + 1 + 2 * len(name))
    for blob in (key, value):
        usual &= (blob >= _BLOB) & (blob & 1 == 0)
    usual &= (kind >= 1) & (kind <= _CHECKSUM_KINDS)
    usual &= header + len(name) + key_bytes + value_bytes + sum_bytes == size
    usual &= (size <= _MOST_LOCAL) & (cells % PAGE_BYTES + begins + size <= PAGE_BYTES)
    names_at = np.where(usual, cells + begins + header, 0)
    usual &= (lines_of(buffer, names_at, len(name)) == np.frombuffer(name, np.uint8)).all(axis=1)
    keys_at = names_at + len(name)
    values_at = keys_at + key_bytes
    last = np.where(usual, values_at + value_bytes + sum_bytes - 8, 0)
    unread = 8 * (8 - sum_bytes)
    checksums = lines_of(buffer, last, 8).view(">i8")[:, 0].astype(np.int64) << unread >> unread
    return _Cells(sequence, keys_at, key_bytes, values_at, value_bytes, checksums, usual)


def _fit(buffer: Bytes, cells: _Cells, name_bytes: int) -> bool:
    """Whether all rows are as they were written: name, key and value stand in one stretch."""
    content, crc = buffer.data, zlib.crc32  # to copy it would be to ask for new memory
    starts = (cells.keys_at - name_bytes).tolist()
    ends = (cells.values_at + cells.value_bytes).tolist()
    places = _sums_of_places(cells.sequences, cells.key_bytes).tolist()
    rows = map(content.__getitem__, map(slice, starts, ends))  # a million: no line for each
    written: list[int] = cells.checksums.tolist()
    return list(map(crc, rows, places)) == written


def _sums_of_places(sequences: Integers, key_bytes: Slots) -> Sums:
    """The checksum so far of each row, which begins with its place (`rows.checksum`)."""
    content = np.empty((len(sequences), 12), np.uint8)
    content[:, :8] = sequences.astype(">i8").view(np.uint8).reshape(-1, 8)
    content[:, 8:] = key_bytes.astype(">u4").view(np.uint8).reshape(-1, 4)
    sums, table = np.full(len(content), 0xFFFFFFFF, np.uint32), _table()
    for column in content.T:
        sums = table[(sums ^ column) & 0xFF] ^ (sums >> np.uint32(8))
    return ~sums


@cache
def _table() -> Sums:
    """What a byte makes of the sum of nothing, without the turns of all bits around it."""
    turned = [~zlib.crc32(bytes((0xFF ^ byte,))) & 0xFFFFFFFF ^ 0x00FFFFFF for byte in range(256)]
    return np.array(turned, np.uint32)
