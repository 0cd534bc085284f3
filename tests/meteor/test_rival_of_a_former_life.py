"""A primary's rival is what it had itself before it was passed over: `meteor-sim scenario
moving-apart --seed 54`."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chord import Contact, replace
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Keep
from meteor.wire.view import Rival, View
from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    is_shown,
    primary_of,
    store_some,
    view_of,
)

OWN, OTHER, COPY = (Contact(number, f"peer:{number}") for number in (1, 2, 3))
PART = ((10, 19),)


def going_on(rival: Rival) -> Views:
    """A peer that goes on with what it had, which others have copies of and name a rival of."""
    views = Views(OWN.id)
    views.remember(View(OWN, 5, 8, PART, ()))
    view = View(OWN, 20, 20, PART, (COPY,), rivals=(rival,))
    views.put_own(view)
    views.go_on_with(view, 15)
    return views


def test_what_an_own_view_names_is_remembered_until_it_is_merged() -> None:
    """Nobody else has it: the interval was named as missing for ever, though all was here."""
    views = going_on(Rival(PART, 8, (OWN,)))
    assert [one.epoch for one in views.former] == [8]
    assert views.has_all_of(PART, OWN.id, 8)
    views.own[20] = replace(views.own[20], rivals=())
    views.forget_former(PART)
    assert not views.former


@pytest.mark.parametrize(
    "rival", [Rival(PART, 9, (OWN,)), Rival(PART, 8, (OWN, OTHER)), Rival(PART, 8, ())]
)
def test_what_is_another_one_is_forgotten(rival: Rival) -> None:
    assert not going_on(rival).former


def test_only_that_part_of_it_is_remembered() -> None:
    views = going_on(Rival(((12, 14),), 8, (OWN,)))
    assert [one.intervals for one in views.former] == [((12, 14),)]


def test_so_it_is_where_it_lies_in_the_attic() -> None:
    """The past of what was lost is found in what the peer had under a brief view; what that stood
    for is its rival still, and nobody else has it (`test_small_rings.py`, 192)."""
    views = Views(OWN.id)
    had, brief = View(OWN, 5, 8, PART, ()), View(OWN, 9, 9, PART, ())
    for lot, view in enumerate((had, brief)):
        views.remember(view)
        views.store(view, lot)
    views.put_own(View(OWN, 20, 20, PART, (COPY,), rivals=(Rival(((12, 14),), 8, (OWN,)),)))
    views.forget_stored(PART)
    left = {(one.lot, piece) for one in views.stored for piece in one.view.intervals}
    assert left == {(0, (12, 14)), (1, (12, 14))}, "in the later one as well: that has it too"
    views.own[20] = replace(views.own[20], rivals=())
    views.forget_stored(PART)
    assert not views.stored


class Alone:
    """A primary that alone has a record: it had acknowledged it as its copies were cut off."""

    def __init__(self, peers: int = 6) -> None:
        self.overlay: Overlay = build(3, peers)
        (self.stored,) = store_some(self.overlay, self.overlay.client(), random.Random(3), 1)
        assert_whole_within(self.overlay)
        self.peer: SimPeer = primary_of(self.overlay, self.stored)
        self.copies = copies_of(self.overlay, self.stored)
        self.view = view_of(self.overlay, self.stored)
        for copy in self.copies:
            copy.core.shelf.forget([one.key for one in copy.core.shelf.store.records()])
            assert not is_shown(copy, self.stored)
        had = View(self.peer.contact, 1, 1, self.view.intervals, ())
        self.peer.core.views.remember(had)
        self.rival = Rival(had.intervals, had.epoch, (self.peer.contact,), number=had.number)

    def settle(self) -> None:
        replication = self.peer.core.replication
        self.overlay.run(replication.rival(self.view.number, add=(self.rival,)))
        self.overlay.run_for(5.0)


def test_what_it_had_is_with_its_copies_before_the_rival_is_taken_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else an heir would answer without it, and say that this is all."""
    alone = Alone()
    replication = alone.peer.core.replication
    settle, there = replication.rival, list[bool]()

    async def settled(number: int, **change: Any) -> None:
        if change.get("without") is not None:
            there.extend(is_shown(copy, alone.stored) for copy in alone.copies)
        await settle(number, **change)

    monkeypatch.setattr(replication, "rival", settled)
    monkeypatch.setattr(alone.peer.core._entropy, "stir", lambda: None)
    alone.settle()
    assert there == [True, True]
    assert not alone.peer.core.views.own[alone.view.number].rivals


def test_it_stays_named_while_a_copy_does_not_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Alone()
    replication = alone.peer.core.replication
    ask_all = replication.ask_all

    async def refusing(contacts: Any, message: object) -> list[Any]:
        replies = list(await ask_all(contacts, message))
        return [None, *replies[1:]] if isinstance(message, Keep) else replies

    monkeypatch.setattr(replication, "ask_all", refusing)
    alone.settle()
    assert alone.peer.core.views.own[alone.view.number].rivals == (alone.rival,)
    monkeypatch.undo()
    alone.overlay.run_for(5.0)
    assert not alone.peer.core.views.own[alone.view.number].rivals


@pytest.mark.parametrize("peers", [3, 4])
def test_a_copy_that_died_hinders_nobody(peers: int) -> None:
    """Where nobody else is there it was never given up: the interval was lost after half a minute,
    though all of it was here."""
    alone = Alone(peers)
    replication = alone.peer.core.replication
    alone.overlay.run(replication.rival(alone.view.number, add=(alone.rival,)))
    alone.copies[0].crash()
    alone.overlay.run_for(45.0)
    assert alone.peer.core.views.unknown() == ()
    assert is_shown(alone.copies[1], alone.stored)


def test_what_is_here_is_not_given_up_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Alone()
    reconciling = alone.peer.core._handoff.reconciling

    async def never(*_: object) -> bool:
        return False

    monkeypatch.setattr(reconciling, "bring_to_copies", never)
    alone.settle()
    alone.overlay.run_for(45.0)
    view = alone.peer.core.views.own[alone.view.number]
    assert (view.rivals, view.lost) == ((alone.rival,), ())


def test_what_it_kept_for_another_one_is_with_its_copies_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It went over from there to the view that it took over itself: it alone has that."""
    alone = Alone()
    views, part = alone.peer.core.views, alone.view.intervals
    views.forget_former(part)
    other = next(o for o in alone.overlay.peers if o.contact.id not in alone.view.holder_ids)
    kept = View(other.contact, 1, 1, part, ())
    views.take_in(kept, part)
    alone.rival = Rival(part, 1, (other.contact,), number=1)
    monkeypatch.setattr(alone.peer.core._entropy, "stir", lambda: None)
    alone.settle()
    assert not views.own[alone.view.number].rivals
    assert [is_shown(copy, alone.stored) for copy in alone.copies] == [True, True]


def test_nothing_is_noted_of_what_left_the_shelf_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A copy said that its time was over, and the new primary that the past is lost."""
    alone = Alone()
    core, part = alone.peer.core, alone.view.intervals
    other = next(o for o in alone.overlay.peers if o.contact.id not in alone.view.holder_ids)
    bring = core._handoff.reconciling.bring_to_copies

    async def bringing(view: View, piece: Any) -> bool:
        done = await bring(view, piece)
        later = View(other.contact, 1 << 60, 1 << 60, part, (), lost=part)
        core.replication.passed_over((later,))
        await core._keeper.clear(part)
        return done

    monkeypatch.setattr(core._handoff.reconciling, "bring_to_copies", bringing)
    epoch, own_id = alone.rival.epoch, alone.peer.contact.id
    rivals = core._handoff.rivals
    assert not alone.overlay.run(rivals._is_at_copies(alone.view, part, own_id, epoch))
    assert not core.views.taken_in.of(own_id, epoch)
