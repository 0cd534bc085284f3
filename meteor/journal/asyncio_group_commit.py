"""Group commit: many journals of one event loop share one file and its one writer.

Law of this file: whatever waits when the writer turns to the file becomes durable in one
transaction, in the order of the calls.  A batch belongs to the writer from the moment of the call:
it is written whether or not its caller still waits.  The writer's own task closes the file when the
event loop ends, because the store's thread otherwise keeps the interpreter from ending.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from meteor.distribution import Distribution
from meteor.errors import DataDirLocked
from meteor.journal.journal import JournalFailed
from meteor.journal.rows import StoredRows, Write

COMMIT_BOUNDS_S: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0)
"""Around what a synchronous write costs: a good disk, a busy one, one that is dying."""


@dataclass(frozen=True, slots=True)
class Read:
    """The rows of a journal are asked for, or that of one key."""

    journal: str
    key: bytes | None = None


class Store(Protocol):
    """An open file.  Its failures are `JournalFailed`, and leave it as it was before."""

    async def commit(self, writes: Sequence[Write]) -> None:
        """Bring the state after all `writes` to disk in one transaction."""

    async def read(self, what: Read) -> StoredRows:
        """The rows of a journal, whole or not, in the order of their last write."""

    async def rollback(self) -> None:
        """Forget a transaction that was begun."""

    async def close(self) -> None:
        """Close the file, then let the next owner in."""


_Waiting = tuple[Write | Read, "asyncio.Future[StoredRows]"]


class GroupCommit:
    """One file and the one task that writes to it."""

    def __init__(
        self,
        path: Path,
        siblings: dict[Path, GroupCommit],
        open_store: Callable[[Path], Awaitable[Store]],
    ) -> None:
        self.path = path
        self._siblings, self._open_store = siblings, open_store
        self._names: set[str] = set()
        self._waiting: list[_Waiting] = []
        self._taken: list[_Waiting] = []
        self._wake = asyncio.Event()
        self._stopping = False
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.commits = Distribution(COMMIT_BOUNDS_S)
        """How long transactions took, in seconds."""
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
        await self.ask(Write(name, ()))
        self._names.discard(name)
        if not self._names:
            self._forget()
            self._stopping = True
            self._wake.set()
            await asyncio.shield(self._keeper)

    def ask(self, job: Write | Read) -> asyncio.Future[StoredRows]:
        """Queue a job; the future ends when it is durable, or read."""
        future: asyncio.Future[StoredRows] = asyncio.get_running_loop().create_future()
        if self._keeper.done():
            future.set_exception(JournalFailed(f"{self.path} is closed"))
        else:
            self._waiting.append((job, future))
            self._wake.set()
        return future

    async def _keep(self) -> None:
        """Open, serve until told to stop or cancelled by the end of the loop, close."""
        try:
            store = await self._open_store(self.path)
        except Exception as error:  # whatever it is, those who wait must hear of it
            self._forget()
            self._opened.set_exception(error)
            return
        self._opened.set_result(None)
        try:
            while not self._stopping or self._waiting:
                await self._wake.wait()
                self._wake.clear()
                await self._serve(store)
        finally:
            # Cancelled in the middle of a group: whether or not its commit went through, writing
            # the same group again leads to the same content.
            self._forget()
            self._waiting = self._taken + self._waiting
            try:
                await store.rollback()
                await self._serve(store)
            finally:
                await store.close()
                for _, future in self._taken + self._waiting:
                    _resolve(future, JournalFailed(f"{self.path} is closed"))

    def _forget(self) -> None:
        """Let the next `open` make a file anew."""
        if self._siblings.get(self.path) is self:
            del self._siblings[self.path]

    async def _serve(self, store: Store) -> None:
        """All that waits: writes in one transaction up to the next read, then that read."""
        while self._waiting:
            count = next(
                (at for at, (job, _) in enumerate(self._waiting) if isinstance(job, Read)),
                len(self._waiting),
            )
            self._taken, self._waiting = self._waiting[: count or 1], self._waiting[count or 1 :]
            if count:
                await self._write(store, self._taken)
            else:
                job, future = self._taken[0]
                assert isinstance(job, Read), "what is no write is a read"
                await self._read(store, job, future)
            self._taken = []

    async def _write(self, store: Store, group: list[_Waiting]) -> None:
        clock = asyncio.get_running_loop().time
        began_s = clock()
        try:
            await store.commit([job for job, _ in group if isinstance(job, Write)])
        except JournalFailed as error:
            if len(group) > 1:  # one bad batch must not fail its neighbours
                for waiting in group:
                    await self._write(store, [waiting])
                return
            outcome: JournalFailed | None = error
        else:
            self.commits.note(clock() - began_s)
            outcome = None
        for _, future in group:
            _resolve(future, outcome)

    async def _read(self, store: Store, job: Read, future: asyncio.Future[StoredRows]) -> None:
        try:
            rows = await store.read(job)
        except JournalFailed as error:
            _resolve(future, error)
        else:
            _resolve(future, None, rows)


_FILES: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Path, GroupCommit]] = WeakKeyDictionary()
"""Open files by event loop and path: the peers of one process share them."""


def group_commit(path: Path, open_store: Callable[[Path], Awaitable[Store]]) -> GroupCommit:
    """The writer of the file `path` in this event loop, begun when there is none."""
    where = path.absolute()
    files = _FILES.setdefault(asyncio.get_running_loop(), {})
    if where not in files:
        files[where] = GroupCommit(where, files, open_store)
    return files[where]


def _resolve(
    future: asyncio.Future[StoredRows],
    failure: JournalFailed | None,
    rows: StoredRows | None = None,
) -> None:
    if future.done():  # its caller was cancelled; the work was done all the same
        return
    if failure is None:
        future.set_result(rows or StoredRows())
    else:
        future.set_exception(failure)
