"""Two hold an interval, and one lets go: never both, nor with what it alone had to say.

Each world here is put together by hand, as a partition or a false suspicion leaves it behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from chord import Contact, Fault
from meteor.copies.found import Found
from meteor.copies.giving import Giving
from meteor.copies.replication import Replication
from meteor.copies.returning import Returning
from meteor.keeping.placement import key_of
from meteor.wire.copy_messages import Instated, Stands
from meteor.wire.operations import Frozen
from meteor.wire.view import HEARSAY, Rival, View
from sim.simulated_peer import SimPeer
from squid import Interval
from tests.meteor.copies_world import ask, assert_whole_within, crash
from tests.meteor.test_known_elsewhere import HeldWhole
from tests.meteor.test_rivals import AnsweredBeside


def held_too(
    world: AnsweredBeside, interval: Interval | None = None, rivals: Sequence[Rival] = ()
) -> SimPeer:
    """Another peer, no copy, that holds the interval of the world's peer as well."""
    part = interval or world.interval
    (mine,) = world.peer.core.views.own.values()
    other = next(one for one in world.overlay.peers if one.contact not in mine.holders)
    other.core.views.see(mine.epoch)
    theirs = other.core.replication.new_view((part,), (), (), tuple(rivals))
    other.core.views.own[theirs.number] = theirs
    other.core.holdings.gain((part,), lost=theirs.unknown)
    return other


@pytest.mark.parametrize("by_hearsay", [False, True])
def test_the_rivals_of_who_lets_go_are_named_on(by_hearsay: bool) -> None:
    """What that one had written down, and nobody had merged, was absent without a word."""
    world = AnsweredBeside()
    other = held_too(world, rivals=[Rival((world.interval,), 77, (world.stranger.contact,))])
    handoff = world.peer.core._handoff
    if by_hearsay:
        handoff.rivals.note(Rival((world.interval,), HEARSAY, (other.contact,)))
        world.overlay.run_for(3.0)
    else:
        done = handoff.reconciling.reconcile(world.interval, other.contact)
        assert world.overlay.run(done)
    assert world.interval not in other.core.holdings.held
    assert world.unknown == (world.interval,)


@pytest.mark.parametrize("named", [False, True])
def test_who_lets_the_other_end_can_show_that_all_of_it_is_here(named: bool) -> None:
    """Told of the other's view by a copy of that, it looked for somebody who has it all, and there
    was nobody: the interval was named for good (moving-apart, seed 42).  What the other one had
    beside it is no part of that."""
    world = AnsweredBeside()
    gone = Rival((world.interval,), 77, (world.stranger.contact,))
    other = held_too(world, rivals=[gone] if named else ())
    (theirs,) = [one for one in other.core.views.own.values() if one.intervals[0] == world.interval]
    views, handoff = world.peer.core.views, world.peer.core._handoff
    assert not views.has_all_of((world.interval,), other.contact.id, theirs.epoch)
    assert world.overlay.run(handoff.reconciling.reconcile(world.interval, other.contact))
    shown = views.has_all_of((world.interval,), other.contact.id, theirs.epoch)
    assert shown is not named
    if not named:
        crash(other)
        handoff.rivals.note(Rival((world.interval,), theirs.epoch, (other.contact,)))
        world.overlay.run_for(3.0)
        assert world.unknown == ()


def test_what_is_known_before_the_other_lets_go_is_named_when_it_does_not() -> None:
    """It goes on, and acknowledges beside this one."""
    world = AnsweredBeside()
    peer, other = world.peer, held_too(world)
    (mine,) = peer.core.views.own.values()
    peer.core.views.see(max(one.epoch for one in other.core.views.own.values()))
    world.overlay.run(peer.core.replication.rival(mine.number, lost=(world.interval,)))
    peer.core.holdings.reckon((world.interval,))
    holdings, runtime = other.core.holdings, other.runtime
    freeze = holdings.freeze

    async def thaw(grant: int) -> None:
        await runtime.sleep(0.001)
        holdings.thaw(grant)

    def freeze_shortly(interval: Interval) -> int:
        grant = freeze(interval)
        runtime.spawn(thaw(grant))
        return grant

    holdings.freeze = freeze_shortly  # type: ignore[method-assign]
    with pytest.raises(Fault):
        world.overlay.run(peer.core._handoff._inherit(world.interval, other.contact, ()))
    assert world.interval in holdings.held
    assert world.unknown == (world.interval,)


def test_who_lets_go_need_not_doubt_because_of_this_one() -> None:
    """Two who meet both note it; what the other knew of the past was lost for ever by that."""
    held = HeldWhole()
    views = held.other.core.views
    (theirs,) = [one for one in views.own.values() if one.intervals == (held.interval,)]
    hearsay = Rival((held.interval,), HEARSAY, (held.peer.contact,))
    views.own[theirs.number] = replace(theirs, rivals=(hearsay,))
    held.other.core.holdings.reckon((held.interval,))
    reconciling = held.peer.core._handoff.reconciling
    held.overlay.run(reconciling.reconcile(held.interval, held.other.contact))
    held.overlay.run_for(3.0)
    assert held.peer.core.views.lost() == ()


@pytest.mark.parametrize("passed_over", [False, True])
def test_what_who_lets_go_has_only_heard_of_is_named_on(
    passed_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was merging another rival, and had not written that one down."""
    world = AnsweredBeside()
    other = held_too(world)
    rivals = other.core._handoff.rivals
    monkeypatch.setattr(rivals, "_note_heard", AsyncMock())
    rivals.note(Rival((world.interval,), 77, (world.stranger.contact,)))
    reconciling = world.peer.core._handoff.reconciling
    if passed_over:
        (mine,) = world.peer.core.views.own.values()
        later = replace(mine, epoch=other.core.views.next_epoch())
        other.core.replication.passed_over([later])
    else:
        assert not world.overlay.run(reconciling.reconcile(world.interval, other.contact))
    monkeypatch.undo()
    world.overlay.run_for(1.0)
    assert world.interval not in other.core.holdings.held
    assert world.unknown == (world.interval,)
    (view,) = world.peer.core.views.own.values()
    assert world.stranger.contact in {one for rival in view.rivals for one in rival.holders}


@pytest.mark.parametrize("later_s", [0.0, 0.01])
@pytest.mark.parametrize("in_part", [False, True])
def test_of_two_who_take_each_other_in_one_lets_go(later_s: float, in_part: bool) -> None:
    world = AnsweredBeside()
    first, last = world.interval
    interval = (first, last - 5) if in_part else world.interval
    other = held_too(world, interval)
    world.overlay.run_for(2.0)
    both = []
    for one, source in ((world.peer, other), (other, world.peer)):
        reconciling = one.core._handoff.reconciling
        both.append(world.overlay.kernel.spawn(reconciling.reconcile(interval, source.contact)))
        world.overlay.run_for(later_s)
    for task in both:
        world.overlay.kernel.run_until(task)
    world.overlay.run_for(10.0)
    assert not any(one.core.views.lost() for one in world.overlay.living)
    assert ask(world.overlay, world.overlay.client()) == (set(world.stored), True)


def test_who_began_a_later_epoch_does_not_let_go_by_what_was_frozen_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It passed the other one over in that moment, and nobody held the interval any more."""
    world = AnsweredBeside()
    other = held_too(world)
    (theirs,) = other.core.views.touching((world.interval,))
    frozen = Giving._freeze

    async def and_goes_on(giving: Giving, interval: Interval, cursor: int) -> Frozen:
        reply = await frozen(giving, interval, cursor)
        assert await other.core.replication.change(theirs.number)
        return reply

    monkeypatch.setattr(Giving, "_freeze", and_goes_on)
    reconciling = world.peer.core._handoff.reconciling
    assert not world.overlay.run(reconciling.reconcile(world.interval, other.contact))
    assert world.interval in other.core.holdings.held
    monkeypatch.undo()
    world.overlay.run_for(10.0)
    assert not any(one.core.views.lost() for one in world.overlay.living)
    assert ask(world.overlay, world.overlay.client()) == (set(world.stored), True)


def test_who_was_passed_over_as_it_took_an_interval_has_it_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The giver fell when it stood still for it, and so did its copies afterwards; of another part
    of what was asked for a later view was known (the ring that loses nothing, seed 133)."""
    world = AnsweredBeside()
    (mine,) = world.peer.core.views.own.values()
    holders = [one for one in world.overlay.peers if one.contact in mine.holders]
    taker = next(one for one in world.overlay.peers if one not in holders)
    begin = Replication.begin

    async def passed_over(replication: Replication, view: View, *said: Any) -> View | None:
        if view.primary == taker.contact and view.intervals == (world.interval,):
            return None
        return await begin(replication, view, *said)

    monkeypatch.setattr(Replication, "begin", passed_over)
    pulling = taker.core._handoff.pulling
    assert not world.overlay.run(pulling.take(world.interval, world.peer.contact, ()))
    monkeypatch.undo()
    crash(*holders)
    assert_whole_within(world.overlay, 30)
    assert ask(world.overlay, world.overlay.client()) == (set(world.stored), True)


def test_what_two_take_in_at_once_shows_when_either_is_done() -> None:
    """The second one found it under way, and said that the past was known: an answer was complete
    without it (a ring of three that came back one by one)."""
    world = AnsweredBeside()
    shelf, placed, reconciling = next(
        (peer.core.shelf, placed, peer.core._handoff.reconciling)
        for peer in world.overlay.living for placed in peer.core.shelf.table
        if peer.core.shelf.meets(placed.carried, peer.core.views.held())
    )  # fmt: skip
    key, carried = key_of(placed.carried), [shelf.outgoing(placed.carried)]
    shelf.forget([key])
    first = world.overlay.kernel.spawn(reconciling.merge(carried))
    world.overlay.run(reconciling.merge(carried))
    assert shelf.find(key) is not None
    world.overlay.kernel.run_until(first)


# -- what stands against a past that is found


class Lost(AnsweredBeside):
    """The peer holds the interval as lost; three others may have had it."""

    def __init__(self) -> None:
        super().__init__()
        (self.mine,) = self.peer.core.views.own.values()
        holders = self.mine.holders
        others = [one for one in self.overlay.peers if one.contact not in holders]
        self.heir, *self.copies = others
        for one in others:
            one.core.views.see(self.mine.epoch)

    def lose(self, above: int) -> None:
        """The past is lost in an epoch above this one."""
        self.peer.core.views.see(above)
        lost = self.peer.core.replication.rival(self.mine.number, lost=(self.interval,))
        self.overlay.run(lost)
        self.peer.core.holdings.reckon((self.interval,))


def test_who_lets_go_is_not_the_last_word_where_something_began_later() -> None:
    """Nobody is left who has that."""
    held = HeldWhole()
    views = held.peer.core.views
    (theirs,) = [
        one for one in held.other.core.views.own.values() if one.intervals == (held.interval,)
    ]
    later = View(held.stranger.contact, 9, theirs.epoch + 1, (held.interval,), ())
    assert all(later.epoch < one.epoch for one in views.own.values())
    views.chronicle.note(later)
    reconciling = held.peer.core._handoff.reconciling
    held.overlay.run(reconciling.reconcile(held.interval, held.other.contact))
    assert views.lost() == (held.interval,)


def test_a_rival_is_not_the_last_word_where_something_began_later() -> None:
    world = Lost()
    copy = world.copies[0]
    views, epoch = world.peer.core.views, world.mine.epoch
    rival = View(world.stranger.contact, 7, epoch + 1, (world.interval,), (copy.contact,))
    later = View(world.stranger.contact, 9, epoch + 2, (world.interval,), ())
    views.chronicle.note(later)
    world.lose(later.epoch)
    copy.core.views.put(rival)
    world.peer.core._handoff.rivals.note(Rival(rival.intervals, rival.epoch, rival.holders))
    world.overlay.run_for(4.0)
    assert views.lost() == (world.interval,)


@pytest.mark.parametrize("tried", [False, True])
def test_a_fence_does_not_hide_what_its_copies_have_whole(tried: bool) -> None:
    """An heir let the copies of who fell refuse that one, and took nothing: it tells of them, or
    has been started again since."""
    world = Lost()
    contacts = tuple(one.contact for one in world.copies)
    epoch = world.mine.epoch + (1 << 20)
    past = View(world.stranger.contact, 7, epoch, (world.interval,), contacts)
    world.heir.core.views.see(epoch)
    fence = world.heir.core.replication.new_view((world.interval,), contacts)
    for one in world.copies:
        one.core.views.put(past)
        one.core.views.put(fence)
        assert one.core.views.copies[fence.key].before == (past,)
    if tried:
        world.heir.core.views.tried.note(fence)
    world.lose(fence.epoch)
    world.overlay.run_for(4.0)
    assert world.peer.core.views.lost() == ()


@pytest.mark.parametrize("began", [False, True])
def test_what_was_given_and_never_began_is_the_past_all_the_same(began: bool) -> None:
    """It was passed over at once, by a peer that thought itself alone: giver and taker have all,
    and the other copy that it names, which was never told, has not moved on from it."""
    world = Lost()
    views, contacts = world.peer.core.views, [one.contact for one in world.copies]
    giver, taken = world.heir.core.views, world.peer.core.replication.new_view(
        (world.interval,), (world.heir.contact, contacts[0])
    )  # fmt: skip
    views.remember(taken)
    giver.remember(taken)
    if began:
        views.chronicle.note(replace(taken, epoch=taken.epoch + (1 << 20), number=1))
    world.peer.core._handoff.heirs.note_unanswered(taken)
    world.lose(taken.epoch + (1 << 21))
    world.overlay.run_for(4.0)
    assert views.lost() == ((world.interval,) if began else ())


def test_an_interval_that_somebody_had_meanwhile_is_waited_for_anew() -> None:
    """Asked for once, and a minute ago: that is no reason to wait no more."""
    world, piece = Lost(), (5, 9)
    heirs = world.peer.core._handoff.heirs
    unheard = Found(piece, everybody=False, conclusive=False, awaited=(piece,))
    for _ in range(2):
        (step,) = heirs.plan(unheard)
        assert step.kind == "wait"
        world.overlay.run_for(60.0)
    heirs.plan(unheard)
    world.overlay.run_for(6.0)
    (step,) = heirs.plan(unheard)
    assert step.kind == "lost"


def test_who_is_a_copy_again_as_it_hears_that_it_was_none_stays_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The word was late, and its primary counted on it until the next change."""
    world = AnsweredBeside()
    (mine,) = world.peer.core.views.own.values()
    copy = next(one for one in world.overlay.peers if one.contact == mine.copies[0])
    views, replication = copy.core.views, copy.core.replication
    ask_primary, went_on = replication.ask, list[View]()

    async def ask_late(contact: Contact, request: object) -> object:
        if request != Stands(mine.number):
            return await ask_primary(contact, request)
        if not went_on:
            went_on.append(replace(views.copies[mine.key].view, epoch=mine.epoch + 1))
            views.put(went_on[0])
        return Instated(known=False)

    monkeypatch.setattr(replication, "ask", ask_late)
    monkeypatch.setattr(Returning, "_is_to_ask", lambda *_: True)
    world.overlay.run(copy.core._returning._let_go())
    assert views.copies[mine.key].view == went_on[0]
    world.overlay.run(copy.core._returning._let_go())
    assert mine.key not in views.copies, "that was said of what it is now"
