"""What another holder had is merged one view after the other: much happens in the second one while
the copies of the first one write."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from chord import replace
from meteor.keeping.placement import GONE, journal_key, key_of
from meteor.keeping.record_front import carried_in
from meteor.wire.operations import Carried
from meteor.wire.record_id import stem_of
from meteor.wire.view import View
from sim.overlay import SimPeer
from squid import Intervals, covers
from tests.meteor.copies_world import assert_whole_within, build, crash, index_of, store_some


def one_in(peer: SimPeer, view: View, stored: Sequence[str]) -> Carried:
    """A record of a view, as it is kept."""
    found = next(one for one in stored if covers(view.intervals, index_of(one)))
    placed = peer.core.shelf.find(("", stem_of(found)))
    assert placed is not None
    return placed.carried


def test_what_is_deleted_while_an_earlier_view_is_merged_stays_so_on_the_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two views, as the peer before has fallen.  A page of the other side of a partition has
    renewals; one of the records is deleted here before its turn comes.  The tombstone showed, and
    the renewal was written over it."""
    overlay = build(3, 6, disk_s=0.001)
    stored = store_some(overlay, overlay.client(), random.Random(3), 200)
    assert_whole_within(overlay)
    ring = sorted(overlay.peers, key=lambda one: one.contact.id)
    peer, away = ring[3], overlay.peers.index(ring[0])
    crash(ring[2])
    while len(peer.core.views.own) < 2:
        overlay.run_for(0.001)
    core, shelf = peer.core, peer.core.shelf
    early, late = (one_in(peer, view, stored) for view in core.views.own.values())
    replicate = core.replication.copying._replicate

    async def slowly(numbered: Sequence[Carried], part: Intervals, ends_s: float) -> None:
        if key_of(early) in map(key_of, numbered):
            await peer.runtime.sleep(0.3)
        await replicate(numbered, part, ends_s)

    monkeypatch.setattr(core.replication.copying, "_replicate", slowly)
    page = [replace(shelf.outgoing(one), renewed=one.version + 10**9) for one in (early, late)]
    merging = overlay.kernel.spawn(core._handoff.reconciling.merge(page))
    client = overlay.client(peer=overlay.living.index(overlay.peers[away]))
    assert overlay.run(client.cancel(late.id)).matches == 1
    overlay.kernel.run_until(merging)
    overlay.run_for(0.1)
    placed = shelf.find(key_of(late))
    assert placed is not None
    assert placed.carried.kind == GONE
    assert overlay.disk is not None
    written = carried_in(
        overlay.disk._content[peer.address][journal_key(key_of(late))].value or b""
    )
    assert isinstance(written, Carried)
    assert written.kind == GONE
