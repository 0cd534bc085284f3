"""Two peers that come to a ring at once under one identifier: a data directory was copied."""

from __future__ import annotations

from typing import Any

import pytest

from chord import CallError, Contact, RingError
from chord.messages import SuccessorsChanged
from sim.faults import Faults, FrameFaults
from tests.chord.conftest import SimPeer


def come_at_once(ring: Any, own_id: int, later_s: float) -> list[bool]:
    """Whether each of the two became a member."""
    return sorted(twin.node.joined for twin in twins_at_once(ring, own_id, later_s))


def twins_at_once(ring: Any, own_id: int, later_s: float) -> list[SimPeer]:
    """The two, each a member or told that it is none."""
    founder = ring.peers[100].node.contact
    twins = [SimPeer(ring, Contact(own_id, address)) for address in ("one:1", "other:1")]

    async def come(twin: SimPeer, pause_s: float) -> bool:
        await twin.runtime.sleep(pause_s)
        try:
            await twin.node.join([founder])
        except RingError:
            return False
        twin.node.start()
        return True

    pauses = zip(twins, (0.0, later_s), strict=True)
    joins = [ring.kernel.spawn(come(twin, pause_s)) for twin, pause_s in pauses]
    came = [ring.kernel.run_until(join) for join in joins]
    assert came == [twin.node.joined for twin in twins]
    return twins


@pytest.mark.parametrize("later_s", [0.0, 0.001, 0.002])
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_small_ring_takes_one_of_them_in(sim_ring: Any, seed: int, later_s: float) -> None:
    """Who came while the first was being installed took its place in the list, and both were told
    that they are members."""
    ring = sim_ring(seed=seed)
    ring.grow([100, 200, 300, 400])
    ring.settle(5.0)
    assert come_at_once(ring, 350, later_s) == [False, True]


@pytest.mark.parametrize("later_s", [0.0, 0.002, 0.02, 0.05, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(1, 11))
def test_it_does_so_as_who_had_that_identifier_has_just_fallen(
    sim_ring: Any, seed: int, later_s: float
) -> None:
    """The first was taken in before the one that fell was struck off; striking that off struck it
    off, too, and the other was taken in beside it."""
    ring = sim_ring(seed=seed)
    ring.grow([100, 200, 300, 400])
    ring.settle(5.0)
    ring.crash(300)
    assert come_at_once(ring, 300, later_s) == [False, True]


@pytest.mark.parametrize("later_s", [0.0, 0.001, 0.002, 0.005, 0.02, 0.1, 1.0])
@pytest.mark.parametrize("fell", [False, True])
@pytest.mark.parametrize("seed", range(1, 6))
def test_so_does_a_larger_ring_and_both_neighbours_mean_the_same_one(
    sim_ring: Any, seed: int, fell: bool, later_s: float
) -> None:
    """There is no keeper: both joined behind the same peer, and both stayed members of one arc; the
    one was that peer's successor, the other the predecessor of who comes next."""
    ring = sim_ring(seed=seed)
    ring.grow(range(100, 1300, 100))
    ring.settle(5.0)
    own_id, before = (300, 200) if fell else (350, 300)
    if fell:
        ring.crash(300)
    twins = twins_at_once(ring, own_id, later_s)
    ring.settle(20.0)
    (member,) = [twin.node.contact for twin in twins if twin.node.joined]
    assert ring.peers[before].node.successors[0] == member
    assert ring.peers[400].node.predecessor == member


@pytest.mark.parametrize("fell", [False, True])
@pytest.mark.parametrize("seed", range(1, 21))
def test_so_does_it_where_frames_are_lost(sim_ring: Any, seed: int, fell: bool) -> None:
    """What came late from the peer before them was taken for a sign that it is gone."""
    ring = sim_ring(seed=seed)
    ring.grow(range(100, 1300, 100))
    ring.settle(5.0)
    if fell:
        ring.crash(300)
    faults = Faults(ring.network)
    faults.frames = FrameFaults(loss=0.1)
    twins = twins_at_once(ring, 300 if fell else 350, 0.001)
    ring.settle(20.0)
    faults.frames = None
    ring.settle(20.0)
    assert sorted(twin.node.joined for twin in twins) == [False, True]


def test_so_does_the_peer_before_them_that_has_not_missed_who_fell(sim_ring: Any) -> None:
    ring = sim_ring(seed=1)
    nodes = ring.ideal(range(100, 1300, 100))
    before, after = nodes[1], nodes[2].successors
    before.install(before.predecessor, (Contact(300, "fell:1"), *after))
    twins = [SimPeer(ring, Contact(300, address)) for address in ("one:1", "other:1")]

    async def introduce(twin: SimPeer) -> bool:
        try:
            await twin.runtime.call(before.contact, SuccessorsChanged(after, 1), 1.0)
        except CallError:
            return False
        return True

    told = [ring.kernel.spawn(introduce(twin)) for twin in twins]
    assert sorted(ring.kernel.run_until(one) for one in told) == [False, True]
    ring.settle(1.0)
