"""A wall clock is set while its peer runs: what is kept lives as long as it was promised."""

from __future__ import annotations

import random

from meteor.keeping.placement import Admission, key_of
from meteor.keeping.views import Views
from sim.overlay import Overlay
from tests.meteor.copies_world import ask, assert_whole_within, build, store_some
from tests.meteor.test_shelf import EVERYTHING, World, carried

DAY_S = 86_400.0


def set_clocks(overlay: Overlay, by_s: float) -> None:
    for peer in overlay.living:
        peer.runtime.clock.wall_error_s += by_s


def test_what_was_stored_before_clocks_were_set_is_handed_over() -> None:
    """Machines without a battery for their clocks: the time comes over the network, later.  A
    joiner was given nothing of what had come before, and said that there was no more."""
    overlay = build(1, 3)
    stored = store_some(overlay, overlay.client(), random.Random(1), 12)  # for two hours
    assert_whole_within(overlay)
    set_clocks(overlay, DAY_S)
    for _ in range(3):
        overlay.run(overlay.add_peer())
    overlay.run_for(20.0)
    assert ask(overlay, overlay.client()) == (set(stored), True)


def test_what_was_stored_before_clocks_were_set_can_be_renewed() -> None:
    overlay = build(1, 3)
    (one,) = store_some(overlay, client := overlay.client(), random.Random(1), 1)
    set_clocks(overlay, DAY_S)
    assert overlay.run(client.renew(one)).matches == 1


class Set(World):
    """Its clock is set while it runs."""

    set_by_s = 0.0

    def wall_clock(self) -> float:
        return super().wall_clock() + self.set_by_s

    def left_ms(self) -> int:
        (one,) = self.restarted().page(EVERYTHING[0], 0).carried
        return one.ttl_ms


def test_what_comes_after_a_clock_was_set_is_there_after_a_restart() -> None:
    """And lives as long as it was promised, not a day more or less: no clock is wrong then."""
    for set_by_s in (DAY_S, -DAY_S):
        world = Set()
        world.set_by_s = set_by_s
        late = carried("late", "type=a temperature=2", ttl_ms=60_000)
        world.run(world.shelf.admit([late], Admission()))
        assert 59_000 < world.left_ms() <= 60_000


def test_nothing_lives_longer_as_a_clock_was_set_back() -> None:
    world = Set()
    one = carried("it", "type=a temperature=1", ttl_ms=60_000)
    world.run(world.shelf.admit([one], Admission()))
    world.set_by_s = -DAY_S
    placed = world.shelf.find(key_of(one))
    assert placed is not None
    assert world.shelf.outgoing(placed.carried).ttl_ms <= 60_000


def test_what_lies_in_the_attic_lives_as_long_as_it_was_promised() -> None:
    """Its past was lost after the clock was set, and the peer was restarted before it was found:
    all of it counted as over, and whoever was given the rest took it for everything."""
    for set_by_s in (DAY_S, -DAY_S):
        for anew in (False, True):
            world, views = Set(), Views()
            one = carried("it", "type=a temperature=1", ttl_ms=60_000)
            world.run(world.shelf.admit([one], Admission()))
            world.set_by_s = set_by_s
            lot = world.shelf.store_lot(EVERYTHING)
            world.run(world.shelf.rewrite(views) if anew else world.shelf.note(views))
            shelf = world.restarted()
            (found,) = shelf.attic.page((lot,), EVERYTHING[0], 0, shelf.outgoing).carried
            assert 59_000 < found.ttl_ms <= 60_000
