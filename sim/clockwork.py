"""SimPy's environment with timers that cost little.

Law of this file: the clock and the event queue are SimPy's own, and so is their order: by time, by
priority, then as they were set.  A simulated message is one timer, so timers are plain pairs of a
callback and its arguments in that queue; every other event (a SimPy process, a time-out of one) is
left to SimPy.  Deadlines that are seldom reached are not even timers until they are near.  The
queue and the clock are protected members of the class extended here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from typing import Any, Final

import simpy
from simpy.core import EmptySchedule

from sim.task import Turn

URGENT: Final = 0
"""SimPy's priority of what comes before everything else of its instant."""
NORMAL: Final = 1
"""SimPy's priority of what is neither an interrupt nor the start of a process."""
TIMER_FIELDS: Final = 5
"""Of a timer in the queue; SimPy's own entries have an event in place of callback and arguments."""
FRAME_FIELDS: Final = 9
"""Of a frame on its way, as `sim.network` makes it: its callback is given the whole, as packing and
unpacking arguments for every message takes longer."""
SPAN_S: Final = 1 / 32
"""Timers are kept by spans of so many seconds until theirs begins: a heap of all that wait would
be walked through memory that has not been looked at for long ..."""
FAR_S: Final = 64.0
"""... but for those that are farther away than this."""

Deadline = tuple[float, Callable[[float], object], float, Callable[[float], bool]]
"""When, what is called then, with what, and whether that is wanted still."""


class Clockwork(simpy.Environment):
    """A SimPy environment that also keeps bare timers."""

    def __init__(self) -> None:
        super().__init__(initial_time=0.0)
        self._spans: dict[int, list[Any]] = {}
        self.number: Callable[[], int] = self._eid.__next__
        """Numbers timers, and all else that SimPy has to do, as they are set."""
        self.push: Callable[[Any], None] = partial(heappush, self._queue)
        """Takes a timer, or a frame, that is due before long."""

    def now_s(self) -> float:
        """Seconds of virtual time."""
        return self._now

    def set_timer(
        self, delay_s: float, callback: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        """Call `callback(*args)` after `delay_s` seconds of virtual time, not below 0."""
        self.set_timer_at(self._now + delay_s, callback, args)

    def set_timer_at(
        self, when_s: float, callback: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        """Call `callback(*args)` at that virtual time, not before now."""
        timer = (when_s, NORMAL, self.number(), callback, args)
        if SPAN_S <= when_s - self._now < FAR_S:
            self._put_by(when_s, timer)
        else:
            self.push(timer)

    def set_deadline(
        self,
        when_s: float,
        callback: Callable[[float], object],
        argument: float,
        is_wanted: Callable[[float], bool],
    ) -> None:
        """Call `callback(argument)` at that virtual time, or now if it is over, if
        `is_wanted(argument)` shortly before.

        Almost every call is answered long before its time is up: a timer for each, which fires for
        nothing, would be a quarter of all events."""
        ahead_s = when_s - self._now
        if SPAN_S <= ahead_s < FAR_S:
            self._put_by(when_s, (when_s, callback, argument, is_wanted))
        else:
            self.set_timer_at(max(when_s, self._now), callback, (argument,))

    def _put_by(self, when_s: float, timer: Any) -> None:
        """Keep a timer until its span begins, which is later than now."""
        span = int(when_s / SPAN_S)
        waiting = self._spans.get(span)
        if waiting is not None:
            waiting.append(timer)
            return
        self._spans[span] = [timer]
        begins: Any = (span * SPAN_S, URGENT, next(self._eid), self._begin, (span,))
        heappush(self._queue, begins)

    def _begin(self, span: int) -> None:
        """A span begins: its timers go into the queue, its deadlines if they are wanted."""
        queue: list[Any] = self._queue
        for timer in self._spans.pop(span):
            if len(timer) == TIMER_FIELDS:
                heappush(queue, timer)
            else:
                when_s, callback, argument, is_wanted = timer
                if is_wanted(argument):
                    self.set_timer_at(when_s, callback, (argument,))

    def drive(
        self,
        ready: deque[Turn],
        finished: Callable[[], bool],
        look: Callable[[], None] | None = None,
    ) -> None:
        """Let the turns that are ready and, when there is none, the next event happen, until
        `finished`, which only turns can bring about, or until nothing is scheduled.

        `look` is called whenever everything of an instant has happened."""
        queue: list[Any] = self._queue
        next_turn, is_over = ready.popleft, finished()
        while True:
            if ready:
                while ready:
                    callback, args = next_turn()
                    callback(*args)
                is_over = finished()
            if look is not None:
                look()
            if is_over or not queue:
                return
            fields = len(queue[0])
            if fields == FRAME_FIELDS:
                frame = heappop(queue)
                self._now, callback = frame[0], frame[3]
                callback(frame)
            elif fields == TIMER_FIELDS:
                self._now, _, _, callback, args = heappop(queue)
                callback(*args)
            else:
                super().step()

    def step(self) -> None:
        """Let the next event happen; raises `EmptySchedule` without one."""
        queue: list[Any] = self._queue
        if not queue:
            raise EmptySchedule
        fields = len(queue[0])
        if fields == TIMER_FIELDS:
            self._now, _, _, callback, args = heappop(queue)
            callback(*args)
        elif fields == FRAME_FIELDS:
            frame = heappop(queue)
            self._now, callback = frame[0], frame[3]
            callback(frame)
        else:
            super().step()
