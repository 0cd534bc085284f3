"""Two hold an interval, one of them without its past: what the other knows outlasts its hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chord import Contact
from meteor.copies.rivals import GIVEN_UP_S
from meteor.wire.view import HEARSAY, Rival
from squid import Interval
from tests.meteor.test_rivals import AnsweredBeside


class HeldWhole(AnsweredBeside):
    """A peer that had taken as lost what another one still holds whole."""

    def __init__(self) -> None:
        super().__init__()
        replication, views = self.peer.core.replication, self.peer.core.views
        (mine,) = views.own.values()
        self.other = next(one for one in self.overlay.peers if one.contact not in mine.holders)
        self.other.core.views.see(mine.epoch)
        theirs = self.other.core.replication.new_view((self.interval,), ())
        self.other.core.views.own[theirs.number] = theirs
        self.other.core.holdings.gain((self.interval,))
        for one in self.overlay.living:
            one.core.views.chronicle.note(theirs)  # so that what came before is not the last word
        views.see(theirs.epoch)
        self.overlay.run(replication.rival(mine.number, lost=(self.interval,)))
        self.peer.core.holdings.reckon((self.interval,))

    def meet(self) -> None:
        """The peer hears of the other one."""
        rival = Rival((self.interval,), HEARSAY, (self.other.contact,))
        self.peer.core._handoff.rivals.note(rival)

    def assert_known(self) -> None:
        self.overlay.run_for(GIVEN_UP_S + 5.0)
        assert self.interval not in self.other.core.holdings.held
        assert self.peer.core.views.lost() == self.unknown == ()


@pytest.fixture
def held() -> HeldWhole:
    return HeldWhole()


def test_it_counts_when_the_view_becomes_another_meanwhile(held: HeldWhole) -> None:
    """Two views of the same copies had become one: a whole ring came back from a cut of power, and
    an interval of it was named for ever, though all peers and all content were there."""
    views, reconciling = held.peer.core.views, held.peer.core._handoff.reconciling
    reconcile = reconciling.reconcile

    async def renumbered(interval: Interval, source: Contact) -> bool:
        done = await reconcile(interval, source)
        (view,) = views.own.values()
        del views.own[view.number]
        number = views.draw_epoch()
        views.own[number] = replace(view, number=number)
        return done

    reconciling.reconcile = renumbered  # type: ignore[method-assign]
    held.meet()
    held.assert_known()


def test_nobody_lets_go_of_what_it_holds_itself() -> None:
    """The note that two hold an interval came with the interval to the one that it names: asked
    like another peer, it gave the interval away to itself, and nobody held it."""
    world = AnsweredBeside()
    peer = world.peer
    rival = Rival((world.interval,), HEARSAY, (peer.contact,), (world.interval,))
    peer.core._handoff.rivals.note(rival)
    (view,) = peer.core.views.own.values()
    world.overlay.run_for(2.0)
    (now,) = peer.core.views.own.values()
    assert now.number == view.number
    assert now.intervals == peer.core.holdings.held == (world.interval,)
    assert world.unknown == ()
