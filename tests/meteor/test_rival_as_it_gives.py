"""A rival is heard of while an interval, the past of which is lost, goes to somebody else.

That the past is lost names the same interval, so nothing is absent silently at once; but a past
that is found again is named no more, and the rival has to be known until what it had is here too.
"""

from __future__ import annotations

import pytest

from chord import replace
from meteor.wire.operations import Freeze, Frozen, TakeOver
from meteor.wire.view import RIVALS_MAX, Rival, View
from tests.meteor.test_rivals import AnsweredBeside


@pytest.fixture
def world() -> AnsweredBeside:
    """One whose past is lost."""
    made = AnsweredBeside()
    (number,) = made.peer.core.views.own
    made.overlay.run(made.peer.core.replication.rival(number, lost=(made.interval,)))
    return made


async def never(rival: Rival) -> None:
    """Other changes are before it."""


def test_nothing_is_given_while_a_rival_is_heard_of_and_not_written_down(
    world: AnsweredBeside,
) -> None:
    frozen = world.stranger.ask(world.peer, Freeze(world.interval, 0))
    assert isinstance(frozen, Frozen)
    handoff = world.peer.core._handoff
    handoff.reconciling.doubt = never  # type: ignore[method-assign]
    handoff.rivals.note(Rival((world.interval,), 77, (world.stranger.contact,)))
    (own,) = world.peer.core.views.own.values()
    view = View(
        world.stranger.contact, 7, own.epoch + (9 << 20), (world.interval,), (), (world.interval,)
    )
    fault = world.stranger.ask(world.peer, TakeOver(world.interval, frozen.grant, view))
    assert getattr(fault, "kind", "") == "Busy", fault
    assert "heard of" in getattr(fault, "text", str(fault))


def test_it_is_written_down_though_its_view_becomes_another_meanwhile(
    world: AnsweredBeside,
) -> None:
    tries = world.fail_to_write_once()
    world.say(copies=())
    world.overlay.run_for(1.0)
    assert len(tries) > 1
    (view,) = world.peer.core.views.own.values()
    assert [one.intervals for one in view.rivals] == [(world.interval,)]


def test_a_view_names_no_rival_of_what_it_has_given_away(world: AnsweredBeside) -> None:
    """It waited for its turn behind the gift."""
    (view,) = world.peer.core.views.own.values()
    low, high = world.interval
    wider = Rival(((max(low - 9, 0), high + 9),), 77, (world.stranger.contact,))
    world.overlay.run(world.peer.core.replication.rival(view.number, add=(wider,)))
    (now,) = world.peer.core.views.own.values()
    assert [one.intervals for one in now.rivals] == [(world.interval,)]


def test_the_past_that_another_one_knows_counts_though_it_names_a_rival(
    world: AnsweredBeside,
) -> None:
    """It lets go, and nobody else would say so once that rival is merged."""
    peer, other = world.peer, world.copy()
    rival = Rival((world.interval,), 77, (world.stranger.contact,))
    theirs = replace(other.core.replication.new_view((world.interval,), ()), rivals=(rival,))
    other.core.views.own[theirs.number] = theirs
    other.core.holdings.gain((world.interval,))
    reconciling = peer.core._handoff.reconciling
    assert world.overlay.run(reconciling.reconcile(world.interval, other.contact))
    assert world.interval not in other.core.holdings.held
    (view,) = peer.core.views.own.values()
    assert (view.rivals, view.lost) == ((rival,), ())


def test_it_does_not_where_there_is_no_room_for_its_rivals(world: AnsweredBeside) -> None:
    (view,) = world.peer.core.views.own.values()
    there = tuple(Rival((world.interval,), one, ()) for one in range(1, RIVALS_MAX + 1))
    reconciling = world.peer.core._handoff.reconciling
    world.overlay.run(reconciling._replication.rival(view.number, add=there))
    more = Rival((world.interval,), 77, ())
    world.overlay.run(reconciling._know_beside((more,), (world.interval,), 1 << 60))
    assert world.peer.core.views.lost() == (world.interval,)
