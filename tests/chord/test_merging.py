"""Rings that fell apart and find each other again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from chord import Contact, Fault
from chord.messages import FindPredecessor, Reunite
from sim import Faults

IDEAL_WITHIN_S = 30.0
CUT_S = (20.0, 40.0)
"""Shorter and longer than links outlive: what was on its way arrives after the one, and brings
the sides together by itself; after the other only probes do."""


def ids_of(ring: Any, count: int) -> list[int]:
    stream = ring.kernel.random("ids")
    return [stream.getrandbits(ring.config.bits) for _ in range(count)]


def contacts_of(ring: Any, ids: list[int]) -> list[Contact]:
    return [ring.peers[i].node.contact for i in ids]


def cut_and_heal(ring: Any, side: list[int], for_s: float) -> None:
    """Keep these from the others, check that there are two rings, and heal."""
    cut = Faults(ring.network).partition(contacts_of(ring, side))
    ring.settle(for_s)
    for some in (set(side), set(ring.peers) - set(side)):
        for node_id in sorted(some):
            first = ring.peers[node_id].node.successors[:1]
            assert all(contact.id in some for contact in first)
    cut.heal()


def check_one_ring(ring: Any) -> None:
    took_s = ring.ideal_within_s(IDEAL_WITHIN_S)
    print(f"one ideal ring after {took_s:.2f} s")
    assert ring.flaws() == []
    ring.settle(10.0)
    assert ring.flaws() == []


@pytest.mark.parametrize(
    ("seed", "count", "cut"),
    [(seed, 16, 8) for seed in range(10)]
    + [(seed, 16, 3) for seed in range(10, 20)]
    + [(seed, *sizes) for sizes in ((16, 1), (6, 3), (2, 1)) for seed in range(3)],
)
def test_a_ring_cut_in_two_is_one_again_after_the_partition(
    sim_ring: Any, seed: int, count: int, cut: int
) -> None:
    print(f"seed={seed}")
    ring = sim_ring(seed=seed, coded=False)
    ring.grow(ids_of(ring, count))
    ring.settle(3.0)
    side = ring.kernel.random("side").sample(sorted(ring.peers), cut)
    cut_and_heal(ring, side, CUT_S[seed % 2])
    check_one_ring(ring)


@pytest.mark.long
@pytest.mark.parametrize(("count", "cut"), [(16, 8), (16, 3), (9, 4), (10, 5), (40, 20), (64, 1)])
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_rings_cut_in_two_are_one_again(
    sim_ring: Any, seed: int, count: int, cut: int
) -> None:
    ring = sim_ring(seed=seed, coded=False)
    ring.grow(ids_of(ring, count))
    ring.settle(3.0)
    cut_and_heal(ring, ring.kernel.random("side").sample(sorted(ring.peers), cut), 40.0)
    check_one_ring(ring)


def test_a_ring_cut_in_four_is_one_again(sim_ring: Any) -> None:
    ring = sim_ring(seed=3, coded=False)
    ring.ideal(ids_of(ring, 24), start=True)
    ring.settle(3.0)
    ids = ring.kernel.random("side").sample(sorted(ring.peers), 24)
    faults = Faults(ring.network)
    cuts = [faults.partition(contacts_of(ring, ids[at : at + 6])) for at in (0, 6, 12)]
    ring.settle(20.0)
    for cut in cuts:
        cut.heal()
    check_one_ring(ring)


def test_members_join_and_die_while_rings_merge(sim_ring: Any) -> None:
    ring = sim_ring(seed=4, coded=False)
    ids = ids_of(ring, 24)
    ring.ideal(ids[:16], start=True)
    ring.settle(3.0)
    side = ring.kernel.random("side").sample(sorted(ring.peers), 8)
    cut_and_heal(ring, side, 20.0)
    known = [node.contact for node in ring.members]
    for node_id in ids[16:]:
        node = ring.add(node_id)
        ring.peers[node_id].runtime.spawn(node.join(known))
        ring.settle(0.2)
        node.start()
    for node_id in side[:3]:
        ring.crash(node_id)
    check_one_ring(ring)
    assert len(ring.members) == 21


def test_while_rings_merge_nobody_ceases_to_be_a_member(sim_ring: Any) -> None:
    ring = sim_ring(seed=5, coded=False)
    ring.ideal(ids_of(ring, 16), start=True)
    ring.settle(3.0)
    side = ring.kernel.random("side").sample(sorted(ring.peers), 8)
    cut_and_heal(ring, side, 20.0)
    told = {i: len(peer.observer.arcs) for i, peer in ring.peers.items()}
    check_one_ring(ring)
    for node_id, peer in ring.peers.items():
        arcs = [peer.observer.arcs[0], *peer.observer.arcs[told[node_id] :]]
        assert all(now is not None for _, now in arcs)
        lengths = [arc.length(160) for _, arc in arcs[1:]]
        assert all(after <= before for before, after in pairwise(lengths))


def test_two_rings_that_never_knew_each_other_merge_by_one_word(sim_ring: Any) -> None:
    ring = sim_ring(seed=6, coded=False)
    ids = ids_of(ring, 80)
    ring.ideal(ids[:60], start=True)
    first = dict(ring.peers)
    ring.peers.clear()
    ring.ideal(ids[60:], start=True)
    ring.peers.update(first)
    assert ring.flaws()
    ring.settle(10.0)
    assert ring.flaws()
    stranger, acquainted = (ring.peers[i].runtime for i in (ids[0], ids[70]))
    stranger.send(acquainted.contact, Reunite(stranger.contact))
    assert ring.ideal_within_s(IDEAL_WITHIN_S) <= 0.25  # those who hear of it tell others
    check_one_ring(ring)


def test_a_peer_behind_a_list_that_skips_it_is_found_again(sim_ring: Any) -> None:
    """A ring wound twice round the circle: every neighbour agrees, and yet it is not ideal."""
    ring = sim_ring(seed=7, coded=False, place_check_interval_s=10.0)
    nodes = ring.ideal(ids_of(ring, 24))
    winding = [*nodes[::2], *nodes[1::2]]
    for at, node in enumerate(winding):
        after = [winding[(at + step) % 24].contact for step in range(1, 9)]
        node.install(winding[at - 1].contact, after)
    for node in nodes:
        node.start()
    assert ring.flaws()
    check_one_ring(ring)


def test_rings_of_another_realm_are_left_alone(sim_ring: Any) -> None:
    ring = sim_ring(seed=8, realm=b"temperatures")
    ring.ideal([100, 200, 300, 400], start=True)
    others = sim_ring(seed=8, realm=b"words")
    others.kernel, others.network = ring.kernel, ring.network
    others.ideal([150, 250, 350, 450], start=True)
    ring.settle(2.0)
    ring.peers[100].runtime.send(Contact(250, "peer-fa:1"), Reunite(Contact(100, "peer-64:1")))
    ring.peers[100].node._watch.remember(Contact(250, "peer-fa:1"))
    ring.settle(20.0)
    assert (ring.flaws(), others.flaws()) == ([], [])


def test_lost_contacts_are_probed_one_at_a_time_and_slowly(sim_ring: Any) -> None:
    ring = sim_ring(seed=9, coded=False)
    nodes = ring.ideal(ids_of(ring, 12), start=True)
    ring.settle(3.0)
    for node in nodes[4:]:
        ring.crash(node.contact.id)
    ring.settle(20.0)
    assert ring.flaws() == []
    before = [len(node._watch.remembered) for node in ring.members]
    assert min(before) >= 6
    ring.network.frames.clear()
    ring.settle(100.0)
    probes = ring.network.frames["FindPredecessor"]
    assert 4 * 100.0 / 5.5 < probes < 4 * 100.0 / 2.5
    assert [len(node._watch.remembered) for node in ring.members] == before


def test_a_contact_is_forgotten_once_each_finds_the_other_at_its_place(sim_ring: Any) -> None:
    ring = sim_ring(seed=10, coded=False)
    nodes = ring.ideal(ids_of(ring, 12), start=True)
    ring.settle(3.0)
    nodes[3]._watch.remember(nodes[9].contact)
    assert len(nodes[3]._watch.remembered) == 1
    ring.settle(2.0)
    assert len(nodes[3]._watch.remembered) == 0


def test_a_peer_that_its_ring_has_forgotten_is_brought_back(sim_ring: Any) -> None:
    """It knows the ring but not its own predecessor, and does not look by itself."""
    ring = sim_ring(seed=12, coded=False)
    nodes = ring.ideal(range(1000, 17000, 1000), start=True)
    forgotten = ring.add(5500)
    forgotten.install(nodes[3].contact, [node.contact for node in nodes[5:13]])
    ring.settle(10.0)
    assert nodes[4].successors[0] != forgotten.contact
    nodes[10]._watch.remember(forgotten.contact)
    check_one_ring(ring)


def test_a_search_through_somebody_who_refuses_changes_nothing(sim_ring: Any) -> None:
    ring = sim_ring(seed=11, coded=False)
    ring.ideal([100, 200, 300, 400], start=True)
    asked: list[object] = []

    def refuse(_: Contact, message: object, __: float) -> object:
        asked.append(type(message))
        raise Fault("LimitExceeded", "not today")

    mute = ring.add(150)
    ring.peers[150].runtime.serve(refuse, lambda _: None)
    del ring.peers[150]
    ring.peers[300].runtime.send(Contact(200, "peer-c8:1"), Reunite(mute.contact))
    ring.settle(5.0)
    assert ring.flaws() == []
    assert FindPredecessor in asked


def test_a_ring_wound_twice_round_is_unwound_though_somebody_is_dead(sim_ring: Any) -> None:
    """Whoever was lost, and stays away, is remembered for a day by all who knew it."""
    ring = sim_ring(seed=13, coded=False, place_check_interval_s=10.0)
    nodes = ring.ideal(ids_of(ring, 24))
    dead = Contact(nodes[0].contact.id + 1, "nowhere:1")
    winding = [*nodes[::2], *nodes[1::2]]
    for at, node in enumerate(winding):
        after = [winding[(at + step) % 24].contact for step in range(1, 9)]
        node.install(winding[at - 1].contact, after)
    for node in nodes:
        node.start()
        node.remember(dead)
    assert ring.flaws()
    check_one_ring(ring)
