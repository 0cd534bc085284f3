"""The turns of one process: handed to the kernel, or kept while the process is held.

Law of this file: nothing is lost or re-ordered by a pause, and one that is not held costs nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sim.kernel import Kernel
    from sim.task import Task, Turn

LATELY_S: Final = 1.0
"""For how long a process that was held counts as late, as in `meteor.links.asyncio_runtime`."""


class PausableTurns:
    """The later turns of one process (`sim.task.Turns`)."""

    __slots__ = ("_failed", "_kept", "_kernel", "take")

    def __init__(self, kernel: Kernel, failed: Callable[[BaseException], None]) -> None:
        self._kernel, self._failed = kernel, failed
        self._kept: deque[Turn] = deque()
        self.take: Callable[[Turn], None] = kernel.take
        """Takes a later turn; the kernel's own unless the process is held."""

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        """Run `callback(*args)` in a later turn."""
        self.take((callback, args))

    def pause(self) -> None:
        """Keep every turn from now on."""
        self.take = self._kept.append

    def resume(self) -> None:
        """Hand on what was kept, in order; harmless when nothing is held."""
        self.take = self._kernel.take
        while self._kept:
            self.take(self._kept.popleft())

    def orphaned(self, task: Task[Any], error: BaseException) -> None:
        """Hear of a task that failed while nobody awaited it."""
        self._kernel.orphaned(task, error, self._failed)
