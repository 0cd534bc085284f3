"""The clock by which what is kept runs out: one that nobody sets.

Law of this file: arithmetic over two clocks, and over what lay on its way.  In memory an expiry is
in Unix time as the wall clock had it when this peer was made, and goes on by a steady clock: were
the wall clock set on by an hour meanwhile, all that lives for an hour would be over for whoever
asks the shelf, and alive in the store.  The journal has the wall clock's own time: what is read
back after a restart was written by no clock that is still there (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from chord import replace
from meteor.wire.operations import Carried

SET_S: Final = 1.0
"""By less no clock is set: what is less is time between two readings."""

HELD_S: Final = 1.0
"""Was a process held for longer than this, a write may have lain before it as long, and what is
kept would live so much too long ..."""
OVERTIMES: Final = 100
"""... which is refused where so many times it is more than its time: as much as clocks may differ.
Whoever was silent for less was evicted, or is asked again."""


def overlives(ttl_ms: int, late_s: float) -> bool:
    """Whether what is to live for `ttl_ms` milliseconds (0: it is not kept) would live too long,
    were it taken in by a process that was held for `late_s` seconds just now: the time to live
    counts from when a write is read, and it may have come when the process was stopped."""
    return late_s > HELD_S and 0 < ttl_ms < OVERTIMES * _whole_ms(late_s)


def is_over(ttl_ms: int, late_s: float) -> bool:
    """Whether what was to live for so long has no time left after `late_s` seconds, however few
    they are.  What has none as it is sent is not over: it is a question, or runs out there."""
    return 0 < ttl_ms <= _whole_ms(late_s)


def left_ms(ttl_ms: int, late_s: float) -> int | None:
    """What is left of a time to live of what lay on its way for `late_s` seconds; None where it is
    over.  All of it where that is no more than clocks may differ by (`overlives`), and 0 of 0
    alone: a time that was shortened to none would be another request."""
    if not overlives(ttl_ms, late_s):
        return ttl_ms
    return None if is_over(ttl_ms, late_s) else ttl_ms - _whole_ms(late_s)


def _whole_ms(late_s: float) -> int:
    """Rounded down, once for all comparisons: what has a part of a millisecond left is not over."""
    return int(late_s * 1000)


class ExpiryClock:
    """Unix time for the shelf of one peer, and for its journal."""

    def __init__(self, steady: Callable[[], float], wall_clock: Callable[[], float]) -> None:
        self._steady, self._wall_clock = steady, wall_clock
        self._ahead_s = wall_clock() - steady()

    def now_s(self) -> float:
        """Seconds of Unix time, as if the wall clock had not been set since."""
        return self._steady() + self._ahead_s

    def wall_s(self) -> float:
        """Seconds of the wall clock, as it is."""
        return self._wall_clock()

    def as_written(self, carried: Sequence[Carried]) -> Sequence[Carried]:
        """Records in the journal's form: with their expiry by the wall clock as it is."""
        set_by_s = self._wall_clock() - self.now_s()
        if abs(set_by_s) < SET_S:
            return carried
        set_by_ms = round(set_by_s * 1000)
        return [replace(one, ttl_ms=max(0, one.ttl_ms + set_by_ms)) for one in carried]
