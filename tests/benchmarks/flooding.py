"""Two kinds of clients for `bench_flood`, each a process of its own: one that asks as much as it
can, and one that asks for one thing after the other and prints how long it took.

    python -m tests.benchmarks.flooding flood-stores|flood-queries|ask HOST:PORT SECONDS
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import count
from statistics import median

import meteor

IN_FLIGHT = 256


async def flood(client: meteor.Client, *, stores: bool, seconds: float) -> None:
    ends_s, numbers = time.monotonic() + seconds, count()
    done = refused = 0

    async def one_after_the_other() -> None:
        nonlocal done, refused
        while time.monotonic() < ends_s:
            at = next(numbers)
            try:
                if stores:
                    await client.store(f"type=flood temperature={at % 100}", b"x" * 200, ttl=60)
                else:
                    await client.retrieve(f"type=flood temperature={at % 100}").all()
                done += 1
            except (meteor.Busy, meteor.Refused):
                refused += 1

    await asyncio.gather(*(one_after_the_other() for _ in range(IN_FLIGHT)))
    print(json.dumps({"per_s": round(done / seconds), "refused_per_s": round(refused / seconds)}))


async def ask(client: meteor.Client, seconds: float) -> None:
    durations_s, ends_s = [], time.monotonic() + seconds
    while time.monotonic() < ends_s:
        began_s = time.perf_counter()
        await client.retrieve("type=asked temperature=1").all()
        durations_s.append(time.perf_counter() - began_s)
    durations_s.sort()
    worst = durations_s[len(durations_s) * 99 // 100]
    print(json.dumps({"p50_ms": 1000 * median(durations_s), "p99_ms": 1000 * worst}))


async def main(role: str, address: str, seconds: float) -> None:
    async with meteor.connect(address) as client:
        if role == "ask":
            await ask(client, seconds)
        else:
            await flood(client, stores=role == "flood-stores", seconds=seconds)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
