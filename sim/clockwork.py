"""SimPy's environment with timers that cost little.

Law of this file: the clock and the event queue are SimPy's own, and so is their order: by time, by
priority, then as they were set.  A simulated message is one timer, so timers are plain pairs of a
callback and its arguments in that queue; every other event (a SimPy process, a time-out of one) is
left to SimPy.  The queue and the clock are protected members of the class extended here.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Final

import simpy
from simpy.core import EmptySchedule

NORMAL: Final = 1
"""SimPy's priority of what is neither an interrupt nor the start of a process."""
TIMER_FIELDS: Final = 5
"""Of a timer in the queue; SimPy's own entries have an event in place of callback and arguments."""


class Clockwork(simpy.Environment):
    """A SimPy environment that also keeps bare timers."""

    def now_s(self) -> float:
        """Seconds of virtual time."""
        return self._now

    def set_timer(
        self, delay_s: float, callback: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        """Call `callback(*args)` after `delay_s` seconds of virtual time, not below 0."""
        queue: list[Any] = self._queue
        heappush(queue, (self._now + delay_s, NORMAL, next(self._eid), callback, args))

    def step(self) -> None:
        """Let the next event happen; raises `EmptySchedule` without one."""
        queue: list[Any] = self._queue
        if not queue:
            raise EmptySchedule
        if len(queue[0]) != TIMER_FIELDS:
            super().step()
            return
        self._now, _, _, callback, args = heappop(queue)
        callback(*args)
