"""A giver that dies as it gives, and had just asked its copies to take a next epoch.

It was frozen: nothing is in that epoch which the taker has not.  The copies of that epoch told the
taker of it as of a rival, whose primary nobody could ask; where the taker gave the interval on just
then, as it took in what they had, it was named for good (seed 75 of `ring-that-loses-nothing`).
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from chord import Contact, DialRejected, Fault
from meteor.copies.adopted import Adopted
from meteor.copies.giving import Giving
from meteor.copies.inquiry import kept_by, kept_by_all
from meteor.copies.pulling import DIED_FROZEN
from meteor.copies.rivals import Rivals
from meteor.wire.copy_messages import Instate, Instated
from meteor.wire.operations import TakeOver, Yours
from meteor.wire.view import Rival, View
from sim.overlay import Overlay, SimPeer
from squid import subtract
from tests.meteor.copies_world import ask, assert_whole_within, build, seeds, store_some

GIVER = Contact(7, "10.0.0.7:7400", 3)


def handing(overlay: Overlay) -> tuple[SimPeer, View, SimPeer, SimPeer]:
    """A peer and its only view, and two that have no part in that."""
    assert_whole_within(overlay)
    giver = next(one for one in overlay.peers if len(one.core.views.own) == 1)
    (mine,) = giver.core.views.own.values()
    taker, other, *_ = [one for one in overlay.peers if one.contact not in mine.holders]
    return giver, mine, taker, other


@pytest.mark.parametrize("seed", seeds(2))
def test_what_it_was_about_to_begin_is_nobodys_rival(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay, drawn = build(seed, 5, disk_s=0.002), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 20)
    giver, mine, taker, *_ = handing(overlay)

    give = Giving._give

    async def die(giving: Giving, request: TakeOver, to: Contact) -> Yours:
        if giver.core._handoff._giving is not giving:
            return await give(giving, request, to)
        later = replace(mine, epoch=mine.epoch + 1)  # before the taker's
        await giving._replication.ask_all(mine.copies, Instate(later, mine.epoch))
        giver.crash()
        raise Fault("Dead", "it answers nobody")

    note, named = Rivals.note, list[Rival]()

    def listen(rivals: Rivals, rival: Rival) -> bool:
        named.extend([rival] if rival.intervals else [])
        return note(rivals, rival)

    monkeypatch.setattr(Giving, "_give", die)
    monkeypatch.setattr(Rivals, "note", listen)
    part = mine.intervals[0]
    assert overlay.run(taker.core._handoff.pulling.take(part, giver.contact, ()))
    assert_whole_within(overlay)
    assert named == []
    assert ask(overlay, overlay.client(peer=overlay.living.index(taker))) == (set(stored), True)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_it_named_beside_itself_by_then_is_named_all_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A freeze does not keep its copies from noting a rival; that it names one is part of what it
    was about to begin."""
    overlay = build(seed, 6, disk_s=0.002)
    giver, mine, taker, other = handing(overlay)
    epoch = giver.core.views.next_epoch() + 5
    rival = View(other.contact, 3 << 40, epoch, mine.intervals, ())

    async def die(giving: Giving, _: object, __: object) -> Yours:
        giver.core._handoff.rivals._on_kept_beside(rival)
        while not giver.core.views.own[mine.number].rivals:
            await giving._runtime.sleep(0.01)
        giver.crash()
        raise Fault("Dead", "it answers nobody")

    monkeypatch.setattr(Giving, "_give", die)
    part = mine.intervals[0]
    assert overlay.run(taker.core._handoff.pulling.take(part, giver.contact, ()))
    assert not subtract((part,), taker.core.holdings.lost)


def test_who_refuses_a_dial_is_not_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """It thaws, and goes on with copies that the taker need not reach."""
    overlay = build(1, 5, disk_s=0.002)
    giver, mine, taker, *_ = handing(overlay)
    call = taker.runtime.call

    async def refused(contact: Contact, request: object, timeout_s: float) -> object:
        if isinstance(request, TakeOver):
            raise DialRejected(f"{contact} refused the dial: it does not serve")
        return await call(contact, request, timeout_s)

    monkeypatch.setattr(taker.runtime, "call", refused)
    take = taker.core._handoff.pulling.take(mine.intervals[0], giver.contact, ())
    assert overlay.run(take) is False
    assert not taker.core.views.touching(mine.intervals[:1])


def test_what_comes_with_a_lost_past_is_known_from_where_the_giver_began() -> None:
    """Known of its last epoch alone, what a copy had of an earlier one was a rival that nobody
    could settle."""
    overlay = build(2, 5, disk_s=0.002)
    giver, mine, taker, *_ = handing(overlay)
    part = mine.intervals[0]
    overlay.run(giver.core.replication.rival(mine.number, lost=(part,)))
    last = giver.core.views.own[mine.number].epoch
    assert overlay.run(taker.core._handoff.pulling.take(part, giver.contact, (part,)))
    known = taker.core.views.taken_in.of
    assert known(giver.contact.id, last, mine.since) == (part,)
    assert not known(giver.contact.id, last, mine.since - 1)


def test_what_was_kept_is_not_known_where_one_did_not_say() -> None:
    view = View(GIVER, 1, 1, ((0, 9),), ())
    said = [Instated(beside=(view,)), Instated(known=False)]
    assert kept_by_all(said) == (view,)
    assert kept_by_all([*said, None]) is None
    assert kept_by([None, *said]) == [view]


def test_only_of_the_life_in_which_it_died() -> None:
    adopted, part = Adopted(), ((0, 9),)
    view = View(Contact(1, "10.0.0.1:7400"), 90, 90, part, ())
    adopted.note(view, 50)
    adopted.note_given(view, GIVER, DIED_FROZEN.tried)
    assert adopted.before(90, part, 95, GIVER) == ()
    assert adopted.before(90, part, 95, replace(GIVER, incarnation=4)) == part
    assert adopted.before(90, part, 95, replace(GIVER, id=8)) == part
    adopted.note_given(view, GIVER, 60)
    assert adopted.before(90, part, 60, replace(GIVER, incarnation=4)) == ()
    assert adopted.before(90, part, 61, GIVER) == part
