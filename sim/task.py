"""Conversations in virtual time: what they wait for, and how they are stepped and cancelled.

Law of this file: a resolved wait resumes in a later turn, in the order of resolving, never inside
the resolver's own call; the first outcome wins.  A cancelled task is never stepped again, also
when it was ready; a task that cancels itself ends at its next wait.  Outcomes are carried as
values and raised inside the awaiter, because SimPy rebuilds exceptions from their arguments and a
failed event that nobody awaits would stop its environment (`chord.runtime`, rules 2 to 5).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, Generic, Protocol, TypeVar

from meteor import wrong_values

ResultT = TypeVar("ResultT")

Turn = tuple[Callable[..., object], tuple[Any, ...]]
"""A callback and its arguments."""

_UNSETTLED: Final = object()


class Cancelled(BaseException):
    """Raised in whoever awaits a cancelled task; protocol code never catches it."""


class Turns(Protocol):
    """What tasks need of the kernel: later turns, and somebody to tell of orphaned failures."""

    @property
    def take(self) -> Callable[[Turn], None]:
        """Takes a later turn of the present instant, first in first out."""

    def orphaned(self, task: Task[Any], error: BaseException) -> None:
        """Hear of a task that failed while nobody awaited it."""


class Waiter:
    """Something to wait for: settled once, awaited by any number of tasks."""

    __slots__ = ("__weakref__", "_error", "_tasks", "_value", "awaited")

    def __init__(self) -> None:
        self._tasks: list[Task[Any]] | None = None
        self._value: Any = _UNSETTLED
        self._error: BaseException | None = None
        self.awaited = False
        """Whether anybody ever awaited it."""

    def done(self) -> bool:
        """Whether it has an outcome."""
        return self._value is not _UNSETTLED

    @property
    def abandoned(self) -> bool:
        """Whether somebody awaited it once and nobody does now, before it had an outcome."""
        return self.awaited and not self._tasks and not self.done()

    def result(self) -> Any:
        """The outcome of a settled wait: the value, or raises the error."""
        if self._error is not None:
            raise self._error
        return self._value

    def resolve(self, value: object) -> None:
        """Give the value to all who wait; too late is harmless."""
        if self._value is _UNSETTLED:
            self._value = value
            tasks, self._tasks = self._tasks, None
            if tasks is not None:
                for task in tasks:
                    task.wake()

    def fail(self, error: BaseException) -> None:
        """Raise `error` in all who wait; too late is harmless."""
        if self._value is _UNSETTLED:
            self._settle(None, error)

    def _settle(self, value: object, error: BaseException | None) -> None:
        self._value, self._error = value, error
        tasks, self._tasks = self._tasks, None
        if tasks is not None:
            for task in tasks:
                task.wake()

    def hold(self, task: Task[Any]) -> None:
        """Wake `task` with the outcome."""
        if self._tasks is None:
            self._tasks = [task]
        else:
            self._tasks.append(task)

    def release(self, task: Task[Any]) -> None:
        """Forget a cancelled awaiter; the others stay."""
        if self._tasks is not None and task in self._tasks:
            self._tasks.remove(task)

    def __await__(self) -> Generator[Waiter, None, Any]:
        self.awaited = True
        if self._value is _UNSETTLED:
            yield self
        if self._error is not None:
            raise self._error
        return self._value


class Timers(Protocol):
    """What keeps bare timers."""

    def set_timer(
        self, delay_s: float, callback: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        """Call `callback(*args)` after `delay_s` seconds of virtual time, not below 0."""


class Pause:
    """A wait for time alone, of whoever awaits it; its timer is set then."""

    __slots__ = ("_delay_s", "_timers")
    _value: Final = _UNSETTLED
    """As a waiter's that has no outcome: it never has one."""

    def __init__(self, timers: Timers, delay_s: float) -> None:
        self._timers, self._delay_s = timers, delay_s

    def hold(self, task: Task[Any]) -> None:
        """Wake `task` when the time is over."""
        delay_s = self._delay_s
        self._timers.set_timer(delay_s if delay_s > 0 else 0.0, task.rung, (self,))

    def release(self, task: Task[Any]) -> None:
        """Nothing to forget: its timer finds that the task waits for something else."""

    def __await__(self) -> Generator[Any, Any, None]:
        return iter((self,))  # type: ignore[return-value]  # a generator would be kept meanwhile


class Task(Waiter, Generic[ResultT]):
    """A spawned conversation; what it returns or raises is the outcome of the wait that it is."""

    __slots__ = (
        "_cancelling",
        "_conversation",
        "_owned",
        "_turns",
        "_waits_for",
        "concluded",
        "grace",
        "witnessed",
    )

    def __init__(
        self,
        turns: Turns,
        conversation: Coroutine[Any, Any, ResultT],
        owned: dict[Task[Any], None] | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        super().__init__()
        self._turns = turns
        self._conversation = conversation
        self._owned = owned
        self._waits_for: Waiter | Pause | None = None
        self._cancelling: object = False  # no bool: each step may set it
        self.concluded: Callable[[Any, BaseException | None], None] | None = None
        """Called with the value or the error in the task's last turn."""
        self.grace: Grace | None = None
        """Set by the kernel when the task failed and nobody awaited it."""
        self.witnessed = False
        """Whether somebody outside the simulation reads the outcome."""
        if owned is not None:
            owned[self] = None
        if at_once:
            self._step()
        else:
            turns.take((self._step, ()))

    def __await__(self) -> Generator[Waiter, None, ResultT]:
        if self.grace is not None:
            self.grace.over = True
        self.awaited = True
        if self._value is _UNSETTLED:
            yield self
        if self._error is not None:
            raise self._error
        outcome: ResultT = self._value
        return outcome

    def cancel(self) -> None:
        """End it at its present wait, in a later turn; harmless when it is done."""
        if self.done() or self._cancelling:
            return
        self._cancelling = True
        if self._waits_for is not None:
            self._waits_for.release(self)
            self.wake()

    def wake(self) -> None:
        """Step it in a later turn; only what it waits for calls this."""
        self._waits_for = None
        take = self._turns.take
        take((self._step, ()))

    def rung(self, pause: Pause) -> None:
        """The time of `pause` is over: step it, unless it was cancelled meanwhile."""
        if self._waits_for is pause:
            self._waits_for = None
            take = self._turns.take
            take((self._step, ()))

    def _step(self) -> None:
        if self._cancelling:
            self._end()
            return
        try:
            waiter = self._conversation.send(None)
            try:
                value = waiter._value
            except AttributeError:  # an `isinstance` would cost every step something
                waiter = self._put_right(waiter)
                value = waiter._value
        except StopIteration as stop:
            if self._cancelling:
                self._finish(None, Cancelled())
            else:
                self._finish(stop.value, None)
        except (Exception, Cancelled) as error:
            self._finish(None, _without_frame(error))
            # Since Python 3.13 the frames in the error's traceback lead back to this one.
            del self
        else:
            if self._cancelling:  # by itself, in the step just made
                self._end()
            elif value is not _UNSETTLED:
                self.wake()
            else:
                self._waits_for = waiter
                waiter.hold(self)

    def _put_right(self, awaited: object) -> Waiter | Pause:
        """What the conversation awaits once it was told that nothing settles what it awaited; it
        may as well end, as any does."""
        while not isinstance(awaited, Waiter | Pause):
            error = TypeError(
                f"a conversation in virtual time awaited {wrong_values.said(awaited)}, which "
                "nothing settles here: await kernel.sleep(seconds), or kernel.spawn(...) for what "
                "goes on beside it, and nothing of asyncio's"
            )
            error.__suppress_context__ = True  # how that was found says nothing to anybody
            awaited = self._conversation.throw(error)
        return awaited

    def _end(self) -> None:
        """Close the conversation at its wait: only its `finally` blocks run, and may not wait."""
        try:
            self._conversation.close()
        except Exception as error:
            self._finish(None, _without_frame(error))
        else:
            self._finish(None, Cancelled())

    def _finish(self, value: object, error: BaseException | None) -> None:
        if self._owned is not None:
            self._owned.pop(self, None)
        orphan = error is not None and not self._tasks and self.concluded is None
        self._settle(value, error)
        if self.concluded is not None:
            self.concluded(value, error)
        elif orphan and error is not None and not isinstance(error, Cancelled):
            self._turns.orphaned(self, error)


class Grace:
    """The time in which a failed task may still be awaited: it ends with the task's handle."""

    def __init__(
        self, task: Task[Any], error: BaseException, failed: Callable[[BaseException], None]
    ) -> None:
        self._handle = weakref.ref(task, lambda _: self.end())
        self._error = error
        self._failed = failed
        self.over = False

    def end(self) -> None:
        """Nobody awaited the failure."""
        if not self.over:
            self.over = True
            self._failed(self._error)


def _without_frame(error: BaseException) -> BaseException:
    """Drop our own frame from the traceback: it would keep the task alive and hide that its
    handle was dropped."""
    trace = error.__traceback__
    return error.with_traceback(trace.tb_next if trace is not None else None)
