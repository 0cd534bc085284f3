"""A replace of what was deleted is refused, and nothing of it stays, however late a part comes.

The new content goes to its place first, and is taken back as the old one turns out to be deleted.
Where a process or a link stood still, an order to keep it came after the order to let it go, which
had left no word: what the client had been told is refused was found for its whole time to live.
Nor had anybody where the new place refused at once (211), or where who was held knew that it was
deleted, and forgot that as the place was not his any more (201).
"""

from __future__ import annotations

import pytest

from meteor import Refused, profile
from meteor.wire.record_id import split_id
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import ask, assert_whole_within, build, seeds

OLD = {"type": "lamp", "temperature": -30, "humidity": 5}
NEW = {"type": "lamp", "temperature": 90, "humidity": 80}
STILL_S = 3.0
AFTERWARDS_S = 30.0


def holder_of(overlay: Overlay, record_id: str) -> SimPeer:
    """Who answers for the place that an id names."""
    index = SPACE.curve.encode(split_id(record_id, SPACE.curve)[1].low)
    return next(one for one in overlay.living if covers(one.core.holdings.held, index))


def stand_still(overlay: Overlay, held: SimPeer, how: str) -> None:
    """Hold a peer for a while, or cut it off from the others."""
    if how == "held":
        held.pause()
        overlay.kernel.call_later(STILL_S, held.resume)
        return
    others = [peer.contact for peer in overlay.living if peer is not held]
    cut = overlay.faults.partition([held.contact], others)
    overlay.kernel.call_later(STILL_S, cut.heal)


@pytest.mark.parametrize("how", ["held", "cut off"])
@pytest.mark.parametrize("seed", [*seeds(4, 12), 201, 211])
def test_what_was_refused_is_not_kept_when_it_comes_late(seed: int, how: str) -> None:
    overlay = build(seed, 6, disk_s=0.001)
    probe = overlay.client()
    there = overlay.run(probe.store(profile(NEW), b"", ttl=7200)).id
    held = holder_of(overlay, there)
    overlay.run(probe.cancel(there))
    assert_whole_within(overlay)
    away = next(at for at, peer in enumerate(overlay.living) if peer is not held)
    client = overlay.client(peer=away)
    record = overlay.run(client.store(profile(OLD), b"old", ttl=7200)).id
    assert overlay.run(client.cancel(record)).matches == 1
    stand_still(overlay, held, how)
    with pytest.raises(Refused) as refused:
        overlay.run(client.replace(record, profile(NEW), b"new", ttl=7200))
    assert refused.value.rule == "deleted"
    overlay.run_for(STILL_S + AFTERWARDS_S)
    assert ask(overlay, overlay.client(peer=away)) == (set(), True)
