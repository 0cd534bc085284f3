"""A rival is heard of while an interval, the past of which is lost, goes to somebody else.

That the past is lost names the same interval, so nothing is absent silently at once; but a past
that is found again is named no more, and the rival has to be known until what it had is here too.
"""

from __future__ import annotations

import pytest

from meteor.wire.operations import Freeze, Frozen, TakeOver
from meteor.wire.view import Rival, View
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
    replication, tries = world.peer.core.replication, []
    written = replication.rival

    async def fail_once(number: int, **changes: object) -> None:
        tries.append(number)
        await written(-1 if len(tries) == 1 else number, **changes)  # type: ignore[arg-type]

    replication.rival = fail_once  # type: ignore[method-assign,assignment]
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
    world.overlay.run(world.peer.core.replication.rival(view.number, add=wider))
    (now,) = world.peer.core.views.own.values()
    assert [one.intervals for one in now.rivals] == [(world.interval,)]
