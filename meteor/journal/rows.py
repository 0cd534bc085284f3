"""The rows of a journal file: what they say, their checksums, and the reserved ones.

Law of this file: decisions only; nothing here reads or writes a file.  A row belongs to a named
journal; the rows of the journal without a name are the file's own: `commit` numbers the last
transaction, `incomplete` says that acknowledged records may be gone without a trace, and
`whole/NAME` that the journal NAME was written anew since then.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from meteor.journal.journal import Entries, Entry, Scan

SCHEMA: Final = """\
CREATE TABLE record (
    sequence INTEGER PRIMARY KEY,  -- the order of last writes
    journal  TEXT NOT NULL,
    key      BLOB NOT NULL,
    value    BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (journal, key)
)"""
TABLE_ROOT: Final = 2
INDEX_ROOT: Final = 3
"""Where the two trees begin in a file that was made with this one statement."""

FILE: Final = ""
"""The name of the file's own journal."""
COMMIT: Final = b"commit"
INCOMPLETE: Final = b"incomplete"
_PLACE: Final = struct.Struct(">qI")
NEVER: Final = -1
"""A checksum that fits nothing: of a record that is known to have been here."""


Stored = tuple[int, bytes, bytes, int]
"""A row of a known journal as it is read: its sequence, key, value and checksum; a damaged one may
have a number or nothing in any other place."""
TRIED_AT_ONCE: Final = 1 << 13
"""Rows: what is made for each of them and thrown away stays in the processor's memory."""


class StoredRows:
    """Rows as they are read, by column: a tuple for each of a million would fill a hundred
    megabytes only to be taken apart again."""

    __slots__ = ("checksums", "keys", "sequences", "values")

    def __init__(self, rows: Iterable[Stored] = ()) -> None:
        self.sequences = array("q")
        self.keys: list[bytes] = []
        self.values: list[bytes] = []
        self.checksums: list[int] = []
        self.take(list(rows))

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add some, each a `Stored`; what stands behind it is left out."""
        if rows:
            sequences, keys, values, checksums, *_ = zip(*rows, strict=True)
            self.sequences.extend(sequences)
            self.keys += keys
            self.values += values
            self.checksums += checksums


class Row(NamedTuple):
    """A row as it rests in the file."""

    sequence: int
    journal: str
    key: bytes
    value: bytes
    checksum: int

    @property
    def fits(self) -> bool:
        """Whether the row is as it was written."""
        return self.checksum == checksum(self.sequence, self.journal, self.key, self.value)


@dataclass(frozen=True, slots=True)
class Write:
    """Entries to be made durable; `clear` first empties the journal."""

    journal: str
    entries: tuple[Entry, ...]
    clear: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What one transaction does: empty journals, remove places, put rows."""

    cleared: tuple[str, ...]
    removed: tuple[tuple[str, bytes], ...]
    rows: tuple[Row, ...]


def change_of(writes: Sequence[Write], number: int, sequence: int) -> Change:
    """All `writes` as one transaction, the file's `number`-th; its rows count on from `sequence`.

    The newest value of each key is written, in the order of the last writes."""
    cleared: dict[str, None] = {}
    newest: dict[tuple[str, bytes], bytes | None] = {}
    for write in writes:
        if write.clear:
            cleared[write.journal] = None
            newest = {place: value for place, value in newest.items() if place[0] != write.journal}
        for entry in write.entries:
            newest.pop((write.journal, entry.key), None)
            newest[write.journal, entry.key] = entry.value
    for journal in cleared:
        if journal != FILE:
            newest[FILE, whole_key(journal)] = b""
    newest[FILE, COMMIT] = number.to_bytes(8)
    kept = [(journal, key, value) for (journal, key), value in newest.items() if value is not None]
    return Change(
        tuple(cleared),
        tuple(place for place, value in newest.items() if value is None),
        tuple(row_of(sequence + at, *content) for at, content in enumerate(kept)),
    )


def scan_of(journal: str, rows: StoredRows, of_the_file: StoredRows) -> Scan:
    """What a journal holds, by its rows and those of the file's own journal."""
    keys, values, broken = whole(journal, rows)
    return Scan(Entries(keys, values), tuple(broken), is_incomplete(journal, of_the_file))


def is_incomplete(journal: str, of_the_file: StoredRows) -> bool:
    """Whether more of a journal may be gone, by the file's own rows."""
    notes = of_the_file.keys
    return INCOMPLETE in notes and whole_key(journal) not in notes


def whole(journal: str, rows: StoredRows) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Keys and values of the rows that are as they were written, and the keys of the others."""
    broken: list[int] = []
    for first in range(0, len(rows), TRIED_AT_ONCE):
        broken += _broken(journal, rows, first, min(first + TRIED_AT_ONCE, len(rows)))
    keys, values = rows.keys, rows.values
    if not broken:
        return keys, values, []
    left_out = set(broken)
    kept = [at for at in range(len(rows)) if at not in left_out]
    return (
        [keys[at] for at in kept], [values[at] for at in kept],
        [_as_bytes(keys[at]) for at in broken],
    )  # fmt: skip


def _broken(journal: str, rows: StoredRows, low: int, high: int) -> list[int]:
    """Which of the rows from `low` to before `high` do not fit their checksums."""
    name, crc, place = journal.encode(), zlib.crc32, _PLACE.pack
    sequences, keys, values = rows.sequences[low:high], rows.keys[low:high], rows.values[low:high]
    written = rows.checksums[low:high]
    try:
        found = [  # a million of them: in line
            crc(value, crc(place(sequence, len(key)) + name + key))
            for sequence, key, value in zip(sequences, keys, values, strict=True)
        ]
    except TypeError:  # a column of another kind
        if high - low == 1:
            return [low]
        middle = (low + high) // 2
        return [*_broken(journal, rows, low, middle), *_broken(journal, rows, middle, high)]
    if found == written:
        return []
    return [low + at for at, one in enumerate(found) if one != written[at]]


def _as_bytes(key: object) -> bytes:
    """A damaged key, for whoever is told of it."""
    if isinstance(key, bytes):
        return key
    return b"" if key is None else str(key).encode()


def rows_of_salvage(
    rows: Sequence[Row], lost: Sequence[tuple[str, bytes]], number: int, *, incomplete: bool
) -> list[Row]:
    """The content of a new file: these rows in their order, and a place for each lost one."""
    kept = [(row.journal, row.key, row.value) for row in rows]
    notes = [(FILE, INCOMPLETE, b"")] if incomplete else []
    notes.append((FILE, COMMIT, number.to_bytes(8)))
    return [
        *(Row(at, journal, key, b"", NEVER) for at, (journal, key) in enumerate(lost, 1)),
        *(row_of(at, *content) for at, content in enumerate(kept + notes, len(lost) + 1)),
    ]


def row_of(sequence: int, journal: str, key: bytes, value: bytes) -> Row:
    """A row with its checksum."""
    return Row(sequence, journal, key, value, checksum(sequence, journal, key, value))


def whole_key(journal: str) -> bytes:
    """The key that says: this journal was written anew after the file was damaged."""
    return b"whole/" + journal.encode()


def checksum(sequence: int, journal: str, key: bytes, value: bytes) -> int:
    """CRC-32 over everything: a row in another place, or under another key, does not fit."""
    place = _PLACE.pack(sequence, len(key)) + journal.encode()
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(place)))
