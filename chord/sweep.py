"""When a peer looks at its deadlines: one timer for all of them.

Law of this file: the timer is the world's, and so is the clock; here is kept for when it was asked.
A look that comes late does not give anything up at once: what came in meanwhile has not been read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from chord.deadline_table import DeadlineTable

EntryT = TypeVar("EntryT")

LATE_S: Final = 0.010
"""A look that comes later than this is repeated, after as long as it was late, before anything is
given up: what came in meanwhile has not been read yet."""
LATE_S_MAX: Final = 0.250
"""No longer than this."""
EARLY_S: Final = 1e-6
"""Timers may fire this much early: virtual time is rounded, and so are event loops."""


class Sweep(Generic[EntryT]):
    """The deadlines of one peer, and when it looks at them next."""

    __slots__ = ("_looks_again", "_sweep_at", "_table", "_when_s")

    def __init__(self, table: DeadlineTable[EntryT], sweep_at: Callable[[float], None]) -> None:
        self._table, self._sweep_at = table, sweep_at
        self._when_s = float("inf")
        self._looks_again = False

    def add(self, deadline_s: float, entry: EntryT) -> int:
        """Keep an entry of the table until its deadline; returns its number."""
        number = self._table.add(deadline_s, entry)
        if deadline_s < self._when_s:
            self._when_s = deadline_s
            self._sweep_at(deadline_s)
        return number

    def is_due(self, when_s: float) -> bool:
        """Whether something waits for the look that was asked for at `when_s`; if not, it is
        called off."""
        next_s = self._table.next_deadline_s()
        if next_s is not None and next_s <= when_s:
            return True
        if self._when_s == when_s and not self._looks_again:
            self._when_s = float("inf") if next_s is None else next_s
            if next_s is not None:
                self._sweep_at(next_s)
        return self._looks_again

    def look(self, now_s: float, give_up: Callable[[EntryT, float], None]) -> None:
        """Give up what its deadline has passed for, and ask for the next look."""
        if now_s < self._when_s - EARLY_S:
            return  # the timer of an earlier deadline that was settled, or of a later one
        now_s = max(now_s, self._when_s)
        late_s = now_s - self._when_s
        if late_s > LATE_S and not self._looks_again:
            self._looks_again = True
            self._when_s = now_s + min(late_s, LATE_S_MAX)
            self._sweep_at(self._when_s)
            return
        self._looks_again, self._when_s = False, float("inf")
        for entry in self._table.expire(now_s):
            give_up(entry, now_s)
        next_s = self._table.next_deadline_s()
        if next_s is not None and next_s < self._when_s:
            self._when_s = next_s
            self._sweep_at(next_s)
