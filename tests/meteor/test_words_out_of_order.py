"""Word of an earlier move that comes late, after that of a later one, takes nothing back."""

from __future__ import annotations

from meteor.wire import codec
from meteor.wire.operations import Operation
from meteor.wire.record_id import make_id, split_id
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import build


def leave(overlay: Overlay, full_id: str, version: int, moved_to: str) -> None:
    """The second half of a replace, as the entry peer of a client carries it out."""
    operation = Operation("cancel", full_id, version, "", 7_200_000, moved_to=moved_to)
    box = split_id(full_id, SPACE.curve)[1]
    router = overlay.peers[0].core.router
    outcome = overlay.run(router.disseminate(box, codec.encode(operation), timeout_s=5))
    assert outcome.complete


def test_what_was_left_first_is_not_written_over_what_was_left_last() -> None:
    """It was tried again as its holder was slow.  In memory the later word stood, in the journal
    the earlier one: after a restart the version between the two counted again."""
    overlay = build(1, 1, disk_s=0.001)
    (peer,) = overlay.peers
    client = overlay.client()
    first, *others = (
        overlay.run(client.store(f"type=alarm temperature={one}", b"x", ttl=7200, id=f"at{one}")).id
        for one in (10, 20, 30)
    )
    second, third = (make_id("at10", split_id(one, SPACE.curve)[1], SPACE.curve) for one in others)
    placed = peer.core.shelf.find(("", "at10"))
    assert placed is not None
    version = placed.carried.version
    leave(overlay, first, version + 30, third)
    leave(overlay, first, version + 10, second)
    word = peer.core.shelf.find(("", first))
    assert word is not None
    assert word.carried.moved_to == third
    overlay.run_for(1.0)
    peer.crash()
    again = overlay.run(overlay.restart(peer))
    word = again.core.shelf.find(("", first))
    assert word is not None
    assert word.carried.moved_to == third
