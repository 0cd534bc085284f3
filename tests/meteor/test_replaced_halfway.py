"""What takes the place of its former version lies in a wide region, whose first peer cannot be
reached: nobody tells of it, and where the former one was is a part of the new region, and has that.
"""

from __future__ import annotations

import random

import pytest

from meteor import Incomplete
from meteor.rendezvous.finishing import WAITED_S
from meteor.wire.record_id import stem_of
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from squid import HandOn, Intervals, Work
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    copies_of,
    index_of,
    primary_of,
)

WIDE = "type=lamp temperature=-40..120"


class Halfway:
    """A point at a peer that has a part of the wide region, of which another one has the first."""

    tries = 50

    @staticmethod
    def draw(drawn: random.Random) -> str:
        """Where it is."""
        return f"type=lamp temperature={drawn.randrange(-40, 121)} humidity={drawn.randrange(90)}"

    def __init__(self, seed: int) -> None:
        self.overlay, drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
        assert_whole_within(self.overlay)
        client = self.overlay.client()
        probe = self.overlay.run(client.store(WIDE, ttl=7200)).id
        self.first = primary_of(self.overlay, probe)
        placed = self.first.core.shelf.find(("", stem_of(probe)))
        assert placed is not None
        self.overlay.run(client.cancel(probe))
        for _ in range(self.tries):
            self.at = self.draw(drawn)
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

    def is_at(self, peer: SimPeer) -> str:
        """Under which id it shows there."""
        placed = peer.core.shelf.find(("", stem_of(self.old)))
        return "" if placed is None else placed.carried.id

    def replace_in_part(self) -> None:
        """The first peer of the new region cannot take it, as one that waits for its copies."""
        point = self.first.core.point
        answer = point.answer
        point.answer = lambda _, part: Work(missing=part)  # type: ignore[method-assign,assignment]
        with pytest.raises(Incomplete):
            self.overlay.run(self.client.replace(self.old, WIDE, ttl=7200, timeout=0.4))
        point.answer = answer  # type: ignore[method-assign]
        assert self.is_at(self.peer) not in {"", self.old}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_it_is_found_by_one_of_both_or_said_to_be_missing(seed: int) -> None:
    world = Halfway(seed)
    world.replace_in_part()
    found, complete = ask(world.overlay, world.client)
    assert found or not complete
    assert_it_was_replaced(world.overlay, world)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_it_is_finished_though_its_client_is_gone(seed: int) -> None:
    world = Halfway(seed)
    world.replace_in_part()
    world.overlay.run(world.client.close())
    assert_it_was_replaced(world.overlay, world)


def assert_it_was_replaced(overlay: Overlay, world: Halfway) -> None:
    overlay.run_for(15.0)
    found, complete = ask(overlay, overlay.client())
    assert (found, complete) == ({world.is_at(world.peer)}, True)
    assert found != {world.old}
    assert all(len(peer.core.point.halfway) == 0 for peer in overlay.peers)


def test_what_is_given_up_while_a_question_waits_for_the_second_half_is_not_answered_for() -> None:
    """It may be taken in by whoever has it now, and laid down here, before the wait is over."""
    world = Halfway(1)
    world.replace_in_part()
    point, holdings, works = world.peer.core.point, world.peer.core.holdings, list[Work]()
    perform = point.perform

    async def performed(share: HandOn, part: Intervals) -> Work:
        works.append(await perform(share, part))
        return works[-1]

    point.perform = performed  # type: ignore[method-assign]
    asked = world.overlay.kernel.spawn(world.client.retrieve(world.at, allow_partial=True).all())
    world.overlay.run_for(0.05)
    assert not works, "it waits"
    index = index_of(world.old)
    holdings.give(((index, index),), copies_of(world.overlay, world.old)[0].contact)
    world.overlay.run_for(WAITED_S)
    assert works[0].undone == ((index, index),)
    asked.cancel()
