"""A copy is evicted while its primary has given part of the view, and the taker has not begun.

The copies that stay keep the part until then: giver, taker and the evicted copy may fall together,
and what is left of the view goes on under a number of its own meanwhile.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import meteor
from chord import Contact
from meteor.copies.giving import Giving
from meteor.wire.copy_messages import Instate
from meteor.wire.operations import TakeOver, Yours
from meteor.wire.view import View
from sim.overlay import Overlay, SimPeer
from squid import Interval, intersect, subtract
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    crash,
    seeds,
    store_some,
)
from tests.meteor.test_handoff_race import Taker, assert_all_comes_back

SPACE = meteor.KeywordSpace("evicted", [meteor.Number("x", 0, 100)], bits=8)


class Given:
    """A giver whose taker stands still before it begins."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.overlay, drawn = build(seed, 8, disk_s=0.002), random.Random(seed)
        self.stored = store_some(self.overlay, self.overlay.client(), drawn, 20)
        assert_whole_within(self.overlay)
        commit, given = Giving._commit, list[tuple[SimPeer, SimPeer, Any]]()

        async def and_see_it_stall(giving: Giving, part: Any, taker: Contact, view: Any) -> Yours:
            copies = [one for own in giving._views.touching(part) for one in own.copies]
            reply = await commit(giving, part, taker, view)
            if not given:
                stalled = self.peer(taker)
                stalled.pause()
                giver = next(one for one in self.overlay.living
                             if one.core._handoff._giving is giving)  # fmt: skip
                given.append((giver, stalled, (part, copies)))
            return reply

        monkeypatch.setattr(Giving, "_commit", and_see_it_stall)
        self.overlay.kernel.spawn(self.overlay.add_peer())
        while not given:
            self.overlay.run_for(0.01)
        ((self.giver, self.taker, (self.part, copies)),) = given
        self.copies = [self.peer(one) for one in copies]

    def peer(self, contact: Contact) -> SimPeer:
        """Whose contact it is."""
        return next(one for one in self.overlay.peers if one.contact == contact)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("seed", seeds(2))
def test_giver_taker_and_a_copy_that_was_evicted_meanwhile_take_nothing_with_them(
    seed: int, which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of four: the copy that stayed let go of the part with the other one's eviction."""
    given = Given(seed, monkeypatch)
    evicted = given.copies[which]
    given.overlay.run(given.giver.core.replication.evict(evicted.contact))
    given.overlay.run_for(0.2)
    crash(given.giver, given.taker, evicted)
    stays = given.copies[1 - which]
    client = given.overlay.client(peer=given.overlay.living.index(stays))
    assert_all_comes_back(given.overlay, client, given.stored)


@pytest.mark.parametrize("seed", seeds(1, 6))
def test_a_copy_that_falls_while_part_is_given_takes_nothing_with_it_either(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The taker goes on, and all is as if nobody had been evicted."""
    given = Given(seed, monkeypatch)
    crash(given.copies[0])
    given.overlay.run(given.giver.core.replication.evict(given.copies[0].contact))
    given.taker.resume()
    assert_whole_within(given.overlay, 30)
    assert ask(given.overlay, given.overlay.client()) == (set(given.stored), True)


class HalfGiven:
    """A giver of four peers that has given half of what it holds to a taker by hand."""

    def __init__(self) -> None:
        self.overlay = Overlay(peers=5, space=SPACE)
        self.overlay.run_for(5.0)
        peers = self.overlay.peers
        self.giver = next(peer for peer in peers if len(peer.core.views.own) == 1)
        (self.own,) = self.giver.core.views.own.values()
        (first, last), *_ = self.own.intervals
        self.part, self.left = (first, (first + last) // 2), ((first + last) // 2 + 1, last)
        self.taken = self.give(1, self.part)

    def give(self, number: int, part: Interval) -> tuple[Taker, View]:
        """Give a part; the taker, and the view that it has not begun."""
        taker = Taker(self.overlay, number, part)
        taker.giver = self.giver.contact
        self.overlay.run(taker.freeze())
        assert taker.frozen is not None
        (own,) = self.giver.core.views.touching((part,))
        epoch = own.epoch + (9 << 20)
        view = View(taker.runtime.contact, epoch, epoch, (part,), (self.giver.contact,))
        given = self.overlay.run(taker.ask(TakeOver(part, taker.frozen.grant, view)))
        assert isinstance(given, Yours)
        return taker, view

    def begin(self, taken: tuple[Taker, View]) -> None:
        """The taker begins what it was given."""
        taker, view = taken
        self.overlay.run(taker.ask(Instate(view)))
        self.overlay.run_for(1.0)

    def evict(self, contact: Contact) -> None:
        """As if that copy were silent."""
        self.overlay.run(self.giver.core.replication.evict(contact))
        self.overlay.run_for(0.1)

    def keeping(self, part: Interval) -> set[Contact]:
        """Who keeps all of it whole for the giver."""
        giver_id = self.giver.contact.id
        return {
            one.contact for one in self.overlay.peers if one is not self.giver
            and not subtract((part,), one.core.views.kept_for(giver_id, whole=True))
        }  # fmt: skip

    def mentioning(self, part: Interval) -> set[Contact]:
        """Who keeps anything of it for the giver."""
        giver_id = self.giver.contact.id
        return {
            one.contact for one in self.overlay.peers if one is not self.giver
            and intersect((part,), one.core.views.kept_for(giver_id, whole=False))
        }  # fmt: skip


def test_what_is_left_goes_on_without_a_copy_and_the_part_is_kept_till_it_began() -> None:
    world = HalfGiven()
    gone, stays = world.own.copies
    world.evict(gone)
    (view,) = world.giver.core.views.touching((world.left,))
    assert view.copies == (stays,)
    assert world.keeping(world.part) == {gone, stays}
    assert world.keeping(world.left) == {stays}
    world.begin(world.taken)
    assert not world.mentioning(world.part)
    world.overlay.run_for(5.0)
    assert_whole_for(world)


def test_more_that_is_given_of_what_went_on_is_kept_as_well() -> None:
    """A second gift, and a second eviction: each part lasts until all that was given began."""
    world = HalfGiven()
    gone, stays = world.own.copies
    world.evict(gone)
    first, last = world.left
    more = (first, (first + last) // 2)
    again = world.give(2, more)
    world.evict(stays)
    assert world.keeping(world.part) == {gone, stays}
    assert world.keeping(more) >= {stays}
    world.begin(world.taken)
    world.begin(again)
    assert not world.mentioning(world.part) | world.mentioning(more)
    world.overlay.run_for(5.0)
    assert_whole_for(world)


def test_two_that_are_evicted_at_once_are_both_gone_though_the_view_has_another_number() -> None:
    """The second eviction waited while the first let the view go on under that: named still, its
    copy would lack what is acknowledged without it."""
    world = HalfGiven()
    replication, kernel = world.giver.core.replication, world.overlay.kernel
    world.overlay.run(replication.changing.enter())
    both = [kernel.spawn(replication.evict(one)) for one in world.own.copies]
    world.overlay.run_for(0.1)  # both wait for their turn
    replication.changing.leave()
    for task in both:
        kernel.run_until(task)
    (view,) = world.giver.core.views.touching((world.left,))
    assert not set(view.copies) & set(world.own.copies)
    assert world.keeping(world.part) == set(world.own.copies)


def assert_whole_for(world: HalfGiven) -> None:
    """What the giver holds has all its copies again."""
    for view in world.giver.core.views.own.values():
        assert len(view.copies) == 2
        for interval in view.intervals:
            assert world.keeping(interval) >= set(view.copies)
