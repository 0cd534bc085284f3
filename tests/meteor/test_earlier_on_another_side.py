"""Both sides of a cut answered for an interval, and on one of them it was given to a new peer: what
that took over was of a later epoch than the other side's view, and has nothing of it all the same.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from chord import Contact
from meteor import Client, MeteorError, profile
from meteor.wire.copy_messages import Beside
from sim.simulated_peer import SimPeer
from squid import covers, intersect
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    copies_of,
    index_of,
    primary_of,
    store_some,
    view_of,
)
from tests.meteor.test_brief_views import SETTLED
from tests.meteor.test_rivals import AnsweredBeside

MEETS_WITHIN_S = 30.0
ROUNDS = 8
"""In how many later epochs a side goes on: more than the other one had meanwhile."""


class TwoSides:
    """A primary and one of its copies, and all others; a new peer joins these in its arc."""

    def __init__(self, seed: int) -> None:
        self.overlay, self._drawn = build(seed, 10, disk_s=0.001), random.Random(seed)
        first = store_some(self.overlay, self.overlay.client(), self._drawn, 8)
        assert_whole_within(self.overlay)
        self.primary = primary_of(self.overlay, first[0])
        self.view = view_of(self.overlay, first[0])
        self.stored = [one for one in first if covers(self.view.intervals, index_of(one))]
        heir, other = sorted(copies_of(self.overlay, first[0]), key=self._distance)
        joins = Contact(self.primary.contact.id - 1, f"10.0.0.{len(self.overlay.peers) + 1}:7400")
        left = [self.primary.contact, other.contact]
        right = [peer.contact for peer in self.overlay.peers if peer.contact not in left]
        self.cut = self.overlay.faults.partition(left, [*right, joins])
        self.overlay.run_for(6.0)
        self._store(self.overlay.client(peer=self.overlay.living.index(self.primary)))
        change = heir.core.replication.change
        for _ in range(ROUNDS):
            for mine in heir.core.views.touching(self.view.intervals):
                self.overlay.run(change(mine.number, settled=True))
        self.joined = self.overlay.run(self.overlay.add_peer(joins.id))
        assert self.joined.contact == joins

    def _distance(self, peer: SimPeer) -> int:
        return int(peer.contact.id - self.primary.contact.id) % (1 << 160)

    def _store(self, client: Client) -> None:
        """Something in the view of the primary."""
        while True:
            try:
                data = profile(draw_data(self._drawn))
                one = self.overlay.run(client.store(data, b"n", ttl=7200, timeout=2)).id
            except MeteorError:
                continue  # it is the other side's
            if covers(self.view.intervals, index_of(one)):
                self.stored.append(one)
                return

    def meet(self) -> None:
        """The cut is over, until the primary gave up, and whoever has the interval heard so."""
        self.cut.heal()
        ends_s = self.overlay.kernel.now() + MEETS_WITHIN_S
        while intersect(self.primary.core.holdings.held, self.view.intervals):
            assert self.overlay.kernel.now() < ends_s
            self.overlay.run_for(0.01)
        self.overlay.run_for(0.01)


@pytest.mark.parametrize("seed", [1, 5])
def test_what_the_other_side_kept_in_an_earlier_epoch_is_named_once_they_meet(seed: int) -> None:
    """With seed 5 the primary hears of whoever gave the interval to the one that has it now."""
    sides = TwoSides(seed)
    (mine,) = sides.joined.core.views.touching(sides.view.intervals)
    adopted = sides.joined.core.replication.adopted.latest(mine.number)
    assert adopted > max(view.epoch for view in sides.primary.core.views.own.values())
    sides.meet()
    named = sides.joined.core.holdings.lost
    shown = {placed.carried.id for placed in sides.joined.core.shelf.table}
    absent = [one for one in sides.stored if one not in shown]
    assert all(covers(named, index_of(one)) for one in absent)
    ends_s = sides.overlay.kernel.now() + MEETS_WITHIN_S
    while sides.joined.core.holdings.lost:
        assert sides.overlay.kernel.now() < ends_s
        sides.overlay.run_for(0.1)
    client = sides.overlay.client(peer=sides.overlay.living.index(sides.joined))
    found, _ = ask(sides.overlay, client)
    assert set(sides.stored) <= found


@pytest.mark.parametrize("whose", ["own", "given", "other"])
def test_who_answered_until_now_is_a_rival_unless_just_that_was_taken_over(whose: str) -> None:
    world = AnsweredBeside()
    (number,) = world.peer.core.views.own
    (mine,) = world.peer.core.views.own.values()
    adopted = world.peer.core.replication.adopted
    if whose == "given":
        adopted.note_given(mine, world.stranger.contact, world.adopted)
    assert adopted.latest(number) == world.adopted
    world.say(copies=(), epoch=world.adopted - (whose != "own"))
    assert world.unknown == ((world.interval,) if whose == "other" else ())


@pytest.mark.parametrize("shown", [True, False])
def test_what_a_brief_view_stands_for_is_not_here_by_a_later_epoch_of_somebody_elses(
    shown: bool,
) -> None:
    world = AnsweredBeside()
    epoch = world.adopted - 1
    if shown:
        world.peer.core.views.taken_in.note(SETTLED.primary.id, epoch, (world.interval,))
    world.say(copies=(), settled=replace(SETTLED, epoch=epoch, intervals=(world.interval,)))
    assert world.unknown == (() if shown else (world.interval,))


def test_who_gave_an_interval_says_what_it_heard_of_another_one_that_had_it() -> None:
    """Its copies are asked what they had as well; of anybody else it is not believed."""
    world = AnsweredBeside()
    world.say(primary=SETTLED.primary)
    assert world.unknown == ()
    beside = world.stranger.view((world.interval,), 1 << 40)
    world.copy().runtime.send(world.peer.contact, Beside(beside))
    world.overlay.run_for(0.1)
    assert world.unknown == (world.interval,)
