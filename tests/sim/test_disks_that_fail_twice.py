"""What befalls a simulated disk befalls it no less when it happens again, or to its successor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from meteor import Entry, Scan
from sim import Kernel, Overlay, SimDisk
from sim.disk_trouble import DiskPlan, DiskTrouble
from sim.places import SPACE

KEPT = Entry(b"kept", b"v")


def test_what_is_damaged_twice_is_damaged() -> None:
    kernel = Kernel(1)
    disk = SimDisk(kernel)
    journal = disk.journal("peer")
    kernel.run_until(kernel.spawn(journal.append([KEPT])))
    disk.damage("peer", b"kept")
    disk.damage("peer", b"kept")
    assert kernel.run_until(kernel.spawn(journal.scan())) == Scan((), (b"kept",))


def test_an_empty_disk_has_nothing_of_the_one_before() -> None:
    """Neither what that was still writing, nor its backups."""
    kernel = Kernel(1)
    disk = SimDisk(kernel, write_latency_s=0.01)
    journal = disk.journal("peer")
    kernel.run_until(kernel.spawn(journal.append([KEPT])))
    disk.back_up("peer")
    kernel.spawn(journal.append([Entry(b"late", b"v")]))
    kernel.spawn(journal.close())
    kernel.run(until_s=kernel.now() + 0.005)
    disk.wipe("peer")
    assert not disk.go_back("peer", 0.0)
    kernel.run(until_s=kernel.now() + 1.0)
    assert kernel.run_until(kernel.spawn(disk.journal("peer").scan())) == Scan((), ())


def trouble(**plan: Any) -> tuple[Overlay, SimDisk, Callable[[str], None]]:
    """A ring of two, its disk, and what begins a fault there; it is always the second peer's disk
    that runs full, at first for two seconds, then for four."""
    kernel = Kernel(1)
    disk = SimDisk(kernel, write_latency_s=0.001)
    overlay = Overlay(2, space=SPACE, kernel=kernel, disk=disk)
    lasts_s = iter((2.0, 4.0))
    stream: Any = kernel.random("disks")
    stream.uniform = lambda *_: next(lasts_s)
    stream.choice = lambda _: overlay.peers[1]
    troubles = DiskTrouble(overlay, DiskPlan(latency_s=0.001, steady=0, **plan), stream)

    def begin(kind: str) -> None:
        kernel.spawn(getattr(troubles, kind)(disk))

    return overlay, disk, begin


def test_a_stall_lasts_though_an_earlier_one_ends() -> None:
    overlay, disk, begin = trouble(stall_s=0.3, stall_lasts_s=2.0)
    begin("_stall")
    overlay.run_for(1.0)
    begin("_stall")
    overlay.run_for(1.5)
    assert disk.write_latency_s == 0.3, "the first one is over, the second is not"
    overlay.run_for(1.0)
    assert disk.write_latency_s == 0.001


def test_a_disk_stays_full_though_an_earlier_filling_ends() -> None:
    overlay, disk, begin = trouble()
    full = overlay.peers[1].address
    begin("_fill")
    overlay.run_for(1.0)
    begin("_fill")
    overlay.run_for(1.5)
    assert disk.is_full(full), "the first one is over, the second is not"
    overlay.run_for(3.0)
    assert not disk.is_full(full)
