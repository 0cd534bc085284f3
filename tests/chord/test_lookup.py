"""Lookups: what the cache saves, what a stale entry costs, and when they give up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chord import Arc, ChordNode, Contact, LookupFailed, NotJoined, Owner
from chord.messages import FindOwner


def contact_of(ring: Any, node_id: int) -> Contact:
    return ring.peers[node_id].node.contact  # type: ignore[no-any-return]


def far_ring(sim_ring: Any, **changes: Any) -> tuple[Any, ChordNode]:
    """Peers 100, 200, … 6400, and the one at 100, which is far from most."""
    ring = sim_ring(seed=1, bits=13, **changes)
    ring.ideal(range(100, 6500, 100))
    return ring, ring.peers[100].node


def test_a_key_of_ones_own_is_answered_without_the_network(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    frames = ring.network.frames.total()
    heirs = (contact_of(ring, 200), contact_of(ring, 300))
    assert ring.run(node.lookup(50)) == Owner(node.contact, Arc(6400, 100), 0, heirs)
    assert ring.network.frames.total() == frames


def test_the_owner_says_its_arc_and_the_next_lookup_takes_one_hop(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    first = ring.run(node.lookup(3950))
    assert first.contact == contact_of(ring, 4000)
    assert first.arc == Arc(3900, 4000)
    assert first.hops > 1
    assert ring.run(node.lookup(3999)).hops == 1


def test_without_the_cache_every_lookup_walks(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring, arc_cache_max=0)
    assert ring.run(node.lookup(3950)).hops == ring.run(node.lookup(3950)).hops > 1


def test_an_entry_made_stale_by_a_join_costs_one_hop(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    ring.run(node.lookup(3950))
    joiner = ring.add(3960)
    ring.run(joiner.join([node.contact]))
    found = ring.run(node.lookup(3950))
    heirs = (contact_of(ring, 4000), contact_of(ring, 4100))
    assert found == Owner(joiner.contact, Arc(3900, 3960), 2, heirs)
    assert ring.run(node.lookup(3950)).hops == 1
    assert ring.run(node.lookup(3990)).contact.id == 4000


def test_an_entry_made_stale_by_a_crash_goes_to_the_next_candidate(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    for peer in ring.peers.values():
        peer.node.start()
    ring.run(node.lookup(3950))
    ring.crash(4000)
    assert ring.run(node.lookup(3950)).contact.id == 4100
    assert ring.peers[4100].node.arc == Arc(3900, 4100)


def test_arcs_can_be_taught_and_forgotten(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    owner = Owner(contact_of(ring, 4000), Arc(3900, 4000))
    node.learn(owner)
    assert node.route(3950).candidates[0] == owner.contact
    assert node.route(3950).to_owner
    node.forget(owner.contact)
    assert node.route(3950).candidates[0] != owner.contact
    node.learn(Owner(node.contact, Arc(0, 100)))
    assert node.route(3950).candidates[0] != node.contact


def test_outside_a_ring_there_are_no_lookups(sim_ring: Any) -> None:
    ring = sim_ring()
    with pytest.raises(NotJoined, match="outside a ring"):
        ring.run(ring.add(3).lookup(5))


def test_a_lookup_that_nobody_answers_fails_after_the_time_given(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    ring.peers[4000].runtime.exchange.receive = lambda *_: None
    began_s = ring.kernel.now()
    with pytest.raises(LookupFailed, match="no owner of f6e answered in 2 s"):
        ring.run(node.lookup(3950, timeout_s=2.0))
    assert ring.kernel.now() - began_s == pytest.approx(2.0, abs=0.01)


@pytest.mark.parametrize("timeout_s", [0.01, 0.1, 2.0])
def test_only_attempts_that_went_out_are_counted_as_hedges(sim_ring: Any, timeout_s: float) -> None:
    """The end of the time of one that failed was counted as one more."""
    ring, node = far_ring(sim_ring)
    ring.peers[4000].runtime.exchange.receive = lambda *_: None
    attempts: set[int] = set()
    carry = ring.network.carry

    def note(end: Any, kind: Any, number: int, duration_s: float, message: object) -> None:
        if isinstance(message, FindOwner):
            attempts.add(message.attempt)
        carry(end, kind, number, duration_s, message)

    ring.network.carry = note
    with pytest.raises(LookupFailed):
        ring.run(node.lookup(3950, timeout_s=timeout_s))
    assert node.lookups.hedged == max(attempts)
    assert (node.lookups.found, node.lookups.failed) == (0, 1)


def test_a_lookup_ends_with_the_membership_of_its_origin(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    ring.peers[4000].runtime.exchange.receive = lambda *_: None
    lookup = ring.kernel.spawn(node.lookup(3950))
    ring.settle(0.1)
    ring.run(node.leave())
    with pytest.raises(NotJoined):
        ring.kernel.run_until(lookup)


def test_a_lookup_under_way_to_a_leaver_goes_to_its_heir(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    ring.run(node.lookup(3950))
    leaver = ring.peers[4000]
    ring.run(leaver.node.leave())
    began_s = ring.kernel.now()
    found = ring.run(node.lookup(3950))
    assert (found.contact.id, found.hops) == (4100, 2)
    assert ring.kernel.now() - began_s < 0.01


def test_a_message_that_went_round_too_often_is_dropped(sim_ring: Any) -> None:
    ring, node = far_ring(sim_ring)
    handler = node.handlers[FindOwner]

    def frames_after(hops: int) -> int:
        ring.network.frames.clear()
        handler(node.contact, FindOwner(3950, contact_of(ring, 200), 1, hops), 0.0)
        ring.settle(0.1)
        return int(ring.network.frames.total())

    assert frames_after(hops=1) > 0
    assert frames_after(hops=ring.config.hops_max) == 0


@pytest.mark.parametrize("attempt", [0, 1])
def test_an_answer_that_nobody_waits_for_is_learnt_all_the_same(
    sim_ring: Any, attempt: int
) -> None:
    ring, node = far_ring(sim_ring)
    answer: Callable[..., object] = ring.peers[4000].node.handlers[FindOwner]
    for _ in range(attempt + 1):
        answer(node.contact, FindOwner(3950, node.contact, 12345, 1), 0.0)
    ring.settle(0.1)
    assert node.route(3950).to_owner
