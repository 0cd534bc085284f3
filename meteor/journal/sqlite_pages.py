"""SQLite's pages, read without SQLite: the trees of a file and the records on their pages.

Law of this file: bytes in, records out; nothing is written, and damaged bytes lead to an
`Unreadable`, never to another error, an endless walk or a large allocation.  Read are tables by
row number and indexes as `meteor.journal.sqlite_file` makes them.  The format:
sqlite.org/fileformat2.html, sections 1.5 to 2.1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

from meteor.journal.write_ahead_log import PAGE_BYTES

TABLE_LEAF: Final = 0x0D
TABLE_INTERIOR: Final = 0x05
INDEX_LEAF: Final = 0x0A
INDEX_INTERIOR: Final = 0x02
_LEAVES: Final = (TABLE_LEAF, INDEX_LEAF)

_USABLE: Final = PAGE_BYTES - 4
"""What an overflow page carries behind the number of the next."""
_LOCAL_MIN: Final = (PAGE_BYTES - 12) * 32 // 255 - 23
_LOCAL_MAX: Final = {
    TABLE_LEAF: PAGE_BYTES - 35,
    INDEX_LEAF: (PAGE_BYTES - 12) * 64 // 255 - 23,
    INDEX_INTERIOR: (PAGE_BYTES - 12) * 64 // 255 - 23,
}
_INTEGER_BYTES: Final = (0, 1, 2, 3, 4, 6, 8)

Field = int | bytes | None
"""A column: text comes as its bytes."""


class Unreadable(ValueError):
    """These bytes are no such page, cell or record."""


class Pages:
    """The newest image of every page: those of a log before those of the file."""

    def __init__(self, file: BinaryIO | None, newest: Mapping[int, bytes]) -> None:
        self._file, self._newest = file, newest
        size = 0 if file is None else file.seek(0, 2)
        self.count = max(size // PAGE_BYTES, *newest, 0) if newest else size // PAGE_BYTES

    def image(self, number: int) -> bytes:
        """The bytes of page `number`, counted from 1; raises `Unreadable` where there is none."""
        if number in self._newest:
            return self._newest[number]
        if self._file is None or not 1 <= number <= self.count:
            raise Unreadable(f"there is no page {number}")
        self._file.seek((number - 1) * PAGE_BYTES)
        image = self._file.read(PAGE_BYTES)
        if len(image) != PAGE_BYTES:
            raise Unreadable(f"page {number} is cut")
        return image


@dataclass(frozen=True, slots=True)
class Tree:
    """The pages of a tree in its order, and whether every branch could be followed."""

    interior: tuple[int, ...]
    leaves: tuple[int, ...]
    whole: bool


def walk(pages: Pages, root: int, *, interior: int, leaf: int) -> Tree:
    """Follow a tree from its root; a page is visited once, whatever the pages say."""
    branches: list[int] = []
    leaves: list[int] = []
    whole, seen, waiting = True, {0}, [root]
    while waiting:
        number = waiting.pop()
        if number in seen:
            whole = False
            continue
        seen.add(number)
        try:
            image = pages.image(number)
            if image[0] == leaf:
                leaves.append(number)
                continue
            if image[0] != interior:
                raise Unreadable(f"page {number} is no page of this tree")  # noqa: TRY301
            children = _children(image)
        except Unreadable:
            whole = False
            continue
        branches.append(number)
        waiting.extend(reversed(children))
    return Tree(tuple(branches), tuple(leaves), whole)


def _children(image: bytes) -> list[int]:
    found = [_number(image, at) for at in pointers(image)]
    return [*found, _number(image, 8)]


def pointers(image: bytes) -> tuple[int, ...]:
    """Where the cells of a page begin; raises `Unreadable` when they cannot be where it says."""
    start = 8 if image[0] in _LEAVES else 12
    count = int.from_bytes(image[3:5])
    if start + 2 * count > PAGE_BYTES:
        raise Unreadable(f"{count} cells are more than a page has room for")
    found = struct.unpack_from(f">{count}H", image, start)
    if any(at < start + 2 * count or at >= PAGE_BYTES for at in found):
        raise Unreadable("a cell begins outside of the page's room for cells")
    return found


def spare_pointers(image: bytes, lowest: int) -> Iterator[int]:
    """What could be pointers to cells of a table's leaf, wherever its header says they end.

    `lowest` is where the lowest known cell begins: there are no pointers behind it."""
    for (at,) in struct.iter_unpack(">H", image[8 : lowest - lowest % 2]):
        if 8 < at < PAGE_BYTES:
            yield at


def table_cell(pages: Pages, image: bytes, at: int) -> tuple[int, list[Field]]:
    """Row number and columns of the cell at `at` of a table's leaf."""
    size, at = _varint(image, at)
    row, at = _varint(image, at)
    return row, _columns(_payload(pages, image, at, size, TABLE_LEAF))


def index_cell(pages: Pages, image: bytes, at: int) -> list[Field]:
    """The columns of the cell at `at` of an index page; the last one is the row number."""
    kind = image[0]
    size, at = _varint(image, at + (4 if kind == INDEX_INTERIOR else 0))
    return _columns(_payload(pages, image, at, size, kind))


def _payload(pages: Pages, image: bytes, at: int, size: int, kind: int) -> bytes:
    if kind not in _LOCAL_MAX:
        raise Unreadable(f"a page of kind {kind} holds no records")
    most = _LOCAL_MAX[kind]
    if size <= most:
        local = size
    else:
        local = _LOCAL_MIN + (size - _LOCAL_MIN) % _USABLE
        local = local if local <= most else _LOCAL_MIN
    content = image[at : at + local]
    if len(content) != local or size > pages.count * PAGE_BYTES:
        raise Unreadable("a cell ends outside of its page")
    if local == size:
        return content
    parts, following = [content], _number(image, at + local)
    for _ in range(-(-(size - local) // _USABLE)):
        overflow = pages.image(following)
        parts.append(overflow[4:])
        following = _number(overflow, 0)
    return b"".join(parts)[:size]


def _columns(payload: bytes) -> list[Field]:
    """The values of a record."""
    header_size, at = _varint(payload, 0)
    start, kinds = header_size, []
    while at < header_size:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    columns: list[Field] = []
    for kind in kinds:
        size = _INTEGER_BYTES[kind] if kind < len(_INTEGER_BYTES) else max(0, (kind - 12) // 2)
        if start + size > len(payload) or kind in (7, 10, 11):  # 7: a float, which we never write
            raise Unreadable(f"a column of kind {kind} does not fit its record")
        columns.append(_value(kind, payload[start : start + size]))
        start += size
    return columns


def _value(kind: int, content: bytes) -> Field:
    if kind == 0:
        return None
    if kind >= 12:
        return content
    if kind in (8, 9):
        return kind - 8
    return int.from_bytes(content, signed=True)


def _number(image: bytes, at: int) -> int:
    if at + 4 > len(image):
        raise Unreadable("a page number is cut")
    return int.from_bytes(image[at : at + 4])


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and where it ends."""
    value = 0
    for step in range(9):
        if at + step >= len(content):
            raise Unreadable("a number is cut")
        byte = content[at + step]
        if step == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    raise AssertionError("the ninth byte ends a number")
