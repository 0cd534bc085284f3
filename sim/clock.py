"""Clocks of simulated machines: each may run fast or slow, and its wall clock may be off.

Law of this file: pure arithmetic over the kernel's time; a clock is bent once, when its machine is
made, and keeps its rate and its error for good, over crashes and restarts.  Durations that a peer
waits for pass by its own clock; what the network and the disk take passes by the kernel's.

    plan = ClockPlan(drift_max=0.01, wall_error_s_max=3600.0)
    clock = plan.clock_of(kernel, "10.0.0.1:7400")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nextafter
from typing import Final

from meteor import wrong_values
from sim.kernel import Kernel

EPOCH_S: Final = 1_700_000_000.0
"""The wall clock's reading when a simulation starts: journals keep wall-clock expiry."""
DRIFT_LIMIT: Final = 0.5
"""No clock runs half as fast again, or slower by as much: such a machine is broken, not late."""


class MachineClock:
    """One machine's monotonic clock and its wall clock.

    `drift` is how much faster than true time both run (0.01: a hundredth fast, negative: slow),
    `wall_error_s` by how much the wall clock is ahead at the start.  Raises `ValueError` for a
    drift beyond `DRIFT_LIMIT`."""

    __slots__ = ("_kernel", "drift", "rate", "wall_error_s")

    def __init__(self, kernel: Kernel, *, drift: float = 0.0, wall_error_s: float = 0.0) -> None:
        if not abs(drift) <= DRIFT_LIMIT:
            raise ValueError(f"drift is a share of at most {DRIFT_LIMIT} either way, not {drift}")
        self._kernel = kernel
        self.drift, self.wall_error_s = drift, wall_error_s
        self.rate = 1.0 + drift
        """Seconds of this clock a true second: a duration by it lasts so many times less."""

    @property
    def reader(self) -> Callable[[], float]:
        """What reads the monotonic clock; an exact one's is the kernel's, as it is read often."""
        return self.now if self.drift else self._kernel.environment.now_s

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return self._kernel.now() * self.rate

    def wall(self) -> float:
        """Unix seconds, as this machine believes."""
        return EPOCH_S + self.wall_error_s + self.now()

    def true_time_of(self, reading_s: float) -> float:
        """When, by the kernel's time, the monotonic clock shows at least that.

        Rounded down it would show a hair less, and whoever then waits for the rest of the time
        would wait for nothing for ever: virtual time stands still while turns are taken."""
        true_s = reading_s / self.rate
        while true_s * self.rate < reading_s:
            true_s = nextafter(true_s, inf)
        return true_s

    def reading_at(self, true_s: float) -> float:
        """What the monotonic clock shows at that time of the kernel."""
        return true_s * self.rate


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockPlan:
    """How wrong the clocks of a run are; exact by default.

    Raises `TypeError` and `ValueError` for what is no such number, with the field's name."""

    drift_max: float = 0.0
    """Each clock's rate is drawn evenly from 1 less this to 1 more; 100 ppm is 0.0001."""
    wall_error_s_max: float = 0.0
    """Each wall clock is ahead or behind by up to this at the start."""

    def __post_init__(self) -> None:
        wrong_values.check_numbers(self, {"drift_max", "wall_error_s_max"})
        if self.drift_max > DRIFT_LIMIT:
            raise ValueError(f"drift_max is a share from 0 to {DRIFT_LIMIT}, not {self.drift_max}")

    def clock_of(self, kernel: Kernel, machine: str) -> MachineClock:
        """The clock of the machine of that name: one run and name, one clock."""
        if not self.drift_max and not self.wall_error_s_max:
            return MachineClock(kernel)
        stream = kernel.random(f"clock of {machine}")
        return MachineClock(
            kernel,
            drift=stream.uniform(-self.drift_max, self.drift_max),
            wall_error_s=stream.uniform(-self.wall_error_s_max, self.wall_error_s_max),
        )
