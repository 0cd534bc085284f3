"""A rival that never began: what its primary had before is one instead, and never nothing is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chord import Contact
from meteor.wire.copy_messages import Instated
from meteor.wire.operations import ClaimAnswer
from meteor.wire.view import Rival, View
from sim.overlay import SimPeer
from tests.meteor.copies_world import assert_whole_within, build


class Beside:
    """A peer whose view names a rival, and whoever is asked of it `said` what the primary has."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.overlay = build(3, 6)
        assert_whole_within(self.overlay)
        ring = sorted(self.overlay.peers, key=lambda one: one.contact.id)
        self.peer: SimPeer = ring[0]
        self.copy, self.other = ring[4].contact, ring[3].contact
        (self.view,) = self.peer.core.views.own.values()
        later = self.view.epoch + (1 << 60)
        self.had = View(self.other, later, later, self.view.intervals, (self.copy,))
        self.rival = Rival(self.view.intervals, later + 1, (self.copy, self.other), number=later)
        self.said = ClaimAnswer((), (), (), True, former=(self.had,))
        self.went: list[tuple[Rival, bool]] = []
        """Which rival was taken out, and whether the interval was named all the same."""
        self.settle = self.peer.core.replication.rival
        reconciling = self.peer.core._handoff.reconciling
        monkeypatch.setattr(reconciling, "claimed", self._claimed)
        monkeypatch.setattr(self.peer.core.replication, "rival", self._settled)

    async def _claimed(self, _: object, asked: Contact) -> ClaimAnswer:
        return self.said if asked == self.other else ClaimAnswer((), (), (), True)

    async def _settled(self, number: int, **change: Any) -> None:
        await self.settle(number, **change)
        if change.get("without") is not None and not change.get("lost"):
            unknown = self.peer.core.views.own[number].unknown
            self.went.append((change["without"], unknown == self.view.intervals))

    def look_on(self, rival: Rival) -> None:
        """For some seconds, with this one in the view."""
        self.overlay.run(self.settle(self.view.number, add=(rival,)))
        assert self.peer.core.views.own[self.view.number].unknown == self.view.intervals
        self.overlay.run_for(10)


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Beside:
    return Beside(monkeypatch)


def test_what_is_a_rival_instead_is_written_down_before_the_one_that_never_began_goes(
    beside: Beside,
) -> None:
    """The rival was taken out of the view at all copies while the other one was known to this peer
    alone: had it fallen then, its heir would have answered without what was never merged."""
    rival = replace(beside.rival, number=0)
    passed_over = ((beside.had.number, rival.epoch),)
    beside.said = replace(beside.said, passed_over=passed_over)
    beside.look_on(rival)
    assert beside.went == [(rival, True)]


def test_what_a_fence_of_its_primary_was_to_take_over_is_a_rival_instead(beside: Beside) -> None:
    """Only that primary knows: asked by another one, it said that it never began, and no more."""
    fence = replace(beside.rival, number=beside.rival.epoch)
    beside.said = ClaimAnswer((), (), (), True, stands_for=((fence.number, (beside.had,)),))
    beside.look_on(fence)
    assert beside.went == [(fence, True)]


def test_what_another_fence_was_to_take_over_says_nothing_of_it(beside: Beside) -> None:
    fence = replace(beside.rival, number=beside.rival.epoch)
    beside.said = ClaimAnswer((), (), (), True, stands_for=((fence.number + 1, (beside.had,)),))
    beside.look_on(fence)
    assert beside.went == []


def test_a_primary_that_was_started_again_remembers_what_it_had_before_as_the_last(
    beside: Beside,
) -> None:
    """What it tried it has forgotten: the interval was named for ever.  Whatever is acknowledged
    under a view is so after that is in its primary's journal."""
    beside.look_on(beside.rival)
    assert beside.went == [(beside.rival, True)]


@pytest.mark.parametrize(
    "doubtful", ["a damaged journal", "another view", "the same epoch", "a part", "unnumbered"]
)
def test_nor_is_anything_else_a_proof_that_it_never_began(beside: Beside, doubtful: str) -> None:
    rival, had = beside.rival, beside.had
    if doubtful == "a damaged journal":
        beside.said = replace(beside.said, damaged=True)
    elif doubtful == "another view":
        beside.said = replace(beside.said, former=(replace(had, number=had.number - 1),))
    elif doubtful == "the same epoch":
        beside.said = replace(beside.said, former=(replace(had, epoch=rival.epoch),))
    elif doubtful == "a part":
        *others, (first, last) = had.intervals
        part, beside_it = (*others, (first, last - 1)), replace(had, number=had.number - 1)
        beside.said = replace(beside.said, former=(replace(had, intervals=part), beside_it))
    else:
        rival = replace(rival, number=0)
    beside.look_on(rival)
    assert beside.went == []
    assert beside.peer.core.views.own[beside.view.number].unknown == beside.view.intervals


def never_began(beside: Beside, kept: tuple[View, ...] | None = ()) -> Rival:
    """A rival that this very peer was about to begin: it was to take over what another one had, and
    its copies said what they kept besides, or not all did."""
    own = beside.peer.contact
    tried = replace(beside.had, primary=own, number=7 << 40, epoch=beside.rival.epoch)
    beside.peer.core.views.tried.hear(tried.number, ())
    beside.peer.core.views.tried.hear(tried.number, kept)
    beside.peer.core.views.tried.note(tried, beside.had)
    return replace(beside.rival, holders=(beside.copy, own), number=tried.number)


def test_what_this_very_peer_was_about_to_begin_stands_for_what_that_was_to_take_over(
    beside: Beside,
) -> None:
    """Its copies told another peer of it, who named it, and gave the interval to this one: nobody
    else could be asked, and the interval was named for ever."""
    rival = never_began(beside)
    beside.look_on(rival)
    assert beside.went == [(rival, True)]


def test_a_rival_that_came_with_the_interval_stands_for_what_was_acknowledged_beside_it(
    beside: Beside,
) -> None:
    """In an earlier epoch than the last one before this view, and yet not in it: whoever had the
    interval before had not merged it."""
    rival = never_began(beside)
    adopted = beside.peer.core.replication.adopted
    named = replace(beside.view, rivals=(replace(rival, intervals=((0, 1 << 200),)),))
    adopted.note(named, beside.rival.epoch + 9)
    assert adopted.had_rival(named.number, rival)
    beside.look_on(rival)
    assert beside.went == [(rival, True)]


def test_so_does_what_stands_for_that_in_its_turn(beside: Beside) -> None:
    """What the fence was to take over never began either, and its primary has the epoch before:
    that was dropped, as it was in an earlier epoch than the view was taken over from."""
    before = beside.had
    beside.had = replace(before, epoch=before.epoch + 1)
    rival = never_began(beside)
    named = replace(beside.view, rivals=(rival,))
    beside.peer.core.replication.adopted.note(named, beside.rival.epoch + 9)
    assert beside.said.former == (before,)
    beside.look_on(rival)
    went = {(one.number, one.epoch, named) for one, named in beside.went}
    had, epoch = before.number, before.epoch
    assert went == {(rival.number, rival.epoch, True), (had, epoch + 1, True)}
    left = beside.peer.core.views.own[beside.view.number].rivals
    assert {(one.number, one.epoch) for one in left} == {(had, epoch)}


@pytest.mark.parametrize("said", [True, False])
def test_and_for_what_its_copies_kept_besides_as_they_took_it(beside: Beside, said: bool) -> None:
    """A copy may have gone over to another heir's view just before, and from that to the fence:
    whoever asks it later is told of the fence alone."""
    swallowed = View(Contact(77, "gone:1"), 5 << 40, beside.had.epoch, beside.view.intervals, ())
    rival = never_began(beside, (swallowed,) if said else None)
    views, named = beside.peer.core.views, replace(beside.view, rivals=(rival,))
    beside.peer.core.replication.adopted.note(named, beside.rival.epoch + 9)
    views.taken_in.note(beside.other.id, beside.had.epoch, beside.view.intervals)
    beside.look_on(rival)
    assert beside.went == ([(rival, True)] if said else [])
    assert views.own[beside.view.number].unknown == beside.view.intervals


def test_unless_all_of_that_is_here_by_now(beside: Beside) -> None:
    rival = never_began(beside)
    adopted, taken_in = beside.peer.core.replication.adopted, beside.peer.core.views.taken_in
    adopted.note(replace(beside.view, rivals=(rival,)), beside.rival.epoch + 9)
    taken_in.note(beside.other.id, beside.had.epoch, beside.view.intervals)
    beside.look_on(rival)
    assert beside.went == [(rival, False)]
    adopted.join(7, [beside.view])
    adopted.keep_only((7,))
    assert not adopted.had_rival(beside.view.number, rival)
    assert adopted.had_rival(7, rival)


def test_a_peer_remembers_what_it_did_not_come_to_take_over(
    beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[View] = []

    async def passed_over(view: View, *_: object, **__: object) -> None:
        drawn.append(view)

    monkeypatch.setattr(beside.peer.core.replication, "begin", passed_over)
    take = beside.peer.core._handoff._take(beside.had.intervals, beside.had, (), (), lost=False)
    beside.overlay.run(take)
    (view,) = drawn
    tried = beside.peer.core.views.tried
    assert tried.stands_for(view.number) == (), "nobody said what he kept until then"
    tried.hear(view.number, (beside.view,))
    assert tried.stands_for(view.number) == (beside.had, beside.view)


def given_away(beside: Beside) -> Rival:
    """A next epoch that its primary, who lives, passed over as it gave the interval away: it
    remembers nothing of it but what it was before, which is early for what is held here."""
    beside.peer.core.replication.adopted.note(beside.view, beside.rival.epoch + 9)
    rival = replace(beside.rival, number=beside.had.number - 1)
    beside.said = ClaimAnswer(
        (), (), (), True, passed_over=((rival.number, rival.epoch),),
        stands_for=((rival.epoch, (beside.had,)),),
    )  # fmt: skip
    return rival


def test_what_a_next_epoch_was_to_take_the_place_of_is_a_rival_instead(beside: Beside) -> None:
    """The interval was named for ever: nobody could show what that epoch had, which never began.
    Early as it is, it counts: its primary may have been on another side of a cut."""
    rival = given_away(beside)
    beside.look_on(rival)
    assert beside.went == [(rival, True)]
    left = beside.peer.core.views.own[beside.view.number].rivals
    assert {(one.epoch, one.number) for one in left} == {(beside.had.epoch, beside.had.number)}


@pytest.mark.parametrize("gave", [False, True])
def test_so_it_is_where_its_primary_is_a_copy_of_whom_it_gave_it_to(
    beside: Beside, gave: bool
) -> None:
    """A giver always is: that view is later than what is held here, and hid what came before."""
    rival = given_away(beside)
    epoch, holders = rival.epoch + 2, (beside.copy, beside.other)
    taker = View(Contact(77, "taker:1"), epoch, epoch, beside.view.intervals, holders)
    had = (beside.had,) if gave else ()
    beside.said = replace(beside.said, copies=(taker,), gave=had)
    beside.look_on(rival)
    left = beside.peer.core.views.own[beside.view.number].rivals
    assert beside.had.epoch in {one.epoch for one in left}


def test_it_is_named_no_more_once_all_of_that_is_shown_to_be_here(beside: Beside) -> None:
    rival = given_away(beside)
    taken_in = beside.peer.core.views.taken_in
    taken_in.note(beside.other.id, beside.had.epoch, beside.view.intervals)
    beside.look_on(rival)
    first, *others, last = beside.went
    assert first == (rival, True)
    assert {one.epoch for one, _ in (*others, last)} == {beside.had.epoch}
    assert last[1] is False


@pytest.mark.parametrize("doubtful", ["it holds it", "another epoch", "a part", "it says nothing"])
def test_it_stays_where_its_primary_does_not_say_what_it_was_before(
    beside: Beside, doubtful: str
) -> None:
    rival = given_away(beside)
    beside.peer.core.views.taken_in.note(beside.other.id, rival.epoch - 1, beside.view.intervals)
    *others, (first, last) = beside.view.intervals
    part = replace(beside.had, intervals=(*others, (first, last - 1)))
    beside.said = {
        "it holds it": replace(beside.said, held=beside.view.intervals),
        "another epoch": replace(beside.said, stands_for=((rival.epoch + 1, (beside.had,)),)),
        "a part": replace(beside.said, stands_for=((rival.epoch, (part,)),)),
        "it says nothing": replace(beside.said, stands_for=()),
    }[doubtful]
    beside.look_on(rival)
    assert beside.went == []


@pytest.mark.parametrize("asked", ["the copy", "the witness"])
def test_a_primary_remembers_what_it_was_before_it_tried_a_next_epoch(
    beside: Beside, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Also where only a witness knows of a later one."""
    replication, view = beside.peer.core.replication, beside.view
    swallowed = View(Contact(77, "gone:1"), 5 << 40, 5, view.intervals, ())
    later = View(Contact(78, "else:1"), 1 << 61, 1 << 61, view.intervals, ())
    drawn: list[View] = []

    async def instate(its: View, *_: object) -> list[object]:
        drawn.append(its)
        newer = (later,) if asked == "the copy" else ()
        return [Instated(beside=(swallowed,)), Instated(known=not newer, newer=newer)]

    async def tell(*_: object) -> list[object]:
        return [Instated(known=False, newer=(later,))]

    monkeypatch.setattr(replication._inquiry, "instate", instate)
    monkeypatch.setattr(replication._witnesses, "tell", tell)
    assert not beside.overlay.run(replication.change(view.number))
    (one,) = drawn
    part = view.intervals
    assert beside.peer.core.views.tried.next_stands_for(one.epoch) == (view, swallowed)
    (said,) = beside.peer.core.views.tried.all_that_stand_for(part)
    assert said == (one.epoch, (view, swallowed))
