"""What lay on a link over a cut is not taken for new as it comes: its sender gave it up meanwhile,
others did it, and its time is over."""

from __future__ import annotations

import pytest

from chord import RemoteFault, replace
from meteor.wire.copy_messages import Keep, Kept
from meteor.wire.document import encode_document
from meteor.wire.messages import Amend, Document, Post, PostReply
from meteor.wire.record_id import stem_of
from sim.overlay import Overlay
from tests.meteor.copies_world import copies_of, primary_of, view_of
from tests.meteor.test_held_requests import TTL_S, built, lives, post
from tests.meteor.test_overlay_hostile import PROFILE, Stranger


def lain(overlay: Overlay, stranger: Stranger, request: object, cut_s: float) -> object:
    """What peer 4 answers to a request that a cut keeps from it for so long."""
    cut = overlay.faults.partition([stranger.contact])
    late = overlay.kernel.spawn(stranger.runtime.call(overlay.peers[4].contact, request, 60.0))
    overlay.run_for(cut_s)
    cut.heal()
    return overlay.kernel.run_until(late)


@pytest.mark.parametrize("cut_s", [0.05, 4.0])
def test_a_store_lives_no_longer_for_it(cut_s: float) -> None:
    overlay = built()
    stranger = Stranger(overlay)
    first = replace(post(timeout_s=60.0), ttl_s=0.0)
    assert isinstance(stranger.ask(first, peer=4), PostReply)  # a link is there
    assert isinstance(lain(overlay, stranger, post(timeout_s=60.0), cut_s), PostReply)
    assert lives(overlay)
    overlay.run_for(TTL_S - cut_s + 0.2)
    assert not lives(overlay)


def test_a_store_whose_time_was_over_as_it_came_is_refused() -> None:
    overlay = built()
    stranger = Stranger(overlay)
    assert isinstance(stranger.ask(replace(post(), ttl_s=0.0), peer=4), PostReply)
    with pytest.raises(RemoteFault, match=r"lay for long.*ask again"):
        lain(overlay, stranger, post(timeout_s=60.0), TTL_S + 1.0)
    assert not lives(overlay)


@pytest.mark.parametrize("verb", ["delete_data", "cancel"])
def test_a_delete_takes_nothing_that_came_since(verb: str) -> None:
    overlay = built()
    stranger, another = Stranger(overlay), Stranger(overlay, address="10.9.9.8:1")
    stored = stranger.ask(post(), peer=4)
    assert isinstance(stored, PostReply)
    document = encode_document(Document("delete_data", PROFILE))
    deletes = Post(2, document, "gone", 2, 0.0, 60.0)
    change = deletes if verb == "delete_data" else Amend(2, "cancel", stored.id, 2, 60.0, 60.0)
    another.ask(replace(post(), stem="again", ttl_s=60.0))
    with pytest.raises(RemoteFault, match="ask again"):
        lain(overlay, stranger, change, 2.0)
    assert lives(overlay)


@pytest.mark.parametrize("cut_s", [0.1, 2.0, 5.0])
def test_a_copy_keeps_no_longer_what_its_primary_gave_up(cut_s: float) -> None:
    """Found by `meteor-sim scenario partitions --seed 9`."""
    overlay = built()
    overlay.run_for(5.0)
    stored = Stranger(overlay).ask(replace(post(), ttl_s=60.0))
    assert isinstance(stored, PostReply)
    primary, (copy, *_) = primary_of(overlay, stored.id), copies_of(overlay, stored.id)
    placed = primary.core.shelf.find(("", stem_of(stored.id)))
    assert placed is not None
    carried = primary.core.shelf.outgoing(placed.carried)
    later = replace(carried, version=carried.version + 1, ttl_ms=4000)
    over_ms = (overlay.kernel.now() + 4.0) * 1000
    keep = Keep(view_of(overlay, stored.id).intervals, (later,))
    cut = overlay.faults.partition([copy.contact], [primary.contact])
    late = overlay.kernel.spawn(primary.runtime.call(copy.contact, keep, 60.0))
    overlay.run_for(cut_s)
    cut.heal()
    assert overlay.kernel.run_until(late) == Kept()
    kept = copy.core.shelf.find(("", stem_of(stored.id)))
    assert kept is not None
    if cut_s > 4.0:
        assert kept.carried.version == carried.version
    else:
        ends_ms = kept.carried.ttl_ms - copy.core.shelf.wall_ms() + overlay.kernel.now() * 1000
        assert kept.carried.version == later.version
        assert abs(ends_ms - over_ms) < 200
