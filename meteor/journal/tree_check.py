"""Whether the trees of a journal file are whole, before anybody uses what they hold.

Law of this file: SQLite checks its pages and trees itself.  Only the part of its check that takes
longest, whether the index says what the table says, is done in another way where all rows have been
read by then (`meteor.journal.index_check`); what that does not affirm SQLite decides.  SQLite
judges the file alone: for rows that were read without it only the index speaks.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from meteor.journal.index_check import IndexEntries, Rows, index_entries, index_fits
from meteor.journal.rows import INDEX_ROOT, SCHEMA, TABLE_ROOT
from meteor.journal.write_ahead_log import PAGE_BYTES

_SHAPE: Final = (
    "SELECT rootpage, sql FROM sqlite_master WHERE type IN ('table', 'index') ORDER BY rootpage"
)
_INDEX_SHARE: Final = 6
"""The check of the trees looks each record up in the index, and is to have that in memory: with as
little as otherwise, pages are read again and again; with the whole file, every page is a new one of
the machine's memory, and half of the time goes by that."""
_LEAST_CACHE_KIB, _MOST_CACHE_KIB = 1 << 13, 1 << 18
_LITTLE_MEMORY: Final = "PRAGMA cache_size = -2000"


@dataclass(frozen=True, slots=True)
class Seen:
    """What can be seen of the trees before anybody has the rows."""

    trouble: str
    """What is wrong with pages and trees; empty when nothing is."""
    index: IndexEntries | None
    """What the index says, where it can be compared with the rows."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the check of a file has found."""

    trouble: str
    """What is wrong with the trees; empty when nothing is."""
    rows_fit: bool = False
    """Whether the index says of the rows that were read that they are all, each in its place."""


def seen_of(connection: sqlite3.Connection) -> Seen:
    """Look at pages and trees, and read the index."""
    trouble = _check(connection, "quick_check")
    return Seen(trouble, None if trouble else index_entries(connection))


def verdict_of(
    connection: sqlite3.Connection,
    read: Mapping[str, Rows] | None = None,
    seen: Seen | None = None,
) -> Verdict:
    """What is wrong with the trees.  Where all rows of the table were `read` the index, which may
    be `seen` by now, is compared with them at once."""
    if read and seen is None:
        seen = seen_of(connection)
    trouble, rows_fit = "", False
    if read and seen is not None:
        trouble, rows_fit = seen.trouble, index_fits(seen.index, read)
    if not trouble and not rows_fit:
        trouble = _full_check(connection)
    if not trouble:
        shape = connection.execute(_SHAPE).fetchall()
        is_ours = shape == [(TABLE_ROOT, SCHEMA), (INDEX_ROOT, None)]
        trouble = "" if is_ours else "its tables are not those of a journal"
    return Verdict(trouble, rows_fit and not trouble)


def _full_check(connection: sqlite3.Connection) -> str:
    """What SQLite's longest check finds first, with as much memory as it needs."""
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    share_kib = int(pages) * PAGE_BYTES // 1024 // _INDEX_SHARE
    cache_kib = min(max(share_kib, _LEAST_CACHE_KIB), _MOST_CACHE_KIB)
    connection.execute(f"PRAGMA cache_size = -{cache_kib}")
    found = _check(connection, "integrity_check")
    connection.execute(_LITTLE_MEMORY)
    return found


def _check(connection: sqlite3.Connection, way: str) -> str:
    """What one of SQLite's checks finds first."""
    (verdict,) = connection.execute(f"PRAGMA {way}(1)").fetchall()
    return "" if verdict[0] == "ok" else str(verdict[0])
