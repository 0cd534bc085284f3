"""An interest that is not kept alive ends when it was to, however long bringing it to another link
took: its time counts from when a peer reads of it."""

from __future__ import annotations

import random

import pytest

from meteor import Interest
from meteor.keeping.placement import Key
from sim.overlay import SimPeer
from tests.meteor.copies_world import assert_whole_within, build, seeds

LIVES_S = 10.0


def lives_at(peer: SimPeer, key: Key) -> bool:
    record = peer.core.shelf.store.get(*key)
    return record is not None and record.lives(peer.runtime.now())


@pytest.mark.parametrize("held_s", [3.0, 5.0])
@pytest.mark.parametrize("seed", seeds(2, 20))
def test_it_is_gone_at_its_end(seed: int, held_s: float) -> None:
    overlay, drawn = build(seed, 5, disk_s=0.0), random.Random(seed)
    assert_whole_within(overlay)
    client = overlay.client(peer=drawn.randrange(5))

    async def post() -> Interest:
        return await client.notify_data("type=temp*", id="it", ttl=LIVES_S, keep_alive=False)

    interest = overlay.run(post())
    ends_s = overlay.kernel.now() + LIVES_S
    overlay.run_for(2.0)
    (own,) = (peer for peer in overlay.living if peer.address == client.peer_address)
    own.crash()
    held = list(overlay.living)
    for peer in held:
        peer.pause()
    overlay.run_for(held_s)
    for peer in held:
        peer.resume()
    overlay.run(until=ends_s + 1.0)
    assert interest.state == "expired"
    there = [peer.address for peer in overlay.living if lives_at(peer, ("", "it"))]
    assert not there, f"it lives on at {there}"
