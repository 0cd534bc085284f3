"""Two peers that come to a small ring at once under one identifier: a data directory was copied."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact, RingError
from tests.chord.conftest import SimPeer


def come_at_once(ring: Any, own_id: int, later_s: float) -> list[bool]:
    """Whether each of the two became a member."""
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
    return sorted(ring.kernel.run_until(join) for join in joins)


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
