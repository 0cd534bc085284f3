"""The report's figure 4.1 (b): what routing costs a peer, by the number of peers, for three sets of
keyword tuples: with wildcards, with ranges, with both.

Law of this file: nothing is stored, so that what is spent is refinement, lookups and hand-ons, and
no matching.  Cost is processor time of the peers' processes, less what they take at rest, divided
by peers and queries: others on the machine change it little.  Both ways of handing on are asked,
one after the other, each from a peer that has just joined.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from meteor import Peer, Receipt
from sim.measure.processes import PeerProcesses
from sim.measure.ring import SIZES, SPACE, Progress, measuring_peer, quantile
from squid import Addressing, RouterConfig

QUERY_SETS: Final = ("wildcards", "ranges", "both")
REST_S: Final = 2.0
"""How long the ring is watched at rest, to know what it takes then."""
WORDS: Final = (
    "archive", "backup", "camera", "compute", "database", "editor", "gateway", "heater", "index",
    "journal", "lamp", "mail", "meter", "network", "printer", "proxy", "queue", "router", "sensor",
    "storage", "switch", "thermostat", "valve", "video", "window",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RoutingPoint:
    """Queries of one set, handed on in one way, in a ring of one size."""

    peers: int
    queries: str
    """One of `QUERY_SETS`."""
    addressing: str
    asked: int
    overhead_us: float | None
    """Processor time a peer and query; None where the system does not tell."""
    p50_ms: float
    """From the question to the last report."""
    p99_ms: float
    processing: float
    """Mean number of peers that hold a part of the region."""
    hops: float
    """Mean longest chain of hand-ons."""


def selectors(queries: str, count: int, seed: int) -> list[str]:
    """The keyword tuples of a set, as selectors; the same for the same seed."""
    stream = random.Random(f"{seed} {queries}")
    return [_selector(queries, stream) for _ in range(count)]


def _selector(queries: str, stream: random.Random) -> str:
    first, second = sorted(stream.sample(WORDS, 2))
    low = stream.randrange(900)
    if queries == "wildcards":  # (computer, *, *) and (*, comp*, *)
        word = stream.choice((first, f"{first[:3]}*"))
        return f"what={word} where=*" if stream.random() < 0.5 else f"what=* where={word}"
    if queries == "ranges":
        third, fourth = sorted(stream.sample(WORDS, 2))
        return f"what={first}..{second} where={third}..{fourth} size={low}..{low + 100}"
    return f"what={first[:2]}* where=* size={low}..{low + 100}"


async def measure_routing(
    sizes: Sequence[int] = SIZES,
    *,
    queries: int = 200,
    seed: int = 1,
    ways: Sequence[Addressing] = tuple(Addressing),
    progress: Progress = lambda _: None,
) -> list[RoutingPoint]:
    """Every set in every way at each size; raises `PeerDied`, `MeteorError`."""
    points = []
    async with PeerProcesses(SPACE.to_toml()) as ring:
        for size in sorted(sizes):
            await ring.grow(size - 1)
            for way in ways:
                routing = RouterConfig(addressing=way)
                async with measuring_peer(ring, size, routing=routing) as peer:
                    rest_w = await _at_rest(ring)
                    for name in QUERY_SETS:
                        progress(f"routing: {size} peers, {name}, {way.value}")
                        asked = selectors(name, queries, seed)
                        cost = await _ask(peer, ring, asked, rest_w)
                        points.append(_point(size, name, way, cost))
    return points


@dataclass(frozen=True, slots=True)
class _Cost:
    times_s: list[float]
    receipts: list[Receipt]
    cpu_s: float | None
    """Of the other peers' processes, without what they take at rest."""


async def _at_rest(ring: PeerProcesses) -> float | None:
    """Processor seconds a second that the processes take when nothing is asked."""
    before = ring.cpu_s()
    began_s = time.perf_counter()
    await asyncio.sleep(REST_S)
    after = ring.cpu_s()
    if before is None or after is None:
        return None
    return (after - before) / (time.perf_counter() - began_s)


async def _ask(
    peer: Peer, ring: PeerProcesses, asked: Sequence[str], rest_w: float | None
) -> _Cost:
    for selector in asked[: len(asked) // 4]:  # links open once in a peer's life
        await peer.retrieve(selector).all()
    times_s, receipts = [], []
    before, began_s = ring.cpu_s(), time.perf_counter()
    for selector in asked:
        asked_s = time.perf_counter()
        answer = peer.retrieve(selector)
        await answer.all()
        times_s.append(time.perf_counter() - asked_s)
        assert answer.receipt is not None, "an answer that has ended has one"
        receipts.append(answer.receipt)
    after = ring.cpu_s()
    if before is None or after is None or rest_w is None:
        return _Cost(times_s, receipts, None)
    taken_s = after - before - rest_w * (time.perf_counter() - began_s)
    return _Cost(times_s, receipts, max(taken_s, 0.0))


def _point(size: int, name: str, way: Addressing, cost: _Cost) -> RoutingPoint:
    asked = len(cost.times_s)
    overhead_us = None if cost.cpu_s is None else 1e6 * cost.cpu_s / asked / (size - 1)
    return RoutingPoint(
        size, name, way.value, asked, overhead_us,
        1000 * quantile(cost.times_s, 0.5), 1000 * quantile(cost.times_s, 0.99),
        sum(receipt.peers for receipt in cost.receipts) / asked,
        sum(receipt.hops for receipt in cost.receipts) / asked,
    )  # fmt: skip
