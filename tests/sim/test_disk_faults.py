"""What a power cut makes of writes that nobody was told are durable."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

import pytest

from chord import MeteorError
from meteor import Entry, JournalFailed, Scan
from sim import Kernel, Overlay, SimDisk, SimJournal, SimPeer
from sim.places import SPACE, TYPES

KEPT = Entry(b"kept", b"v")


def cut(unsynced: Literal["lost", "reach", "torn"], seed: int) -> Scan:
    """The content after a power cut in the middle of a commit of three batches."""
    kernel = Kernel(seed)
    disk = SimDisk(kernel, write_latency_s=0.01)
    disk.unsynced = unsynced
    journal = disk.journal("peer")
    kernel.run_until(kernel.spawn(journal.append([KEPT])))

    async def append(journal: SimJournal, batch: int) -> None:
        await journal.append([Entry(b"%d/%d" % (batch, n), b"v") for n in range(4)])
        raise AssertionError("acknowledged after the power was cut")

    for batch in range(3):
        kernel.spawn(append(journal, batch))
    kernel.run(until_s=kernel.now() + 0.005)
    disk.crash("peer")
    kernel.run(until_s=kernel.now() + 1.0)
    again = disk.journal("peer")
    return kernel.run_until(kernel.spawn(again.scan()))


def test_unsynced_writes_are_lost_whole_by_default() -> None:
    assert cut("lost", 1) == Scan((KEPT,), ())


def test_unsynced_writes_may_reach_the_medium_in_order_and_whole() -> None:
    reached = set()
    for seed in range(20):
        scan = cut("reach", seed)
        assert scan.damaged == ()
        keys = [entry.key for entry in scan.entries[1:]]
        assert keys == [b"%d/%d" % (batch, n) for batch in range(3) for n in range(4)][: len(keys)]
        assert len(keys) % 4 == 0
        reached.add(len(keys) // 4)
    assert reached == {0, 1, 2, 3}


def test_a_torn_write_leaves_a_part_whose_last_record_is_known_to_be_damaged() -> None:
    damaged = 0
    for seed in range(20):
        scan = cut("torn", seed)
        assert scan.entries[0] == KEPT
        damaged += len(scan.damaged)
        keys = [entry.key for entry in scan.entries[1:]] + list(scan.damaged)
        assert keys == sorted(keys)
        assert len(scan.damaged) <= 1
    assert 5 < damaged < 20


def test_a_full_disk_refuses_and_keeps_what_it_has() -> None:
    kernel = Kernel(1)
    disk = SimDisk(kernel)
    journal = disk.journal("peer")
    kernel.run_until(kernel.spawn(journal.append([KEPT])))
    disk.full = True
    with pytest.raises(JournalFailed, match="full"):
        kernel.run_until(kernel.spawn(journal.append([Entry(b"more", b"v")])))
    disk.full = False
    assert kernel.run_until(kernel.spawn(journal.scan())).entries == (KEPT,)


def test_one_machine_alone_can_run_full() -> None:
    kernel = Kernel(1)
    disk = SimDisk(kernel)
    full, free = disk.journal("full"), disk.journal("free")
    disk.fill("full")
    with pytest.raises(JournalFailed, match="'full' is full"):
        kernel.run_until(kernel.spawn(full.append([KEPT])))
    kernel.run_until(kernel.spawn(free.append([KEPT])))
    disk.make_room("full")
    kernel.run_until(kernel.spawn(full.append([KEPT])))
    assert kernel.run_until(kernel.spawn(full.scan())).entries == (KEPT,)


def test_a_peer_whose_disk_is_full_ends_and_comes_back_when_there_is_room() -> None:
    kernel = Kernel(4)
    disk = SimDisk(kernel)
    overlay = Overlay(6, space=SPACE, seed=4, kernel=kernel, disk=disk)
    ended: list[SimPeer] = []
    overlay.on_end = ended.append
    client = overlay.client()
    victim = overlay.peers[4]
    disk.fill(victim.address)

    async def store_everywhere() -> None:
        for value in range(0, 1000, 40):
            for kind in TYPES:
                with suppress(MeteorError):
                    await client.store(f"type={kind} value={value}", b"x", timeout=2.0)

    overlay.run(store_everywhere())
    assert ended == [victim]
    assert not victim.alive
    disk.make_room(victim.address)
    again = overlay.run(overlay.restart(victim))
    assert again.alive
    assert again.core.node.joined
