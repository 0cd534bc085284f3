"""Rings of one name that were founded at once find each other, by what they find on the network."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from meteor import KeywordSpace, MeteorError, Number
from meteor.rendezvous.company import ALONE_S, RARELY_S, seek_company
from sim.overlay import Overlay
from sim.ring_look import ring_flaws
from sim.simulated_peer import SimPeer
from tests.meteor.building import SPACE
from tests.meteor.copies_world import ask, store_some

OTHER = KeywordSpace("other", [Number("x", 0, 1)], bits=8)


class Network:
    """What multicast shows of an overlay."""

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay
        self.questions = 0
        self.fails = False

    async def find(self) -> Sequence[str]:
        self.questions += 1
        await self.overlay.kernel.sleep(2.0)
        if self.fails:
            raise MeteorError("no network")
        return sorted(peer.address for peer in self.overlay.living)

    def show_to(self, *peers: SimPeer, space: KeywordSpace = SPACE) -> None:
        for peer in peers:
            core = peer.core
            peer.runtime.spawn(seek_company(peer.runtime, core.node, space, self.find))


def found_another(overlay: Overlay) -> SimPeer:
    """A peer that saw nobody when it started."""
    peer = overlay.new_peer()
    overlay.run(peer.core.start())
    return peer


def rings(overlay: Overlay) -> int:
    """How many peers are alone, and 1 for all others."""
    alone = sum(not peer.core.node.successors for peer in overlay.living)
    return alone + (alone < len(overlay.living))


@pytest.mark.parametrize("seed", range(1, 5))
def test_peers_that_each_founded_a_ring_become_one_with_all_that_they_have(seed: int) -> None:
    print(f"seed {seed}")
    overlay, drawn = Overlay(1, space=SPACE, seed=seed), random.Random(seed)
    peers = [overlay.peers[0], found_another(overlay), found_another(overlay)]
    stored = [
        one
        for number in range(3)
        for one in store_some(overlay, overlay.client(peer=number), drawn, 4)
    ]
    overlay.run_for(60.0)
    assert rings(overlay) == 3
    network = Network(overlay)
    network.show_to(*peers)
    overlay.run_for(30.0)
    assert rings(overlay) == 1
    assert not ring_flaws(overlay)
    overlay.run_for(15.0)
    assert ask(overlay, overlay.client()) == (set(stored), True)


def test_two_rings_of_several_become_one_later() -> None:
    overlay = Overlay(3, space=SPACE)
    first = found_another(overlay)
    second = overlay.new_peer()
    overlay.run(second.core.start([first.contact]))
    overlay.run_for(10.0)
    assert rings(overlay) == 1
    assert ring_flaws(overlay), "nobody is alone, and it is one ring nevertheless"
    Network(overlay).show_to(*overlay.peers)
    overlay.run_for(2 * RARELY_S)
    assert not ring_flaws(overlay)


@pytest.mark.long
def test_who_is_not_alone_hardly_looks() -> None:
    overlay = Overlay(4, space=SPACE)
    network = Network(overlay)
    network.show_to(*overlay.peers)
    overlay.run_for(4 * RARELY_S)
    assert 0 < network.questions <= 4 * 8
    assert not ring_flaws(overlay)


def test_a_network_that_is_away_is_asked_again() -> None:
    overlay = Overlay(1, space=SPACE)
    other = found_another(overlay)
    network = Network(overlay)
    network.fails = True
    network.show_to(overlay.peers[0], other)
    overlay.run_for(10 * ALONE_S)
    assert network.questions > 4
    assert rings(overlay) == 2
    network.fails = False
    overlay.run_for(30.0)
    assert rings(overlay) == 1


def test_a_ring_of_another_space_stays_another_ring() -> None:
    overlay = Overlay(1, space=SPACE)
    other = found_another(overlay)
    Network(overlay).show_to(overlay.peers[0], other, space=OTHER)
    overlay.run_for(20 * ALONE_S)
    assert rings(overlay) == 2
