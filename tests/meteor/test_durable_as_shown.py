"""Whoever is made a copy while records are deleted has on its disk what it has in memory."""

from __future__ import annotations

import random

import pytest

from meteor import Client, MeteorError, profile
from meteor.keeping.placement import journal_key, key_of
from meteor.keeping.record_front import carried_in
from meteor.keeping.standing import standing_of
from meteor.wire.operations import Carried
from sim.overlay import SimPeer
from tests.meteor.building import draw_data
from tests.meteor.copies_world import assert_whole_within, build, crash


def unlike(peer: SimPeer) -> list[str]:
    """What a restart would find otherwise."""
    disk = peer._overlay.disk
    assert disk is not None
    content, found = disk._content[peer.address], []
    for placed in peer.core.shelf.table:
        row = content.get(journal_key(key_of(placed.carried)))
        durable = None if row is None else carried_in(row.value)
        if not isinstance(durable, Carried):
            found.append(f"{peer.address} has not written {placed.carried.id}")
        elif standing_of(durable) != standing_of(placed.carried):
            found.append(f"{peer.address} shows {placed.carried.kind}, has written {durable.kind}")
    return found


async def _cancel(client: Client, record_id: str) -> None:
    try:
        await client.cancel(record_id, allow_partial=True)
    except MeteorError as error:
        print(error)


@pytest.mark.parametrize("seed", [4, 5])
def test_a_recruit_has_on_its_disk_what_it_shows(seed: int) -> None:
    overlay, drawn = build(seed, 5, disk_s=0.01), random.Random(seed)
    client = overlay.client(peer=0)
    stored = [  # several pages for a recruit
        overlay.run(client.store(profile(draw_data(drawn)), bytes(6000), ttl=7200)).id
        for _ in range(200)
    ]
    assert_whole_within(overlay)
    crash(overlay.peers[2])
    for one in stored:
        overlay.kernel.spawn(_cancel(client, one))
        overlay.run_for(0.002)
    overlay.run_for(10.0)
    assert not [flaw for peer in overlay.living for flaw in unlike(peer)]
