"""A replace that its client was told to be incomplete, and a delete of the same record after it."""

from __future__ import annotations

import random

import pytest

from meteor import Incomplete, profile
from tests.meteor.building import draw_data
from tests.meteor.copies_world import ask, assert_whole_within, build, copies_of, primary_of, seeds

HELD_S = 2.0
"""So long that a peer is in doubt about what it holds as it goes on."""


@pytest.mark.parametrize("seed", seeds(3, 12))
def test_it_is_deleted_wherever_it_is(seed: int) -> None:
    """It has its new place, and whoever holds the former one, and was held, was not told.  Deleted
    there, it was seen at the new one until the peer of its client went on with the replace, for a
    second after that had said that it was gone (drawn rings that grow, 562)."""
    overlay, drawn = build(seed, 14, disk_s=0.001), random.Random(seed)
    assert_whole_within(overlay)
    client = overlay.client()
    old = overlay.run(client.store(profile(draw_data(drawn)), b"old", ttl=7200)).id
    holder = primary_of(overlay, old)
    busy = {peer.address for peer in (holder, *copies_of(overlay, old))}
    while True:
        data = profile(draw_data(drawn))
        probe = overlay.run(client.store(data, b"probe", ttl=7200)).id
        there = {peer.address for peer in (primary_of(overlay, probe), *copies_of(overlay, probe))}
        overlay.run(client.cancel(probe))
        if not busy & there:
            break
    away = [one for one in overlay.peers if one.address not in busy | there]
    client = overlay.client(peer=overlay.peers.index(away[0]))
    holder.pause()
    overlay.run_for(HELD_S)
    holder.resume()
    with pytest.raises(Incomplete):
        overlay.run(client.replace(old, data, b"new", ttl=7200, timeout=0.4))
    assert overlay.run(client.cancel(old, timeout=4)).complete
    for _ in range(3):
        found, _ = ask(overlay, overlay.client())
        assert not found
        overlay.run_for(0.3)
