"""A peer of another space stands where one of the ring has just fallen: it is no member, and what
it has to do with copies of ours is refused: an index of its space means something else."""

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


OF_ONE_SHAPE = KeywordSpace("another", SPACE.dimensions)
TYPES = ("ant", "bee", "cat", "dog", "hen", "kite", "light", "mole", "owl", "pig", "rat", "yak")


@pytest.mark.parametrize("peers", [4, 6, 12])
@pytest.mark.parametrize("seed", range(1, 5))
def test_nothing_of_ours_goes_to_it(seed: int, peers: int) -> None:
    """Where its indexes are as wide as ours the two were merged as of one ring: it answered its own
    clients with what we keep."""
    ids = [(2 * number + 1) * (1 << 160) // (2 * peers) for number in range(peers)]
    overlay = Overlay(codec=wire_codec(), peers=peers, space=SPACE, seed=seed, ids=ids)
    client, stored = overlay.client(), set[str]()

    def store_of_each_type() -> None:
        for number, name in enumerate(TYPES):
            profile = f"type={name} temperature={number + len(stored)}"
            stored.add(overlay.run(client.store(profile)).id)

    store_of_each_type()
    fell = overlay.peers[2]
    fell.crash()
    overlay.space = OF_ONE_SHAPE
    stranger = SimPeer(overlay, fell.contact, MemoryJournal())
    overlay.kernel.spawn(stranger.core.start())
    store_of_each_type()
    overlay.run_for(20.0)
    assert len(stranger.core.shelf.store) == 0
    found = [overlay.run(client.retrieve(f"type={name}")) for name in TYPES]
    assert {match.id for matches in found for match in matches} == stored
