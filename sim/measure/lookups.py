"""The report's figure 4.1 (a): what a lookup of a random destination takes, by the number of peers.

Law of this file: one lookup in flight, from one peer, over real processes and sockets.  Without an
arc cache a lookup goes hop by hop, as in the report; with it, as peers are shipped, most go
straight to the owner.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from meteor import Peer
from sim.measure.processes import PeerProcesses
from sim.measure.ring import SIZES, SPACE, Progress, measuring_peer, quantile

CACHES = {"off": 0, "on": 1024}
"""Arcs that the measuring peer keeps: none, and the default."""


@dataclass(frozen=True, slots=True)
class LookupPoint:
    """Lookups from one peer in a ring of one size."""

    peers: int
    arc_cache: str
    """`off` or `on`."""
    lookups: int
    hops: float
    """Mean number of peers that a lookup was handed to."""
    p50_ms: float
    p99_ms: float


async def measure_lookups(
    sizes: Sequence[int] = SIZES,
    *,
    lookups: int = 1000,
    seed: int = 1,
    progress: Progress = lambda _: None,
) -> list[LookupPoint]:
    """Both ways at each size; raises `PeerDied`, `MeteorError`."""
    points = []
    async with PeerProcesses(SPACE.to_toml()) as ring:
        for size in sorted(sizes):
            await ring.grow(size - 1)
            for name, arcs in CACHES.items():
                progress(f"lookups: {size} peers, arc cache {name}")
                async with measuring_peer(ring, size, arc_cache_max=arcs) as peer:
                    points.append(await _measured(peer, size, name, lookups, seed))
    return points


async def _measured(peer: Peer, size: int, arc_cache: str, lookups: int, seed: int) -> LookupPoint:
    stream, node = random.Random(seed), peer.core.node
    keys: list[int] = []
    while len(keys) < lookups:
        key = stream.getrandbits(160)
        if not node.owns(key):  # that answer takes no time at all
            keys.append(key)
    for key in keys[: lookups // 4]:  # links open, and a cache fills, once in a peer's life
        await node.lookup(key)
    times_s, hops = [], 0
    for key in keys:
        began_s = time.perf_counter()
        owner = await node.lookup(key)
        times_s.append(time.perf_counter() - began_s)
        hops += owner.hops
    return LookupPoint(
        size, arc_cache, lookups, hops / lookups,
        1000 * quantile(times_s, 0.5), 1000 * quantile(times_s, 0.99),
    )  # fmt: skip
