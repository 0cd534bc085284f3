"""Journals of every kind in the time that is theirs: in memory, on a simulated disk, in SQLite."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Protocol

from meteor.journal.journal import Entry, Journal, MemoryJournal
from meteor.journal.sqlite_journal import SqliteJournal
from sim.disk import SimDisk
from sim.kernel import Kernel


class World(Protocol):
    """Where a journal lives: `open` gives the same content again and again."""

    def run(self, conversation: Coroutine[Any, Any, None]) -> None: ...
    def spawn(self, conversation: Coroutine[Any, Any, None]) -> Any: ...
    async def turn(self) -> None: ...
    async def open(self, name: str = "peer") -> Journal: ...
    def damage(self, key: bytes) -> None: ...


class RealTime:
    """Runs conversations under asyncio."""

    def run(self, conversation: Coroutine[Any, Any, None]) -> None:
        asyncio.run(conversation)

    def spawn(self, conversation: Coroutine[Any, Any, None]) -> Any:
        return asyncio.ensure_future(conversation)

    async def turn(self) -> None:
        await asyncio.sleep(0)


class Memory(RealTime):
    def __init__(self, folder: Path) -> None:
        self.journals: dict[str, MemoryJournal] = {}

    async def open(self, name: str = "peer") -> Journal:
        journal = self.journals.setdefault(name, MemoryJournal())
        journal.reopen()
        return journal


class Sqlite(RealTime):
    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.sqlite"

    async def open(self, name: str = "peer") -> Journal:
        return await SqliteJournal.open(self.path, name)

    def damage(self, key: bytes) -> None:
        with sqlite3.connect(self.path) as connection:
            connection.execute("UPDATE record SET value = x'00' WHERE key = ?", (key,))
        connection.close()


class Simulated:
    def __init__(self, folder: Path) -> None:
        self.kernel = Kernel(seed=1)
        self.disk = SimDisk(self.kernel)

    def run(self, conversation: Coroutine[Any, Any, None]) -> None:
        self.kernel.run_until(self.kernel.spawn(conversation))

    def spawn(self, conversation: Coroutine[Any, Any, None]) -> Any:
        return self.kernel.spawn(conversation)

    async def turn(self) -> None:
        await self.kernel.sleep(0)

    async def open(self, name: str = "peer") -> Journal:
        return self.disk.journal(name)

    def damage(self, key: bytes) -> None:
        self.disk.damage("peer", key)


WORLDS = {"memory": Memory, "simulated": Simulated, "sqlite": Sqlite}
CHECKSUMMED = ["simulated", "sqlite"]


def put(key: str, value: str | None = "v") -> Entry:
    return Entry(key.encode(), None if value is None else value.encode())


async def content(journal: Journal) -> list[tuple[str, str]]:
    scan = await journal.scan()
    return [(entry.key.decode(), (entry.value or b"").decode()) for entry in scan.entries]
