"""How many hops lookups take: the real protocol against the exact mean of an ideal ring.

The owner of a random key is at a uniform node distance from a random origin, whatever the
identifiers, because fingers go by node distance: so the mean is a dynamic programme over node
distance alone (Chord ToN 2003 section IV-E; literature.md sections 2.1 and 2.4).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2
from typing import Any

import pytest

LOOKUPS = 20_000
SUCCESSORS = 8
CLIENTS = 200


def exact_hops(count: int, successor_count: int) -> list[int]:
    """Hops to the owner at each node distance in an ideal ring."""
    levels = [2**level for level in range(1, (count - 1).bit_length())]
    known = sorted({*range(1, min(successor_count, count - 1) + 1), *levels})
    hops = [0] * count
    for away in range(1, count):
        if away in known:
            hops[away] = 1
        else:
            hops[away] = 1 + hops[away - max(step for step in known if step < away)]
    return hops


def exact_mean(count: int, successor_count: int = SUCCESSORS) -> Fraction:
    return Fraction(sum(exact_hops(count, successor_count)), count)


def measured_hops(ring: Any, lookups: int = LOOKUPS) -> list[int]:
    """The hops of lookups of random keys from random members, each answer checked."""
    nodes = ring.members
    stream = ring.kernel.random("lookups")
    hops: list[int] = []

    async def look_up() -> None:
        for _ in range(lookups // CLIENTS):
            node = stream.choice(nodes)
            key = stream.getrandbits(ring.config.bits)
            owner = await node.lookup(key)
            assert key in owner.arc
            assert ring.peers[owner.contact.id].node.arc == owner.arc
            hops.append(owner.hops)

    tasks = [ring.kernel.spawn(look_up()) for _ in range(CLIENTS)]
    for task in tasks:
        ring.kernel.run_until(task)
    return hops


def check_means(sim_ring: Any, count: int) -> None:
    ring = sim_ring(seed=count, arc_cache_max=0, coded=False)
    stream = ring.kernel.random("ids")
    ring.ideal(stream.getrandbits(160) for _ in range(count))
    hops = measured_hops(ring)
    mean, exact = sum(hops) / len(hops), float(exact_mean(count))
    formula = 0.5 * log2(count) - 0.5 * log2(SUCCESSORS) + 1
    print(f"N={count} mean={mean:.4f} exact={exact:.4f} formula={formula:.4f} max={max(hops)}")
    assert len(hops) == LOOKUPS
    assert abs(mean / exact - 1) <= 0.01
    assert max(hops) <= ceil(log2(count))
    if count >= 256:
        assert abs(mean / formula - 1) <= 0.05


@pytest.mark.parametrize("count", [64])
def test_the_mean_path_is_that_of_an_ideal_ring(sim_ring: Any, count: int) -> None:
    check_means(sim_ring, count)


@pytest.mark.long
@pytest.mark.parametrize("count", [16, 32, 128, 256, 512, 1024])
def test_the_mean_path_is_that_of_an_ideal_ring_at_every_size(sim_ring: Any, count: int) -> None:
    check_means(sim_ring, count)


def test_the_published_mean_is_met() -> None:
    """Chord ToN 2003: 3.84 hops at N = 1000, r = 20; ours crosses exact node distances."""
    assert 3.7 < exact_mean(1000, 20) < 3.84


@pytest.mark.parametrize("count", [5, 64, 200])
def test_hops_stay_logarithmic_where_peers_sit_where_the_data_is(sim_ring: Any, count: int) -> None:
    """Identifiers that follow the data (given by hand): nine in ten within 2^-100 of the ring."""
    ring = sim_ring(seed=7, arc_cache_max=0)
    stream = ring.kernel.random("ids")
    dense = {(1 << 159) + stream.getrandbits(60) for _ in range(count * 9 // 10)}
    spread = {1 << stream.randrange(160) for _ in range(count)}
    ring.ideal(sorted(dense) + sorted(spread - dense)[: count - len(dense)])
    everywhere = measured_hops(ring, 1_000)
    keys = [node_id - stream.getrandbits(40) for node_id in ring.peers]
    crowded = []
    for node in ring.members[::5]:
        crowded += [ring.run(node.lookup(key % (1 << 160))).hops for key in keys[::3]]
    assert max(everywhere + crowded) <= ceil(log2(len(ring.peers)))
