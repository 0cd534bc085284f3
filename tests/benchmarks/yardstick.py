"""What plain Python is worth here and now: a figure to hold others against.

Law of this file: nothing of Meteor's.  Most of what Meteor does is calls of small Python functions,
and how long these take differs between machines, between moments on a shared one, and between
builds of one Python version: on one machine Debian's 3.11.2 took 6.4 ms for what a 3.11.7 compiled
without `--enable-optimizations`, pyenv's default, took 8.3 for.  `python -m
tests.benchmarks.yardstick` prints it.
"""

from __future__ import annotations

import platform
import time
from statistics import median
from typing import Final

STEPS: Final = 30_000
ROUNDS: Final = 5


class _Counter:
    """Calls, lookups and small tuples, in the mixture of a peer's own code."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], int] = {}
        self._taken = 0

    def _look_up(self, key: tuple[int, str]) -> int | None:
        return self._known.get(key)

    def take(self, number: int) -> int:
        """One step."""
        key = (number & 255, "step")
        if self._look_up(key) is None:
            self._known[key] = number
        self._taken += 1
        return max(number, self._taken)


def python_ms() -> float:
    """What `STEPS` steps take, at the median of `ROUNDS`."""
    durations_s = []
    for _ in range(ROUNDS):
        counter = _Counter()
        began_s = time.perf_counter()
        for number in range(STEPS):
            counter.take(number)
        durations_s.append(time.perf_counter() - began_s)
    return 1000 * median(durations_s)


if __name__ == "__main__":
    print(f"Python {platform.python_version()}: {python_ms():.2f} ms")
