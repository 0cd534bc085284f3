"""The journal on disk: one SQLite file and one thread for all the journals of a process.

Law of this file: what a journal promises is kept by its file (`meteor.journal.sqlite_file`), which
it shares with the other journals of its event loop; here is one journal's view of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from meteor.distribution import Distribution
from meteor.journal.asyncio_group_commit import GroupCommit, Read, group_commit
from meteor.journal.files import JournalFiles
from meteor.journal.first_look import FirstLook
from meteor.journal.journal import Entry, JournalFailed, Scan
from meteor.journal.rows import FILE, StoredRows, Write, scan_of, whole
from meteor.journal.sqlite_file import open_file


class SqliteJournal:
    """One peer's records in a SQLite file; see `journal.Journal` for what it promises."""

    def __init__(self, file: GroupCommit, name: str) -> None:
        self._file = file
        self._name = name
        self._open = True

    @classmethod
    async def open(
        cls, path: str | Path, name: str = "peer", first_look: FirstLook[Any] | None = None
    ) -> SqliteJournal:
        """The journal `name` in the file `path`, made when missing; what it holds can be looked at
        while the file is still checked (`first_look`).

        Journals of one event loop share the file, its thread and its lock.  Raises
        `DataDirLocked` when another process, or a journal of the same name, has it open, and
        `JournalFailed` when the file cannot be used.  A damaged file is set aside and what can be
        read of it kept: `scan` tells."""
        if not name:
            raise ValueError("name: a journal needs one")
        file = group_commit(Path(path), partial(open_file, name=name, first_look=first_look))
        await file.enter(name)
        return cls(file, name)

    async def append(self, batch: Sequence[Entry]) -> None:
        """Return when the batch, and all before it, are on disk; batches that wait together share
        one commit."""
        await self._ask(Write(self._name, tuple(batch)))

    async def replace(self, entries: Sequence[Entry]) -> None:
        """Make these entries the whole content of this journal, in one transaction."""
        await self._ask(Write(self._name, tuple(entries), clear=True))

    async def scan(self) -> Scan:
        """What is durable after everything that was asked before."""
        of_the_file = self._ask(Read(FILE))
        rows = await self._ask(Read(self._name))
        return await asyncio.to_thread(scan_of, self._name, rows, await of_the_file)

    async def read(self, key: bytes) -> bytes | None:
        """The value of one key, durable after everything that was asked before."""
        _, values, _ = whole(self._name, await self._ask(Read(self._name, key)))
        return values[0] if values else None

    @property
    def set_aside(self) -> tuple[Path, ...]:
        """The damaged files that were set aside beside this one so far, the oldest first."""
        return tuple(JournalFiles(self._file.path).set_aside())

    @property
    def commits(self) -> Distribution:
        """How long transactions of the file took, in seconds; those of its other users too."""
        return self._file.commits

    async def close(self) -> None:
        """Wait for what was begun; the last journal of a file closes it and frees its lock."""
        if self._open:
            self._open = False
            await self._file.leave(self._name)

    def _check_open(self) -> None:
        if not self._open:
            raise JournalFailed(f"the journal {self._name!r} in {self._file.path} is closed")

    def _ask(self, job: Write | Read) -> asyncio.Future[StoredRows]:
        self._check_open()
        return self._file.ask(job)
