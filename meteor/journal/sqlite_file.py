"""The file of the journals: SQLite's, one thread for it, and how it is opened.

Law of this file: `synchronous=FULL` makes a commit a promise.  Every transaction is numbered, and
its number noted beside the file before anybody is told that it is durable.  What the files say is
checked before it is used (`meteor.journal.files`, SQLite's own check of its trees, a checksum a
row); damaged ones are set aside, and what can be read of them begins a new file.  What a first look
sees is not used: whoever asked for it has it when the check has found nothing.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import aiosqlite

from meteor.errors import DataDirLocked
from meteor.journal.asyncio_group_commit import Read
from meteor.journal.commit_number import CommitNumber
from meteor.journal.directory_lock import DirectoryLock
from meteor.journal.files import Findings, JournalFiles
from meteor.journal.first_look import FirstLook
from meteor.journal.journal import Entry, JournalFailed
from meteor.journal.rows import (
    FILE,
    INCOMPLETE,
    SCHEMA,
    Row,
    StoredRows,
    Write,
    change_of,
    rows_of_salvage,
)
from meteor.journal.sqlite_reading import Preview, rows_of
from meteor.journal.tree_check import seen_of, verdict_of
from meteor.journal.write_ahead_log import PAGE_BYTES, Log

ResultT = TypeVar("ResultT")

_log = logging.getLogger("meteor.journal")

_ROWS_AT_ONCE: Final = 64
"""How many rows aiosqlite fetches at once, where one iterates over them."""

_PUT: Final = "REPLACE INTO record (sequence, journal, key, value, checksum) VALUES (?, ?, ?, ?, ?)"
_REMOVE: Final = "DELETE FROM record WHERE journal = ? AND key = ?"
_CLEAR: Final = "DELETE FROM record WHERE journal = ?"
_LAST: Final = "SELECT max(sequence) FROM record"
_TRY_TO_WRITE: Final = "UPDATE record SET checksum = 0 WHERE 0"
"""Changes nothing, and fails where a broken header says that the file is not to be written."""
_ALL_INTO_THE_FILE: Final = "PRAGMA wal_checkpoint(TRUNCATE)"
_WORTH_A_WORD_MB: Final = 50
_SETTINGS: Final = (
    f"PRAGMA page_size = {PAGE_BYTES}",
    "PRAGMA cell_size_check = ON",  # damaged pages are an error, not a guess
    "PRAGMA mmap_size = 0",
    "PRAGMA locking_mode = EXCLUSIVE",  # one owner: no shared-memory file needed
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
)
_NOT_OF_THE_FILE: Final = (
    "SQLITE_AUTH", "SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_INTERRUPT",
    "SQLITE_IOERR", "SQLITE_LOCKED", "SQLITE_NOMEM", "SQLITE_PERM",
)  # fmt: skip
"""Failures that another attempt may not meet: they say nothing about the file's content."""


class _Connection(aiosqlite.Connection):
    """A connection that can do several things in one go of its thread."""

    async def do(self, step: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        """What `step` makes of the connection, there."""
        execute = cast(Callable[..., Awaitable[ResultT]], self._execute)
        return await execute(step, self._conn)


@dataclass(slots=True)
class SqliteFile:
    """The open file, its lock and the noted number of its last transaction."""

    path: Path
    connection: _Connection
    lock: DirectoryLock
    commits: CommitNumber
    number: int
    sequence: int
    """That of the next row."""

    async def commit(self, writes: Sequence[Write]) -> None:
        """Bring the state after all `writes` to disk in one transaction, and note its number."""
        if not any(write.entries or write.clear for write in writes):
            return
        try:
            await self.connection.do(partial(self._commit, writes))
        except sqlite3.Error as error:
            await self.rollback()
            raise JournalFailed(
                f"{self.path} cannot be written: {error}; nothing that was acknowledged is lost: "
                "make room on that disk, or see to it, and start this peer again"
            ) from error

    def _commit(self, writes: Sequence[Write], connection: sqlite3.Connection) -> None:
        """The whole of it in the store's thread: the event loop is woken once, and goes on
        meanwhile."""
        change = change_of(writes, self.number + 1, self.sequence)
        # Never given again, whatever becomes of this transaction: a sequence tells old from new.
        self.sequence += len(change.rows)
        if change.cleared:
            connection.executemany(_CLEAR, [(journal,) for journal in change.cleared])
        if change.removed:
            connection.executemany(_REMOVE, change.removed)
        connection.executemany(_PUT, change.rows)
        connection.commit()
        self.number += 1
        try:
            self.commits.write(self.number)
        except OSError as error:  # the records are durable: only a later loss would go unnoticed
            _log.warning("the number of acknowledged transactions cannot be noted: %s", error)

    async def read(self, what: Read) -> StoredRows:
        """The rows of a journal, whole or not, in the order of their last write."""
        try:
            return await self.connection.do(partial(rows_of, what))
        except sqlite3.Error as error:
            raise JournalFailed(f"{self.path}: {error}") from error

    async def rollback(self) -> None:
        """Forget a transaction that was begun."""
        await self.connection.rollback()

    async def close(self) -> None:
        """Close the file, then let the next owner in."""
        try:
            await self.connection.close()
            self.commits.close()
        finally:
            self.lock.release()


async def open_file(
    path: Path, name: str = "", first_look: FirstLook[Any] | None = None
) -> SqliteFile:
    """Open the file under its lock; raises `DataDirLocked` and `JournalFailed`.  The first look is
    at the journal `name`."""
    files = JournalFiles(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = DirectoryLock(files.lock)
    except DataDirLocked:
        raise
    except OSError as error:
        raise JournalFailed(
            f"the data directory {path.parent} cannot be used: {error}; give another one"
        ) from error
    try:
        preview = None if first_look is None else Preview(name, first_look)
        return await _open_files(files, lock, preview)
    except BaseException as error:
        lock.release()
        if isinstance(error, sqlite3.Error | OSError):
            raise JournalFailed(
                f"{path} is not a usable journal: {error}; make room on that disk, or see to "
                "it, or give another data directory"
            ) from error
        raise


async def _open_files(
    files: JournalFiles, lock: DirectoryLock, preview: Preview | None
) -> SqliteFile:
    """Open what the files hold, or what can be salvaged of them."""
    files.install()
    found = await asyncio.to_thread(files.examine)
    commits = files.commit_number(found)
    connection = None
    try:
        connection = await _as_it_is(files, found, preview)
        number = found.number
        if connection is None or number is None:
            number = found.next_number
            connection = await _connect(files.path)
        (last,) = await connection.execute_fetchall(_LAST)
        store = SqliteFile(files.path, connection, lock, commits, number, int(last[0]) + 1)
        if found.acknowledged is None and not found.is_new:
            await store.commit([Write(FILE, (Entry(INCOMPLETE, b""),), clear=True)])
        commits.write(store.number)
    except BaseException:  # cancelled too: an open connection holds the interpreter
        if connection is not None:
            await connection.close()
        commits.close()
        raise
    return store


async def _as_it_is(
    files: JournalFiles, found: Findings, preview: Preview | None
) -> _Connection | None:
    """The file, open, when there is nothing wrong with it; else a new one takes its place."""
    trouble = found.trouble
    if not found.is_new and not trouble:
        _announce(files.path)
        # With no number beside it the journal says from now on that it is incomplete.
        may_look = found.acknowledged is not None
        connection, trouble = await _checked(files.path, found.log, preview if may_look else None)
        if connection is not None:
            return connection
    number = found.next_number
    if found.is_new:
        await _make(files, rows_of_salvage((), (), number, incomplete=False))
        return None
    kept = await asyncio.to_thread(files.salvage, found)
    await _make(files, rows_of_salvage(kept.rows, kept.lost, number, incomplete=True))
    _log.warning(
        "%s is damaged (%s) and set aside as %s: %d records are kept, %d are known to be lost, "
        "others may be", files.path, trouble, [path.name for path in files.set_aside()][-1:],
        len(kept.rows), len(kept.lost),
    )  # fmt: skip
    return None


def _announce(path: Path) -> None:
    """Say what takes some time."""
    size_mb = path.stat().st_size >> 20 if path.exists() else 0
    if size_mb >= _WORTH_A_WORD_MB:
        _log.info("%s: %d MB are checked and read, a second or so for each 100 MB", path, size_mb)


async def _make(files: JournalFiles, rows: Sequence[Row]) -> None:
    """Write a new file and put it into its place."""
    files.clear_making()
    connection = await _connect(files.making)
    try:
        await connection.execute(SCHEMA)
        await connection.executemany(_PUT, rows)
        await connection.commit()
        # At the close SQLite would pass over a disk that is full now: the log stays behind then.
        await connection.execute_fetchall(_ALL_INTO_THE_FILE)
    finally:
        await connection.close()
    files.promote()


async def _checked(path: Path, log: Log, preview: Preview | None) -> tuple[_Connection | None, str]:
    """Open a file whose log is in order; None, and why, when its pages are not."""
    connection, is_good = None, False
    try:
        connection = await _connect(path)
        made = None
        if preview is None:
            trouble = (await connection.do(verdict_of)).trouble
        else:
            trouble, made = await _previewed(connection, preview, path, log)
        await connection.execute(_TRY_TO_WRITE)
        await connection.rollback()
        is_good = not trouble
        if preview is not None and is_good:
            preview.first_look.made = made
    except sqlite3.Error as error:
        if not _speaks_of_damage(error, path):
            raise
        trouble = str(error)
    finally:  # cancelled too: an open connection holds the interpreter
        if connection is not None and not is_good:
            with suppress(sqlite3.Error):
                await connection.close()
    return (connection, "") if is_good else (None, trouble)


async def _previewed(
    connection: _Connection, preview: Preview, path: Path, log: Log
) -> tuple[str, Any]:
    """What is wrong with the trees, and what somebody made of the rows: SQLite looks at the trees
    in its thread while the rows are read from the pages in another, and made something of.  None
    where the rows do not fit the file: then a scan tells."""
    newest = {frame.page: frame.image for frame in log.frames[: log.committed]}
    of_the_file = await connection.do(preview.of_the_file)
    reading = asyncio.to_thread(preview.read_pages, path, newest, of_the_file)
    seeing = asyncio.ensure_future(connection.do(seen_of))
    try:
        rows = await reading
        if rows is None:
            rows = await connection.do(preview.read)
        making = asyncio.ensure_future(asyncio.to_thread(preview.make, rows))
        seen = await seeing
    finally:
        await asyncio.wait([seeing])
    verdict, made = await asyncio.gather(
        connection.do(partial(preview.verdict, rows, seen)), making
    )
    if rows is None or not rows.may_be_used(verdict):
        return verdict.trouble, None
    return verdict.trouble, made


def _speaks_of_damage(error: sqlite3.Error, path: Path) -> bool:
    """Whether the file's content is at fault, not the disk, the rights or the moment."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_READONLY"):  # the header says so, if not the rights
        return os.access(path, os.W_OK)
    return name == "SQLITE_IOERR_SHORT_READ" or not name.startswith(_NOT_OF_THE_FILE)


async def _connect(path: Path) -> _Connection:
    connection = _Connection(lambda: sqlite3.connect(path), _ROWS_AT_ONCE)
    await connection
    try:
        for statement in _SETTINGS:
            await connection.execute(statement)
    except BaseException:
        await connection.close()
        raise
    return connection
