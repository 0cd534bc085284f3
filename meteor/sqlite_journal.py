"""The journal on disk: one SQLite file and one thread for all the journals of a process.

Law of this file: one writer.  Whatever waits when it turns to the file becomes durable in one
transaction (group commit), in the order of the calls; `synchronous=FULL` makes the commit a
promise.  A batch belongs to the writer from the moment of the call: it is written whether or not
its caller still waits.  The writer's own task closes the file when the event loop ends, because
aiosqlite's thread otherwise keeps the interpreter from ending.
"""

from __future__ import annotations

import asyncio
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import aiosqlite

from meteor.directory_lock import DirectoryLock
from meteor.errors import DataDirLocked
from meteor.journal import Entry, JournalFailed, Scan

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS record (
    sequence INTEGER PRIMARY KEY,  -- the order of last writes
    journal  TEXT NOT NULL,
    key      BLOB NOT NULL,
    value    BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (journal, key)
)"""
_PUT: Final = "REPLACE INTO record (journal, key, value, checksum) VALUES (?, ?, ?, ?)"
_REMOVE: Final = "DELETE FROM record WHERE journal = ? AND key = ?"
_CLEAR: Final = "DELETE FROM record WHERE journal = ?"
_READ: Final = "SELECT key, value, checksum FROM record WHERE journal = ? ORDER BY sequence"


class SqliteJournal:
    """One peer's records in a SQLite file; see `meteor.journal.Journal` for what it promises."""

    def __init__(self, file: _File, name: str) -> None:
        self._file = file
        self._name = name
        self._open = True

    @classmethod
    async def open(cls, path: str | Path, name: str = "peer") -> SqliteJournal:
        """The journal `name` in the file `path`, made when missing.

        Journals of one event loop share the file, its thread and its lock.  Raises
        `DataDirLocked` when another process, or a journal of the same name, has it open, and
        `JournalFailed` when the file cannot be used."""
        file = _file_at(Path(path))
        await file.enter(name)
        return cls(file, name)

    async def append(self, batch: Sequence[Entry]) -> None:
        """Return when the batch is on disk; batches that wait together share one commit."""
        if batch:
            await self._ask(_Write(self._name, tuple(batch)))
        else:
            self._check_open()

    async def replace(self, entries: Sequence[Entry]) -> None:
        """Make these entries the whole content of this journal, in one transaction."""
        await self._ask(_Write(self._name, tuple(entries), clear=True))

    async def scan(self) -> Scan:
        """What is durable after everything that was asked before."""
        rows = await self._ask(_Read(self._name))
        entries, damaged = [], []
        for key, value, checksum in rows:
            if checksum == _checksum(self._name, key, value):
                entries.append(Entry(key, value))
            else:
                damaged.append(key)
        return Scan(tuple(entries), tuple(damaged))

    async def close(self) -> None:
        """Wait for what was begun; the last journal of a file closes it and frees its lock."""
        if self._open:
            self._open = False
            await self._file.leave(self._name)

    def _check_open(self) -> None:
        if not self._open:
            raise JournalFailed(f"the journal {self._name!r} in {self._file.path} is closed")

    def _ask(self, job: _Write | _Read) -> asyncio.Future[list[_Row]]:
        self._check_open()
        return self._file.ask(job)


_Row = tuple[bytes, bytes, int]


@dataclass(frozen=True, slots=True)
class _Write:
    """Entries to be made durable; `clear` first empties the journal."""

    journal: str
    entries: tuple[Entry, ...]
    clear: bool = False


@dataclass(frozen=True, slots=True)
class _Read:
    """The rows of a journal."""

    journal: str


_Waiting = tuple["_Write | _Read", "asyncio.Future[list[_Row]]"]


class _File:
    """The SQLite file, its lock, and the one task that writes to it."""

    def __init__(self, path: Path, siblings: dict[Path, _File]) -> None:
        self.path = path
        self._siblings = siblings
        self._names: set[str] = set()
        self._waiting: list[_Waiting] = []
        self._taken: list[_Waiting] = []
        self._wake = asyncio.Event()
        self._stopping = False
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.create_task(self._keep(), name=f"journal {path}")

    async def enter(self, name: str) -> None:
        """Wait until the file is open and note who uses it."""
        if name in self._names:
            raise DataDirLocked(
                f"{self.path.parent} is in use by a peer of this process: give this one a data "
                f"directory of its own",
                str(self.path.parent),
            )
        self._names.add(name)
        try:
            await asyncio.shield(self._opened)
        except BaseException:
            self._names.discard(name)
            raise

    async def leave(self, name: str) -> None:
        """Wait for what `name` has asked; the last one closes the file."""
        await self.ask(_Write(name, ()))
        self._names.discard(name)
        if not self._names:
            self._forget()
            self._stopping = True
            self._wake.set()
            await asyncio.shield(self._keeper)

    def ask(self, job: _Write | _Read) -> asyncio.Future[list[_Row]]:
        """Queue a job; the future ends when it is durable, or read."""
        future: asyncio.Future[list[_Row]] = asyncio.get_running_loop().create_future()
        if self._keeper.done():
            future.set_exception(JournalFailed(f"{self.path} is closed"))
        else:
            self._waiting.append((job, future))
            self._wake.set()
        return future

    async def _keep(self) -> None:
        """Open, serve until told to stop or cancelled by the end of the loop, close."""
        try:
            lock, connection = await self._open()
        except (DataDirLocked, JournalFailed) as error:
            self._forget()
            self._opened.set_exception(error)
            return
        self._opened.set_result(None)
        try:
            while not self._stopping or self._waiting:
                await self._wake.wait()
                self._wake.clear()
                await self._serve(connection)
        finally:
            # Cancelled in the middle of a group: whether or not its commit went through, writing
            # the same group again leads to the same content.
            self._forget()
            self._waiting = self._taken + self._waiting
            try:
                await connection.rollback()
                await self._serve(connection)
            finally:
                await connection.close()
                lock.release()
                for _, future in self._taken + self._waiting:
                    _resolve(future, JournalFailed(f"{self.path} is closed"))

    def _forget(self) -> None:
        """Let the next `open` make a file anew."""
        if self._siblings.get(self.path) is self:
            del self._siblings[self.path]

    async def _open(self) -> tuple[DirectoryLock, aiosqlite.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = DirectoryLock(self.path.with_suffix(".lock"))
        except DataDirLocked:
            raise
        except OSError as error:
            raise JournalFailed(
                f"the data directory {self.path.parent} cannot be used: {error}; give another one"
            ) from error
        connection = None
        try:
            connection = await aiosqlite.connect(self.path)
            for statement in (
                "PRAGMA locking_mode = EXCLUSIVE",  # one owner: no shared-memory file needed
                "PRAGMA journal_mode = WAL",
                "PRAGMA synchronous = FULL",
                _SCHEMA,
            ):
                await connection.execute(statement)
            await connection.commit()
        except BaseException as error:  # cancelled too: an open connection holds the interpreter
            if connection is not None:
                await connection.close()
            lock.release()
            if isinstance(error, sqlite3.Error):
                raise JournalFailed(f"{self.path} is not a usable journal: {error}") from error
            raise
        return lock, connection

    async def _serve(self, connection: aiosqlite.Connection) -> None:
        """All that waits: writes in one transaction up to the next read, then that read."""
        while self._waiting:
            count = next(
                (at for at, (job, _) in enumerate(self._waiting) if isinstance(job, _Read)),
                len(self._waiting),
            )
            self._taken, self._waiting = self._waiting[: count or 1], self._waiting[count or 1 :]
            if count:
                await self._write(connection, self._taken)
            else:
                await self._read(connection, *self._taken[0])
            self._taken = []

    async def _write(self, connection: aiosqlite.Connection, group: list[_Waiting]) -> None:
        try:
            await _commit(connection, [job for job, _ in group if isinstance(job, _Write)])
        except sqlite3.Error as error:
            await connection.rollback()
            if len(group) > 1:  # one bad batch must not fail its neighbours
                for waiting in group:
                    await self._write(connection, [waiting])
                return
            outcome: JournalFailed | None = JournalFailed(f"{self.path}: {error}")
        else:
            outcome = None
        for _, future in group:
            _resolve(future, outcome)

    async def _read(
        self,
        connection: aiosqlite.Connection,
        job: _Write | _Read,
        future: asyncio.Future[list[_Row]],
    ) -> None:
        try:
            rows = [
                (row[0], row[1], row[2])
                for row in await connection.execute_fetchall(_READ, (job.journal,))
            ]
        except sqlite3.Error as error:
            _resolve(future, JournalFailed(f"{self.path}: {error}"))
        else:
            _resolve(future, None, rows)


_FILES: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Path, _File]] = WeakKeyDictionary()
"""Open files by event loop and path: the peers of one process share them."""


def _file_at(path: Path) -> _File:
    where = path.absolute()
    files = _FILES.setdefault(asyncio.get_running_loop(), {})
    if where not in files:
        files[where] = _File(where, files)
    return files[where]


def _resolve(
    future: asyncio.Future[list[_Row]], failure: JournalFailed | None, rows: Iterable[_Row] = ()
) -> None:
    if future.done():  # its caller was cancelled; the work was done all the same
        return
    if failure is None:
        future.set_result(list(rows))
    else:
        future.set_exception(failure)


async def _commit(connection: aiosqlite.Connection, writes: Sequence[_Write]) -> None:
    """Bring the state after all `writes` to disk in one transaction."""
    cleared, newest = _collapse(writes)
    if cleared:
        await connection.executemany(_CLEAR, [(journal,) for journal in cleared])
    removed = [place for place, value in newest.items() if value is None]
    if removed:
        await connection.executemany(_REMOVE, removed)
    rows = [
        (journal, key, value, _checksum(journal, key, value))
        for (journal, key), value in newest.items()
        if value is not None
    ]
    if rows:
        await connection.executemany(_PUT, rows)
    await connection.commit()


def _collapse(
    writes: Sequence[_Write],
) -> tuple[list[str], dict[tuple[str, bytes], bytes | None]]:
    """Which journals are emptied first, and the newest value of each key, in order of writing."""
    cleared: dict[str, None] = {}
    newest: dict[tuple[str, bytes], bytes | None] = {}
    for write in writes:
        if write.clear:
            cleared[write.journal] = None
            newest = {place: value for place, value in newest.items() if place[0] != write.journal}
        for entry in write.entries:
            newest.pop((write.journal, entry.key), None)
            newest[write.journal, entry.key] = entry.value
    return list(cleared), newest


def _checksum(journal: str, key: bytes, value: bytes) -> int:
    """CRC-32 over name, key and value: a record moved to another key does not fit either."""
    place = struct.pack(">I", len(key)) + journal.encode()
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(place)))
