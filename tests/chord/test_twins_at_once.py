"""Two peers that come to a small ring at once under one identifier: a data directory was copied."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Contact, RingError
from tests.chord.conftest import SimPeer


@pytest.mark.parametrize("later_s", [0.0, 0.001, 0.002])
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_small_ring_takes_one_of_them_in(sim_ring: Any, seed: int, later_s: float) -> None:
    """Who came while the first was being installed took its place in the list, and both were told
    that they are members."""
    ring = sim_ring(seed=seed)
    ring.grow([100, 200, 300, 400])
    ring.settle(5.0)
    founder = ring.peers[100].node.contact
    twins = [SimPeer(ring, Contact(350, address)) for address in ("one:1", "other:1")]

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
    assert sorted(ring.kernel.run_until(join) for join in joins) == [False, True]
