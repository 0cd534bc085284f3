"""One record's life under one stem: replaced, renewed, cancelled by any of its ids, and at once."""

from __future__ import annotations

import random
from typing import Any

import pytest

from meteor import Client, MeteorError, Refused
from meteor.wire.codec import wire_codec
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.overlay import Overlay
from tests.meteor.building import SPACE

A, B, C = (f"type={kind} temperature={n}" for kind, n in (("a", 1), ("m", 60), ("z", 110)))


def slow_disk(seed: int = 1, peers: int = 8) -> Overlay:
    """Peers whose journals take longer than the network."""
    kernel = Kernel(seed)
    disk = SimDisk(kernel, write_latency_s=0.02)
    return Overlay(
        peers=peers, space=SPACE, seed=seed, kernel=kernel, disk=disk, codec=wire_codec()
    )


def living(overlay: Overlay, client: Client) -> list[bytes]:
    found = overlay.run(client.retrieve("temperature=*", everywhere=True).all())
    return sorted(match.data for match in found)


@pytest.mark.parametrize("peers", [1, 2, 8])
def test_a_record_that_walks_is_cancelled_by_its_oldest_id(peers: int) -> None:
    """A, B, A again, C: every id that it ever had leads to it, wherever it lived side by side."""
    overlay = slow_disk(peers=peers)
    client = overlay.client()
    ids = [overlay.run(client.store(A, b"0", id="walker")).id]
    for step, place in enumerate((B, A, C)):
        receipt = overlay.run(client.replace(ids[-1], place, str(step + 1).encode()))
        ids.append(receipt.id)
        assert living(overlay, client) == [str(step + 1).encode()]
    assert ids[0] == ids[2]
    for full_id in ids:
        assert overlay.run(client.renew(full_id, ttl=500)).matches == 1
    assert overlay.run(client.cancel(ids[1])).matches == 1
    assert living(overlay, client) == []
    assert overlay.run(client.cancel(ids[0])).matches == 0


def test_word_of_a_move_stays_behind_when_the_new_place_goes_to_another_peer() -> None:
    overlay = slow_disk(peers=1)
    client = overlay.client()
    old = overlay.run(client.store(A, b"0", id="walker")).id
    overlay.run(client.replace(old, C, b"1"))
    for _ in range(8):
        overlay.run(overlay.add_peer())
    for peer in overlay.peers[1:4]:
        overlay.run(peer.leave())
    assert overlay.run(client.cancel(old)).matches == 1
    assert living(overlay, client) == []


def test_what_was_replaced_is_deleted_by_its_new_content_only() -> None:
    overlay = slow_disk()
    client = overlay.client()
    old = overlay.run(client.store(A, b"0")).id
    overlay.run(client.replace(old, B, b"1"))
    assert overlay.run(client.delete_data("type=a")).matches == 0
    assert living(overlay, client) == [b"1"]
    assert overlay.run(client.delete_data("type=m")).matches == 1
    assert living(overlay, client) == []


def test_a_delete_wins_over_a_replace_that_comes_later() -> None:
    overlay = slow_disk()
    client = overlay.client()
    full_id = overlay.run(client.store(A, b"0")).id
    overlay.run(client.cancel(full_id))
    with pytest.raises(Refused, match="deleted"):
        overlay.run(client.replace(full_id, C, b"1"))
    assert living(overlay, client) == []


def test_a_post_that_lives_for_no_time_is_told_of_and_gone() -> None:
    overlay = slow_disk()
    client = overlay.client()
    interest = overlay.run(client.notify_data("type=a"))
    assert overlay.run(client.store(A, b"flash", ttl=0)).matches == 1
    assert overlay.run(interest.recv(timeout=2)).data == b"flash"
    assert living(overlay, client) == []


@pytest.mark.parametrize("seed", range(1, 9))
def test_changes_of_one_record_at_once_end_as_one_story(seed: int) -> None:
    """Stores, renewals, deletes of one stem in flight together, over a slow disk: a delete that
    was answered is final, one delete alone counts, and after a restart the journal says the same.
    """
    print(f"seed {seed}")
    drawn = random.Random(seed)
    overlay = slow_disk(seed, peers=1)
    clients = [overlay.client(first_version=n * 10**9) for n in range(1, 5)]
    overlay.run(clients[0].store(A, b"0", id="one"))
    full_id = overlay.run(clients[0].retrieve("type=a").all())[0].id
    counts: list[int] = []

    async def change(client: Client) -> None:
        await overlay.peers[0].runtime.sleep(drawn.uniform(0, 0.04))
        work: list[Any] = [
            lambda: client.store(A, b"new", id="one"),
            lambda: client.renew(full_id, ttl=900),
            lambda: client.cancel(full_id),
            lambda: client.delete_data("type=a"),
        ]
        which = drawn.randrange(4)
        try:
            receipt = await work[which]()
        except MeteorError:
            return
        if which >= 2:
            counts.append(receipt.matches)

    tasks = [overlay.kernel.spawn(change(client)) for client in clients * 2]
    for task in tasks:
        overlay.run(_awaited(task))
    before = living(overlay, clients[0])
    assert sum(counts) == (1 if counts else 0)
    assert len(before) == (0 if counts else 1)
    overlay.peers[0].crash()
    overlay.run(overlay.restart(overlay.peers[0]))
    assert living(overlay, overlay.client()) == before


async def _awaited(task: Any) -> None:
    await task
