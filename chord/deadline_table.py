"""Entries that must be settled by a deadline, under one timer for all of them.

Law of this file: pure; `now` is an argument.  An entry's number is never used again, so it also
names a call on the wire.  Settled entries leave their deadline behind in the heap; it is skipped
when it comes up, and the heap is rebuilt when most of it is stale; that is looked at now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Final, Generic, TypeVar

EntryT = TypeVar("EntryT")

STALE_MAX: Final = 1024
"""Stale deadlines tolerated beyond the number of living entries: after so many more entries the
heap is looked at, and rebuilt."""


class DeadlineTable(Generic[EntryT]):
    """Numbered entries, each with a deadline in seconds of the local clock."""

    __slots__ = ("_deadlines", "_entries", "_last_number", "get")

    def __init__(self) -> None:
        self._entries: dict[int, EntryT] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._last_number = 0
        self.get: Callable[[int], EntryT | None] = self._entries.get
        """The entry of that number, left in place; None when it was taken or has expired."""

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, deadline_s: float, entry: EntryT) -> int:
        """Keep `entry` until it is taken or `deadline_s` has passed; returns its number."""
        self._last_number = number = self._last_number + 1
        self._entries[number] = entry
        heappush(self._deadlines, (deadline_s, number))
        if not number % STALE_MAX:
            self._forget_stale()
        return number

    def put(self, number: int, entry: EntryT) -> None:
        """Keep another entry in place of a living one, by the same number and deadline."""
        if number in self._entries:
            self._entries[number] = entry

    def _forget_stale(self) -> None:
        entries, deadlines = self._entries, self._deadlines
        if len(deadlines) > 2 * len(entries):
            deadlines[:] = [due for due in deadlines if due[1] in entries]
            heapify(deadlines)

    def take(self, number: int) -> EntryT | None:
        """Remove and return the entry; None when it was taken or has expired."""
        return self._entries.pop(number, None)

    def items(self) -> list[tuple[int, EntryT]]:
        """The living entries in the order of their numbers."""
        return list(self._entries.items())

    def expire(self, now_s: float) -> list[EntryT]:
        """Remove and return the entries whose deadline is not after `now_s`, in deadline order."""
        expired = []
        while self._deadlines and self._deadlines[0][0] <= now_s:
            entry = self._entries.pop(heappop(self._deadlines)[1], None)
            if entry is not None:
                expired.append(entry)
        return expired

    def next_deadline_s(self) -> float | None:
        """The earliest deadline of a living entry; None when there is none."""
        entries, deadlines = self._entries, self._deadlines
        while deadlines and deadlines[0][1] not in entries:
            heappop(deadlines)
        return deadlines[0][0] if deadlines else None
