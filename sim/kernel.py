"""The simulation kernel: virtual time by SimPy, turns by a first-in-first-out ready queue.

Law of this file: SimPy keeps the clock and the event queue, and only they move time; everything
that is ready at one instant runs in the order in which it became ready, before time moves.
Timers are never cancelled: late ones fire as no-ops.  Nothing here draws from a global source:
every stream of randomness is named and seeded from the run's seed.

    kernel = Kernel(seed=1)
    task = kernel.spawn(conversation())
    kernel.run_until(task)
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from chord import MeteorError
from meteor import wrong_values
from sim.clockwork import Clockwork
from sim.task import Grace, Pause, Task, Turn, Waiter
from sim.trace import Trace

ResultT = TypeVar("ResultT")

ORPHAN_GRACE_S: Final = 30.0
"""How long a conversation that ended with a `MeteorError` may wait for somebody to await it; longer
than any time-out of a call, so that "spawn several, then await each" is legal.  Other exceptions
are bugs and stop the run at once."""
SEED_BITS_MAX: Final = 4096
"""A longer seed could not be written into the names of its streams: Python has a limit, too."""


class Deadlock(Exception):
    """Nothing is scheduled any more and the awaited task has no outcome."""


class Kernel:
    """One simulated world: a clock, turns, seeded randomness and a trace.

    `environment` is the SimPy environment: workload and churn are written as ordinary SimPy
    processes there, protocol conversations as tasks.  Raises `TypeError` for a `seed` that is no
    whole number, `ValueError` for one of more than `SEED_BITS_MAX`."""

    def __init__(self, seed: int = 0, *, keep_trace: bool = False) -> None:
        self.seed = wrong_values.checked_whole("seed", seed)
        if self.seed.bit_length() > SEED_BITS_MAX:
            raise ValueError(f"seed: {wrong_values.said(seed)} has more than {SEED_BITS_MAX} bits")
        self.environment = Clockwork()
        self.trace = Trace(keep=keep_trace)
        self._ready: deque[Turn] = deque()
        self.take: Callable[[Turn], None] = self._ready.append
        """Takes a later turn of the present instant, first in first out."""
        self._look: Callable[[], None] | None = None

    def now(self) -> float:
        """Seconds of virtual time."""
        return self.environment.now_s()

    def random(self, name: str) -> random.Random:
        """A stream of its own for `name`: the same seed and name give the same draws, whatever
        the others drew and whatever the hash seed is."""
        return random.Random(f"{self.seed}/{name}")

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        """Run `callback(*args)` in a later turn of the present instant, first in first out."""
        self._ready.append((callback, args))

    def call_later(self, delay_s: float, callback: Callable[..., object], *args: Any) -> None:
        """Run `callback(*args)` after `delay_s` seconds of virtual time, none if it is negative."""
        self.environment.set_timer(max(0.0, delay_s), callback, args)

    def waiter(self) -> Waiter:
        """Something that a conversation can await and a callback can settle."""
        return Waiter()

    def sleep(self, delay_s: float) -> Pause:
        """What suspends the conversation that awaits it; it resumes in a later turn also when
        `delay_s` is 0."""
        return Pause(self.environment, delay_s)

    def spawn(
        self,
        conversation: Coroutine[Any, Any, ResultT],
        owned: dict[Task[Any], None] | None = None,
    ) -> Task[ResultT]:
        """Start a conversation; `owned` lists its owner's living tasks in spawn order."""
        return Task(self, conversation, owned)

    def run(self, until_s: float | None = None) -> None:
        """Run until nothing is scheduled, or until virtual time is `until_s`.

        Raises what a conversation raised that nobody awaits (`chord.runtime`, rule 5)."""
        if until_s is None:
            self._loop(lambda: False)
            return
        reached: list[None] = []
        self.call_later(until_s - self.now(), self.call_soon, reached.append, None)
        self._loop(lambda: bool(reached))

    def run_until(self, task: Task[ResultT]) -> ResultT:
        """Run until the task is done and return its value or raise its error.

        Raises `Deadlock` if nothing is scheduled any more before it is done."""
        task.witnessed = True
        if task.grace is not None:
            task.grace.over = True
        self._loop(task.done)
        if not task.done():
            raise Deadlock(f"nothing is scheduled after {self.now()} s, and the task still waits")
        outcome: ResultT = task.result()
        return outcome

    def orphaned(
        self,
        task: Task[Any],
        error: BaseException,
        failed: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Tell `failed`, by default `fail`, of a failure that nobody awaits: at once for a bug or
        when nobody holds the handle any more, after a grace for a `MeteorError` that may still be
        awaited."""
        if task.witnessed:
            return
        if failed is None:
            failed = self.fail
        if not isinstance(error, MeteorError):
            failed(error)
        elif not task.awaited:
            task.grace = Grace(task, error, failed)
            self.call_later(ORPHAN_GRACE_S, task.grace.end)

    def watch(self, look: Callable[[], None]) -> None:
        """Call `look` whenever everything of an instant has happened, before time moves on; from
        the next `run` on."""
        self._look = look

    def fail(self, error: BaseException) -> None:
        """Stop the run: raise `error` from it in the next turn."""
        self._ready.appendleft((_raise, (error,)))

    def _loop(self, finished: Callable[[], bool]) -> None:
        self.environment.drive(self._ready, finished, self._look)


def _raise(error: BaseException) -> None:
    raise error
