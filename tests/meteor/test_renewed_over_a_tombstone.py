"""A wide record is deleted by another of its primaries: what comes meanwhile waits for that."""

from __future__ import annotations

from chord import replace
from meteor.keeping.placement import GONE, Admission, journal_key
from meteor.keeping.record_front import carried_in
from meteor.wire.operations import Carried
from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import assert_whole_within, build
from tests.meteor.notified_world import opened


def test_a_renewal_is_not_written_over_a_tombstone_that_is_on_its_way_to_the_disk() -> None:
    """The tombstone came to this peer as a copy of the other one.  It showed, and a restart found
    the interest alive."""
    overlay = build(1, 7, disk_s=0.05)
    assert_whole_within(overlay)
    ring = sorted(overlay.peers, key=lambda peer: peer.contact.id)
    peer = ring[2]
    client = overlay.client(peer=overlay.peers.index(peer))
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0"))
    assert_whole_within(overlay)
    shelf, key = peer.core.shelf, ("", stem_of(interest.id))
    known = shelf.find(key)
    assert known is not None
    renewing = overlay.kernel.spawn(client.renew(interest.id, allow_partial=True))
    overlay.run_for(0.001)
    stone = replace(shelf.outgoing(known.carried), kind=GONE, blob=b"", route=None, ttl_ms=10**9)
    overlay.run(shelf.admit([stone], Admission()))
    overlay.kernel.run_until(renewing)
    overlay.run_for(0.2)
    known = shelf.find(key)
    assert known is not None
    assert known.carried.kind == GONE
    assert overlay.disk is not None
    written = carried_in(overlay.disk._content[peer.address][journal_key(key)].value)
    assert isinstance(written, Carried)
    assert written.kind == GONE
