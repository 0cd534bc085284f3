"""A copy that is cut off, evicted, and back when nobody is left who could tell it so."""

from __future__ import annotations

import random

import pytest

from chord import replace
from meteor import profile
from meteor.copies.adopted import Adopted
from meteor.wire.view import View
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    COPIES,
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    primary_of,
    seeds,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger

GRACE_S = 8.0
"""After this an heir has taken as lost what nobody answers for."""


class CutOff:
    """Something was stored, and something deleted, while one copy was cut off."""

    def __init__(self, seed: int) -> None:
        self.overlay: Overlay = build(seed, 9, disk_s=0.001)
        drawn = random.Random(seed)
        probe = profile(draw_data(drawn))
        client = self.overlay.client()
        self.early = self.overlay.run(client.store(probe, b"early", id="early", ttl=7200)).id
        self.deleted = self.overlay.run(client.store(probe, b"x", id="deleted", ttl=7200)).id
        assert_whole_within(self.overlay)
        self.client = client_away_from(self.overlay, self.early)
        self.primary = primary_of(self.overlay, self.early)
        self.evicted = drawn.choice(copies_of(self.overlay, self.early))
        others = [peer.contact for peer in self.overlay.peers if peer is not self.evicted]
        self.cut = self.overlay.faults.partition([self.evicted.contact], others)
        assert self.overlay.run(self.client.cancel(self.deleted)).matches == 1
        self.late = self.overlay.run(self.client.store(probe, b"late", id="late", ttl=7200)).id
        assert not view_of(self.overlay, self.early).has_copy(self.evicted.contact.id)

    @property
    def expected(self) -> set[str]:
        return {self.early, self.late}

    def copies(self) -> list[SimPeer]:
        """Whoever has everything that was acknowledged, as its primary may not know yet."""
        key = view_of(self.overlay, self.early).key
        return [
            peer for peer in self.overlay.living
            if peer is not self.evicted
            and (copy := peer.core.views.copies.get(key)) is not None
            and (copy.whole or peer.core.shelf.find(("", "late")) is not None)  # just being filled
        ]  # fmt: skip

    def witnesses(self) -> list[SimPeer]:
        """Who knows of the view and is none of its holders."""
        view = view_of(self.overlay, self.early)
        return [
            peer for peer in self.overlay.living
            if view.key in peer.core.views.copies and not view.has_copy(peer.contact.id)
            and peer is not self.evicted
        ]  # fmt: skip


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_who_was_evicted_while_cut_off_does_not_take_its_epoch_for_the_last(seed: int) -> None:
    """The others, and whoever is a copy in its stead already, fall before it is back: what they
    acknowledged is named, and comes back with them."""
    world = CutOff(seed)
    fallen = [world.primary, *world.copies()]
    crash(*fallen)
    world.cut.heal()
    ends_s = world.overlay.kernel.now() + GRACE_S
    while world.overlay.kernel.now() < ends_s:
        complete = assert_never_silently_partial(world.overlay, world.client, world.expected)
        world.overlay.run_for(0.2)
    assert not complete
    for peer in fallen:
        world.overlay.run(world.overlay.restart(peer))
    assert_whole_within(world.overlay, 60)
    assert ask(world.overlay, world.client) == (world.expected, True)


@pytest.mark.parametrize("seed", seeds(2))
def test_as_many_know_of_an_epoch_as_there_should_be_copies(seed: int) -> None:
    """Until the copies are there: then nobody else need know."""
    world = CutOff(seed)
    holders = view_of(world.overlay, world.early).holder_ids
    assert len(holders) + len(world.witnesses()) >= COPIES
    world.cut.heal()
    assert_whole_within(world.overlay)
    world.overlay.run_for(1.0)
    assert len(view_of(world.overlay, world.early).copies) == COPIES - 1
    assert world.witnesses() == []


def test_a_witness_that_becomes_a_copy_of_an_heir_says_what_it_knows_of() -> None:
    """The heir did not ask it: its ring was cut in two."""
    world = CutOff(1)
    (witness, *_) = world.witnesses()
    known = view_of(world.overlay, world.early)
    heir = Stranger(world.overlay)
    view = heir.view(known.intervals, known.epoch + (1 << 30), copies=(witness.contact,))
    assert [one.key for one in witness.core.views.beside(view, witness.contact.id)] == [known.key]
    own = View(witness.contact, 1, 1, known.intervals, ())
    witness.core.views.learn(own)  # what it was about to begin itself is nobody's rival
    assert own not in witness.core.views.beside(view, witness.contact.id)


def test_two_views_that_became_one_keep_the_epochs_they_were_taken_over_from() -> None:
    adopted, owner = Adopted(), CutOff(1).primary.contact
    one, other = View(owner, 1, 70, ((0, 9),), ()), View(owner, 2, 30, ((10, 19),), ())
    adopted.note(one, 60)
    adopted.note(other, 20)
    adopted.join(1, (one, other))
    assert adopted.before(1, ((5, 14),), 50) == ((10, 14),)
    assert adopted.before(1, ((5, 14),), 61) == ((5, 14),)
    assert adopted.before(1, ((5, 14),), 20) == ()
    assert adopted.latest(1) == 60
    adopted.keep_only(())
    assert adopted.before(1, ((5, 14),), 1) == ((5, 14),), "of an unknown view nothing is known"


def test_what_was_given_away_and_came_back_was_taken_over_when_it_came_back() -> None:
    """The first holder of a ring had everything from the beginning, and gave most of it away.  What
    came back to it later with another view counted as had from the beginning: whoever was left of
    those between was its rival, and the interval was named without reason (seed 50)."""
    adopted, owner = Adopted(), CutOff(1).primary.contact
    first, back = View(owner, 1, 1, ((0, 99),), ()), View(owner, 2, 70, ((50, 59),), ())
    adopted.note(first, 0)
    adopted.note(back, 60)
    adopted.join(1, (replace(first, intervals=((0, 9),)), back))
    assert adopted.before(1, ((0, 59),), 40) == ((0, 9),)
    assert adopted.before(1, ((0, 59),), 61) == ((0, 9), (50, 59))
