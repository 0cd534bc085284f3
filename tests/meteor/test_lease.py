"""What a primary doubts stays doubted until somebody vouches for just that, whatever else ends."""

from __future__ import annotations

import random

from chord import Contact
from meteor.keeping.holdings import Intervals
from meteor.wire.copy_messages import Instate
from meteor.wire.view import View
from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    index_of,
    primary_of,
    store_some,
    view_of,
)

ELSEWHERE = Contact(5, "10.9.9.9:1")
CUT_S = 1.3
"""Longer than a lease, shorter than the silence after which the ring names another owner."""


class Doubting:
    """A primary that heard of none of its copies for longer than a lease, and its two halves."""

    def __init__(self, seed: int) -> None:
        self.overlay: Overlay = build(seed, 8, disk_s=0.001)
        (record,) = store_some(self.overlay, self.overlay.client(), random.Random(seed), 1)
        assert_whole_within(self.overlay)
        self.overlay.run_for(2.0)
        self.primary: SimPeer = primary_of(self.overlay, record)
        self.view, self.copies = view_of(self.overlay, record), copies_of(self.overlay, record)
        (first, last), *_ = (i for i in self.view.intervals if i[0] <= index_of(record) <= i[1])
        middle = (first + last) // 2
        self.ended: Intervals = ((first, middle),)
        self.left: Intervals = ((middle + 1, last),)
        self.lease = self.primary.core._lease
        copies = [one.contact for one in self.copies]
        cut = self.overlay.faults.partition([self.primary.contact], copies)
        self.overlay.run_for(CUT_S)
        cut.heal()
        assert self.primary.core.holdings.held, "somebody else has taken it over already"
        assert not self.lease.in_touch(self.left)

    def later(self) -> View:
        """Somebody else has the one half by now."""
        return View(ELSEWHERE, 7, self.view.epoch + (1 << 30), self.ended, ())


def test_the_doubt_of_the_rest_is_kept_as_a_part_ends() -> None:
    """It goes on under another number: who has the rest may be known to others, and another peer
    than the one that has the part."""
    world = Doubting(1)
    views = world.primary.core.views
    world.copies[0].runtime.send(world.primary.contact, Instate(world.later()))
    while views.touching(world.ended):
        world.overlay.run_for(0.0001)
    assert views.touching(world.left)
    assert not world.lease.in_touch(world.left)
    world.lease.pulse()
    assert not world.lease.in_touch(world.left)
    world.overlay.run(world.lease.confirm(world.left))
    assert world.lease.in_touch(world.left)


def test_the_doubt_of_all_is_not_over_as_somebody_vouches_for_a_part() -> None:
    """A question about one half was asked; that of the other half may be answered after that only
    if it was asked as well."""
    world = Doubting(1)
    for one in world.copies:
        one.core.views.end(world.later())
        one.core.views.remember(world.later())
    world.overlay.run(world.lease.confirm(world.left))
    assert world.primary.core.views.touching(world.left)
    stale = world.primary.core.views.touching(world.ended)
    assert not stale or not world.lease.in_touch(world.ended)
    world.overlay.run_for(1.0)


def test_who_lost_all_its_copies_asks_those_behind_them() -> None:
    """The ring named the fallen ones for some time yet, and as nobody else was asked, nobody spoke
    against what a primary remembered that had slept meanwhile."""
    world = Doubting(1)
    for one in world.copies:
        world.overlay.faults.partition([one.contact])
    views, node = world.primary.core.views, world.primary.core.node
    fallen = {one.contact.id for one in world.copies}
    assert {one.id for one in node.successors[:2]} == fallen
    (behind,) = (one for one in world.overlay.peers if one.contact == node.successors[2])
    behind.core.views.chronicle.note(world.later())
    world.overlay.run(world.lease.confirm(world.ended))
    assert {one.id for one in node.successors[:2]} == fallen, "it knows by now who fell"
    assert not views.touching(world.ended)
