"""Restarts under the same identifier: of one peer, and of a whole ring that lost power."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact, JoinRefused, RingState, replace


def ids_of(ring: Any, count: int) -> list[int]:
    stream = ring.kernel.random("ids")
    return [stream.getrandbits(ring.config.bits) for _ in range(count)]


def lose_power(ring: Any) -> list[Any]:
    """All crash at once; what is left of them."""
    peers = [ring.peers[i] for i in sorted(ring.peers)]
    for peer in peers:
        ring.crash(peer.node.contact.id)
    return peers


def come_back(ring: Any, peer: Any, after_s: float = 0.0) -> Any:
    """The conversation in which a crashed peer starts again; its value is what `resume` says."""

    async def resume() -> bool:
        await ring.kernel.sleep(after_s)
        node = ring.bring_back(peer)
        was_there: bool = await node.resume(peer.kept[-1])
        node.start()
        return was_there

    return ring.kernel.spawn(resume())


def test_what_is_kept_are_the_ring_pointers_and_whom_one_knew(sim_ring: Any) -> None:
    ring = sim_ring(seed=1)
    nodes = ring.grow(ids_of(ring, 24))
    ring.settle(10.0)
    for node in nodes:
        state: RingState = ring.peers[node.contact.id].kept[-1]
        assert state.contact == node.contact
        assert (state.predecessor, state.successors) == (node.predecessor, node.successors)
        assert not state.alone
        assert {state.predecessor, *state.successors} <= set(state.contacts)


def test_the_state_is_given_when_it_changes_and_not_too_often(sim_ring: Any) -> None:
    ring = sim_ring(seed=2, state_interval_s=2.0)
    nodes = ring.grow(ids_of(ring, 20))
    ring.settle(5.0)
    counts = [len(ring.peers[node.contact.id].kept) for node in nodes]
    assert max(counts) <= 1 + 5.0 / 2.0
    ring.settle(60.0)
    assert [len(ring.peers[node.contact.id].kept) for node in nodes] == counts


def test_a_founder_nobody_has_joined_is_alone_and_founds_again(sim_ring: Any) -> None:
    ring = sim_ring(seed=3, bits=16)
    ring.run(ring.add(40).found())
    ring.settle(1.0)
    (peer,) = lose_power(ring)
    assert peer.kept[-1].alone
    assert ring.kernel.run_until(come_back(ring, peer)) is False
    assert ring.peers[40].node.arc.is_whole


@pytest.mark.parametrize("count", [2, 5, 16])
@pytest.mark.parametrize("down_s", [0.0, 0.3, 20.0])
def test_a_restarted_peer_takes_its_place_again(sim_ring: Any, count: int, down_s: float) -> None:
    ring = sim_ring(seed=4)
    ring.grow(ids_of(ring, count))
    ring.settle(3.0)
    peer = ring.peers[sorted(ring.peers)[count // 2]]
    ring.crash(peer.node.contact.id)
    ring.settle(down_s)
    assert ring.kernel.run_until(come_back(ring, peer)) is True
    again = ring.peers[peer.node.contact.id].node.contact
    assert (again.id, again.incarnation) == (peer.node.contact.id, 1)
    ring.settle(10.0)
    assert ring.flaws(fingers=True) == []


def test_a_peer_that_only_one_of_its_old_acquaintances_outlived_finds_the_ring(
    sim_ring: Any,
) -> None:
    ring = sim_ring(seed=5)
    ids = ids_of(ring, 30)
    ring.grow(ids[:16])
    ring.settle(3.0)
    peer = ring.peers[ids[3]]
    ring.crash(ids[3])
    for node_id in ids[16:]:
        node = ring.add(node_id)
        ring.run(node.join([ring.members[0].contact]))
        node.start()
    acquaintances = [contact.id for contact in peer.kept[-1].contacts]
    for node_id in acquaintances[:-1]:
        ring.crash(node_id)
        ring.settle(1.0)
    assert ring.kernel.run_until(come_back(ring, peer)) is True
    ring.settle(10.0)
    assert ring.flaws() == []


@pytest.mark.parametrize("seed", range(20))
def test_a_ring_that_lost_power_is_one_ring_again_though_one_stays_away(
    sim_ring: Any, seed: int
) -> None:
    print(f"seed={seed}")
    ring = sim_ring(seed=seed, coded=False)
    ring.grow(ids_of(ring, (16, 16, 5, 9)[seed % 4]))
    ring.settle(5.0)
    peers = lose_power(ring)
    stream = ring.kernel.random("order")
    stream.shuffle(peers)
    span_s = (0.0, 0.5, 5.0, 30.0)[seed // 4 % 4]
    backs = [come_back(ring, peer, stream.uniform(0, span_s)) for peer in peers[1:]]
    was_there = [ring.kernel.run_until(back) for back in backs]
    took_s = ring.ideal_within_s(30.0)
    print(f"{was_there.count(False)} founded; ideal {took_s:.2f} s after the last had started")
    assert ring.flaws() == []
    assert len(ring.members) == len(peers) - 1
    ring.settle(10.0)
    assert ring.flaws() == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
def test_a_larger_ring_that_lost_power_is_one_ring_again(sim_ring: Any, seed: int) -> None:
    ring = sim_ring(seed=seed, coded=False)
    ring.ideal(ids_of(ring, 100), start=True)
    ring.settle(20.0)
    peers = lose_power(ring)
    stream = ring.kernel.random("order")
    stream.shuffle(peers)
    backs = [come_back(ring, peer, stream.uniform(0, 10.0)) for peer in peers[1:]]
    for back in backs:
        ring.kernel.run_until(back)
    assert ring.ideal_within_s(30.0) < 30.0


def test_of_those_that_wake_together_one_goes_first_and_nobody_waits_for_ever(
    sim_ring: Any,
) -> None:
    """The lowest identifier is there but never becomes a member."""
    ring = sim_ring(seed=6, bits=16)
    ring.grow([100, 200, 300])
    ring.settle(3.0)
    peers = lose_power(ring)
    ring.bring_back(peers[0])
    began_s = ring.kernel.now()
    backs = [come_back(ring, peer) for peer in peers[1:]]
    assert [ring.kernel.run_until(back) for back in backs].count(False) >= 1
    waited_s = ring.kernel.now() - began_s
    assert ring.config.resume_patience_s <= waited_s < ring.config.resume_patience_s + 1.0
    ring.settle(1.0)
    assert ring.flaws() == []


def test_of_those_that_wake_together_the_others_join_the_first_at_once(sim_ring: Any) -> None:
    ring = sim_ring(seed=6, bits=16)
    ring.grow([100, 200, 300, 400])
    ring.settle(3.0)
    peers = lose_power(ring)
    began_s = ring.kernel.now()
    backs = [come_back(ring, peer) for peer in peers]
    assert [ring.kernel.run_until(back) for back in backs].count(False) == 1
    assert ring.kernel.now() - began_s < ring.config.resume_patience_s / 2
    assert ring.flaws() == []


def test_whoever_goes_on_alone_finds_those_that_it_knew_though_they_know_nobody(
    sim_ring: Any,
) -> None:
    ring = sim_ring(seed=6, bits=16)
    ring.grow([100, 200])
    ring.settle(3.0)
    peers = lose_power(ring)
    other = ring.bring_back(peers[0])
    assert ring.kernel.run_until(come_back(ring, peers[1])) is False
    ring.run(other.found())  # its data directory is gone
    ring.settle(10.0)
    assert ring.flaws() == []


def test_an_identifier_that_another_address_has_taken_is_refused(sim_ring: Any) -> None:
    ring = sim_ring(seed=7, bits=16)
    ring.grow([100, 200, 300])
    ring.settle(3.0)
    peer = ring.peers[200]
    ring.crash(200)
    ring.settle(1.0)
    ring.run(ring.add(200, "elsewhere:1").join([ring.peers[100].node.contact]))
    usurper = ring.peers[200]
    with pytest.raises(JoinRefused, match="belongs to elsewhere:1"):
        ring.run(ring.bring_back(peer).resume(peer.kept[-1]))
    ring.peers[200] = usurper


def test_contacts_given_by_address_alone_help_too(sim_ring: Any) -> None:
    ring = sim_ring(seed=8, bits=16)
    ring.grow([100, 200])
    ring.settle(3.0)
    peer = ring.peers[200]
    ring.crash(200)
    ring.settle(1.0)
    ring.run(ring.add(300).join([Contact.at("peer-64:1")]))
    ring.crash(100)
    ring.settle(1.0)
    node = ring.bring_back(peer)
    assert ring.run(node.resume(peer.kept[-1], [Contact.at("peer-12c:1")])) is True
    ring.settle(1.0)
    assert ring.flaws() == []


@pytest.mark.parametrize("knows_its_list", [False, True])
def test_nobody_names_a_former_life_of_who_is_back(sim_ring: Any, knows_its_list: bool) -> None:
    """Who had it from the list of somebody that had not missed it named it as it was for good, and
    whoever keeps copies there counted on one that is gone (drawn rings that grow, 66)."""
    ring = sim_ring(seed=1)
    ids = sorted(ids_of(ring, 12))
    ring.grow(ids)
    ring.settle(10.0)
    peer = ring.peers[ids[5]]
    ring.crash(ids[5])
    ring.kernel.run_until(come_back(ring, peer))
    ring.settle(10.0)
    back, before = ring.peers[ids[5]].node, ring.peers[ids[4]].node
    assert before.successors[0] == back.contact != peer.node.contact
    pointers = before._pointers
    version = back._pointers.successors.version if knows_its_list else -1
    pointers.adopt(peer.node.contact, pointers.successors.contacts[1:], version)
    assert before.successors[0] == peer.node.contact
    ring.settle(20.0)
    for one in ring.members:
        assert peer.node.contact not in one.successors
    assert before.successors[0] == back.contact


@pytest.mark.parametrize("seed", range(1, 7))
def test_of_those_that_wake_one_that_nobody_else_knows_is_found(sim_ring: Any, seed: int) -> None:
    """It was the last that came, and goes first: it asks the others, who learn of it by that.  They
    began a ring of their own, and each of the two acknowledged what the other did not know."""
    ring = sim_ring(seed=seed)
    lowest, *ids = sorted(ids_of(ring, 5))
    ring.grow(ids)
    ring.settle(5.0)
    others = lose_power(ring)
    state = replace(others[0].kept[-1], contact=Contact(lowest, f"peer-{lowest:x}:1"))
    began_s = ring.kernel.now()

    async def wake() -> bool:
        node = ring.add(lowest)
        was_there: bool = await node.resume(state, [peer.node.contact for peer in others])
        node.start()
        return was_there

    tasks = [ring.kernel.spawn(wake()), *(come_back(ring, peer) for peer in others)]
    found = [ring.kernel.run_until(task) for task in tasks]
    assert found == [False] + [True] * len(others)
    assert ring.kernel.now() - began_s < 1.0
