"""What was cleared away as a past was lost stays away, whenever the peer is started again."""

from __future__ import annotations

import random

from chord import Contact
from tests.meteor.copies_world import build, is_shown, store_some


def test_what_was_cleared_away_does_not_come_back_with_a_restart() -> None:
    """It fell as soon as the interval counted as lost, before it had tidied up."""
    overlay = build(5, 1, disk_s=0.001)
    (probe,) = store_some(overlay, overlay.client(), random.Random(5), 1)
    (peer,) = overlay.peers
    held = peer.core.holdings.held
    peer.core.holdings.give(held, Contact(98, "10.9.9.8:1"))
    peer.core.views.give(held)  # nothing speaks for what is left of it
    overlay.run(peer.core._handoff._take_lost(held, ()))
    assert not is_shown(peer, probe)
    peer.crash()
    again = overlay.run(overlay.restart(peer))
    assert again.core.holdings.lost == held
    assert not is_shown(again, probe)
