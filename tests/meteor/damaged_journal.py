"""Journals with a known history, and what a medium can do to their files.

Law of this file: `History` writes through the journal alone and remembers every value that a key
ever had; `files` are what a killed process leaves.  `judge` compares what comes back with it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from meteor.journal.first_look import FirstLook
from meteor.journal.journal import Entry, Scan
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.journal.write_ahead_log import FRAME_BYTES, LOG_HEADER_BYTES, PAGE_BYTES

NAME = "meteor.sqlite"
Files = dict[str, bytes]
DATABASE, LOG, COMMITS = NAME, NAME + "-wal", "meteor.commits"


@dataclass
class History:
    """What was acknowledged: the present content, and every value that a key ever had."""

    seed: int
    now: dict[bytes, bytes] = field(default_factory=dict)
    ever: dict[bytes, set[bytes]] = field(default_factory=dict)
    states: list[dict[bytes, bytes]] = field(default_factory=list)
    """The content after each transaction of the last part."""

    def __post_init__(self) -> None:
        self.drawn = random.Random(self.seed)

    def batch(self, count: int, keys: int) -> list[Entry]:
        """Puts and removals; some values need overflow pages."""
        entries = []
        for _ in range(count):
            key = b"r:%05d" % self.drawn.randrange(keys)
            size = self.drawn.choice([30, 200, 200, 300, 300, 900, 6000])
            value = None if self.drawn.random() < 0.2 else self.drawn.randbytes(size)
            entries.append(Entry(key, value))
        return entries

    async def append(self, journal: SqliteJournal, batch: list[Entry]) -> None:
        await journal.append(batch)
        for entry in batch:
            self.now.pop(entry.key, None)
            if entry.value is not None:
                self.now[entry.key] = entry.value
                self.ever.setdefault(entry.key, set()).add(entry.value)
        self.states.append(dict(self.now))


async def killed(folder: Path, *, seed: int, kept: int, in_log: int) -> tuple[History, Files]:
    """The files of a process that was killed: `kept` batches in the database, then `in_log`
    transactions that are in the log alone, or, when they are many, partly."""
    history = History(seed)
    journal = await SqliteJournal.open(folder / NAME)
    for _ in range(kept):
        await history.append(journal, history.batch(20, 20 * kept))
    await journal.close()
    journal = await SqliteJournal.open(folder / NAME)
    history.states = [dict(history.now)]
    for _ in range(in_log):
        await history.append(journal, history.batch(history.drawn.randint(1, 4), 20 * kept))
    files = {
        name: (folder / name).read_bytes() if (folder / name).exists() else b""
        for name in (DATABASE, LOG, COMMITS)
    }
    await journal.close()
    return history, files


def lay(folder: Path, files: Files) -> Path:
    """Put files into a fresh folder; the path of the journal."""
    folder.mkdir()
    for name, content in files.items():
        if content:
            (folder / name).write_bytes(content)
    return folder / NAME


def flipped(content: bytes, bit: int) -> bytes:
    """The same with one bit turned."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def frame_starts(log: bytes) -> range:
    """Where the frames of a log begin; the last one is its end."""
    return range(LOG_HEADER_BYTES, len(log) + 1, FRAME_BYTES)


def pages(content: bytes) -> range:
    """Where the pages of a database file begin."""
    return range(0, len(content), PAGE_BYTES)


@dataclass(frozen=True)
class Verdict:
    """What a damaged journal gave back, against what had been acknowledged."""

    lost: int
    """Records that are gone or stale."""
    silent: bool
    """Whether it claims to be all, and is not."""
    foreign: int
    """Values that nobody ever wrote: never allowed."""
    reported: bool


def judge(history: History, scan: Scan) -> Verdict:
    """Compare."""
    found = {entry.key: entry.value or b"" for entry in scan.entries}
    damaged = set(scan.damaged)
    good = sum(found.get(key) == value for key, value in history.now.items())
    exact = (
        all(found.get(key) == value or key in damaged for key, value in history.now.items())
        and found.keys() <= history.now.keys()
    )
    return Verdict(
        lost=len(history.now) - good,
        silent=not exact and not scan.incomplete,
        foreign=sum(value not in history.ever.get(key, ()) for key, value in found.items()),
        reported=scan.incomplete or bool(damaged),
    )


async def reopened(folder: Path, files: Files) -> Scan:
    """Open the journal of these files as a peer does, read it, and see that it takes new records;
    who looked at it before it was checked saw the same, or nothing."""
    look = FirstLook[Scan](lambda seen: seen)
    journal = await SqliteJournal.open(lay(folder, files), first_look=look)
    scan = await journal.scan()
    assert look.made is None or look.made == scan
    await journal.append([Entry(b"new", b"after the damage")])
    await journal.close()
    return scan
