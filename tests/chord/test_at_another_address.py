"""Who is back under its identifier at another address is not lost with the address that it had."""

from __future__ import annotations

from typing import Any

import pytest

from chord import identifier
from sim import Faults


@pytest.mark.parametrize("count", [4, 14])
def test_that_nobody_answers_at_its_old_address_says_nothing_of_a_peer(
    sim_ring: Any, count: int
) -> None:
    """Whoever lost it tries that address for a day, every few seconds."""
    ring = sim_ring(seed=3)
    ids = [identifier(f"peer {n}", ring.config.bits) for n in range(count)]
    ring.grow(ids)
    ring.settle(5.0)
    first, _, moved, *_ = sorted(ids)
    ring.crash(moved)
    ring.settle(8.0)  # it is found dead, and remembered
    node = ring.add(moved, "elsewhere:1")
    ring.run(node.join([ring.peers[first].node.contact]))
    node.start()
    assert ring.ideal_within_s(20.0) < 20.0
    gone = [len(peer.observer.gone) for peer in ring.peers.values()]
    for _ in range(600):
        ring.settle(0.05)
        assert ring.flaws() == []
    assert [len(peer.observer.gone) for peer in ring.peers.values()] == gone


@pytest.mark.parametrize("how", ["silent", "refused"])
@pytest.mark.parametrize("count", [4, 14])
def test_whoever_comes_back_at_another_address_waits_until_the_old_one_is_found_dead(
    sim_ring: Any, count: int, how: str
) -> None:
    """Its host is gone without a word, or it is started anew at once: nobody has missed it yet."""
    ring = sim_ring(seed=4)
    ids = [identifier(f"peer {n}", ring.config.bits) for n in range(count)]
    ring.grow(ids)
    ring.settle(5.0)
    moved = ids[2]
    if how == "silent":
        gone = ring.peers.pop(moved)
        Faults(ring.network).partition([gone.node.contact])
    else:
        ring.crash(moved)
    node = ring.add(moved, "elsewhere:1")
    ring.run(node.join([ring.peers[ids[0]].node.contact]))
    node.start()
    ring.settle(10.0)
    assert ring.flaws() == []
