"""Owners that are silent: who goes round them, who says so, and who must not be suspected."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Arc, ChordNode, Contact, Owner, RequestTimeout
from chord.link import SILENCE_DIAL_S, SILENCE_FLOOR_S
from chord.messages import FindOwner, Ping
from sim import Faults


def contact_of(ring: Any, node_id: int) -> Contact:
    return ring.peers[node_id].node.contact  # type: ignore[no-any-return]


def warm_ring(sim_ring: Any, **changes: Any) -> tuple[Any, ChordNode]:
    """Peers 100, 200, … 3200, whose links have been measured, and the one at 100."""
    ring = sim_ring(seed=1, bits=12, **changes)
    ring.ideal(range(100, 3300, 100), start=True)
    ring.settle(20.0)
    return ring, ring.peers[100].node


def timed_lookup(ring: Any, node: ChordNode, key: int) -> tuple[Owner, float]:
    began_s = ring.kernel.now()
    owner = ring.run(node.lookup(key))
    return owner, ring.kernel.now() - began_s


def pointers_of(ring: Any) -> list[Any]:
    return [(node.predecessor, node.successors) for node in ring.members]


def test_an_owner_names_its_heirs_and_they_are_remembered_with_its_arc(sim_ring: Any) -> None:
    ring, node = warm_ring(sim_ring)
    owner = ring.run(node.lookup(1950))
    assert owner.heirs == (contact_of(ring, 2100), contact_of(ring, 2200))
    assert not owner.suspected
    ring.run(ring.peers[1900].node.lookup(1950))
    node.learn(Owner(owner.contact, owner.arc))
    ring.peers[2000].runtime.pause()
    again, _ = timed_lookup(ring, node, 1960)
    assert again == Owner(owner.contact, owner.arc, 0, owner.heirs, suspected=True)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_number_of_heirs_is_configured(sim_ring: Any, count: int) -> None:
    ring, node = warm_ring(sim_ring, heir_count=count)
    assert [heir.id for heir in ring.run(node.lookup(1950)).heirs] == [2100, 2200, 2300][:count]


@pytest.mark.parametrize("asker", range(100, 3300, 500))
def test_a_silent_owner_is_named_with_its_heirs_within_twice_the_suspicion_time(
    sim_ring: Any, asker: int
) -> None:
    ring, _ = warm_ring(sim_ring, arc_cache_max=0)
    ring.peers[2000].runtime.pause()
    owner, took_s = timed_lookup(ring, ring.peers[asker].node, 1950)
    print(f"from {asker}: {took_s * 1e3:.1f} ms, {owner.hops} hops")
    assert (owner.contact.id, owner.suspected) == (2000, True)
    heirs = [heir.id for heir in owner.heirs]
    assert heirs in ([2100, 2200], [2100])  # whoever's list ends there knows no more
    assert 1950 in owner.arc
    assert took_s < 0.01 + max(2 * SILENCE_FLOOR_S, SILENCE_DIAL_S)
    _, again_s = timed_lookup(ring, ring.peers[asker].node, 1960)
    assert again_s < SILENCE_FLOOR_S


def test_the_predecessor_of_a_silent_owner_answers_for_it(sim_ring: Any) -> None:
    ring, _ = warm_ring(sim_ring)
    ring.peers[2000].runtime.pause()
    owner, _ = timed_lookup(ring, ring.peers[1900].node, 1950)
    heirs = (contact_of(ring, 2100), contact_of(ring, 2200))
    assert owner == Owner(contact_of(ring, 2000), Arc(1900, 2000), 0, heirs, suspected=True)


def test_in_a_ring_of_two_each_is_the_others_heir(sim_ring: Any) -> None:
    ring = sim_ring(seed=2, bits=12)
    ring.grow([1000, 2000])
    ring.settle(10.0)
    ring.peers[2000].runtime.pause()
    owner, _ = timed_lookup(ring, ring.peers[1000].node, 1500)
    assert owner.suspected
    assert owner.heirs == (contact_of(ring, 1000),)


def test_a_crashed_owner_is_not_suspected_but_replaced(sim_ring: Any) -> None:
    ring, node = warm_ring(sim_ring)
    ring.run(node.lookup(1950))
    ring.crash(2000)
    owner, took_s = timed_lookup(ring, node, 1950)
    assert (owner.contact.id, owner.suspected) == (2100, False)
    assert took_s < SILENCE_FLOOR_S


def test_suspicion_alone_moves_no_pointer_and_any_frame_takes_it_back(sim_ring: Any) -> None:
    ring, node = warm_ring(sim_ring)
    before = pointers_of(ring)
    ring.peers[2000].runtime.pause()
    for asker in range(200, 3300, 300):
        ring.run(ring.peers[asker].node.lookup(1950))
    assert ring.run(node.lookup(1950)).suspected
    ring.settle(0.5)
    ring.peers[2000].runtime.resume()
    ring.settle(0.2)
    assert pointers_of(ring) == before
    assert all(not peer.observer.gone for peer in ring.peers.values())
    for asker in range(200, 3300, 300):
        assert not ring.run(ring.peers[asker].node.lookup(1950)).suspected


def test_routes_go_round_who_is_silent(sim_ring: Any) -> None:
    ring, node = warm_ring(sim_ring, arc_cache_max=0)
    hop = node.route(1950).candidates[0]
    ring.peers[hop.id].runtime.pause()
    first, first_s = timed_lookup(ring, node, 1950)
    assert node.route(1950).candidates[0] != hop
    second, second_s = timed_lookup(ring, node, 1950)
    assert (first.contact.id, second.contact.id) == (2000, 2000)
    assert second_s < first_s
    assert second_s < SILENCE_FLOOR_S
    ring.peers[hop.id].runtime.resume()
    ring.settle(0.3)
    assert node.route(1950).candidates[0] == hop


@pytest.mark.parametrize("pause_s", [0.03, 0.35, 1.4])
def test_whoever_was_held_up_itself_suspects_nobody(sim_ring: Any, pause_s: float) -> None:
    """A collector pause must not make living peers look dead."""
    ring, node = warm_ring(sim_ring)
    before = pointers_of(ring)
    runtime = ring.peers[100].runtime
    lookups = [ring.kernel.spawn(node.lookup(key)) for key in range(150, 3250, 100)]
    runtime.pause()
    ring.settle(pause_s)
    runtime.resume()
    owners = [ring.kernel.run_until(lookup) for lookup in lookups]
    assert not any(owner.suspected for owner in owners)
    suspects = [c for c in (peer.node.contact for peer in ring.peers.values())
                if node._watch.suspects(c)]  # fmt: skip
    assert suspects == []
    ring.settle(2.0)
    assert pointers_of(ring) == before
    assert all(not peer.observer.gone for peer in ring.peers.values())


def test_a_late_loop_suspects_nobody_even_of_what_it_noticed_before(sim_ring: Any) -> None:
    ring, node = warm_ring(sim_ring)
    ring.peers[200].runtime.pause()
    assert ring.run(node.lookup(150)).suspected
    contact = contact_of(ring, 200)
    assert node._watch.suspects(contact)
    ring.peers[100].runtime.lateness = lambda: 0.05
    assert not node._watch.suspects(contact)


def test_a_silence_much_longer_than_its_own_lateness_is_anothers(sim_ring: Any) -> None:
    """Where all is busy every lookup found out anew who is dead, one after the other."""
    ring, node = warm_ring(sim_ring)
    contact = contact_of(ring, 200)
    ring.peers[100].runtime.lateness = lambda: 0.05
    ring.peers[200].runtime.pause()
    ring.run(node.lookup(150))
    assert not node._watch.suspects(contact)
    ring.settle(0.25)
    assert node._watch.suspects(contact)
    ring.peers[200].runtime.resume()
    ring.settle(0.2)
    assert not node._watch.suspects(contact)
    ring.peers[200].runtime.pause()
    ring.run(node.lookup(150))
    assert not node._watch.suspects(contact), "this silence is a new one"


def test_an_answer_that_takes_unusually_long_is_hedged_by_another_first_hop(
    sim_ring: Any,
) -> None:
    """A slow link, not a dead peer: its frames are acknowledged in time, then wait."""
    ring, node = warm_ring(sim_ring, arc_cache_max=0)
    for key in range(150, 3250, 50):
        ring.run(node.lookup(key))
    usual_s = node._lookups._patience.p99_s
    hop = node.route(1950).candidates[0]
    handlers = ring.peers[hop.id].node.handlers
    find_owner = handlers[FindOwner]

    def from_others(sender: Contact, message: object, remaining_s: float) -> object:
        return None if sender == node.contact else find_owner(sender, message, remaining_s)

    handlers[FindOwner] = from_others
    owner, took_s = timed_lookup(ring, node, 1950)
    print(f"usual {usual_s * 1e3:.1f} ms, hedged {took_s * 1e3:.1f} ms")
    assert owner.contact.id == 2000
    assert 5 * SILENCE_FLOOR_S <= took_s < 5 * SILENCE_FLOOR_S + 10 * usual_s
    assert took_s < ring.config.lookup_attempt_s


def test_a_call_without_an_answer_steers_routes_too(sim_ring: Any) -> None:
    ring, node = warm_ring(sim_ring)
    ring.peers[200].runtime.pause()
    call = node._runtime.call(contact_of(ring, 200), Ping(), 0.05)
    with pytest.raises(RequestTimeout):
        ring.run(call)
    owner, took_s = timed_lookup(ring, node, 150)
    assert owner.suspected
    assert took_s < SILENCE_FLOOR_S


def test_a_vanished_machine_is_suspected_like_a_held_process(sim_ring: Any) -> None:
    ring, _ = warm_ring(sim_ring, arc_cache_max=0)
    faults = Faults(ring.network)
    gone = contact_of(ring, 2000)
    faults.vanish(gone)
    del ring.peers[2000]
    for asker in range(100, 3300, 700):
        owner, took_s = timed_lookup(ring, ring.peers[asker].node, 1950)
        assert (owner.contact, owner.suspected) == (gone, True)
        assert took_s < 0.01 + max(2 * SILENCE_FLOOR_S, SILENCE_DIAL_S)
    ring.settle(5.0)
    owner, _ = timed_lookup(ring, ring.peers[100].node, 1950)
    assert (owner.contact.id, owner.suspected) == (2100, False)


@pytest.mark.parametrize("late_s", [0.0, 0.05])
def test_of_two_silent_neighbours_soon_somebody_alive_is_named(
    sim_ring: Any, late_s: float
) -> None:
    """Also where all loops are busy: lookups waited twice as long each time, then went round the
    ring, and questions for two seconds and more with them."""
    ring, _ = warm_ring(sim_ring)
    faults = Faults(ring.network)
    for peer in ring.peers.values():
        peer.runtime.lateness = lambda: late_s
    for gone in (2000, 2100):
        faults.vanish(contact_of(ring, gone))
        del ring.peers[gone]
    longest_s = 0.0
    for step in range(12):
        asker = sorted(ring.peers)[7 * step % len(ring.peers)]
        for key in (1950, 2050):
            owner, took_s = timed_lookup(ring, ring.peers[asker].node, key)
            longest_s = max(longest_s, took_s)
        ring.settle(0.03)
    print(f"longest {longest_s:.3f} s")
    assert longest_s < 0.25
    assert owner.contact.id in (2100, 2200)
    assert {heir.id for heir in owner.heirs} & set(ring.peers)


def test_a_list_that_became_short_does_not_reach_round_the_ring(sim_ring: Any) -> None:
    """Who named itself as heir of the last of it was asked in that one's stead, in vain."""
    ring, _ = warm_ring(sim_ring)
    node = ring.peers[1700].node
    for gone in (1800, 1900):
        node._pointers.drop(contact_of(ring, gone))
    last = node.successors[-1]
    known = node._lookups._forwarding._known_arc_of(last, last.id - 50)
    ring.settle(0.1)
    assert known is None


@pytest.mark.parametrize(("key", "owner_id"), [(1950, 2000), (2050, 2100), (2950, 3000)])
def test_whoever_is_before_a_key_does_not_answer_for_who_is_before_him(
    sim_ring: Any, key: int, owner_id: int
) -> None:
    """Its owner was silent, so a lookup came to the one before that: he named his own silent
    predecessor, and a question went there for most of a second."""
    ring, node = warm_ring(sim_ring)
    for silent in (1800, 2000):
        ring.peers[silent].runtime.pause()
    lookup = FindOwner(key, node.contact, 12345, hops=1, to_owner=True)

    async def named() -> Owner:
        reply = node._runtime.expect(("lookup", 12345), 1.0)
        node._runtime.send(contact_of(ring, 1900), lookup)
        return await reply  # type: ignore[no-any-return]

    assert ring.run(named()).contact.id == owner_id
