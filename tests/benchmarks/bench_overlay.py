"""A 64-peer ring in one process over WebSockets: up, exact store and retrieve, memory a peer.

One request in flight, links warm, memory journals.  Every figure is one JSON line; nothing is
asserted, as the machines are shared.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import pytest

import meteor
from tests.benchmarks.measuring import report
from tests.meteor.building import SPACE

PEERS = 64
REQUESTS = 1000

pytestmark = [pytest.mark.benchmark, pytest.mark.sockets]


async def timed(request: Callable[[int], Awaitable[object]]) -> dict[str, float]:
    """Wall and processor time of one request after another, in milliseconds."""
    for number in range(REQUESTS // 2):
        await request(number)
    spent_s = []
    cpu_s = time.process_time()
    for number in range(REQUESTS):
        begun = time.perf_counter()
        await request(number)
        spent_s.append(time.perf_counter() - begun)
    cpu_s = time.process_time() - cpu_s
    ordered = sorted(spent_s)
    return {
        "p50_ms": 1000 * statistics.median(spent_s),
        "p99_ms": 1000 * ordered[len(ordered) * 99 // 100],
        "min_ms": 1000 * ordered[0],
        "cpu_ms": 1000 * cpu_s / REQUESTS,
    }


def probe(number: int) -> str:
    return f"type=temperature temperature={number % 100} humidity={number % 7}"


@pytest.mark.parametrize("transport", ["websocket", "memory"])
async def test_sixty_four_peers(transport: meteor.local.TransportName) -> None:
    begun, cpu_s = time.perf_counter(), time.process_time()
    async with meteor.LocalOverlay(peers=PEERS, space=SPACE, transport=transport) as overlay:
        report(
            f"{PEERS} peers up, {transport}",
            wall_s=time.perf_counter() - begun,
            cpu_s=time.process_time() - cpu_s,
        )
        gc.collect()
        gc.freeze()
        client = await overlay.connect()
        await asyncio.sleep(10.0)  # fingers refresh ever more rarely: the ring comes to rest
        cpu_s = time.process_time()
        await asyncio.sleep(2.0)
        report(f"{PEERS} peers at rest, {transport}", cpu_share=(time.process_time() - cpu_s) / 2)

        async def store(number: int) -> None:
            await client.store(probe(number), b"x" * 64)

        async def retrieve(number: int) -> None:
            assert await client.retrieve(probe(number)).all()

        report(f"exact store, {transport}", **await timed(store))
        report(f"exact retrieve, {transport}", **await timed(retrieve))
        gc.unfreeze()


RESIDENT = """
import asyncio, gc, sys
import meteor
from tests.meteor.building import SPACE

async def main():
    peers = int(sys.argv[1])
    async with meteor.LocalOverlay(peers=peers, space=SPACE, transport="websocket"):
        await asyncio.sleep(3)
        gc.collect()
        for line in open("/proc/self/status"):
            if line.startswith("VmRSS"):
                print(line.split()[1])

asyncio.run(main())
"""


def resident_kib(peers: int) -> int:
    done = subprocess.run(
        [sys.executable, "-c", RESIDENT, str(peers)],
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_memory_of_an_idle_peer() -> None:
    one, many = resident_kib(1), resident_kib(33)
    report(
        "resident set, 33 peers against 1",
        one_mib=one / 1024,
        many_mib=many / 1024,
        peer_mib=(many - one) / 1024 / 32,
    )
