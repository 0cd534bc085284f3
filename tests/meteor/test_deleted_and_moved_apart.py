"""A record is deleted on one side of a partition and replaced on the other: deletes win."""

from __future__ import annotations

import random

import pytest

from meteor import profile
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    index_of,
    seeds,
    store_some,
)
from tests.meteor.test_copies_apart import HEALED_WITHIN_S


class Apart:
    """A ring of nine that is cut in two, a client on either side, and a record from before."""

    def __init__(self, seed: int) -> None:
        self.overlay, self.drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
        (self.first,) = store_some(self.overlay, self.overlay.client(), self.drawn, 1)
        assert_whole_within(self.overlay)
        peers = self.drawn.sample(self.overlay.peers, 9)
        sides = peers[:4], peers[4:]
        self.clients = [
            self.overlay.client(peer=self.overlay.peers.index(side[0])) for side in sides
        ]
        self._cut = self.overlay.faults.partition(
            *([peer.contact for peer in side] for side in sides)
        )
        self.overlay.run_for(8.0)

    def heal(self) -> None:
        self._cut.heal()
        assert_whole_within(self.overlay, HEALED_WITHIN_S)
        self.overlay.run_for(10.0)


@pytest.mark.parametrize(
    ("moves", "ahead_s"), [(1, 0), (2, 0), (2, 3600), pytest.param(4, 0, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("deleted_on", [0, 1])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3, 4, 5, 11, 14, 16))]
)
def test_what_was_deleted_on_one_side_does_not_live_on_where_the_other_moved_it(
    seed: int, deleted_on: int, moves: int, ahead_s: int
) -> None:
    """The tombstone lies at its old place, and beside it the word of where it went; by a clock that
    is ahead of the peers' it was newer there than any delete, and lived on."""
    world = Apart(seed)
    overlay, drawn, first, clients = world.overlay, world.drawn, world.first, world.clients
    assert overlay.run(clients[deleted_on].cancel(first)).matches == 1
    newest = first
    clients[1 - deleted_on]._session._author._first += ahead_s * 1_000_000
    for _ in range(moves):
        moved_to = profile(draw_data(drawn))
        moved = overlay.run(clients[1 - deleted_on].replace(newest, moved_to, b"y", ttl=7200))
        assert moved.complete
        assert index_of(moved.id) != index_of(newest)
        newest = moved.id
    world.heal()
    assert ask(overlay, clients[0]) == (set(), True)


@pytest.mark.parametrize("seed", [16, 203, *seeds(1, 5)])
def test_what_both_sides_moved_is_where_the_later_one_moved_it(seed: int) -> None:
    """Nobody who comes by its old place is led to the other one: copies kept differing about it."""
    world = Apart(seed)
    overlay, drawn, first, clients = world.overlay, world.drawn, world.first, world.clients
    for client in clients:
        moved = overlay.run(client.replace(first, profile(draw_data(drawn)), b"y", ttl=7200))
        assert moved.complete
        overlay.run_for(0.1)
    world.heal()
    assert ask(overlay, clients[0]) == ({moved.id}, True)
