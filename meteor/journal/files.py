"""The files of a journal on disk: are they what was acknowledged, and what when they are not.

Law of this file: damaged files are never written to.  They are set aside under another name, for
whoever wants to look, after all that can be read of them stands in a new file; a process that dies
anywhere in between finds one or the other at its next start.

    meteor.sqlite            the records            meteor.sqlite-wal   SQLite's log
    meteor.commits           how many transactions were acknowledged
    meteor.sqlite.making     a new file that is being written
    meteor.sqlite.salvaged   a new file that is whole and waits for its place
    meteor.sqlite.damaged-1  what was set aside first

What can be told: records behind a cut of the log (fewer transactions than were acknowledged), a
page or a frame that is broken (its checksum, its place in the trees), a file that is gone, a log or
an earlier file of another time.  What cannot: a bit in space that says nothing, all files together
put back to an earlier state, which looks as it did then, and another peer's file alone in the place
of this one's, where it has more transactions: after a power cut the number is behind as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from meteor.journal import salvage
from meteor.journal.commit_number import CommitNumber, read_commit_number, sync_directory
from meteor.journal.salvage import Salvage
from meteor.journal.write_ahead_log import Log, read_log


@dataclass(frozen=True, slots=True)
class Findings:
    """What the files say before SQLite has touched them.

    `number` is that of the last transaction that SQLite would find, `acknowledged` that of the
    last one that somebody was told of; None where it cannot be read.  `trouble` says why the file
    must not be used as it is, "" when nothing speaks against it."""

    number: int | None
    acknowledged: int | None
    log: Log
    is_new: bool
    trouble: str

    @property
    def next_number(self) -> int:
        """A number that no transaction had."""
        return max(self.number or 0, self.acknowledged or 0) + 1


class JournalFiles:
    """The names of the files, and what is done with whole files.  Everything raises `OSError`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = _log_of(path)
        self.lock = path.with_suffix(".lock")
        self.commits = path.with_suffix(".commits")
        self.making = path.with_name(path.name + ".making")
        self._salvaged = path.with_name(path.name + ".salvaged")

    def examine(self) -> Findings:
        """Look at the files as they are."""
        log = read_log(self.log.read_bytes()) if self.log.exists() else Log()
        acknowledged = read_commit_number(self.commits)
        is_new = (
            not self.path.exists()
            and not log.frames
            and (acknowledged == 0 or not self.commits.exists())
        )
        if is_new:
            return Findings(0, acknowledged, log, is_new, "")
        with self._opened() as file:
            number = salvage.newest_number(file, log)
        return Findings(number, acknowledged, log, is_new, _trouble(number, acknowledged, log))

    def salvage(self, found: Findings) -> Salvage:
        """Read what can be read."""
        lacking = (found.number or 0) < (found.acknowledged or 0)
        with self._opened() as file:
            return salvage.salvage(
                file, found.log, unfinished=lacking or found.acknowledged is None
            )

    def commit_number(self, found: Findings) -> CommitNumber:
        """The noted number, open for writing."""
        return CommitNumber(self.commits, of_new=found.is_new)

    def clear_making(self) -> None:
        """Make room for a new file."""
        for path in (self.making, _log_of(self.making)):
            path.unlink(missing_ok=True)

    def promote(self) -> None:
        """The new file is whole and synced: from now on it counts."""
        os.replace(self.making, self._salvaged)
        sync_directory(self.path.parent)
        self.install()

    def install(self) -> None:
        """Put a new file that waits into its place, and set aside what is there."""
        if not self._salvaged.exists():
            return
        name = self._free_name()
        # The log last came with the old file: it must be gone before the new one stands here.
        for old, new in ((self.log, _log_of(name)), (self.path, name)):
            if old.exists():
                os.replace(old, new)
        sync_directory(self.path.parent)
        os.replace(self._salvaged, self.path)
        sync_directory(self.path.parent)

    def set_aside(self) -> list[Path]:
        """The damaged files that were set aside, the oldest first."""
        found: list[Path] = []
        while (name := self._aside(len(found) + 1)).exists() or _log_of(name).exists():
            found.append(name)
        return found

    def _free_name(self) -> Path:
        return self._aside(len(self.set_aside()) + 1)

    def _aside(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.damaged-{number}")

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO | None]:
        if not self.path.exists():
            yield None
            return
        with self.path.open("rb") as file:
            yield file


def _trouble(number: int | None, acknowledged: int | None, log: Log) -> str:
    if number is None:
        return "its last transaction cannot be found"
    if acknowledged is not None:
        if number < acknowledged:
            return f"it ends with transaction {number}, but {acknowledged} were acknowledged"
        return ""
    # The next transaction begins when the last is synced: only one can be torn by a power cut.
    return "its log is broken before its end" if log.commits_behind > 1 else ""


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
