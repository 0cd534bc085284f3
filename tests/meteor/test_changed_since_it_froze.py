"""A next epoch of a giver's view begins between its freeze and its gift, as a copy comes or goes.

Nothing was acknowledged in it, and the taker has all of it.  The giver stood still as soon as it
had given, so that one of that epoch's copies was not told, and named it as acknowledged since the
past was lost; when that was found the epoch stood beside it as a rival, which nobody could show to
have: after half a minute all was named for good (seed 8040 of interests that run out, apart).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chord import Contact
from meteor.copies.evidence import Evidence
from meteor.copies.found import Found
from meteor.copies.giving import Giving
from meteor.copies.takeover import Step
from meteor.keeping.known_views import RANK_BITS
from meteor.wire.operations import Freeze, Frozen, TakeOver, Yours
from meteor.wire.view import View
from sim.overlay import Overlay
from squid import Interval
from tests.meteor.copies_world import build
from tests.meteor.test_died_as_it_gave import handing
from tests.meteor.test_rivals import AnsweredBeside

GIVER = Contact(7, "10.0.0.7:7400")
PART = (10, 19)


class Changed:
    """A peer that has taken an interval over from one whose view went on meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, lost: bool) -> None:
        self.overlay: Overlay = build(2, 5, disk_s=0.002)
        self.giver, mine, self.taker, _ = handing(self.overlay)
        self.part: Interval = mine.intervals[0]
        replication, give = self.giver.core.replication, Giving._give
        if lost:
            self.overlay.run(replication.rival(mine.number, lost=(self.part,)))
        self.frozen_at = self.giver.core.views.own[mine.number].epoch
        self.taker.core.views.see(self.frozen_at + (9 << RANK_BITS))  # its own is to be the later
        last = list[View]()

        async def go_on_first(giving: Giving, request: TakeOver, to: Contact) -> Yours:
            if giving is self.giver.core._handoff._giving and not last:
                assert await replication.change(mine.number, without=mine.copies[:1])
                last.append(self.giver.core.views.own[mine.number])
            return await give(giving, request, to)

        monkeypatch.setattr(Giving, "_give", go_on_first)
        pulling = self.taker.core._handoff.pulling
        taking = pulling.take(self.part, self.giver.contact, (self.part,) if lost else ())
        assert self.overlay.run(taking)
        (self.last,) = last

    def is_known(self, since: int) -> bool:
        """Whether the taker can show all that the giver acknowledged since an epoch."""
        taken_in = self.taker.core.views.taken_in
        return taken_in.of(self.giver.contact.id, self.last.epoch, since) == (self.part,)


@pytest.mark.parametrize("lost", [False, True])
def test_who_takes_it_over_has_all_of_that_epoch(
    lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Changed(monkeypatch, lost=lost)
    assert world.last.epoch > world.frozen_at
    assert world.is_known(world.last.since)
    assert world.is_known(0) is not lost, "what was before the past was lost is not here"


def test_a_copy_that_was_not_told_names_nothing_beside_the_past_that_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = Changed(monkeypatch, lost=True)
    (copy,) = world.last.copies
    past = View(copy, 1, 1, (world.part,), ())
    evidence = [Evidence(copy, world.last, True), Evidence(copy, past, False)]
    found = Found(world.part, evidence=evidence)
    step = Step((world.part,), "adopt", past, (copy,))
    assert world.taker.core._handoff.heirs.since_lost(found, step) == []


def test_what_came_back_to_the_giver_from_another_one_since_is_pulled_again() -> None:
    """Of what that one acknowledged the taker has nothing: the epoch would not say so."""
    world = AnsweredBeside()
    core, stranger, part = world.peer.core, world.stranger, (world.interval,)
    frozen = stranger.ask(world.peer, Freeze(world.interval, 0))
    assert isinstance(frozen, Frozen)
    core.views.give(part)
    core.holdings.give(part, stranger.contact)
    back = core.replication.new_view(part, ())
    core.views.put_own(back)
    core.holdings.gain(part)
    later = back.epoch + (9 << RANK_BITS)
    view = View(stranger.contact, later, later, part, (world.peer.contact,))
    fault = stranger.ask(world.peer, TakeOver(world.interval, frozen.grant, view))
    assert "taken over anew" in getattr(fault, "text", str(fault))
    assert core.views.touching(part) == [back]


# -- what is noted of what a giver says

Noted = Callable[[int, int, int], tuple[Interval, ...]]


@pytest.fixture
def noted() -> Noted:
    """Up to which epoch a giver's is known here that froze in these, and gave in that."""
    peer = build(1, 3).peers[0]
    views, pulling = peer.core.views, peer.core._handoff.pulling

    def note(lowest: int, highest: int, given: int) -> tuple[Interval, ...]:
        page: Any = None
        frozen = Frozen(page, 1, (), epoch=lowest, highest=highest)
        pulling._note_taken_in(PART, GIVER, frozen, Yours(given))
        return tuple((one.epoch, one.since) for one in views.taken_in.within((PART,)))

    return note


def test_the_last_epoch_that_it_names_counts(noted: Noted) -> None:
    assert noted(5, 5, 9) == ((9, 0),)


def test_of_several_views_each_has_an_epoch_of_its_own(noted: Noted) -> None:
    """The lowest is all that is known of every piece."""
    assert noted(5, 7, 9) == ((5, 0),)


def test_one_that_gave_before_or_died_frozen_does_not_say(noted: Noted) -> None:
    assert noted(5, 5, 0) == ((5, 0),)
