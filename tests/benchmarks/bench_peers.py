"""A ring of real peers over WebSockets in one process: up, store, retrieve, and what a peer costs.

One request in flight, links warm, journals in memory.  Each measurement prints one JSON line and
asserts nothing: DESIGN section 8 holds the targets.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from statistics import median, quantiles
from typing import Any

import pytest

import meteor

pytestmark = pytest.mark.benchmark

PEERS = 64
WARM_UP, REQUESTS = 200, 1_000
IDLE_PEERS = 33

SPACE = meteor.KeywordSpace(
    "bench",
    [meteor.Word("type"), meteor.Number("temperature", 0, 100), meteor.Number("humidity", 0, 100)],
)


def show(name: str, **numbers: Any) -> None:
    print(json.dumps({"benchmark": name, **numbers}))


def milliseconds(durations_s: list[float]) -> dict[str, float]:
    """Median and 99th percentile."""
    p99 = quantiles(durations_s, n=100)[98]
    return {"p50_ms": round(median(durations_s) * 1e3, 3), "p99_ms": round(p99 * 1e3, 3)}


def profile(draw: random.Random) -> dict[str, Any]:
    """An exact profile anywhere in the space."""
    return {
        "type": "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=6)),
        "temperature": round(draw.uniform(0, 100), 3),
        "humidity": round(draw.uniform(0, 100), 3),
    }


async def measure(transport: Any) -> None:
    draw = random.Random(1)
    began_s = time.perf_counter()
    async with meteor.LocalOverlay(peers=PEERS, space=SPACE, transport=transport) as overlay:
        show("ring_up", transport=transport, peers=PEERS, s=round(time.perf_counter() - began_s, 2))
        client = await overlay.connect()
        profiles = [meteor.profile(profile(draw)) for _ in range(WARM_UP + REQUESTS)]
        for verb in ("store", "retrieve"):
            durations_s = []
            for one in profiles:
                asked_s = time.perf_counter()
                if verb == "store":
                    await client.store(one, b"x" * 100)
                else:
                    assert len(await client.retrieve(one).all()) == 1
                durations_s.append(time.perf_counter() - asked_s)
            show(verb, transport=transport, peers=PEERS, **milliseconds(durations_s[WARM_UP:]))


@pytest.mark.parametrize("transport", ["websocket", "memory"])
def test_exact_store_and_retrieve_on_64_peers(transport: str) -> None:
    asyncio.run(measure(transport))


MEMORY = """
import asyncio, gc, meteor, sys
from pathlib import Path
SPACE = meteor.KeywordSpace("bench", [meteor.Word("type"), meteor.Number("temperature", 0, 100)])
async def main(peers):
    async with meteor.LocalOverlay(peers=peers, space=SPACE, transport="websocket"):
        await asyncio.sleep(1)
        gc.collect()
        status = Path("/proc/self/status").read_text()
        print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
asyncio.run(main(int(sys.argv[1])))
"""


def test_an_idle_peer_s_memory() -> None:
    """Resident set of one process with 33 idle peers against 1, divided by 32."""
    kib = {
        peers: int(
            subprocess.run(
                [sys.executable, "-c", MEMORY, str(peers)],
                capture_output=True, text=True, check=True,
            ).stdout
        )
        for peers in (1, IDLE_PEERS)
    }  # fmt: skip
    show("idle_peer", mib=round((kib[IDLE_PEERS] - kib[1]) / (IDLE_PEERS - 1) / 1024, 2))
