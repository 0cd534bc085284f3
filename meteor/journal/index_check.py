"""Whether the index of a journal file says what its table says, seen at once for all rows.

Law of this file: it may only say yes.  SQLite's full check looks up each row of the table in the
index, a random place each, and takes longer than all that a restart makes of the rows.  Here the
index is read once in its order and compared with the rows that were read from the table.
What is not as in every journal is left to the full check, which knows what is wrong.
"""

from __future__ import annotations

import operator
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from meteor.journal.page_rows import PageRows
from meteor.journal.rows import TRIED_AT_ONCE, StoredRows
from meteor.journal.stretches import Slots, Stretch

Rows = StoredRows | PageRows
"""As they were read, by SQLite or from the pages."""
IndexEntries = list[tuple[Any, ...]]
"""What the index says, a line for each journal."""

_BETWEEN: Final = b"\xff"
"""Stands between two keys: no key that is text has it."""
# One step of SQLite's for each journal, without Python's lock: whoever makes something of the rows
# meanwhile would be asked for it a hundred thousand times otherwise.
_IN_THE_INDEX: Final = """\
SELECT journal, typeof(journal), count(*), sum(typeof(key) = 'blob'),
    group_concat(sequence), group_concat(key, x'ff')
FROM record INDEXED BY sqlite_autoindex_record_1 GROUP BY journal"""
MOST_ROWS: Final = 1 << 22
"""Of more, the text of all keys would be too long for SQLite ..."""
_SPARSE: Final = 4
"""More than so many numbers for each row: others were deleted in between."""
_MOST_PAGES: Final = 1 << 20
"""... and so it may be in a file of more pages."""


def is_comparable(pages: int, rows: int = 0) -> bool:
    """Whether the index of so large a file is compared with its rows: else it affirms none."""
    return pages <= _MOST_PAGES and rows <= MOST_ROWS


def index_entries(connection: sqlite3.Connection) -> IndexEntries | None:
    """What the index says; None where that is too much for one text."""
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    if not is_comparable(int(pages)):
        return None
    before = connection.text_factory
    connection.text_factory = bytes
    try:
        return connection.execute(_IN_THE_INDEX).fetchall()
    finally:
        connection.text_factory = before


def index_fits(found: IndexEntries | None, rows: Mapping[str, Rows]) -> bool:
    """Whether the index holds exactly these rows, by journal and in order, which are all of the
    table; False where the full check must tell.  Presumes that the pages of the index are whole."""
    if found is None or sum(map(len, rows.values())) > MOST_ROWS:
        return False
    there = sorted((name.encode(), each) for name, each in rows.items() if len(each))
    return len(found) == len(there) and all(
        entries[0] == name and _says_the_same(entries, each)
        for entries, (name, each) in zip(found, there, strict=True)
    )


def _says_the_same(entries: Sequence[Any], rows: Rows) -> bool:
    """Whether the entries of one journal are those of its rows."""
    _, kind, count, blobs, sequences, keys = entries
    if kind != b"text" or not count == blobs == len(rows):
        return False
    order = _order(rows.sequences, sequences)
    return order is not None and _are_the_keys(rows.keys, order, keys)


def _order(rows: array[int] | npt.NDArray[np.int64], entries: bytes) -> Slots | None:
    """Which row each entry names, as a place among the rows in their order; None where these are
    not all rows, each once."""
    sequences = np.array(rows, np.int64)
    named = np.fromstring(entries, np.int64, sep=",")
    if not len(named) == len(sequences) > 0 or bool((sequences[1:] <= sequences[:-1]).any()):
        return None
    first, last = int(sequences[0]), int(sequences[-1])
    if int(named.min()) < first or int(named.max()) > last:
        return None
    if last - first >= _SPARSE * len(sequences):
        order = np.searchsorted(sequences, named)
        is_row = bool((sequences[order] == named).all())
    else:  # a table of all places: to search for each would take five times as long
        places = np.full(last - first + 1, -1, np.intp)
        places[sequences - first] = np.arange(len(sequences))
        order = places[named - first]
        is_row = bool((order >= 0).all())
    if not is_row:
        return None
    is_named = np.zeros(len(sequences), bool)
    is_named[order] = True
    return order if bool(is_named.all()) else None


def _are_the_keys(keys: Sequence[bytes], order: Slots, entries: bytes) -> bool:
    """Whether the text of all entries is that of the rows' keys in this order, and ascends."""
    # With as many marks as stand between keys, none is in a key: there is one way to part the text.
    if entries.count(_BETWEEN) != len(keys) - 1:
        return False
    if not isinstance(keys, Stretch) and None in keys:  # a damaged row
        return False
    at, last = 0, list[bytes]()
    for first in range(0, len(order), TRIED_AT_ONCE):
        text = _text_of(keys, order[first : first + TRIED_AT_ONCE])
        if not entries.startswith(text, at):
            return False
        named = last + text.split(_BETWEEN)
        if not all(map(operator.lt, named, islice(named, 1, None))):
            return False
        at, last = at + len(text) + 1, named[-1:]
        if at <= len(entries) and not entries.startswith(_BETWEEN, at - 1):
            return False
    return at == len(entries) + 1


def _text_of(keys: Sequence[bytes], places: Slots) -> bytes:
    """The keys at these places, with a mark between two."""
    if isinstance(keys, Stretch):
        return keys.picked(places).joined(_BETWEEN[0])[:-1].tobytes()
    return _BETWEEN.join([keys[at] for at in places.tolist()])
