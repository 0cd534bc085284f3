"""The journal: what a peer has acknowledged, in a form that outlives it.

Law of this file: a record is a key and a value; the newest record of a key counts, a record
without a value removes its key.  `append` returns when the whole batch is durable, batches become
durable in the order in which `append` was called, and a batch that was begun outlives a closed
peer.  Every stored record carries a checksum; one that does not fit is set aside and reported,
never handed out.  Memory, simulated disk and SQLite keep one conformance suite.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, overload

from arms import Parted
from chord import MeteorError, dataclass
from meteor.described import described


@described
@dataclass(frozen=True, slots=True)
class Entry:
    """One record: `value` None removes the key."""

    key: bytes
    """What it is kept under."""
    value: bytes | None
    """What is kept; None removes it."""


class Entries(Sequence[Entry]):
    """Many entries with values, as their keys and their values: they become objects where somebody
    looks at them one by one."""

    __slots__ = ("keys", "values")

    def __init__(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        self.keys, self.values = keys, values

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Entries:
        """Those of the entries that have a value."""
        if isinstance(entries, Entries):
            return entries
        living = [(entry.key, entry.value) for entry in entries if entry.value is not None]
        return cls([key for key, _ in living], [value for _, value in living])

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Entry]:
        return map(Entry, self.keys, self.values)

    @overload
    def __getitem__(self, at: int) -> Entry: ...

    @overload
    def __getitem__(self, at: slice) -> Entries: ...

    def __getitem__(self, at: int | slice) -> Entry | Entries:
        if isinstance(at, slice):
            return Entries(self.keys[at], self.values[at])
        return Entry(self.keys[at], self.values[at])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # as of every list

    def __repr__(self) -> str:
        return f"Entries({list(self)!r})"


@described
@dataclass(frozen=True, slots=True)
class Scan:
    """What a journal holds: the living entries in the order of their last write, and the keys of
    records that are known to have been here and cannot be read.

    With `incomplete` more may be gone, without a trace: the store was damaged, and whoever reads
    this must not take what is left for all that was acknowledged.  It stays so, over restarts,
    until `Journal.replace` has written the content anew."""

    entries: Sequence[Entry]
    """What lives, in the order of its last write."""
    damaged: tuple[bytes, ...]
    """Keys of records that were here and cannot be read."""
    incomplete: bool = False
    """Whether more may be gone, without a trace."""


class Journal(Protocol):
    """A peer's durable memory."""

    async def append(self, batch: Sequence[Entry]) -> None:
        """Return when every entry is durable, all or none, and everything before it: an empty
        batch is a barrier.  Raises `JournalFailed`."""

    async def scan(self) -> Scan:
        """Everything that is durable now."""

    async def read(self, key: bytes) -> bytes | None:
        """The value of one key, as `scan` would give it; None where there is none."""

    async def replace(self, entries: Sequence[Entry]) -> None:
        """Make these entries the whole content, in one atomic step; they are complete then."""

    async def close(self) -> None:
        """Finish what was begun and release the store; later calls raise `JournalFailed`."""


class JournalFailed(MeteorError):
    """The store could not make a batch durable (disk full, closed, damaged)."""


class MemoryJournal:
    """A journal for tests and simulations: durable as long as the object."""

    def __init__(self) -> None:
        self._entries = Parted[bytes, tuple[int, bytes]]()
        """Each with the number of its write."""
        self._writes = 0
        self._closed = False

    async def append(self, batch: Sequence[Entry]) -> None:
        """Apply the batch at once."""
        self._check_open()
        for entry in batch:
            self._put(entry)

    async def scan(self) -> Scan:
        """The living entries."""
        self._check_open()
        ordered = sorted((number, key, value) for key, (number, value) in self._entries.items())
        return Scan(Entries([key for _, key, _ in ordered], [value for _, _, value in ordered]), ())

    async def read(self, key: bytes) -> bytes | None:
        """The value of a key."""
        self._check_open()
        found = self._entries.get(key)
        return None if found is None else found[1]

    async def replace(self, entries: Sequence[Entry]) -> None:
        """Swap the content."""
        self._check_open()
        self._entries = Parted()
        for entry in entries:
            self._put(entry)

    async def close(self) -> None:
        """Refuse further use; the content stays for a later `reopen`."""
        self._closed = True

    def reopen(self) -> None:
        """Let a restarted peer use the same memory."""
        self._closed = False

    def _put(self, entry: Entry) -> None:
        self._writes += 1
        if entry.value is not None:
            self._entries[entry.key] = (self._writes, entry.value)
        elif entry.key in self._entries:
            del self._entries[entry.key]

    def _check_open(self) -> None:
        if self._closed:
            raise JournalFailed("the journal is closed")


class UnreadJournal(MemoryJournal):
    """The journal of a peer without a data directory: it ends with that peer's life, and the next
    one begins another.  What nobody will read need not be written: see `Shelf.commit`."""
