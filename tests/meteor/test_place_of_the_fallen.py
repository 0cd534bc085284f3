"""The identifier of a peer that fell is not named to another one: it may come back to it."""

from __future__ import annotations

import random

import pytest

from meteor.wire.codec import wire_codec
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import ask, store_some


@pytest.mark.parametrize("fallen", [1, 2, 3])
def test_a_joiner_is_not_named_the_identifier_of_who_fell(fallen: int) -> None:
    """What its heir holds is cut where it was cut before, as the same records lie there.  Whoever
    was down could not start again, and what it alone had stayed missing."""
    kernel = Kernel(1)
    overlay = Overlay(
        peers=1, space=SPACE, kernel=kernel, codec=wire_codec(), disk=SimDisk(kernel), copies=3
    )
    records = store_some(overlay, overlay.client(), random.Random(1), 60)
    for _ in range(3):
        overlay.run_for(2.0)
        overlay.run(overlay.add_peer())
    overlay.run_for(20.0)
    peer = overlay.peers[fallen]
    peer.crash()
    overlay.run_for(30.0)
    newcomers = [overlay.run(overlay.add_peer()) for _ in range(2)]
    overlay.run_for(5.0)
    assert peer.contact.id not in {one.contact.id for one in newcomers}
    overlay.run(overlay.restart(peer))
    overlay.run_for(20.0)
    found, complete = ask(overlay, overlay.client())
    assert complete
    assert len(found) == len(records)
