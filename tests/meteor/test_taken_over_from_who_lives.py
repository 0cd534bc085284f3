"""An heir waits for its turn, and for its copies, after it has asked whom it takes an interval over
from: meanwhile that peer comes back, and makes it a copy in a next epoch, or none any more.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from chord import Contact
from meteor import profile
from meteor.copies.footing import Footing
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Beside
from meteor.wire.view import View
from sim.simulated_peer import SimPeer
from squid import covers
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    assert_never_silently_partial,
    assert_whole_within,
    build,
    copies_of,
    index_of,
    is_shown,
    primary_of,
    store_some,
    view_of,
)

LATER = 5 << 20
"""Epochs that the heir has seen and the primary has not."""


class TakesOver:
    """An heir that waits for its turn to take over what a primary has, which lives."""

    def __init__(self) -> None:
        self.overlay, self._drawn = build(3, 7, disk_s=0.001), random.Random(3)
        self.stored = store_some(self.overlay, self.overlay.client(), self._drawn, 8)
        assert_whole_within(self.overlay)
        self.primary = primary_of(self.overlay, self.stored[0])
        self.view = view_of(self.overlay, self.stored[0])
        copies = copies_of(self.overlay, self.stored[0])
        self.heir, self.other = sorted(copies, key=self._distance)
        self._changing = self.heir.core.replication.changing
        self.heir.core.views.see(self.view.epoch + LATER)
        self.overlay.run(self._changing.enter())
        kept, others = dict(self.heir.core.views.copies), (self.other.contact,)
        take = self.heir.core._handoff._adopt(
            self.view.intervals, self.view, (*others, self.heir.contact), kept
        )
        self._takes = self.overlay.kernel.spawn(take)

    def _distance(self, peer: SimPeer) -> int:
        return int(peer.contact.id - self.primary.contact.id) % (1 << 160)

    def store_without(self, gone: SimPeer) -> str:
        """The primary, which is cut off from one of its copies, keeps something; its id."""
        self.overlay.faults.partition([self.primary.contact], [gone.contact])
        change = self.primary.core.replication.change(self.view.number, without=[gone.contact])
        assert self.overlay.run(change)
        self.overlay.run_for(1.0)
        client = self.overlay.client(peer=self.overlay.living.index(self.primary))
        while True:
            data = profile(draw_data(self._drawn))
            self.stored.append(self.overlay.run(client.store(data, b"n", ttl=7200)).id)
            if covers(self.view.intervals, index_of(self.stored[-1])):
                return self.stored[-1]

    def has_its_turn(self) -> None:
        self.has_its_turn_within(0.0)
        self.has_begun()

    def has_its_turn_within(self, seconds: float) -> None:
        self._changing.leave()
        self.overlay.run_for(seconds)

    def has_begun(self) -> None:
        self.overlay.kernel.run_until(self._takes)

    def assert_nothing_is_silently_absent(self) -> None:
        away = next(one for one in self.overlay.living if one.contact not in self.view.holders)
        client = self.overlay.client(peer=self.overlay.living.index(away))
        for _ in range(10):
            assert_never_silently_partial(self.overlay, client, self.stored)
            self.overlay.run_for(1.0)


def test_what_was_kept_in_an_epoch_that_began_as_an_heir_waited_is_not_forgotten_with_it() -> None:
    """It was at the primary and the heir, which fall; the heir's copy had not been in that epoch,
    and answered without a word for an interval that the heir had taken over from the one before."""
    world = TakesOver()
    stored = world.store_without(world.other)
    assert is_shown(world.heir, stored)
    world.primary.crash()
    world.has_its_turn()
    assert not is_shown(world.other, stored)
    world.heir.crash()
    world.assert_nothing_is_silently_absent()


def test_an_heir_that_went_on_with_who_came_back_asks_again() -> None:
    world = TakesOver()
    stored = world.store_without(world.other)
    world.primary.crash()
    world.has_its_turn()
    assert_whole_within(world.overlay)
    assert is_shown(primary_of(world.overlay, stored), stored)
    world.assert_nothing_is_silently_absent()


def test_what_the_primary_says_as_a_copy_told_it_is_heard_when_the_heir_begins() -> None:
    """The copy had not been told of a next epoch, and is slow to write; nobody else was asked."""
    world = TakesOver()
    assert world.overlay.disk is not None
    world.overlay.disk.write_latency_s = 0.1
    world.primary.crash()
    world.has_its_turn_within(0.01)
    assert not world.heir.core.views.touching(world.view.intervals)
    later = replace(world.view, epoch=world.view.epoch + 1, copies=())
    world.heir.core._handoff.rivals.handlers[Beside](later.primary, Beside(later), 0.0)
    world.has_begun()
    assert world.heir.core.holdings.lost == world.view.intervals


ANN, BOB = Contact(1, "10.0.0.1:1"), Contact(2, "10.0.0.2:1")
KEPT = View(ANN, 4, 4, ((0, 9),), (BOB,))
MINE = View(BOB, 7, 7, ((0, 4),), ())


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        (KEPT, True),
        (replace(KEPT, intervals=((0, 4),)), True),
        (replace(KEPT, intervals=((5, 9),)), False),
        (replace(KEPT, epoch=5), False),
    ],
)
def test_what_is_kept_for_others_counts_as_far_as_a_view_is_of_it(now: View, holds: bool) -> None:
    views = Views.of(BOB)
    views.put(KEPT)
    before, either_way = Footing(views, MINE, dict(views.copies)), Footing(views, MINE, None)
    views.drop(KEPT.key)
    views.put(now)
    assert before.holds() == holds
    assert either_way.holds()
    views.learn(now)
    assert not before.holds(), "it is just being filled"


def test_another_heir_is_passed_over_or_gone_before() -> None:
    """Both kept it, and are each other's copies: one of them goes on."""
    theirs = View(Contact(3, "10.0.0.3:1"), 6, 6, ((0, 9),), (BOB,))
    views = Views.of(BOB)
    views.put(KEPT)
    footing = Footing(views, MINE, dict(views.copies))
    assert footing.beside() == []
    views.put(theirs)
    assert footing.holds()
    assert footing.beside() == [replace(theirs, intervals=MINE.intervals)]
    views.learn(replace(theirs, number=8, epoch=8))
    assert not footing.holds()


def test_own_views_count() -> None:
    views = Views.of(BOB)
    footing = Footing(views, MINE, None)
    views.own[MINE.number] = MINE
    assert not footing.holds()
