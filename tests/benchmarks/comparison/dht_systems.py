"""Distributed hash tables: OpenDHT (C++ core) and kademlia (Python), 64 nodes in one process."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
from typing import Any

from tests.benchmarks.comparison.rows import IN_FLIGHT, NODES, RECORDS, VALUE, spread
from tests.benchmarks.comparison.running import main
from tests.benchmarks.measuring import in_flight, one_by_one

OPENDHT_PORT, KADEMLIA_PORT = 21_900, 21_000
SETTLE_S = 6.0


async def _opendht_ring() -> Any:
    import opendht
    from opendht import aio

    ring: list[Any] = []
    for number in range(NODES):
        config = opendht.DhtConfig()
        config.setRateLimit(-1, -1)
        node = aio.DhtRunner()
        node.run(port=OPENDHT_PORT + number, ipv4="127.0.0.1", config=config)
        if ring:
            node.bootstrap("127.0.0.1", str(OPENDHT_PORT))
        ring.append(node)
    await asyncio.sleep(SETTLE_S)

    async def put(item: int) -> None:
        await random.choice(ring).put(aio.InfoHash.get(f"sensor/{item}"), aio.Value(VALUE))

    async def get(item: int) -> None:
        await random.choice(ring).getFirst(aio.InfoHash.get(f"sensor/{item}"))

    return put, get


async def _kademlia_ring() -> Any:
    from kademlia.network import Server

    logging.disable(logging.CRITICAL)
    ring: list[Any] = []
    for number in range(NODES):
        node = Server()
        await node.listen(KADEMLIA_PORT + number, interface="127.0.0.1")
        if ring:
            await node.bootstrap([("127.0.0.1", KADEMLIA_PORT)])
        ring.append(node)

    async def put(item: int) -> None:
        assert await random.choice(ring).set(f"sensor/{item}", VALUE)

    async def get(item: int) -> None:
        assert await random.choice(ring).get(f"sensor/{item}") == VALUE

    return put, get


def measured(ring: Any) -> Any:
    """Store and retrieve as `meteor_system.ring`."""

    async def asking() -> None:
        put, get = await ring()
        await one_by_one(put, range(RECORDS))
        stored = await one_by_one(put, range(RECORDS, 2 * RECORDS))
        _, puts_per_s = await in_flight(put, range(2 * RECORDS, 4 * RECORDS), IN_FLIGHT)
        fetched = await one_by_one(get, range(RECORDS))
        _, gets_per_s = await in_flight(get, range(2 * RECORDS), IN_FLIGHT)
        in_ns = [[int(1e9 * duration_s) for duration_s in some] for some in (stored, fetched)]
        print(json.dumps({
            "store": {**spread(in_ns[0]), "per_s": puts_per_s},
            "retrieve": {**spread(in_ns[1]), "per_s": gets_per_s},
        }), flush=True)  # fmt: skip
        os._exit(0)  # leaving every node politely takes tens of seconds

    return asyncio.run(asking())


if __name__ == "__main__":
    random.seed(1)
    main({
        "opendht": lambda: measured(_opendht_ring), "kademlia": lambda: measured(_kademlia_ring)
    })  # fmt: skip
