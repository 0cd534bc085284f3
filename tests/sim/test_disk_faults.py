"""What a power cut makes of writes that nobody was told are durable."""

from __future__ import annotations

from typing import Literal

import pytest

from meteor import Entry, JournalFailed, Scan
from sim import Kernel, SimDisk, SimJournal

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
