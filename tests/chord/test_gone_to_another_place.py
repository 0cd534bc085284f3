"""Who was down while the others went to other places of the ring, at the addresses that they have,
finds them by these: nobody has an identifier any more that it knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chord import AnotherAnswers, Contact
from chord.place_search import PlaceSearch, TryAgain
from chord.resuming import Standing
from sim import Faults
from tests.chord.test_resuming import come_back, ids_of, lose_power

AT_ONCE_S = 1.0
"""Less than the patience of who comes back."""


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


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("seed", range(1, 7))
def test_of_those_that_wake_together_one_founds(sim_ring: Any, seed: int, count: int) -> None:
    """All were down.  The lowest knows the others by former identifiers alone, and they know it; it
    waited for them as they for it, until all lost patience at once.  At times two began rings then,
    and each acknowledged what the other one did not know."""
    ring = sim_ring(seed=seed)
    lowest, *ids = sorted(ids_of(ring, count))
    ring.grow([lowest, *ids])
    ring.settle(5.0)
    first = ring.peers[lowest]
    ring.crash(lowest)
    ring.settle(10.0)
    all_move(ring, ids)
    others = [one for one in lose_power(ring) if one.node.contact.id > lowest]
    ring.settle(1.0)

    async def wake(peer: Any) -> bool:
        node = ring.bring_back(peer)
        known = [first.node.contact] if peer is not first else []
        was_there: bool = await node.resume(peer.kept[-1], known)
        node.start()
        return was_there

    began_s = ring.kernel.now()
    tasks = [ring.kernel.spawn(wake(peer)) for peer in (first, *others)]
    found = [ring.kernel.run_until(task) for task in tasks]
    assert found == [False] + [True] * len(others)
    assert ring.kernel.now() - began_s < AT_ONCE_S


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


def test_it_is_asked_at_the_address_that_this_peer_knows(
    sim_ring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is there may call itself by another one, at which not everybody reaches it."""
    ring = sim_ring(seed=1)
    first, *_ = ring.grow(ids_of(ring, 4))
    known, asked = Contact(7, "its-name:1"), []

    async def ask(_: PlaceSearch, contact: Contact) -> object:
        asked.append(contact)
        if contact == known:
            raise AnotherAnswers("gone", Contact(9, "another-name:1", 3))
        raise TryAgain

    monkeypatch.setattr(PlaceSearch, "ask", ask)
    found = ring.run(first._resuming._ask(known))
    assert asked == [known, Contact(9, known.address, 3)]
    assert found == (asked[-1], Standing.WAKING)


@pytest.mark.parametrize("times", [1, 2])
def test_a_peer_that_probes_one_that_moved_twice_goes_on(
    sim_ring: Any, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """A call to another one who was at that address was just found to be in vain, and this one on
    its link with it: the peer closed itself."""
    ring = sim_ring(seed=1)
    ids = ids_of(ring, 4)
    first, *_ = ring.grow(ids)
    gone = replace(ring.peers[ids[2]].node.contact, id=7)
    first._watch.remember(gone)
    ask, refused = PlaceSearch.ask, []

    async def ask_again(search: PlaceSearch, contact: Contact) -> object:
        if contact.address == gone.address and len(refused) < times:
            refused.append(contact)
            raise AnotherAnswers("gone")
        return await ask(search, contact)

    monkeypatch.setattr(PlaceSearch, "ask", ask_again)
    ring.run(first._reunion._probe(gone))
    assert refused == [gone, Contact.at(gone.address)][:times]
    assert (gone.id in first._watch.remembered) == (times > 1)
