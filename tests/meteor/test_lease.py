"""What a primary doubts stays doubted until somebody vouches for just that, whatever else ends."""

from __future__ import annotations

import random

import pytest

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
HELD_S = 0.4
"""Longer than a loop may be late, shorter than a lease."""


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


@pytest.mark.parametrize("fallen", [4, 5, 6])
@pytest.mark.parametrize("seed", [1, 2])
def test_who_is_silent_is_passed_over_until_somebody_answers(seed: int, fallen: int) -> None:
    """Whoever began a view told the next eight: one that is left of these is enough, though all
    before it fall in the moment in which a primary is back."""
    world = Doubting(seed)
    views, next_ones = world.primary.core.views, world.primary.core.node.successors
    for one in next_ones[:fallen]:
        world.overlay.faults.partition([one])
    (behind,) = (one for one in world.overlay.peers if one.contact == next_ones[fallen])
    behind.core.views.chronicle.note(world.later())
    world.overlay.run(world.lease.confirm(world.ended))
    assert not views.touching(world.ended), "it would answer with what it remembers"


@pytest.mark.parametrize("seed", [1, 2])
def test_of_question_after_question_one_alone_waits_for_who_is_silent(seed: int) -> None:
    """A primary whose copies fell is asked again and again before it has others: each of these
    questions waited for the same silent neighbours anew."""
    world = Doubting(seed)
    for one in world.primary.core.node.successors[:4]:
        world.overlay.faults.partition([one])
    views, kernel = world.primary.core.views, world.overlay.kernel
    for _ in range(3):  # the ring gives some of them up meanwhile, and names others
        world.overlay.run(world.lease.confirm(world.left))
        world.overlay.run_for(0.1)
    assert not any(view.copies for view in views.touching(world.left)), "it is alone"
    began_s = kernel.now()
    world.overlay.run(world.lease.confirm(world.left))
    assert views.touching(world.left), "it holds it still"
    assert kernel.now() - began_s < 0.05


# -- one's own loop that was late


def rested(seed: int) -> tuple[Overlay, View, SimPeer, SimPeer]:
    """A ring at rest, the view of a record, its primary and one of its copies."""
    overlay = build(seed, 6, disk_s=0.001)
    (record,) = store_some(overlay, overlay.client(), random.Random(seed), 1)
    assert_whole_within(overlay)
    overlay.run_for(2.0)
    copy, *_ = copies_of(overlay, record)
    return overlay, view_of(overlay, record), primary_of(overlay, record), copy


def test_a_primary_that_was_held_asks_before_it_answers() -> None:
    """Also for less than a lease: where it has one copy alone, that may have gone on without it."""
    overlay, view, primary, _ = rested(1)
    lease = primary.core._lease
    assert lease.in_touch(view.intervals)
    lease.pulse()
    primary.pause()
    overlay.run_for(HELD_S)
    primary.resume()
    assert not lease.in_touch(view.intervals)
    primary.runtime.lateness = lambda: 0.0  # type: ignore[method-assign]
    assert lease.in_touch(view.intervals), "nothing but its lateness speaks against it"


def test_a_copy_that_was_held_does_not_find_the_others_silent() -> None:
    """A collector pause or a late loop must not make living peers look dead: it heard nothing of
    them as it did not listen, and would have gone on alone."""
    overlay, view, _, copy = rested(1)
    lease = copy.core._lease
    copy.pause()
    overlay.run_for(1.0)
    copy.resume()
    assert not lease.is_deserted(view)
    overlay.run_for(3.0)
    assert not lease.is_deserted(view)
    for peer in overlay.peers:
        if peer is not copy and peer.contact.id in view.holder_ids:
            peer.pause()
    overlay.run_for(2.0)
    assert lease.is_deserted(view)
