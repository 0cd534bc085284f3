"""A founder that is back before it was missed, and knows of nobody: its disk is new, or damaged."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("count", [2, 4, 14])
def test_whoever_asked_it_before_it_was_a_member_again_looks_for_it(
    sim_ring: Any, count: int
) -> None:
    """That it is no member was taken for a good-bye: there were two rings from then on."""
    ring = sim_ring(seed=5)
    ids = [100 * n for n in range(1, count + 1)]
    ring.grow(ids)
    ring.settle(5.0)
    peer = ring.peers[100]
    ring.crash(100)
    node = ring.bring_back(peer)
    ring.settle(3.0)  # it reads what its disk has
    ring.run(node.found())
    node.start()
    ring.settle(30.0)
    assert len(ring.members) == count
    assert ring.flaws() == []
