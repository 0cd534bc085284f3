"""Entries that must be settled by a deadline, under one timer for all of them.

Law of this file: pure; `now` is an argument.  An entry's number is never used again, so it also
names a call on the wire.  Settled entries leave their deadline behind in the heap; it is skipped
when it comes up, and the heap is rebuilt when most of it is stale.
"""

from __future__ import annotations

import heapq
from typing import Final, Generic, TypeVar

EntryT = TypeVar("EntryT")

STALE_MAX: Final = 1024
"""Stale deadlines tolerated beyond the number of living entries, before the heap is rebuilt."""


class DeadlineTable(Generic[EntryT]):
    """Numbered entries, each with a deadline in seconds of the local clock."""

    __slots__ = ("_deadlines", "_entries", "_last_number")

    def __init__(self) -> None:
        self._entries: dict[int, tuple[float, EntryT]] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._last_number = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, deadline_s: float, entry: EntryT) -> int:
        """Keep `entry` until it is taken or `deadline_s` has passed; returns its number."""
        self._last_number = number = self._last_number + 1
        self._entries[number] = (deadline_s, entry)
        heapq.heappush(self._deadlines, (deadline_s, number))
        if len(self._deadlines) > 2 * len(self._entries) + STALE_MAX:
            self._deadlines = [(due_s, kept) for kept, (due_s, _) in self._entries.items()]
            heapq.heapify(self._deadlines)
        return number

    def get(self, number: int) -> EntryT | None:
        """The entry of that number, left in place; None when it was taken or has expired."""
        found = self._entries.get(number)
        return found[1] if found is not None else None

    def take(self, number: int) -> EntryT | None:
        """Remove and return the entry; None when it was taken or has expired."""
        found = self._entries.pop(number, None)
        return found[1] if found is not None else None

    def items(self) -> list[tuple[int, EntryT]]:
        """The living entries in the order of their numbers."""
        return [(number, entry) for number, (_, entry) in self._entries.items()]

    def expire(self, now_s: float) -> list[EntryT]:
        """Remove and return the entries whose deadline is not after `now_s`, in deadline order."""
        expired = []
        while self._deadlines and self._deadlines[0][0] <= now_s:
            _, number = heapq.heappop(self._deadlines)
            found = self._entries.pop(number, None)
            if found is not None:
                expired.append(found[1])
        return expired

    def next_deadline_s(self) -> float | None:
        """The earliest deadline of a living entry; None when there is none."""
        while self._deadlines and self._deadlines[0][1] not in self._entries:
            heapq.heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None
