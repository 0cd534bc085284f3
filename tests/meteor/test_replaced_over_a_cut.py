"""A replace whose old place cannot be reached is finished once it can, by its client's peer.

The client was told that it is incomplete.  Who has the new content need have no part in the old
place, and would never know: both versions stayed for good, and whoever cancelled the record where
it had been left the new one behind.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from itertools import permutations

import pytest

from meteor import Client, Incomplete, Profile, profile
from meteor.rendezvous.asking import BURIED_WITHIN_S
from sim.overlay import SimPeer
from tests.meteor.building import draw_data
from tests.meteor.copies_world import ask, assert_whole_within, build, seeds, view_of


class Short:
    """A ring whose holders of one place are cut off for a moment, just as what lies there is
    replaced, by others whose holders are none of these."""

    def __init__(self, seed: int) -> None:
        self.overlay, self.drawn = build(seed, 16, disk_s=0.001), random.Random(seed)
        assert_whole_within(self.overlay)
        first, second, holders = self.two_places()
        self.old = self.overlay.run(self.overlay.client().store(first, b"x", ttl=7200)).id
        here = [peer for peer in self.overlay.peers if peer.contact.id in holders]
        there = [peer for peer in self.overlay.peers if peer.contact.id not in holders]
        self.here, self.there = self.client_of(here[0]), self.client_of(there[0])
        self.cut = self.overlay.faults.partition(
            [peer.contact for peer in here], [peer.contact for peer in there]
        )
        replaced = self.there.replace(self.old, second, b"y", ttl=7200, timeout=0.4)
        with pytest.raises(Incomplete) as told:
            self.overlay.run(replaced)
        assert told.value.receipt is not None
        self.new = told.value.receipt.id

    def client_of(self, peer: SimPeer) -> Client:
        return self.overlay.client(peer=self.overlay.peers.index(peer))

    def two_places(self) -> tuple[Profile, Profile, Collection[int]]:
        """With no holder in common; and the first one's."""
        client = self.overlay.client()
        found = [profile(draw_data(self.drawn)) for _ in range(60)]
        probes = [self.overlay.run(client.store(one, b"z", ttl=7200)).id for one in found]
        holders = [view_of(self.overlay, probe).holder_ids for probe in probes]
        for probe in probes:
            self.overlay.run(client.cancel(probe))
        for (first, had), (second, has) in permutations(zip(found, holders, strict=True), 2):
            if not set(had) & set(has):
                return first, second, had
        raise AssertionError("no such places")

    def heal(self) -> None:
        self.cut.heal()
        assert_whole_within(self.overlay)
        self.overlay.run_for(BURIED_WITHIN_S)


@pytest.mark.parametrize("seed", seeds(6))
def test_one_version_is_left(seed: int) -> None:
    world = Short(seed)
    world.heal()
    assert ask(world.overlay, world.here) == ({world.new}, True)


@pytest.mark.parametrize("seed", seeds(6))
def test_what_is_cancelled_at_its_old_place_meanwhile_is_at_none(seed: int) -> None:
    world = Short(seed)
    receipt = world.overlay.run(world.here.cancel(world.old, allow_partial=True))
    if not receipt.complete:  # its holders have just lost sight of the others
        world.overlay.run_for(5.0)
        receipt = world.overlay.run(world.here.cancel(world.old))
    assert receipt.matches == 1
    world.heal()
    assert ask(world.overlay, world.here) == (set(), True)
