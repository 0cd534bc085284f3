"""What somebody has of a rival, though not all: it is taken in once, and if that failed again."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chord import replace
from meteor.copies import reconciling
from meteor.keeping.placement import key_of
from meteor.wire.operations import Pull, PulledPage
from meteor.wire.record_id import stem_of
from meteor.wire.view import Rival
from tests.meteor.copies_world import assert_whole_within, build, index_of, primary_of, store_some


def test_what_could_not_be_taken_in_during_a_freeze_is_taken_in_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its holder does not have all of the rival, and is asked for what it has only once.  That
    was just when the interval was frozen for somebody who then did not take it."""
    overlay = build(3, 6)
    (stored,) = store_some(overlay, overlay.client(), random.Random(3), 1)
    assert_whole_within(overlay)
    peer = primary_of(overlay, stored)
    core, shelf = peer.core, peer.core.shelf
    view = next(one for one in core.views.own.values()
                if any(a <= index_of(stored) <= b for a, b in one.intervals))  # fmt: skip
    placed = shelf.find(("", stem_of(stored)))
    assert placed is not None
    named = {peer.contact.id, *(one.id for one in view.copies)}
    other = next(one.contact for one in overlay.peers if one.contact.id not in named)
    asked = reconciling.asked

    async def partly(runtime: Any, config: Any, source: Any, message: Any, kind: Any) -> Any:
        if isinstance(message, Pull) and source == other and runtime is peer.runtime:
            assert placed is not None
            news = replace(placed.carried, renewed=placed.carried.version + 10**9)
            news = replace(shelf.outgoing(news), ttl_ms=10**7)
            return PulledPage((news,), 1, more=False, whole=False)
        return await asked(runtime, config, source, message, kind)

    monkeypatch.setattr(reconciling, "asked", partly)
    interval = next(one for one in view.intervals if one[0] <= index_of(stored) <= one[1])
    grant = core.holdings.freeze(interval)
    rival = Rival((interval,), view.epoch + (1 << 60), (other,))
    overlay.run(core.replication.rival(view.number, add=(rival,)))
    overlay.run_for(1)
    core.holdings.thaw_if_idle(grant)
    overlay.run_for(20)
    found = shelf.find(key_of(placed.carried))
    assert found is not None
    assert found.carried.renewed == placed.carried.version + 10**9
