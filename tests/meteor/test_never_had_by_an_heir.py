"""A primary fell as it recruited, and the recruit alone had the next epoch: whoever took over what
came before, a copy in that epoch which never had it, knows that nothing was acknowledged under it.

`ring-that-loses-nothing`, seed 106: the recruit fell before what it had was merged, and the heir
named an interval for half a minute of which it had everything.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from chord import Contact
from meteor.copies.adopted import Adopted
from meteor.wire.view import Copy, View
from sim.simulated_peer import SimPeer
from squid import Intervals, intersect
from tests.meteor.copies_world import build

RECRUIT = Contact(5, "10.9.9.9:7400")


class TakenOver:
    """An heir, and the view of the dead that it took over as a copy of it."""

    def __init__(self) -> None:
        self.overlay = build(3, 6, disk_s=0.001)
        self.overlay.run_for(5.0)
        dead = self.overlay.peers[2]
        (self.before,) = dead.core.views.own.values()
        dead.crash()
        self.overlay.run_for(5.0)
        (self.heir,) = [one for one in self.overlay.living if self._took_over(one)]
        assert self.before.has_copy(self.heir.contact.id)
        assert self.heir.core.holdings.lost == ()

    def _took_over(self, peer: SimPeer) -> bool:
        return bool(intersect(peer.core.holdings.held, self.before.intervals))

    def named(self, **changes: object) -> Intervals:
        """What the heir names once it heard of the next epoch of what it took over."""
        (*copies,) = self.before.copies
        later = View(
            self.before.primary, self.before.number, self.before.epoch + 1, self.before.intervals,
            (*copies, RECRUIT),
        )  # fmt: skip
        self.heir.core.replication.on_beside(replace(later, **changes))  # type: ignore[arg-type]
        self.overlay.run_for(0.01)
        return self.heir.core.holdings.lost


def test_what_a_copy_never_had_is_no_rival_of_what_it_took_over() -> None:
    assert TakenOver().named() == ()


def test_it_is_one_where_it_could_begin_without_the_heir() -> None:
    world = TakenOver()
    others = tuple(one for one in world.before.copies if one.id != world.heir.contact.id)
    assert world.named(copies=(*others, RECRUIT)) == world.before.intervals


def test_it_is_one_where_the_heir_was_a_copy_in_another_life() -> None:
    world = TakenOver()
    own = world.heir.contact
    others = tuple(one for one in world.before.copies if one.id != own.id)
    other_life = replace(own, incarnation=own.incarnation - 1)
    assert world.named(copies=(*others, other_life)) == world.before.intervals


def test_another_view_of_the_same_primary_is_one() -> None:
    world = TakenOver()
    assert world.named(number=world.before.number + 1) == world.before.intervals


WHOLE = View(Contact(1, "10.0.0.1:1"), 4, 4, ((0, 9),), ())
MINE = View(Contact(2, "10.0.0.2:1"), 7, 7, ((0, 9),), ())


@pytest.mark.parametrize("whole", [True, False])
def test_what_was_just_coming_in_was_not_kept(whole: bool) -> None:
    adopted = Adopted()
    adopted.note_kept(MINE, Copy(WHOLE, whole))
    assert adopted.kept_before(MINE.number, replace(WHOLE, epoch=5)) == (((0, 9),) * whole)
    assert adopted.kept_before(MINE.number, WHOLE) == (), "it had that"


def test_it_follows_what_views_become() -> None:
    """Two are made one, or a part is left under another number; the rest is forgotten."""
    adopted = Adopted()
    adopted.note_kept(MINE, Copy(WHOLE, whole=True))
    later = replace(WHOLE, epoch=5)
    adopted.join(9, (replace(MINE, intervals=((0, 4),)),))
    adopted.keep_only((9,))
    assert adopted.kept_before(9, later) == ((0, 4),)
    assert adopted.kept_before(MINE.number, later) == ()
