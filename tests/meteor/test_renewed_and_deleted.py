"""A wide record has several primaries, and each hears in its own time of what a client does."""

from __future__ import annotations

import pytest

from meteor.keeping.placement import GONE
from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import assert_whole_within, build
from tests.meteor.notified_world import opened


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_deleted_while_its_renewal_waits_for_a_copy_does_not_come_back(seed: int) -> None:
    """One primary's renewal waits for a silent copy; as a copy of the one before it, it has the
    tombstone meanwhile.  As the renewal ended it took the place of that, and went to whoever was
    filled or took over then."""
    overlay = build(seed, 7, disk_s=0.001)
    assert_whole_within(overlay)
    ring = sorted(overlay.peers, key=lambda peer: peer.contact.id)
    peer, silent = ring[2], ring[4]
    client = overlay.client(peer=overlay.peers.index(ring[0]))
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0"))
    assert_whole_within(overlay)
    (view,) = peer.core.views.own.values()
    assert silent.contact in view.copies
    shelf, key = peer.core.shelf, ("", stem_of(interest.id))
    silent.pause()
    renewing = overlay.kernel.spawn(client.renew(interest.id, allow_partial=True))
    overlay.run_for(0.2)
    overlay.kernel.spawn(client.cancel(interest.id, allow_partial=True))
    overlay.run_for(0.2)
    known = shelf.find(key)
    assert known is not None
    assert (known.carried.kind, shelf.is_begun([key])) == (GONE, True)
    while shelf.is_begun([key]):
        overlay.run_for(0.001)
    known = shelf.find(key)
    assert known is not None
    assert known.carried.kind == GONE
    overlay.kernel.run_until(renewing)
