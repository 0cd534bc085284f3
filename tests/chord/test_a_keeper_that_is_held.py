"""Who keeps the list of a small ring is held just as it is asked to take somebody in: the others
have another keeper within seconds, and the joiner asks that one."""

from __future__ import annotations

from typing import Any

import pytest

from chord import ChordConfig

HELD_S = 20.0


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("preset", ["lan", "wan"])
@pytest.mark.parametrize("seed", range(1, 4))
def test_a_joiner_does_not_wait_for_it_alone(
    sim_ring: Any, seed: int, preset: str, count: int
) -> None:
    ring = sim_ring(seed, getattr(ChordConfig, preset)())
    ring.grow(range(100, 100 * (count + 1), 100))
    ring.settle(5.0)
    known = [node.contact for node in ring.members]
    joiner = ring.add(350)
    join = ring.peers[350].runtime.spawn(joiner.join(known))
    before = ring.network.frames["Enter"]
    while ring.network.frames["Enter"] == before:
        ring.settle(0.0001)
    keeper = ring.peers.pop(100)
    keeper.runtime.pause()
    ring.kernel.run_until(join)
    joiner.start()
    assert ring.ideal_within_s(HELD_S) < HELD_S
    keeper.runtime.resume()
    ring.peers[100] = keeper
    assert ring.ideal_within_s(30.0) < 30.0
