"""One client at full speed, another that asks for one thing at a time: how much its median latency
suffers (the target is at most 3 times), and what the peer's memory does meanwhile: what is stored
and lives takes room, so that a flood of stores is measured under a quota as well.

The peer is in this process, each client in one of its own; the rounds with and without the flood
take turns.  One JSON line each; nothing is asserted.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from meteor import LocalOverlay
from meteor.security.policy import Policy, Quota
from tests.benchmarks.measuring import report
from tests.meteor.building import SPACE

pytestmark = pytest.mark.benchmark
ROUNDS, SECONDS = 4, 2.0
QUOTA = Policy(quotas=(Quota("a share", ("unsigned",), profiles=1000),))
ROOT = Path(__file__).parents[2]


async def client(role: str, address: str, seconds: float) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.benchmarks.flooding", role, address, str(seconds),
        stdout=asyncio.subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    printed, _ = await process.communicate()
    found: dict[str, Any] = json.loads(printed)
    return found


def resident_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize(
    ("flood", "policy"),
    [("flood-stores", None), ("flood-stores", QUOTA), ("flood-queries", None)],
    ids=["stores", "stores under a quota", "queries"],
)
async def test_a_flood(flood: str, policy: Policy | None) -> None:
    async with LocalOverlay(peers=1, space=SPACE, transport="websocket", policy=policy) as overlay:
        address = overlay.peers[0].address
        quiet, loud, rates = [], [], []
        before_mib = resident_mib()
        for _ in range(ROUNDS):
            quiet.append((await client("ask", address, SECONDS))["p50_ms"])
            flooding = asyncio.ensure_future(client(flood, address, SECONDS + 3))
            await asyncio.sleep(1.5)
            loud.append((await client("ask", address, SECONDS))["p50_ms"])
            rates.append(sum((await flooding).values()))
        report(
            "flood", flood=flood, quota=policy is not None,
            alone_p50_ms=median(quiet), flooded_p50_ms=median(loud),
            times=median(loud) / median(quiet), flood_per_s=median(rates),
            grown_mib=resident_mib() - before_mib,
        )  # fmt: skip
