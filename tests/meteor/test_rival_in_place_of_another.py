"""A rival that never began: what its primary had before is one instead, and never nothing is."""

from __future__ import annotations

from typing import Any

import pytest

from meteor.wire.operations import ClaimAnswer
from meteor.wire.view import Rival, View
from tests.meteor.copies_world import assert_whole_within, build


def test_what_is_a_rival_instead_is_written_down_before_the_one_that_never_began_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rival was taken out of the view at all copies while the other one was known to this peer
    alone: had it fallen then, its heir would have answered without what was never merged."""
    overlay = build(3, 6)
    assert_whole_within(overlay)
    ring = sorted(overlay.peers, key=lambda one: one.contact.id)
    core, other = ring[0].core, ring[3].contact
    view = next(iter(core.views.own.values()))
    later = view.epoch + (1 << 60)
    had = View(other, later, later, view.intervals, (ring[4].contact,))
    rival = Rival(view.intervals, later + 1, (ring[4].contact, other))
    said = ClaimAnswer((), (), (), True, former=(had,), passed_over=((had.number, rival.epoch),))
    named: list[bool] = []
    settle = core.replication.rival

    async def claimed(*_: Any) -> ClaimAnswer:
        return said

    async def settled(number: int, **change: Any) -> None:
        await settle(number, **change)
        if change.get("without") == rival:
            now = core.views.own[number]
            named.append(now.unknown == view.intervals)

    monkeypatch.setattr(core._handoff.reconciling, "claimed", claimed)
    monkeypatch.setattr(core.replication, "rival", settled)
    overlay.run(settle(view.number, add=rival))
    assert core.views.own[view.number].unknown == view.intervals
    overlay.run_for(10)
    assert named == [True]
