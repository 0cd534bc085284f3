"""Who has taken its leave comes back by no search that was still under way."""

from __future__ import annotations

from typing import Any

from chord import identifier
from chord.messages import Reunite


def test_a_member_alone_that_leaves_as_it_looks_for_its_place_stays_away(sim_ring: Any) -> None:
    ring = sim_ring(seed=1)
    ids = [identifier(f"peer {n}", ring.config.bits) for n in range(12)]
    members = ring.ideal(ids, start=True)
    for pause_s in (0.0005, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.006):
        alone = ring.add(identifier(f"alone {pause_s}", ring.config.bits))
        ring.run(alone.found())
        alone.start()
        ring.peers[members[0].contact.id].runtime.send(alone.contact, Reunite(members[0].contact))
        ring.settle(pause_s)
        ring.run(alone.leave())
        arcs = ring.peers[alone.contact.id].observer.arcs
        assert arcs[-1][1] is None
        ring.settle(5.0)
        assert not alone.joined, f"it had left {pause_s} s after it was told"
        assert arcs[-1][1] is None
        assert all(alone.contact not in member.successors for member in members)


def test_nor_does_it_by_the_keeper_of_a_ring_that_is_forming(sim_ring: Any) -> None:
    ring = sim_ring(seed=1)
    (founder,) = ring.grow([identifier("founder", ring.config.bits)])
    for pause_s in (0.0005, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.006):
        alone = ring.add(identifier(f"alone {pause_s}", ring.config.bits))
        ring.run(alone.found())
        alone.start()
        ring.peers[founder.contact.id].runtime.send(alone.contact, Reunite(founder.contact))
        ring.settle(pause_s)
        ring.run(alone.leave())
        assert not alone.joined
        ring.settle(5.0)
        assert not alone.joined, f"it had left {pause_s} s after it was told"
        assert founder.successors == ()


def test_who_has_left_may_join_again(sim_ring: Any) -> None:
    ring = sim_ring(seed=1)
    founder, other = ring.grow([identifier(f"peer {n}", ring.config.bits) for n in range(2)])
    ring.run(other.leave())
    ring.settle(6.0)
    ring.run(other.join([founder.contact]))
    assert other.joined
