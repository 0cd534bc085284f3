"""The receipt of a delete counts each record once, though two peers say what it took.

The report of the one that did it is late, and a peer that joined meanwhile has a part of its place:
that one was asked as well, and said again what had been taken there.
"""

from __future__ import annotations

import pytest

from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import assert_whole_within, build, index_of, primary_of, seeds


def store_all_over(overlay: Overlay) -> dict[str, list[str]]:
    """Records, by the address of the peer that answers for each."""
    client, ids = overlay.client(), dict[str, list[str]]()
    for temperature in range(-40, 125, 5):
        for humidity in (5, 30, 50, 70, 95):
            where = f"type=alarm temperature={temperature} humidity={humidity}"
            stored = overlay.run(client.store(where, b"x", ttl=7200))
            ids.setdefault(primary_of(overlay, stored.id).address, []).append(stored.id)
    assert_whole_within(overlay)
    return ids


def is_counted(entry: SimPeer, peer: SimPeer) -> bool:
    """Whether an operation that began at a peer has counted the word of another one."""
    return any(peer.contact.id in one._peers for one in entry.core.router._operations.values())


@pytest.mark.parametrize("seed", seeds(1, 8))
def test_what_was_taken_is_counted_once(seed: int) -> None:
    overlay = build(seed, 8, disk_s=0.0)
    ids = store_all_over(overlay)
    holder = max(overlay.living, key=lambda peer: len(ids.get(peer.address, ())))
    indexes = sorted(map(index_of, ids[holder.address]))
    entry = next(peer for peer in overlay.living if peer is not holder)
    client = overlay.client(peer=overlay.living.index(entry))
    overlay.run_for(3.0)
    shift = overlay.config.bits - overlay.space.curve.index_bits
    late = overlay.faults.partition([holder.contact], [entry.contact], one_way=True)

    async def delete() -> tuple[int, bool]:
        receipt = await client.delete_data("type=alarm", timeout=30.0)
        return receipt.matches, receipt.complete

    deleting = overlay.kernel.spawn(delete())
    overlay.run_for(0.2)
    assert not deleting.done()
    overlay.run(overlay.add_peer(indexes[len(indexes) // 2] << shift))
    while not deleting.done():
        overlay.run_for(0.05)
        if is_counted(entry, overlay.peers[-1]):
            late.heal()
    assert overlay.kernel.run_until(deleting) == (sum(map(len, ids.values())), True)
