"""The long waits of all peers of one event loop, which end together.

Law of this file: who waits for long may wait `TOGETHER_S` longer, and never less.  Sixty-four peers
that look round a few times a second each are a thousand timers: an event loop that wakes for every
one, and keeps them sorted by a comparison in Python, spends a tenth of a processor on nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import ceil
from operator import itemgetter
from typing import Final
from weakref import WeakValueDictionary

TOGETHER_S: Final = 1 / 64
"""How far apart the moments are in which waits end."""
LONG_S: Final = 0.25
"""What is shorter ends by a timer of its own, to the millisecond."""

_first: Final = itemgetter(0)


class LoopTimers:
    """What is to be called in one event loop, moment by moment."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due: dict[int, dict[object, tuple[float, Callable[[], object]]]] = {}
        """By the number of the moment: what is called then, and when it was due."""
        self._alarms: dict[int, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        """How much is to be called."""
        return sum(map(len, self._due.values()))

    def call_at(self, due_s: float, callback: Callable[[], object]) -> float:
        """Call it at that time of the loop's clock, or a little later; returns when."""
        return self._put(due_s, callback, object())

    def _put(self, due_s: float, callback: Callable[[], object], name: object) -> float:
        number = ceil(due_s / TOGETHER_S)
        moment_s = number * TOGETHER_S
        together = self._due.get(number)
        if together is None:
            together = self._due[number] = {}
            self._alarms[number] = self._loop.call_at(moment_s, self._call, number)
        together[name] = due_s, callback
        return moment_s

    def _forget(self, due_s: float, name: object) -> None:
        number = ceil(due_s / TOGETHER_S)
        together = self._due.get(number)
        if together is not None:
            together.pop(name, None)
            if not together:
                del self._due[number]
                self._alarms.pop(number).cancel()

    def _call(self, number: int) -> None:
        """All of one moment, in the order in which they were due."""
        del self._alarms[number]
        for _, callback in sorted(self._due.pop(number).values(), key=_first):
            callback()

    async def sleep_until(self, due_s: float) -> float:
        """Wait as long; returns when it was to end."""
        ended: asyncio.Future[None] = self._loop.create_future()

        def end() -> None:
            if not ended.done():  # nobody waits any more: cancelled
                ended.set_result(None)

        moment_s = self._put(due_s, end, ended)
        try:
            await ended
        except asyncio.CancelledError:
            self._forget(due_s, ended)
            raise
        return moment_s


_OF_LOOPS: Final[WeakValueDictionary[int, LoopTimers]] = WeakValueDictionary()
"""By the identity of a loop, which its timers keep alive, as long as a peer keeps these."""


def timers_of(loop: asyncio.AbstractEventLoop) -> LoopTimers:
    """Those that all peers of a loop share."""
    timers = _OF_LOOPS.get(id(loop))
    if timers is None:
        timers = _OF_LOOPS[id(loop)] = LoopTimers(loop)
    return timers
