"""Who was down while the others went to other places of the ring, at the addresses that they have,
finds them by these: nobody has an identifier any more that it knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim import Faults
from tests.chord.test_resuming import come_back, ids_of


def all_move(ring: Any, others: list[int]) -> None:
    """One after the other leaves and comes back under another identifier."""
    for number, node_id in enumerate(others):
        address = ring.peers[node_id].node.contact.address
        ring.leave(node_id)
        ring.settle(1.0)
        place = ring.kernel.random(f"moved {number}").getrandbits(ring.config.bits)
        node = ring.add(place, address)
        via = next(peer.node.contact for peer in ring.peers.values() if peer.node is not node)
        ring.run(node.join([via]))
        node.start()
        ring.settle(1.0)


@pytest.mark.parametrize("down", [1, 3])
@pytest.mark.parametrize("count", [4, 6, 12])
@pytest.mark.parametrize("seed", range(1, 4))
def test_it_is_of_their_ring_again(sim_ring: Any, seed: int, count: int, down: int) -> None:
    """At once, and not by a probe, as one that founded a ring of its own meanwhile."""
    if count == 4 and down == 3:
        down = 2
    ring = sim_ring(seed=seed)
    ids = ids_of(ring, count)
    ring.grow(ids)
    ring.settle(5.0)
    fallen = [ring.peers[one] for one in ids[:down]]
    for peer in fallen:
        ring.crash(peer.node.contact.id)
    ring.settle(10.0)
    all_move(ring, ids[down:])
    tasks = [come_back(ring, peer, 0.05 * number) for number, peer in enumerate(fallen)]
    assert [ring.kernel.run_until(task) for task in tasks] == [True] * down
    assert ring.ideal_within_s(30.0) < 30.0
    assert len(ring.members) == count


@pytest.mark.parametrize("seed", range(1, 6))
def test_two_rings_that_know_former_places_alone_become_one(sim_ring: Any, seed: int) -> None:
    """One of them was founded while nobody answered, as a network was away: all moved meanwhile."""
    ring = sim_ring(seed=seed)
    ids = ids_of(ring, 8)
    ring.grow(ids)
    ring.settle(5.0)
    away = [ring.peers[one] for one in ids[:3]]
    for peer in away:
        ring.crash(peer.node.contact.id)
    ring.settle(10.0)
    all_move(ring, ids[3:])
    ring_of_others = [ring.peers[one].node.contact for one in sorted(ring.peers)]
    back = [replace(peer.node.contact, incarnation=1) for peer in away]
    cut = Faults(ring.network).partition(back, ring_of_others)
    for task in [come_back(ring, peer, 0.05 * number) for number, peer in enumerate(away)]:
        ring.kernel.run_until(task)
    ring.settle(20.0)
    cut.heal()
    assert ring.ideal_within_s(90.0) < 90.0
