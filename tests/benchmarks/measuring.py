"""How benchmarks time and print: one JSON line a figure, with what the machine was worth beside it.

Law of this file: nothing is asserted about time.  The machines are shared, so figures that are to
be compared are taken in turns, in one run; the load average and the yardstick of plain Python,
`python_ms`, say what those of two runs are worth beside one another.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from statistics import median

from tests.benchmarks.yardstick import python_ms

Request = Callable[[int], Awaitable[object]]
"""Does what is measured, for the given item."""


def report(name: str, **figures: object) -> None:
    """Print one figure; numbers are rounded."""
    rounded = {
        key: round(value, 4) if isinstance(value, float) else value
        for key, value in figures.items()
    }
    load = round(os.getloadavg()[0], 1)
    of_machine = {"load": load, "python_ms": round(python_ms(), 2)}
    print(json.dumps({"benchmark": name, **rounded, **of_machine}, default=repr), flush=True)


def spread_ms(durations_s: Iterable[float]) -> dict[str, float]:
    """Median, 99th percentile and worst of some durations, in milliseconds."""
    ordered = sorted(durations_s)
    return {
        "p50_ms": 1000 * median(ordered),
        "p99_ms": 1000 * ordered[len(ordered) * 99 // 100],
        "max_ms": 1000 * ordered[-1],
    }


async def one_by_one(request: Request, items: Iterable[int]) -> list[float]:
    """The durations of requests of which one is in flight, in seconds."""
    durations_s = []
    for item in items:
        began_s = time.perf_counter()
        await request(item)
        durations_s.append(time.perf_counter() - began_s)
    return durations_s


async def in_flight(
    request: Request, items: Iterable[int], together: int = 16
) -> tuple[list[float], float]:
    """Requests of which so many are in flight: their durations, and requests a second."""
    waiting = iter(items)
    durations_s: list[float] = []

    async def ask() -> None:
        durations_s.extend(await one_by_one(request, waiting))

    began_s = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(together)))
    return durations_s, len(durations_s) / (time.perf_counter() - began_s)
