"""A peer of another space stands where one of the ring has just fallen: it is no member."""

from __future__ import annotations

import pytest

from meteor import KeywordSpace, MemoryJournal
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from tests.meteor.building import SPACE

ANOTHER = KeywordSpace.from_toml(
    'name = "x"\n[[dimensions]]\nname = "a"\nkind = "number"\nlow = 0\nhigh = 9\n'
)


@pytest.mark.parametrize("peers", [3, 12])
@pytest.mark.parametrize("seed", range(1, 4))
def test_answers_are_complete_without_it(seed: int, peers: int) -> None:
    """It was a member, and what the fallen one had was missing for as long as it stayed."""
    overlay = Overlay(codec=wire_codec(), peers=peers, space=SPACE, seed=seed)
    client = overlay.client()
    stored = {overlay.run(client.store(f"type=probe temperature={one}")).id for one in range(10)}
    fell = overlay.peers[-1]
    fell.crash()
    overlay.space = ANOTHER
    stranger = SimPeer(overlay, fell.contact, MemoryJournal())
    overlay.run(stranger.core.start())
    overlay.run_for(20.0)
    assert stranger.core.node.predecessor is None
    assert {match.id for match in overlay.run(client.retrieve("type=probe"))} == stored
