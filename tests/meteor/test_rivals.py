"""What a primary makes of others who answered beside it: named at once, merged, or lost."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from chord import Contact
from meteor.copies.rivals import GIVEN_UP_S, HEARD_MAX, HOPED_S
from meteor.wire.copy_messages import Beside
from meteor.wire.operations import Freeze, Frozen, TakeOver
from meteor.wire.view import HEARSAY, RIVALS_MAX, Rival, View, rivals_within
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from squid import intersect
from tests.meteor.copies_world import (
    SIZE,
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    store_some,
)
from tests.meteor.test_copy_keeper import Stranger

ID_BITS = 160


class AnsweredBeside:
    """A peer, and a stranger who says that it answered for the same."""

    def __init__(self) -> None:
        self.overlay: Overlay = build(3, 6, disk_s=0.001)
        self.stored = store_some(self.overlay, self.overlay.client(), random.Random(3), 12)
        assert_whole_within(self.overlay)
        self.peer: SimPeer = self.overlay.peers[2]
        self.stranger = Stranger(self.overlay)
        (self.interval,) = self.peer.core.holdings.held
        (number,) = self.peer.core.views.own
        self.adopted = self.peer.core.replication.adopted.latest(number)

    def say(self, **changes: object) -> None:
        view = self.stranger.view((self.interval,), 1 << 40, copies=(self.peer.contact,))
        message = Beside(replace(view, **changes))  # type: ignore[arg-type]
        self.stranger.runtime.send(self.peer.contact, message)
        self.overlay.run_for(0.1)

    def note_rival(self, *copies: Contact) -> View:
        """A rival whose primary is gone."""
        holders = (*copies, self.stranger.contact)
        self.peer.core._handoff.rivals.note(Rival((self.interval,), 77, holders))
        return View(self.stranger.contact, 7, 77, (self.interval,), copies)

    def note_own_rival(self) -> None:
        """One that the peer itself was a copy of."""
        view = self.note_rival(self.peer.contact)
        self.peer.core.views.take_in(view, view.intervals)

    def fail_to_write_once(self) -> list[int]:
        """A rival is noted first in a view that is another one meanwhile; the tries so far."""
        replication, tries = self.peer.core.replication, list[int]()
        written = replication.rival

        async def fail_once(number: int, **changes: object) -> None:
            tries.append(number)
            await written(-1 if len(tries) == 1 else number, **changes)  # type: ignore[arg-type]

        replication.rival = fail_once  # type: ignore[method-assign,assignment]
        return tries

    def copy(self) -> SimPeer:
        """A living copy of the peer's."""
        (view,) = self.peer.core.views.own.values()
        return next(one for one in self.overlay.living if one.contact in view.copies)

    @property
    def unknown(self) -> object:
        return self.peer.core.holdings.lost


@pytest.fixture
def world() -> AnsweredBeside:
    return AnsweredBeside()


def test_what_a_rival_had_is_named_at_once_and_by_every_holder(world: AnsweredBeside) -> None:
    world.say(copies=())
    assert world.unknown == (world.interval,)
    (view,) = world.peer.core.views.own.values()
    (rival,) = view.rivals
    assert rival.holders == (world.stranger.contact,)
    for copy in view.copies:
        (holder,) = [one for one in world.overlay.living if one.contact == copy]
        assert holder.core.views.copied_lost() == (world.interval,)
    assert_never_silently_partial(world.overlay, world.overlay.client(), world.stored)


def test_what_a_holder_of_a_rival_gives_is_merged(world: AnsweredBeside) -> None:
    """It is the peer itself, which had been the stranger's copy."""
    world.note_own_rival()
    assert world.unknown == (world.interval,)
    world.overlay.run_for(1.0)
    assert world.unknown == ()
    assert_whole_within(world.overlay)
    assert ask(world.overlay, world.overlay.client()) == (set(world.stored), True)


def test_a_question_waits_for_a_rival_that_is_about_to_be_merged(world: AnsweredBeside) -> None:
    """The first one after many peers had started said that something was missing."""
    client = world.overlay.client()
    world.note_own_rival()
    assert ask(world.overlay, client) == (set(world.stored), True)


def test_a_delete_waits_for_what_a_rival_has_of_it(world: AnsweredBeside) -> None:
    """Carried out before, it would leave what is merged afterwards."""
    client = world.overlay.client()
    world.note_own_rival()
    receipt = world.overlay.run(client.delete_data("type=*", everywhere=True))
    assert receipt.complete
    assert receipt.matches == len(world.stored)


def test_an_interest_waits_for_a_rival_that_shows_while_it_is_written_down(
    world: AnsweredBeside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its copies may be held for a second: what was not in doubt before is said to be missing."""
    client = world.overlay.client()
    replication = world.peer.core.replication
    keep, written = replication.keep_for_client, list[object]()

    async def keep_as_a_rival_shows(*what: Any) -> Any:
        if not written:
            world.note_own_rival()
        written.append(await keep(*what))
        return written[-1]

    monkeypatch.setattr(replication, "keep_for_client", keep_as_a_rival_shows)

    async def interest() -> None:
        await client.notify_data("type=*", everywhere=True, ttl=600)

    world.overlay.run(interest())  # raises `Incomplete` for a missing interval
    assert len(written) == 2


def test_a_question_does_not_wait_for_a_rival_that_is_silent_for_long(
    world: AnsweredBeside,
) -> None:
    world.say(copies=())
    client, kernel = world.overlay.client(), world.overlay.kernel
    began_s = kernel.now()
    assert_never_silently_partial(world.overlay, client, world.stored)
    assert kernel.now() - began_s > 1.0, "it said at once that something is missing"
    world.overlay.run_for(HOPED_S)
    began_s = kernel.now()
    assert not assert_never_silently_partial(world.overlay, client, world.stored)
    assert kernel.now() - began_s < 1.0


def test_who_keeps_the_interval_without_what_a_rival_had_does_not_speak_for_it(
    world: AnsweredBeside,
) -> None:
    """It was told of the rival as its copy, and has become another one's since."""
    world.note_rival(world.copy().contact)
    world.overlay.run_for(3.0)
    assert world.unknown == (world.interval,), "an answer would be partial, and not say so"
    world.overlay.run_for(GIVEN_UP_S)
    assert world.peer.core.views.lost() == (world.interval,)


def test_who_went_over_to_the_view_from_a_rivals_copy_speaks_for_it(world: AnsweredBeside) -> None:
    copy = world.copy()
    view = world.note_rival(copy.contact)
    copy.core.views.take_in(view, view.intervals)
    world.overlay.run_for(1.0)
    assert world.unknown == ()
    assert world.peer.core.views.has_all_of(view.intervals, view.primary.id, 77)


def test_who_merged_what_a_rival_had_speaks_for_it_after_a_restart(world: AnsweredBeside) -> None:
    """Nobody else is left who could, and what it had was named as lost after 30 s."""
    copy = world.copy()
    ended = View(world.stranger.contact, 7, 77, (world.interval,), (copy.contact,))
    copy.core.views.take_in(ended, ended.intervals)
    world.overlay.run(copy.core.shelf.note(copy.core.views))
    copy.crash()
    again = world.overlay.run(world.overlay.restart(copy))
    assert_whole_within(world.overlay)
    world.note_rival(again.contact)
    world.overlay.run_for(1.0)
    assert world.unknown == ()
    assert ask(world.overlay, world.overlay.client()) == (set(world.stored), True)


def test_what_was_taken_in_from_another_peer_is_written_down_before_it_may_forget(
    world: AnsweredBeside,
) -> None:
    copy = world.copy()
    (view,) = world.peer.core.views.own.values()
    copy.core.views.take_in(replace(view, epoch=77), view.intervals)
    reconciling, piece = world.peer.core._handoff.reconciling, (world.interval,)
    absorbed = reconciling.absorb(piece, copy.contact, 77, world.peer.contact.id)
    assert world.overlay.run(absorbed)
    world.peer.crash()
    again = world.overlay.run(world.overlay.restart(world.peer))
    assert again.core.views.has_all_of(piece, world.peer.contact.id, 77)


def test_a_copy_says_whose_copy_it_was(world: AnsweredBeside) -> None:
    """The rival's primary is dead, and says nothing any more."""
    copy, (mine,) = world.copy(), world.peer.core.views.own.values()
    whole = copy.core.views.copies[mine.key]
    stranger = world.stranger.view((world.interval,), mine.epoch - 1, copies=(copy.contact,))
    copy.core.views.put(stranger)
    copy.core.views.copies[mine.key] = whole
    seen: list[object] = []
    note, rivals = world.peer.core._handoff.rivals.note, world.peer.core._handoff.rivals
    rivals.note = lambda rival: (seen.append(rival), note(rival))[1]  # type: ignore[method-assign]
    assert world.overlay.run(world.peer.core.replication.change(mine.number))
    assert seen == [
        Rival((world.interval,), stranger.epoch, stranger.holders, number=stranger.number)
    ]
    assert world.unknown == (world.interval,)
    world.overlay.run_for(1.0)
    assert world.unknown == (), "the copy went over with all of it"


def test_who_was_said_to_hold_the_same_and_does_not_is_no_rival(world: AnsweredBeside) -> None:
    """It gave the interval while it was asked: its answer was out of date when it came."""
    other = world.copy().contact
    world.peer.core._handoff.rivals.note(Rival((world.interval,), HEARSAY, (other,)))
    assert world.unknown == (world.interval,)
    world.overlay.run_for(1.0)
    assert world.unknown == ()
    world.overlay.run_for(GIVEN_UP_S)
    assert world.unknown == ()


def test_who_does_hold_the_same_lets_go_and_what_it_knows_of_the_past_counts(
    world: AnsweredBeside,
) -> None:
    """This peer had taken as lost what the other one holds whole."""
    peer, other = world.peer, world.copy()
    (mine,) = peer.core.views.own.values()
    theirs = other.core.replication.new_view((world.interval,), ())
    other.core.views.own[theirs.number] = theirs
    other.core.holdings.gain((world.interval,))
    lost = replace(mine, lost=(world.interval,))
    peer.core.views.own[mine.number] = lost
    peer.core.holdings.reckon((world.interval,))
    peer.core._handoff.rivals.note(Rival((world.interval,), HEARSAY, (other.contact,)))
    world.overlay.run_for(2.0)
    assert world.interval not in other.core.holdings.held
    assert peer.core.views.lost() == world.unknown == ()


def test_a_rival_that_gives_nothing_is_lost_at_last(world: AnsweredBeside) -> None:
    """Nobody has what was acknowledged there."""
    world.say(copies=())
    world.overlay.run_for(GIVEN_UP_S + 5.0)
    (view,) = world.peer.core.views.own.values()
    assert view.rivals == ()
    assert view.lost == (world.interval,)
    assert world.unknown == (world.interval,)


@pytest.mark.parametrize("epoch", [HEARSAY, 77])
def test_what_was_given_is_remembered_as_no_rival_any_more(
    world: AnsweredBeside, epoch: int
) -> None:
    """A joiner takes half of the interval before its rival is settled.  Named again in some days,
    of the whole, it would have been given up at once, and answered by its words of days ago."""
    rivals, (first, last) = world.peer.core._handoff.rivals, world.interval
    rivals.note(Rival((world.interval,), epoch, (world.stranger.contact,)))
    world.overlay.run_for(2.0)
    middle = (first + last) // 2
    world.overlay.run(world.overlay.add_peer(middle * (1 << ID_BITS) // SIZE))
    world.overlay.run_for(GIVEN_UP_S + 10.0)
    assert intersect(world.peer.core.holdings.held, (world.interval,)) == ((middle + 1, last),)
    assert all(one.rivals == () for one in world.peer.core.views.own.values())
    assert (rivals._since_s, rivals._around_s, rivals._pulled) == ({}, {}, set())


def test_who_was_taken_over_from_is_no_rival(world: AnsweredBeside) -> None:
    world.say(epoch=world.adopted)
    assert world.unknown == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"intervals": ((5, 4),)}, {"intervals": ((0, SIZE),)}, {"epoch": 1 << 62},
        {"rivals": (Rival(((0, SIZE),), 1, ()),)},
        {"rivals": (Rival(((0, 1),), 1, ()),) * (2 * RIVALS_MAX + 1)},
    ],
)  # fmt: skip
def test_nonsense_about_rivals_changes_nothing(
    world: AnsweredBeside, changes: dict[str, object]
) -> None:
    world.say(**changes)
    assert world.unknown == ()
    assert ask(world.overlay, world.overlay.client()) == (set(world.stored), True)


@pytest.mark.long
def test_rivals_that_are_heard_of_are_bounded(world: AnsweredBeside) -> None:
    first, _ = world.interval
    for number in range(2 * HEARD_MAX):
        world.peer.core._handoff.rivals.note(Rival(((first, first + number),), 9, ()))
    assert len(world.peer.core._handoff.rivals._heard) == HEARD_MAX
    world.overlay.run_for(GIVEN_UP_S + 20.0)
    assert all(len(view.rivals) <= RIVALS_MAX for view in world.peer.core.views.own.values())


def test_a_rival_goes_wherever_the_interval_goes(world: AnsweredBeside) -> None:
    """A taker whose view does not name it, as it came after the freeze, pulls again."""
    frozen = world.stranger.ask(world.peer, Freeze(world.interval, 0))
    assert isinstance(frozen, Frozen)
    world.say(copies=())
    world.overlay.run_for(0.5)
    (own,) = world.peer.core.views.own.values()
    assert own.rivals
    view = View(world.stranger.contact, 7, own.epoch + (9 << 20), (world.interval,), ())
    fault = world.stranger.ask(world.peer, TakeOver(world.interval, frozen.grant, view))
    assert getattr(fault, "kind", "") == "Busy", fault


def test_a_part_of_a_view_has_the_rivals_of_that_part(world: AnsweredBeside) -> None:
    rivals = (Rival(((0, 9),), 5, ()), Rival(((20, 29),), 6, ()))
    view = View(world.peer.contact, 1, 7, ((0, 40),), (), ((35, 36),), rivals)
    assert view.unknown == ((0, 9), (20, 29), (35, 36))
    part = view.within(((5, 22),))
    assert part is not None
    assert part.unknown == ((5, 9), (20, 22))
    assert rivals_within((*rivals, *rivals), ((9, 9),)) == (Rival(((9, 9),), 5, ()),)


def test_a_rival_is_noted_though_its_view_becomes_another_meanwhile(world: AnsweredBeside) -> None:
    """The number under which the interval was held is gone when the note is to be written."""
    peer, tries = world.peer, world.fail_to_write_once()
    world.say(copies=())
    world.overlay.run_for(1.0)
    assert len(tries) > 1
    assert peer.core.views.unknown() == world.unknown == (world.interval,)


def test_who_takes_an_interval_over_can_show_what_its_giver_could(world: AnsweredBeside) -> None:
    """Else what was merged is named as lost when the giver and its copies are gone."""
    ended = View(world.stranger.contact, 7, 77, (world.interval,), ())
    world.peer.core.views.take_in(ended, ended.intervals)
    (before,) = world.peer.core.views.own.values()
    arc = world.peer.core.node.arc
    assert arc is not None
    middle = (arc.after + (arc.last - arc.after) % (1 << 160) // 2) % (1 << 160)
    joiner = world.overlay.run(world.overlay.add_peer(middle))
    taken = joiner.core.holdings.held
    assert taken
    assert taken == intersect(taken, (world.interval,))
    assert joiner.core.views.has_all_of(taken, world.stranger.contact.id, 77)
    giver = world.peer.contact.id
    assert joiner.core.views.has_all_of(taken, giver, before.epoch), "nor what its giver had"


def test_a_recruit_can_show_what_its_primary_could(world: AnsweredBeside) -> None:
    ended = View(world.stranger.contact, 7, 77, (world.interval,), ())
    world.peer.core.views.take_in(ended, ended.intervals)
    (before,) = world.peer.core.views.own.values()
    world.copy().crash()
    assert_whole_within(world.overlay)
    (view,) = world.peer.core.views.own.values()
    (recruit,) = [
        peer for peer in world.overlay.living
        if view.has_copy(peer.contact.id) and not before.has_copy(peer.contact.id)
    ]  # fmt: skip
    assert recruit.core.views.has_all_of((world.interval,), world.stranger.contact.id, 77)
    other = next(one for one in view.copies if before.has_copy(one.id))
    (other_copy,) = [peer for peer in world.overlay.living if peer.contact == other]
    assert not other_copy.core.views.has_all_of((world.interval,), world.stranger.contact.id, 77)
