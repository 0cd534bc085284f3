"""Small rings under joins, leaves and crashes all at once, far outside the proof's assumptions.

A forming ring may lose its keeper, its newest member and half of the rest within a millisecond;
what is left must still become one ideal ring, and whoever keeps trying must get in.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from chord import ChordNode, Contact, MeteorError

EVENTS = 40
PAUSES_S = (0.0, 0.001, 0.003, 0.01, 0.1, 1.0)


async def keep_joining(ring: Any, node: ChordNode, known: list[Contact]) -> None:
    """Join, by other members if those known are gone."""
    while known and node.contact.id in ring.peers:
        try:
            await node.join(known)
        except MeteorError:
            known = [member.contact for member in ring.members]
            await ring.kernel.sleep(0.1)
        else:
            if node.contact.id in ring.peers:
                node.start()
            return


async def leave_and_close(peer: Any) -> None:
    await peer.node.leave()
    peer.runtime.close()


def run_wildly(sim_ring: Any, seed: int) -> None:
    print(f"seed={seed}")
    draw = random.Random(seed)
    ring = sim_ring(seed=seed, bits=12)
    ids = draw.sample(range(4096), EVENTS + 1)
    ring.grow([ids.pop()])
    for _ in range(EVENTS):
        ring.settle(draw.choice(PAUSES_S))
        members, what = ring.members, draw.random()
        if what < 0.5:
            node = ring.add(ids.pop())
            known = [one.contact for one in draw.sample(members, min(3, len(members)))]
            ring.peers[node.contact.id].runtime.spawn(keep_joining(ring, node, known))
        elif len(members) > 2:
            victim = draw.choice(members).contact.id
            if what < 0.75:
                ring.crash(victim)
            else:
                ring.kernel.spawn(leave_and_close(ring.peers.pop(victim)))
    ring.settle(10.0)
    assert ring.flaws(fingers=True) == []
    assert len(ring.members) in {0, len(ring.peers)}


@pytest.mark.parametrize("seed", range(12))
def test_what_is_left_of_a_small_ring_becomes_ideal(sim_ring: Any, seed: int) -> None:
    run_wildly(sim_ring, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 300))
def test_what_is_left_of_many_small_rings_becomes_ideal(sim_ring: Any, seed: int) -> None:
    run_wildly(sim_ring, seed)
