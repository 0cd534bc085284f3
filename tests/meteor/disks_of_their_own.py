"""A disk for each peer of a simulated ring: slow or fast by itself, and with tails that are cut.

What is written is seen as on `sim.disk.SimDisk`.  A tail that is cut takes the last batches with
it, and the journal says that it is incomplete until it is written anew, as one of SQLite's does.
"""

from __future__ import annotations

from meteor import Scan
from sim.disk import SimDisk, SimJournal, _Job, _scanned, _Stored
from sim.kernel import Kernel

BATCHES_MAX = 6
"""So many batches of each journal can be cut off, and no more."""


class DisksOfTheirOwn(SimDisk):
    """One content, and for each journal a machine that writes it."""

    def __init__(self, kernel: Kernel, *, write_latency_s: float = 0.001) -> None:
        super().__init__(kernel, write_latency_s=write_latency_s)
        self._machines: dict[str, _Machine] = {}
        self.cut: set[str] = set()
        """The journals that have lost something without a trace."""

    def machine(self, name: str) -> _Machine:
        """The one that writes a journal."""
        if name not in self._machines:
            self._machines[name] = _Machine(self, self._kernel)
        return self._machines[name]

    def journal(self, name: str) -> SimJournal:
        return self.machine(name).journal(name)

    def crash(self, name: str | None = None) -> None:
        for each in sorted(self._machines) if name is None else [name]:
            self.machine(each).unsynced = self.unsynced
            self.machine(each).crash(each)

    def wipe(self, name: str) -> None:
        self.machine(name).wipe(name)
        self.cut.discard(name)

    def last_batches(self, name: str) -> list[set[bytes]]:
        """The keys of each batch that can be cut off, the first one first."""
        return [keys for keys, _ in self.machine(name).before]

    def cut_tail(self, name: str, batches: int) -> None:
        """Put the content of a closed journal back to what it was before its last batches."""
        before = self.machine(name).before
        self._content[name] = dict(before[-batches][1])
        del before[-batches:]
        self.cut.add(name)

    def is_hurt(self, name: str) -> bool:
        """Whether a journal has anything that cannot be read, or lost more."""
        content = self._content.get(name, {})
        return name in self.cut or not all(stored.is_whole for stored in content.values())


class _Machine(SimDisk):
    """What writes one journal."""

    def __init__(self, disk: DisksOfTheirOwn, kernel: Kernel) -> None:
        super().__init__(kernel, write_latency_s=disk.write_latency_s)
        self._disk = disk
        self._content, self._filled, self._born = disk._content, disk._filled, disk._born
        self._stream = disk._stream
        self.before: list[tuple[set[bytes], dict[bytes, _Stored]]] = []
        """Of the last batches the keys, and the content before."""

    def _carry_out(self, job: _Job) -> None:
        name = job.journal
        if job.entries is None and name in self._disk.cut:
            found = _scanned(self._content.setdefault(name, {}))
            job.waiter.resolve(Scan(found.entries, found.damaged, incomplete=True))
            return
        if job.entries is not None and not self.is_full(name):
            if job.clear:
                self.before.clear()
                self._disk.cut.discard(name)
            elif job.entries:
                keys = {entry.key for entry in job.entries}
                self.before.append((keys, dict(self._content.get(name, {}))))
                del self.before[:-BATCHES_MAX]
        super()._carry_out(job)
