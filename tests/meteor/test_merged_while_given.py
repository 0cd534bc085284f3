"""What is taken in while the interval is frozen for another peer: it would not be given along."""

from __future__ import annotations

import random

import pytest

from chord import Contact, replace
from meteor.copies.pulling import Pulling
from meteor.keeping.placement import GONE, Admission
from meteor.wire.operations import TakeOver
from squid import Interval, Intervals, covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    index_of,
    primary_of,
    store_some,
)


def test_who_lets_go_does_not_lose_what_a_giver_took_in_after_the_freeze(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A peer that was cut off with an interval had a record of it deleted.  The ring's holder takes
    that in, and it lets go; but the interval is frozen, and goes to a joiner that has all pages."""
    overlay = build(3, 20, disk_s=0.001)
    stored = store_some(overlay, overlay.client(), random.Random(3), 12)
    assert_whole_within(overlay)
    deleted = stored[0]
    peer = primary_of(overlay, deleted)
    (mine,) = peer.core.views.own.values()
    (interval,) = mine.intervals
    ring = sorted(overlay.peers, key=lambda one: one.contact.id)
    other = ring[ring.index(peer) - 8]  # whom no joiner there knows
    other.core.views.see(mine.epoch)
    theirs = other.core.replication.new_view((interval,), ())
    other.core.views.own[theirs.number] = theirs
    other.core.holdings.gain((interval,))
    (known,) = (one.carried for one in peer.core.shelf.table if one.carried.id == deleted)
    stone = replace(known, kind=GONE, blob=b"", route=None, ttl_ms=7_200_000, number=99)
    overlay.run(other.core.shelf.admit([stone], Admission()))
    take, take_over, reconciling = Pulling.take, Pulling._take_over, peer.core._handoff.reconciling

    async def taking(self: Pulling, interval: Interval, source: Contact, lost: Intervals) -> bool:
        self._views.see(1 << 40)  # it heard of later epochs elsewhere
        return await take(self, interval, source, lost)

    async def later(
        self: Pulling, request: TakeOver, source: Contact, thaws_s: float
    ) -> int | None:
        if source == peer.contact and covers((request.interval,), index_of(deleted)):
            await reconciling.reconcile(interval, other.contact)
        return await take_over(self, request, source, thaws_s)

    monkeypatch.setattr(Pulling, "take", taking)
    monkeypatch.setattr(Pulling, "_take_over", later)
    joins_at = index_of(deleted) + 1 << 160 - SPACE.curve.index_bits
    overlay.run(overlay.add_peer(joins_at))
    monkeypatch.undo()
    if not covers(other.core.holdings.held, index_of(deleted)):
        found, complete = ask(overlay, overlay.client())
        assert deleted not in found, f"a deleted record is back; complete: {complete}"
    assert_whole_within(overlay)
    assert ask(overlay, overlay.client()) == (set(stored) - {deleted}, True)
