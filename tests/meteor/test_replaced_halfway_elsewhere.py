"""The same where the former place is no part of the new region: who asks for that place alone is
told of nothing, nor is who asks for the new region, whose first peer has nothing."""

from __future__ import annotations

import random

import pytest

from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import ask, assert_whole_within, build, copies_of, primary_of
from tests.meteor.test_replaced_halfway import WIDE, Halfway, assert_it_was_replaced

SEEDS = [2, 3, 5, 8]
KINDS = ("oven", "fan", "door", "lam", "lan")


class Elsewhere(Halfway):
    """A point of another type, at a peer that has a part of the wide region."""

    def __init__(self, seed: int) -> None:
        self.overlay, drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
        assert_whole_within(self.overlay)
        client = self.overlay.client()
        probe = self.overlay.run(client.store(WIDE, ttl=7200)).id
        self.first = primary_of(self.overlay, probe)
        placed = self.first.core.shelf.find(("", stem_of(probe)))
        assert placed is not None
        self.overlay.run(client.cancel(probe))
        for _ in range(400):
            kind = drawn.choice(KINDS)
            degrees, percent = drawn.randrange(-40, 121), drawn.randrange(90)
            self.at = f"type={kind} temperature={degrees} humidity={percent}"
            self.old = self.overlay.run(client.store(self.at, ttl=7200)).id
            self.peer = primary_of(self.overlay, self.old)
            around = [self.peer, *copies_of(self.overlay, self.old)]
            shelf, held = self.peer.core.shelf, self.peer.core.holdings.held
            if self.first not in around and shelf.meets(placed.carried, held):
                break
            self.overlay.run(client.cancel(self.old))
        else:
            raise AssertionError("no such place in this ring: take another seed")
        self.client = self.overlay.client(peer=self.overlay.peers.index(self.peer))


@pytest.mark.parametrize("seed", SEEDS)
def test_of_both_places_one_has_it_or_is_missing(seed: int) -> None:
    world = Elsewhere(seed)
    world.replace_in_part()
    told = [ask(world.overlay, world.client, where) for where in (world.at, WIDE)]
    assert any(found or not complete for found, complete in told), told


@pytest.mark.parametrize("seed", SEEDS)
def test_word_of_an_earlier_move_from_there_does_not_count(seed: int) -> None:
    world = Elsewhere(seed)
    run = world.overlay.run
    went = run(world.client.replace(world.old, "type=oven temperature=3 humidity=3", ttl=7200))
    back = run(world.client.replace(went.id, world.at, ttl=7200))
    assert (went.complete, back.complete, back.id) == (True, True, world.old)
    world.replace_in_part()
    told = [ask(world.overlay, world.client, where) for where in (world.at, WIDE)]
    assert any(found or not complete for found, complete in told), told
    assert_it_was_replaced(world.overlay, world)
