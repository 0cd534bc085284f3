"""Founding, forming, joining and leaving, on real nodes over a simulated network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log2
from typing import Any

import pytest

from chord import Arc, ChordConfig, Contact, DialRefused, JoinRefused, LookupFailed

WHOLE = (1 << 16) - 1


def ids_of(ring: Any, count: int) -> list[int]:
    return list(ring.kernel.random("ids").sample(range(1 << ring.config.bits), count))


def join_at_once(ring: Any, node_ids: Sequence[int], by: Contact) -> None:
    """All of them join concurrently."""
    joins = [ring.peers[i].runtime.spawn(ring.peers[i].node.join([by])) for i in node_ids]
    for join in joins:
        ring.kernel.run_until(join)


def test_a_founder_owns_the_whole_ring(sim_ring: Any) -> None:
    ring = sim_ring(bits=16)
    node = ring.add(40)
    assert node.arc is None
    assert not node.owns(3)
    ring.run(node.found())
    assert node.arc == Arc(40, 40)
    assert node.arc.is_whole
    assert node.forming
    assert node.owns(3)
    assert (node.predecessor, node.successors) == (None, ())
    assert ring.peers[40].observer.arcs == [(None, Arc(40, 40))]


def test_every_join_leaves_an_ideal_ring_behind_without_any_periodic_work(sim_ring: Any) -> None:
    ring = sim_ring(seed=1, bits=16)
    founder, *others = ids_of(ring, 24)
    ring.run(ring.add(founder).found())
    for count, node_id in enumerate(others, start=2):
        node = ring.add(node_id)
        ring.run(node.join([Contact.at(f"peer-{founder:x}:1")]))
        assert ring.peers[node.successors[0].id].node.predecessor == node.contact
        assert ring.peers[node.predecessor.id].node.successors[0] == node.contact
        ring.settle(0.05)
        assert ring.flaws() == []
        assert node.forming == (count <= ring.config.successor_count)


@pytest.mark.parametrize("count", [2, 9, 10, 16, 64])
@pytest.mark.parametrize("seed", range(3))
def test_concurrent_joins_make_an_ideal_ring_at_once(sim_ring: Any, count: int, seed: int) -> None:
    print(f"seed={seed}")
    ring = sim_ring(seed=seed, bits=32)
    founder, *others = ids_of(ring, count)
    ring.run(ring.add(founder).found())
    for node_id in others:
        ring.add(node_id)
    join_at_once(ring, others, Contact.at(f"peer-{founder:x}:1"))
    print(f"{count} peers joined in {ring.kernel.now():.3f} s")
    ring.settle(0.1)
    assert ring.flaws() == []
    assert ring.kernel.now() < 1.0


def test_fingers_follow_the_growth_of_the_ring(sim_ring: Any) -> None:
    ring = sim_ring(seed=2, bits=32)
    ring.grow(ids_of(ring, 40))
    ring.settle(5.0)
    assert ring.flaws(fingers=True) == []


def test_arcs_tile_the_ring_and_every_change_was_told(sim_ring: Any) -> None:
    ring = sim_ring(seed=3, bits=16)
    ring.grow(ids_of(ring, 20), start=False)
    ring.settle(0.1)
    owned = sorted(key for node in ring.members for key in node.arc.segments(16))
    assert owned[0][0] == 0
    assert owned[-1][1] == WHOLE
    assert all(low == high + 1 for (_, high), (low, _) in pairwise(owned))
    for peer in ring.peers.values():
        arcs = peer.observer.arcs
        assert arcs[0][0] is None
        assert arcs[-1][1] == peer.node.arc
        assert all(before == now for (_, now), (before, _) in pairwise(arcs))
        assert all(before != now for before, now in arcs)


def test_a_joiner_tries_its_contacts_in_turn(sim_ring: Any) -> None:
    ring = sim_ring(bits=16)
    ring.grow([5, 9])
    node = ring.add(7)
    ring.run(node.join([Contact.at("nobody:1"), Contact.at("peer-9:1")]))
    assert node.arc == Arc(5, 7)


def test_a_joiner_without_any_answer_says_so_at_once(sim_ring: Any) -> None:
    ring = sim_ring(bits=16)
    node = ring.add(7)
    with pytest.raises(DialRefused):
        ring.run(node.join([Contact.at("nobody:1"), Contact.at("nowhere:1")]))
    with pytest.raises(LookupFailed, match="no contact"):
        ring.run(node.join([Contact.at(node.contact.address)]))
    assert node.arc is None


@pytest.mark.parametrize("count", [1, 4, 20])
def test_an_identifier_that_is_taken_is_refused(sim_ring: Any, count: int) -> None:
    ring = sim_ring(seed=4, bits=16)
    taken = ring.grow(ids_of(ring, count))[-1]
    first = ring.members[0].contact
    living = ring.peers.pop(taken.contact.id)
    twin = ring.add(taken.contact.id, "elsewhere:1")
    with pytest.raises(JoinRefused, match=f"{taken.contact.id:x} belongs to"):
        ring.run(twin.join([Contact.at(first.address)]))
    assert twin.arc is None
    ring.peers[taken.contact.id] = living
    ring.settle(0.1)
    assert ring.flaws() == []


def test_the_identifier_of_a_dead_peer_is_free(sim_ring: Any) -> None:
    ring = sim_ring(seed=5, bits=16)
    nodes = ring.grow(ids_of(ring, 20))
    ring.crash(nodes[3].contact.id)
    again = ring.add(nodes[3].contact.id, "elsewhere:1")
    ring.run(again.join([Contact.at(nodes[0].contact.address)]))
    again.start()
    ring.settle(2.0)
    assert ring.flaws() == []


@pytest.mark.parametrize("change", [{"bits": 17}, {"successor_count": 9}])
def test_other_ring_constants_are_refused(sim_ring: Any, change: dict[str, int]) -> None:
    ring = sim_ring(bits=16)
    ring.grow([5, 9])
    ring.config = ChordConfig(**{"bits": 16, **change})
    node = ring.add(7)
    with pytest.raises(JoinRefused, match="this ring has 16 bits and 8 successors"):
        ring.run(node.join([Contact.at("peer-5:1")]))


def test_a_joiner_waits_for_a_contact_that_is_no_member_yet(sim_ring: Any) -> None:
    ring = sim_ring(bits=16)
    first, second = ring.add(5), ring.add(9)
    join = ring.peers[9].runtime.spawn(second.join([first.contact]))
    ring.settle(0.2)
    ring.run(first.found())
    ring.kernel.run_until(join)
    assert ring.flaws() == []


def test_a_contact_that_never_becomes_a_member_is_given_up(sim_ring: Any) -> None:
    ring = sim_ring(bits=16, join_timeout_s=3.0)
    first, second = ring.add(5), ring.add(9)
    with pytest.raises(LookupFailed, match="no member yet"):
        ring.run(second.join([first.contact]))
    assert ring.kernel.now() < 4.0


def test_messages_per_join_and_leave_grow_slower_than_log_squared(sim_ring: Any) -> None:
    """Chord ToN 2003, theorem 3: O(log² N) messages; counted to the last frame they cause."""
    worst = 0.0
    for count in (16, 64, 256):
        ring = sim_ring(seed=count)
        stream = ring.kernel.random("ids")
        ring.ideal(stream.getrandbits(160) for _ in range(count))
        joins, leaves = [], []
        for _ in range(8):
            known = stream.choice(ring.members).contact
            node = ring.add(stream.getrandbits(160))
            ring.network.frames.clear()
            ring.run(node.join([Contact.at(known.address)]))
            ring.settle(1.0)
            joins.append(ring.network.frames.total())
            ring.network.frames.clear()
            ring.leave(stream.choice(sorted(ring.peers)))
            ring.settle(1.0)
            leaves.append(ring.network.frames.total())
            assert ring.flaws() == []
        square = log2(count) ** 2
        worst = max(worst, max(joins) / square, max(leaves) / square)
        print(
            f"N={count} join mean={sum(joins) / 8:.1f} max={max(joins)} "
            f"leave mean={sum(leaves) / 8:.1f} max={max(leaves)}"
        )
    print(f"c={worst:.2f}")
    assert worst <= 3.0


def test_leaving_repairs_both_neighbours_at_once_and_nobody_is_called_dead(sim_ring: Any) -> None:
    ring = sim_ring(seed=6, bits=16)
    ring.grow(ids_of(ring, 20), start=False)
    ring.settle(0.1)
    for node_id in sorted(ring.peers)[:15]:
        observer = ring.peers[node_id].observer
        ring.leave(node_id)
        assert observer.arcs[-1][1] is None
        ring.settle(0.05)
        assert ring.flaws() == []
    assert [peer.observer.gone for peer in ring.peers.values()] == [[]] * 5


@pytest.mark.parametrize("count", [2, 3, 8, 12])
def test_the_last_one_left_owns_everything_and_founds_anew(sim_ring: Any, count: int) -> None:
    ring = sim_ring(seed=7, bits=16)
    ring.grow(ids_of(ring, count))
    while len(ring.peers) > 1:
        ring.leave(ring.kernel.random(f"who {len(ring.peers)}").choice(sorted(ring.peers)))
    (last,) = ring.members
    assert last.arc.is_whole
    assert (last.predecessor, last.successors) == (None, ())
    assert last.forming
    node = ring.add(99)
    ring.run(node.join([last.contact]))
    assert ring.flaws() == []


def test_a_peer_that_left_may_come_back_under_its_identifier(sim_ring: Any) -> None:
    ring = sim_ring(seed=8, bits=16)
    node_ids = ids_of(ring, 20)
    ring.grow(node_ids)
    ring.leave(node_ids[4])
    node = ring.add(node_ids[4])
    ring.run(node.join([Contact.at(f"peer-{node_ids[0]:x}:1")]))
    node.start()
    ring.settle(3 * ring.config.departed_s)
    assert ring.flaws(fingers=True) == []


@pytest.mark.parametrize("crash", [True, False])
@pytest.mark.parametrize("who", range(5))
def test_a_forming_ring_goes_on_without_any_member_its_keeper_too(
    sim_ring: Any, who: int, crash: bool
) -> None:
    ring = sim_ring(seed=9, bits=16)
    node_ids = ids_of(ring, 8)
    ring.grow(node_ids[:5])
    if crash:
        ring.crash(node_ids[who])
    else:
        ring.leave(node_ids[who])
    ring.settle(0.5)
    assert ring.flaws() == []
    assert all(node.forming for node in ring.members)
    known = [node.contact for node in ring.members]
    for node_id in node_ids[5:]:
        node = ring.add(node_id)
        ring.run(node.join(known))
        ring.settle(0.1)
        assert ring.flaws() == []


def test_a_keeper_that_dies_while_others_join_strands_nobody(sim_ring: Any) -> None:
    ring = sim_ring(seed=10, bits=16)
    node_ids = ids_of(ring, 14)
    ring.grow(node_ids[:4])
    for node_id in node_ids[4:]:
        ring.add(node_id)
    known = [ring.peers[i].node.contact for i in node_ids[1:4]]
    joins = [ring.peers[i].runtime.spawn(ring.peers[i].node.join(known)) for i in node_ids[4:]]
    ring.settle(0.004)
    ring.crash(node_ids[0])
    for join in joins:
        ring.kernel.run_until(join)
    for node in ring.members:
        node.start()
    ring.settle(5.0)
    assert len(ring.members) == 13
    assert ring.flaws() == []
