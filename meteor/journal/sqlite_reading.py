"""What stands in a journal file, as SQLite gives it: before and after its check.

Law of this file: nothing is judged here.  Whoever wants to look at a journal while its file is
still checked has the rows first, of a file that may be damaged; what the check says decides whether
anybody has what was made of them (`meteor.journal.first_look`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from meteor.journal.asyncio_group_commit import Read
from meteor.journal.first_look import FirstLook
from meteor.journal.index_check import is_comparable
from meteor.journal.journal import Entries, Scan
from meteor.journal.page_images import BulkPages
from meteor.journal.page_rows import PageRows, read_rows
from meteor.journal.rows import (
    FILE,
    TRIED_AT_ONCE,
    StoredRows,
    is_incomplete,
    scan_of,
    whole,
)
from meteor.journal.tree_check import Seen, Verdict, verdict_of

_READ: Final = """\
SELECT sequence, key, value, checksum
FROM record {way} WHERE journal = ? {of_key} ORDER BY sequence"""
_OF_KEY: Final = "AND key = ?"
_READ_ALL: Final = """\
SELECT sequence, iif(typeof(key) = 'blob', key, NULL), value, checksum, journal IS NOT ?
FROM record NOT INDEXED ORDER BY sequence"""
"""Every row of the table, and whether it is of another journal."""
_THROUGH_THE_TABLE: Final = "NOT INDEXED"
"""Rows lie in the order of their writes: a third of the time of the way over the index ..."""
_COUNT: Final = "SELECT count(*), (SELECT count(*) FROM record) FROM record WHERE journal = ?"
_SHARE: Final = 4
"""... where at least one row in so many is of the journal asked for."""
_FEW_OTHERS: Final = 64


def rows_of(what: Read, connection: sqlite3.Connection) -> StoredRows:
    """The rows of a journal, in the connection's thread."""
    connection.text_factory = bytes  # in a damaged file a text may be none
    try:
        if what.key is not None:
            one = _READ.format(way="", of_key=_OF_KEY)
            return StoredRows(connection.execute(one, (what.journal, what.key)))
        ((wanted, there),) = connection.execute(_COUNT, (what.journal,))
        way = _THROUGH_THE_TABLE if wanted * _SHARE >= there else ""
        reading = connection.execute(_READ.format(way=way, of_key=""), (what.journal,))
        rows = StoredRows()
        while some := reading.fetchmany(TRIED_AT_ONCE):
            rows.take(some)
        return rows
    finally:
        connection.text_factory = str


def _all_rows(
    journal: str, connection: sqlite3.Connection
) -> tuple[StoredRows, dict[int, bytes]] | None:
    """The rows of a journal, and the keys of all others by their sequences, as the table has them;
    None where these are not few.  To count them first would take a fifth of the time."""
    rows, others = StoredRows(), dict[int, bytes]()
    connection.text_factory = bytes
    try:
        reading = connection.execute(_READ_ALL, (journal,))
        while some := reading.fetchmany(TRIED_AT_ONCE):
            strange = {row[0]: row[1] for row in some if row[4]}
            rows.take([row for row in some if not row[4]] if strange else some)
            others |= strange
            if len(others) > _FEW_OTHERS:
                return None
        return rows, others
    finally:
        connection.text_factory = str


@dataclass(frozen=True, slots=True)
class _Rows:
    """What was read of a file that is not checked yet."""

    of_the_journal: StoredRows | PageRows
    of_the_file: StoredRows
    are_all: bool
    """Whether the table has no others."""

    def may_be_used(self, verdict: Verdict) -> bool:
        """Whether these are the rows of the file: SQLite's are when it finds nothing wrong with
        the file, those that were read beside it when they fit the index too."""
        is_by_sqlite = isinstance(self.of_the_journal, StoredRows)
        return not verdict.trouble and (is_by_sqlite or verdict.rows_fit)

    def scan(self, journal: str) -> Scan:
        """What the journal holds, by these."""
        rows = self.of_the_journal
        if isinstance(rows, StoredRows):
            return scan_of(journal, rows, self.of_the_file)
        # Of these each one's checksum was tried when it was read.
        return Scan(Entries(rows.keys, rows.values), (), is_incomplete(journal, self.of_the_file))


def _are_others(others: Mapping[int, bytes], of_the_file: StoredRows) -> bool:
    """Whether the rows of nobody here are the file's own.  Those were read by the index, which is
    not to be compared with itself."""
    _, _, broken = whole(FILE, of_the_file)
    known = dict(zip(of_the_file.sequences, of_the_file.keys, strict=True))
    return others == known and not broken


@dataclass(frozen=True, slots=True)
class Preview:
    """Who wants to look at which journal before the check has ended."""

    journal: str
    first_look: FirstLook[Any]

    def read(self, connection: sqlite3.Connection) -> _Rows | None:
        """The rows of the journal and of the file; None where they cannot be read: the check says
        why."""
        try:
            of_the_file = rows_of(Read(FILE), connection)
            found = _all_rows(self.journal, connection)
            if found is None:
                return _Rows(rows_of(Read(self.journal), connection), of_the_file, are_all=False)
            rows, others = found
            return _Rows(rows, of_the_file, are_all=_are_others(others, of_the_file))
        except sqlite3.Error:
            return None

    def of_the_file(self, connection: sqlite3.Connection) -> StoredRows | None:
        """The file's own rows; None where they cannot be read."""
        try:
            return rows_of(Read(FILE), connection)
        except sqlite3.Error:
            return None

    def read_pages(
        self, path: Path, newest: Mapping[int, bytes], of_the_file: StoredRows | None
    ) -> _Rows | None:
        """All rows, read beside SQLite from the pages of the file and the `newest` ones of its
        log; None where `read` must do it."""
        try:
            with path.open("rb") as file:
                pages = BulkPages(file, newest)
                found = read_rows(pages, self.journal) if is_comparable(pages.count) else None
        except OSError:
            return None
        if of_the_file is None or found is None or not _are_others(found[1], of_the_file):
            return None
        if not is_comparable(pages.count, len(found[0]) + len(of_the_file)):
            return None
        return _Rows(found[0], of_the_file, are_all=True)

    def make(self, rows: _Rows | None) -> Any:
        """What it makes of the rows."""
        if rows is None:
            return None
        return self.first_look.make(rows.scan(self.journal))

    def verdict(
        self, rows: _Rows | None, seen: Seen | None, connection: sqlite3.Connection
    ) -> Verdict:
        """What is wrong with the trees, of which something may be seen by now."""
        if rows is None or not rows.are_all:
            return verdict_of(connection)
        read = {self.journal: rows.of_the_journal, FILE: rows.of_the_file}
        return verdict_of(connection, read, seen)
