"""A simulated disk: journals whose writes take virtual time and die with the power.

Law of this file: what was acknowledged stays, what was not is lost by a crash; writes that wait
while one is under way become durable together, in the order of the calls (the group commit of
`meteor.journal.sqlite_journal`).  A journal belongs to the disk, not to a peer: what a closed peer
began is finished.  Faults are set on the disk by name: `full`, for all or by `fill` for one
machine, `damage`, `crash`, and `unsynced`, what becomes of writes that were under way when the
power went: lost by default; they may as well reach the medium though nobody was told, or tear, the
record under the head damaged.

    disk = SimDisk(kernel, write_latency_s=0.002)
    journal = disk.journal("peer-3")
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from meteor import Entry, JournalFailed, Scan
from sim.kernel import Kernel
from sim.task import Waiter


class SimDisk:
    """One disk, any number of named journals."""

    def __init__(self, kernel: Kernel, *, write_latency_s: float = 0.001) -> None:
        self.write_latency_s = write_latency_s
        """How long a commit takes, seconds of virtual time."""
        self.full = False
        """While true, every write fails and leaves the content as it was."""
        self._filled: set[str] = set()
        self.unsynced: Literal["lost", "reach", "torn"] = "lost"
        """What a crash makes of the batches under way: all are lost; a drawn number of them, the
        first ones, have reached the medium; or these and a part of the next, its last record
        damaged."""
        self._stream = kernel.random("disk")
        self._writing = 0
        self._kernel = kernel
        self._content: dict[str, dict[bytes, _Stored]] = {}
        self._born: dict[str, int] = {}
        self._backups: dict[str, list[tuple[float, dict[bytes, _Stored]]]] = {}
        self._handles: dict[str, SimJournal] = {}
        self._waiting: list[_Job] = []
        self._busy = False

    def journal(self, name: str) -> SimJournal:
        """Open the journal `name`, which takes the place of any earlier handle of that name."""
        if name in self._handles:
            self._handles[name].lose()
        journal = self._handles[name] = SimJournal(self, name)
        return journal

    def crash(self, name: str | None = None) -> None:
        """Cut the power, of one journal's machine or of all: unacknowledged writes are lost and
        open journals refuse.  Whoever waits for a lost write waits for ever, as its machine does.
        """
        for journal in [h for n, h in sorted(self._handles.items()) if name in (None, n)]:
            journal.lose()
        hit = [job for job in self._waiting if not job.lost and name in (None, job.journal)]
        if self.unsynced != "lost":
            under_way = self._waiting[: self._writing]
            self._leave_behind([job for job in hit if job in under_way and job.entries])
        for job in hit:
            job.lost = True

    def fill(self, name: str) -> None:
        """Let every write of one journal fail until `make_room`; its content stays as it is."""
        self._filled.add(name)

    def make_room(self, name: str) -> None:
        """Let one journal write again; harmless when it can."""
        self._filled.discard(name)

    def is_full(self, name: str) -> bool:
        """Whether writes of that journal fail."""
        return self.full or name in self._filled

    def damage(self, name: str, key: bytes) -> None:
        """Flip a bit of the stored record `key`, as a failing medium does; what is damaged already
        stays so: the same bit flipped once more would mend it."""
        stored = self._content[name][key]
        if not stored.is_whole:
            return
        value = bytes([(stored.value or b"\0")[0] ^ 1]) + stored.value[1:]
        self._content[name][key] = _Stored(value, stored.checksum)

    def wipe(self, name: str) -> None:
        """Put an empty disk in the place of a closed journal's: what it was still writing, and its
        backups, are of the old one."""
        for job in self._waiting:
            job.lost |= job.journal == name
        self._content.pop(name, None)
        self._born.pop(name, None)
        self._backups.pop(name, None)

    def born(self, name: str, incarnation: int) -> int:
        """The incarnation in which one journal began: this one, if it is new."""
        return self._born.setdefault(name, incarnation)

    def back_up(self, name: str) -> None:
        """Keep what one journal holds now."""
        content = dict(self._content.get(name, {}))
        self._backups.setdefault(name, []).append((self._kernel.now(), content))

    def go_back(self, name: str, by_s: float) -> bool:
        """Put the content of a closed journal in place that was kept so long before the last one;
        whether there is one.  Nobody can tell by looking at it."""
        kept = self._backups.get(name, [])
        old = [one for one in kept if one[0] <= kept[-1][0] - by_s]
        if old:
            self._content[name] = dict(old[-1][1])
        return bool(old)

    def ask(self, job: _Job) -> Waiter:
        """Queue a job; its waiter is settled when it is durable, or read."""
        self._waiting.append(job)
        if not self._busy:
            self._busy = True
            self._kernel.call_soon(self._commit)
        return job.waiter

    def waiter(self) -> Waiter:
        """Something that a conversation can wait for."""
        return self._kernel.waiter()

    def _commit(self) -> None:
        """Begin the commit of all that waits."""
        group = list(self._waiting)
        self._writing = len(group)
        latency_s = self.write_latency_s if any(job.entries is not None for job in group) else 0.0
        self._kernel.call_later(latency_s, self._committed, len(group))

    def _committed(self, count: int) -> None:
        group, self._waiting = self._waiting[:count], self._waiting[count:]
        self._writing = 0
        for job in group:
            if not job.lost:
                self._carry_out(job)
        if self._waiting:
            self._commit()
        else:
            self._busy = False

    def _carry_out(self, job: _Job) -> None:
        records = self._content.setdefault(job.journal, {})
        if job.entries is None:
            job.waiter.resolve(_scanned(records))
            return
        if self.is_full(job.journal):
            job.waiter.fail(JournalFailed(f"the disk of {job.journal!r} is full"))
            return
        _write(records, job.entries, clear=job.clear)
        job.waiter.resolve(None)

    def _leave_behind(self, jobs: list[_Job]) -> None:
        """Of batches that were being written when the power went, keep what reached the medium."""
        jobs = [job for job in jobs if not self.is_full(job.journal)]
        reached = self._stream.randint(0, len(jobs))
        for job in jobs[:reached]:
            records = self._content.setdefault(job.journal, {})
            _write(records, job.entries or (), clear=job.clear)
        if self.unsynced != "torn" or reached == len(jobs):
            return
        torn = jobs[reached]
        if torn.clear or not torn.entries:
            return  # a new content takes the place of the old one by a rename, whole or not at all
        records = self._content.setdefault(torn.journal, {})
        part = torn.entries[: self._stream.randint(1, len(torn.entries))]
        _write(records, part)
        if part[-1].value is not None:
            self.damage(torn.journal, part[-1].key)


@dataclass(slots=True, eq=False)
class _Job:
    """Entries to write, or, with None, a scan."""

    journal: str
    entries: tuple[Entry, ...] | None
    waiter: Waiter
    clear: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class _Stored:
    value: bytes
    checksum: int

    @property
    def is_whole(self) -> bool:
        """Whether it is what was written."""
        return zlib.crc32(self.value) == self.checksum


def _write(records: dict[bytes, _Stored], entries: Sequence[Entry], *, clear: bool = False) -> None:
    if clear:
        records.clear()
    for entry in entries:
        records.pop(entry.key, None)
        if entry.value is not None:
            records[entry.key] = _Stored(entry.value, zlib.crc32(entry.value))


def _scanned(records: dict[bytes, _Stored]) -> Scan:
    entries, damaged = [], []
    for key, stored in records.items():
        if stored.is_whole:
            entries.append(Entry(key, stored.value))
        else:
            damaged.append(key)
    return Scan(tuple(entries), tuple(damaged))


class SimJournal:
    """One named journal of a `SimDisk`; keeps what `journal.Journal` promises."""

    def __init__(self, disk: SimDisk, name: str) -> None:
        self._disk = disk
        self._name = name
        self._open = True

    def born(self, incarnation: int) -> int:
        """In which incarnation of its peer it began: this one, if it is new."""
        return self._disk.born(self._name, incarnation)

    async def append(self, batch: Sequence[Entry]) -> None:
        """Return when the batch is durable."""
        await self._ask(tuple(batch))

    async def replace(self, entries: Sequence[Entry]) -> None:
        """Make these entries the whole content, in one step."""
        await self._ask(tuple(entries), clear=True)

    async def scan(self) -> Scan:
        """What is durable after everything that was asked before."""
        scan: Scan = await self._ask(None)
        return scan

    async def read(self, key: bytes) -> bytes | None:
        """The value of one key after everything that was asked before."""
        found = (await self.scan()).entries
        return next((entry.value for entry in found if entry.key == key), None)

    async def close(self) -> None:
        """Wait for what was begun; later calls are refused."""
        if self._open:
            finished = self._ask(())
            self._open = False
            await finished

    def lose(self) -> None:
        """Refuse from now on: the machine lost its power, or another handle took the place."""
        self._open = False

    def _ask(self, entries: tuple[Entry, ...] | None, *, clear: bool = False) -> Waiter:
        if not self._open:
            raise JournalFailed(f"the journal {self._name!r} is closed")
        return self._disk.ask(_Job(self._name, entries, self._disk.waiter(), clear))
