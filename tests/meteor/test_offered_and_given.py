"""What is offered to a peer that gives the interval away meanwhile: it did not take it in."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from chord import replace
from meteor.copies.reconciling import Reconciling
from meteor.keeping.placement import GONE, Admission
from meteor.wire.operations import Carried
from meteor.wire.view import View
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    primary_of,
    store_some,
    view_of,
)


def test_what_came_as_the_interval_was_given_away_is_not_let_go_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A peer that is back has the word of a delete of its own side, and offers what it had.  A page
    of that reaches the holder in the moment in which the interval goes to another peer: nothing of
    it was kept there, and the offer was taken all the same, so that its giver forgot the word."""
    overlay = build(3, 6, disk_s=0.001)
    stored = store_some(overlay, overlay.client(), random.Random(3), 12)
    assert_whole_within(overlay)
    deleted = stored[0]
    peer, (interval,) = primary_of(overlay, deleted), view_of(overlay, deleted).intervals
    holders = view_of(overlay, deleted).holders
    back, taker = [one for one in overlay.peers if one.contact not in holders][:2]
    (known,) = (one.carried for one in peer.core.shelf.table if one.carried.id == deleted)
    stone = replace(known, kind=GONE, blob=b"", route=None, ttl_ms=7_200_000, number=99)
    former = View(back.contact, 7, 7, (interval,), ())
    merge, given = Reconciling.merge, []

    async def merge_later(self: Reconciling, carried: Sequence[Carried]) -> int:
        if self is peer.core._handoff.reconciling and carried and not given:
            pulling = taker.core._handoff.pulling
            given.append(await pulling.take(interval, peer.contact, ()))
        return await merge(self, carried)

    monkeypatch.setattr(Reconciling, "merge", merge_later)
    back.core.views.remember(former)
    back.core._keeper.expect((interval,))
    overlay.run(back.core.shelf.admit([stone], Admission()))
    overlay.run_for(20.0)
    assert given == [True]
    assert not back.core.views.remembered()
    assert_whole_within(overlay)
    assert ask(overlay, overlay.client()) == (set(stored) - {deleted}, True)
