"""What came since the past of an interval was lost is not taken for that past by its next owner."""

from __future__ import annotations

import random
from typing import Any

import pytest

from meteor.copies.pulling import Pulling
from meteor.wire.copy_messages import Learn
from meteor.wire.view import View
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer
from squid import covers, subtract
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    crash,
    index_of,
    is_shown,
    primary_of,
    restart_all,
    store_some,
    view_of,
)


def _owner_and_stranger(overlay: Overlay, record_id: str) -> tuple[SimPeer, SimPeer]:
    """Whose record it is, and the one of four that has no copy of it."""
    holders = view_of(overlay, record_id).holder_ids
    (stranger,) = (peer for peer in overlay.peers if peer.contact.id not in holders)
    return primary_of(overlay, record_id), stranger


def test_a_taker_that_is_recruited_meanwhile_keeps_what_was_posted_since_the_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three of four fall; the fourth takes posts in an arc whose past it does not know.  Its owner
    is back and pulls these, while the fourth asks it to learn the same as a copy."""
    overlay = build(4, 4, disk_s=0.001)
    assert_whole_within(overlay)
    (known,) = store_some(overlay, overlay.client(), random.Random(1), 1)
    owner, last = _owner_and_stranger(overlay, known)
    others = [peer for peer in overlay.peers if peer not in (owner, last)]
    arc = view_of(overlay, known).intervals
    crash(owner, *others)
    overlay.run_for(8.0)
    stored = store_some(overlay, overlay.client(), random.Random(1), 3)
    since = {one for one in stored if covers(arc, index_of(one))}
    assert since, "something was posted where nobody knows the past"
    pull_pages = Pulling._pull_pages
    recruited: list[View] = []

    async def and_learn(self: Pulling, interval: Any, source: Any, *more: Any) -> int:
        cursor = await pull_pages(self, interval, source, *more)
        (view,) = last.core.views.touching((interval,))
        if view.lost and not recruited:
            recruited.append(view)
            await last.core.replication.ask(self._runtime.contact, Learn(view))
        return cursor

    monkeypatch.setattr(Pulling, "_pull_pages", and_learn)
    restart_all(overlay, [owner])
    assert recruited
    again = next(peer for peer in overlay.living if peer.contact.id == owner.contact.id)
    assert not subtract(arc, again.core.holdings.held)
    assert all(is_shown(again, one) for one in since), "acknowledged, taken over, and not there"
    restart_all(overlay, others)
    overlay.run_for(30.0)
    found, _ = ask(overlay, overlay.client())
    assert found >= since
