"""What was taken in beside a former view stays known, wherever that goes: to the attic, and on.

A peer that held an interval took in what another one had acknowledged there, which let go of it
then.  A moment later the past of the interval was lost to a third, the first one's shelf was
cleared away for that, and with it went all word of whose content lay there.  What the second had
begun stood against the past for ever, though all of it was in the attic of the first.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from chord import Contact
from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, plan
from meteor.keeping.placement import Admission
from meteor.keeping.shelf_journal import noted
from meteor.keeping.views import WITH_MAX, Views
from meteor.wire import codec
from meteor.wire.copy_messages import ViewsNote
from meteor.wire.operations import Claim, ClaimAnswer, Pull, PulledPage
from meteor.wire.record_id import stem_of
from meteor.wire.view import Ended, View
from sim.runtime import SimRuntime
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    is_shown,
    primary_of,
    store_some,
    view_of,
)

ONE, OTHER, THIRD = (Contact(n, f"peer-{n}") for n in range(1, 4))
PART = ((0, 9),)
PAST = View(ONE, 4, 4, PART, (THIRD,))
LATER = View(OTHER, 7, 7, PART, ())
ALSO = Ended(OTHER.id, 7, PART, 7)


# -- what an heir makes of it


@pytest.mark.parametrize("fresh", [False, True])
def test_what_began_later_does_not_stand_against_who_has_all_of_it(fresh: bool) -> None:
    asked = Asked([ONE, OTHER, THIRD], (), patient=True, begun=[LATER])
    without = [Evidence(ONE, PAST, fresh), Evidence(THIRD, PAST, fresh)]
    (step,) = plan(PART, without, asked, orphaned=True)
    assert step.kind == "lost"
    (step,) = plan(PART, [replace(without[0], taken_in=(ALSO,)), without[1]], asked, orphaned=True)
    assert (step.kind, step.view, step.sources) == ("adopt", PAST, (ONE,))


@pytest.mark.parametrize(
    "ended",
    [
        replace(ALSO, epoch=6, since=6), replace(ALSO, primary=THIRD.id),
        replace(ALSO, epoch=9, since=8), replace(ALSO, intervals=((0, 4),)),
    ],
    ids=["an earlier epoch", "another primary", "a later epoch alone", "half of it"],
)  # fmt: skip
def test_it_stands_against_who_has_something_else(ended: Ended) -> None:
    asked = Asked([ONE, OTHER, THIRD], (), patient=True, begun=[LATER])
    had = [Evidence(ONE, PAST, False, taken_in=(ended,)), Evidence(THIRD, PAST, False)]
    steps = plan(((5, 9),), had, asked, orphaned=True)
    assert [step.kind for step in steps] == ["lost"]


def test_all_that_began_later_has_to_be_there() -> None:
    last = replace(LATER, primary=THIRD, epoch=8)
    asked = Asked([ONE, OTHER, THIRD], (), patient=True, begun=[LATER, last])
    had = [Evidence(ONE, PAST, False, taken_in=(ALSO,)), Evidence(THIRD, PAST, False)]
    (step,) = plan(PART, had, asked, orphaned=True)
    assert step.kind == "lost"


# -- what a peer remembers of it


def cleared() -> Views:
    """Views of a peer whose former view went to the attic."""
    views = Views()
    views.remember(PAST)
    views.taken_in.note(OTHER.id, 7, ((5, 20),), 7)
    views.store(PAST, 1)
    views.taken_in.forget(PART)
    return views


def test_it_lies_with_the_lot_and_comes_back_with_it() -> None:
    views, here = cleared(), replace(ALSO, intervals=((5, 9),))
    assert views.remembered_of(PART) == [(PAST, (here,))]
    assert views.remembered_of(((8, 30),)) == [
        (PAST.within(((8, 9),)), (replace(here, intervals=((8, 9),)),))
    ]
    assert not views.has_all_of(((5, 9),), OTHER.id, 7), "it is not on the shelf"
    views.bring_back(PAST.epoch, ((0, 6),))
    assert views.taken_in.of(OTHER.id, 7) == ((5, 6), (10, 20))
    assert [found for _, found in views.remembered_of(PART)] == [
        (replace(here, intervals=((5, 6),)),), (replace(here, intervals=((7, 9),)),)
    ]  # fmt: skip


def test_a_restart_remembers_it_unless_the_journal_was_damaged() -> None:
    note = codec.decode(noted(cleared()).value or b"")
    assert isinstance(note, ViewsNote)
    for whole in (True, False):
        views = Views()
        views.restore((), note.stored, note.taken_in, whole=whole)
        ((had, found),) = views.remembered_of(PART)
        assert had == PAST
        assert bool(found) == whole


def test_what_lies_with_a_lot_is_bounded() -> None:
    views = Views()
    views.remember(PAST)
    for epoch in range(2 * WITH_MAX):
        views.taken_in.note(OTHER.id, epoch, PART, epoch)
    views.store(PAST, 1)
    ((_, found),) = views.remembered_of(PART)
    assert [one.epoch for one in found] == list(range(WITH_MAX, 2 * WITH_MAX))


# -- what it tells


def test_who_asks_for_an_interval_hears_what_lies_with_a_former_view_of_it() -> None:
    overlay = build(3, 6, disk_s=0.001)
    (record,) = store_some(overlay, overlay.client(), random.Random(3), 1)
    assert_whole_within(overlay)
    part, holders = view_of(overlay, record).intervals, view_of(overlay, record).holder_ids
    peer = next(one for one in overlay.peers if one.contact.id not in holders)
    placed = primary_of(overlay, record).core.shelf.find(("", stem_of(record)))
    assert placed is not None
    runtime = SimRuntime(overlay.kernel, overlay.network, Contact(99, "10.9.9.9:1"))
    past, also = replace(PAST, epoch=1 << 40, intervals=part), replace(ALSO, intervals=part)
    keeper, views, shelf = peer.core._keeper, peer.core.views, peer.core.shelf

    async def asked() -> tuple[Any, Any]:
        keeper.expect(part)
        views.remember(past)
        views.taken_in.learn((also,), part)
        await shelf.admit([shelf.outgoing(placed.carried)], Admission())
        await keeper.clear(part)
        assert not is_shown(peer, record)
        claim = await runtime.call(peer.contact, Claim(part[0]), 6.0)
        return claim, await runtime.call(peer.contact, Pull(part[0], 0, past.epoch, ONE.id), 6.0)

    claim, page = overlay.run(asked())
    assert isinstance(claim, ClaimAnswer)
    assert isinstance(page, PulledPage)
    assert claim.former == (past.within(part[:1]),)
    (with_it,) = claim.former_taken_in
    assert replace(also, intervals=part[:1]) in with_it
    assert [one.id for one in page.carried] == [record]
    assert replace(also, intervals=part[:1]) in page.taken_in
    runtime.close()
