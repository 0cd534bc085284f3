"""A cancel whose peer falls is asked of the next one: it says what the first attempt took."""

from __future__ import annotations

from sim.overlay import Overlay
from tests.meteor.copies_world import assert_whole_within, build, crash, primary_of

LAMP = "type=lamp temperature=1 humidity=2"


def test_its_receipt_counts_what_was_taken_before_the_first_peer_fell() -> None:
    """Found by `meteor-sim scenario ring-that-loses-nothing`: it said that nothing was found."""
    overlay: Overlay = build(2, 6, disk_s=0.001)
    assert_whole_within(overlay)
    kept = overlay.run(overlay.client().store(LAMP, b"x", id="it"))
    holder = primary_of(overlay, kept.id)
    entry = next(at for at, peer in enumerate(overlay.peers) if peer is not holder)
    client = overlay.client(peer=entry)
    overlay.run(client.retrieve(LAMP).all())  # it knows where else to ask
    cancelled = overlay.kernel.spawn(client.cancel(kept.id))
    gone = holder.core.shelf

    def is_gone() -> bool:
        return gone.store.get("", "it") is None

    while not is_gone():
        overlay.run_for(0.0002)
    crash(overlay.peers[entry])  # before it could tell
    assert not cancelled.done()
    receipt = overlay.kernel.run_until(cancelled)
    assert (receipt.complete, receipt.matches) == (True, 1)


def test_so_does_a_delete_by_selector() -> None:
    """It counted what was left when it came to the second peer."""
    overlay: Overlay = build(2, 6, disk_s=0.001)
    assert_whole_within(overlay)
    kept = overlay.run(overlay.client().store(LAMP, b"x", id="it"))
    holder = primary_of(overlay, kept.id)
    entry = next(at for at, peer in enumerate(overlay.peers) if peer is not holder)
    client = overlay.client(peer=entry)
    overlay.run(client.retrieve(LAMP).all())
    for at in range(7):
        overlay.run(overlay.client().store(f"type=lamp temperature={at * 17}", b"x"))
    deleted = overlay.kernel.spawn(client.delete_data("type=*", everywhere=True, timeout=9))
    gone = holder.core.shelf
    while gone.store.get("", "it") is not None:
        overlay.run_for(0.0002)
    crash(overlay.peers[entry])
    assert not deleted.done()
    receipt = overlay.kernel.run_until(deleted)
    assert (receipt.complete, receipt.matches) == (True, 8)
    assert overlay.run(overlay.client(peer=1).retrieve("type=*", everywhere=True).all()) == []
