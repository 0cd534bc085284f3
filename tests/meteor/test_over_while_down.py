"""What runs out while its peer is down is given back by the disk as well."""

from __future__ import annotations

from dataclasses import replace

from meteor.keeping.placement import GONE, Admission
from sim.overlay import Overlay
from tests.meteor.copies_world import build
from tests.meteor.test_shelf import World, carried


def rows_of(overlay: Overlay, address: str) -> list[bytes]:
    assert overlay.disk is not None
    return [key for key in overlay.disk._content[address] if key.startswith(b"r:")]


def test_a_restart_gives_back_what_ran_out_meanwhile() -> None:
    """It stood in the file for good, and every later start read it again."""
    overlay = build(1, 1, disk_s=0.001)
    client = overlay.client()
    for number in range(40):
        overlay.run(client.store(f"type=lamp temperature={number} humidity=1", b"x", ttl=60))
    kept = overlay.run(client.store("type=lamp temperature=99 humidity=1", b"x", ttl=6000)).id
    (peer,) = overlay.peers
    peer.crash()
    overlay.run_for(120.0)
    overlay.run(overlay.restart(peer))
    overlay.run_for(10.0)
    assert len(rows_of(overlay, peer.address)) == 1
    assert overlay.run(client.renew(kept)).matches == 1


def test_a_tombstone_that_ran_out_is_given_back_and_what_came_in_its_place_is_not() -> None:
    world = World()
    over = replace(carried("over", "type=a temperature=1"), kind=GONE, blob=b"", ttl_ms=50)
    anew = replace(carried("anew", "type=a temperature=2"), kind=GONE, blob=b"", ttl_ms=50)
    world.run(world.shelf.admit([over, anew], Admission()))
    world.kernel.run(until_s=world.kernel.now() + 1.0)
    world.shelf = world.restarted()
    again = carried("anew", "type=a temperature=2", version=9)
    world.run(world.shelf.admit([again], Admission()))
    world.run(world.shelf.erase_over(100))
    (left,) = (key for key in world.disk._content["shelf"] if key.startswith(b"r:"))
    assert left == b"r:\0anew"
