"""Notifications that one client receives a second over a socket: by callback, by asynchronous
callback, by iterator and by the blocking iterator, in turns, in one run.

A scripted peer in another process sends them (`notice_flood`), 64 bytes of payload each.  A figure
is the median of the turns: by the wall clock, and by this process's CPU time alone, which other
work on the machine does not spoil.  The blocking iterator has the loop of `meteor.sync`, which is
uvloop where that is installed; the others have asyncio's, and then uvloop.  JSON lines; nothing is
asserted about time (issue 6: the iterator at least 0.8 x the callback, 50,000 a second).
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import meteor
from meteor.links.asyncio_loop import LoopFactory, fastest_loop
from tests.benchmarks.measuring import report

COUNT = int(os.environ.get("CLIENT_NOTICES", "20000"))
TURNS = 9
ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.benchmark


@contextmanager
def flooding() -> Iterator[str]:
    """The address of a peer that floods every interest."""
    command = [sys.executable, "-m", "tests.benchmarks.notice_flood", str(COUNT)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        assert process.stdin is not None
        process.stdin.close()


class Clock:
    """From the post to the last notification."""

    def __init__(self) -> None:
        self._wall_s, self._cpu_s = time.perf_counter(), time.process_time()

    def rates(self) -> tuple[float, float]:
        wall_s, cpu_s = time.perf_counter() - self._wall_s, time.process_time() - self._cpu_s
        return COUNT / wall_s, COUNT / cpu_s


async def by_callback(client: meteor.Client) -> tuple[float, float]:
    done, came = asyncio.Event(), 0

    def handler(_: meteor.Notification) -> None:
        nonlocal came
        came += 1
        if came == COUNT:
            done.set()

    clock = Clock()
    async with client.notify_data("type=t", handler=handler):
        await done.wait()
        return clock.rates()


async def by_async_callback(client: meteor.Client) -> tuple[float, float]:
    done, came = asyncio.Event(), 0

    async def handler(_: meteor.Notification) -> None:
        nonlocal came
        came += 1
        if came == COUNT:
            done.set()

    clock = Clock()
    async with client.notify_data("type=t", handler=handler, queue=COUNT):
        await done.wait()
        return clock.rates()


async def by_iterator(client: meteor.Client) -> tuple[float, float]:
    came, clock = 0, Clock()
    async with client.notify_data("type=t", queue=COUNT) as interest:
        async for _ in interest:
            came += 1
            if came == COUNT:
                break
        return clock.rates()


def by_blocking_iterator(address: str) -> tuple[float, float]:
    with meteor.sync.connect(address) as client:
        clock = Clock()
        for came, _ in enumerate(client.notify_data("type=t", queue=COUNT), 1):
            if came == COUNT:
                break
        return clock.rates()


def run(
    way: Callable[[meteor.Client], Coroutine[Any, Any, tuple[float, float]]],
    address: str,
    loop: LoopFactory | None,
) -> tuple[float, float]:
    async def conversation() -> tuple[float, float]:
        async with meteor.connect(address) as client:
            return await way(client)

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(conversation())


def test_received_per_second() -> None:
    measure("asyncio", None)
    uvloop = fastest_loop()
    if uvloop is not None:
        measure("uvloop", uvloop)


def measure(on: str, loop: LoopFactory | None) -> None:
    with flooding() as address:
        ways: dict[str, Callable[[], tuple[float, float]]] = {
            "callback": lambda: run(by_callback, address, loop),
            "async_callback": lambda: run(by_async_callback, address, loop),
            "iterator": lambda: run(by_iterator, address, loop),
            "blocking_iterator": lambda: by_blocking_iterator(address),
        }
        turns = [{name: way() for name, way in ways.items()} for _ in range(TURNS)]
    for clock, which in (("wall", 0), ("cpu", 1)):
        rates = {name: median(turn[name][which] for turn in turns) for name in ways}
        report(
            f"notifications received per second ({clock}, {on})",
            **{name: round(rate) for name, rate in rates.items()},
            iterator_to_callback=rates["iterator"] / rates["callback"],
            blocking_to_callback=rates["blocking_iterator"] / rates["callback"],
        )
