"""What befalls the disks of a run: slow ones, torn and lost writes, machines whose disk is full.

Law of this file: who and when is drawn from one stream; what a fault is, is `sim.disk`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.overlay import Overlay


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskPlan:
    """How disks behave; rates are means, events a virtual second."""

    latency_s: float = 0.003
    """How long a commit takes."""
    unsynced: Literal["lost", "reach", "torn"] = "torn"
    """What a crash makes of writes that were under way (`SimDisk.unsynced`)."""
    fillings: float = 0.0
    """Disks of single peers that run full, ..."""
    full_s_max: float = 5.0
    """... and have room again after evenly drawn up to this.  A peer that cannot write ends."""
    steady: int = 3
    """The first peers' disks never run full, as `ChurnPlan.steady` has it."""
    stalls: float = 0.0
    """Times at which all disks are slow ..."""
    stall_s: float = 0.3
    """... and what a commit takes then, ..."""
    stall_lasts_s: float = 1.0
    """... for so long."""

    backups_every_s: float = 0.0
    """How often all journals are backed up (`ChurnPlan.behind`); 0: never."""

    def disk(self, kernel: Kernel) -> SimDisk:
        """A disk of this kind."""
        made = SimDisk(kernel, write_latency_s=self.latency_s)
        made.unsynced = self.unsynced
        return made

    @property
    def rates(self) -> dict[str, float]:
        """What happens how often."""
        kinds = ("fillings", "stalls")
        return {kind: getattr(self, kind) for kind in kinds if getattr(self, kind) > 0}


class DiskTrouble:
    """What goes wrong on the disks of one run."""

    def __init__(self, overlay: Overlay, plan: DiskPlan, stream: random.Random) -> None:
        self._overlay, self._plan, self._stream = overlay, plan, stream
        self._stopped = False
        self._full: list[str] = []
        """Of each filling that lasts the peer's address."""
        self._stalls = 0
        """How many last."""
        self.counts: dict[str, int] = {}
        """How often each fault was drawn."""

    def start(self) -> None:
        """Begin, if anything is to go wrong."""
        if self._plan.rates and self._overlay.disk is not None:
            self._overlay.kernel.spawn(self._go_on(self._overlay.disk))
        if self._plan.backups_every_s and self._overlay.disk is not None:
            self._overlay.kernel.spawn(self._back_up(self._overlay.disk))

    def stop(self) -> None:
        """Every disk has room and is as fast as before."""
        self._stopped = True
        disk = self._overlay.disk
        if disk is not None:
            disk.write_latency_s = self._plan.latency_s
            for address in self._full:
                disk.make_room(address)

    async def _go_on(self, disk: SimDisk) -> None:
        rates = self._plan.rates
        while True:
            await self._overlay.kernel.sleep(self._stream.expovariate(sum(rates.values())))
            if self._stopped:
                return
            (kind,) = self._stream.choices(list(rates), list(rates.values()))
            self.counts[kind] = self.counts.get(kind, 0) + 1
            happens = self._fill if kind == "fillings" else self._stall
            self._overlay.kernel.spawn(happens(disk))

    async def _back_up(self, disk: SimDisk) -> None:
        while not self._stopped:
            for peer in self._overlay.living:
                disk.back_up(peer.address)
            await self._overlay.kernel.sleep(self._plan.backups_every_s)

    async def _fill(self, disk: SimDisk) -> None:
        may_fill = self._overlay.living[self._plan.steady :]
        if not may_fill:  # in a small ring all others are down at times
            return
        address = self._stream.choice(may_fill).address
        self._full.append(address)
        disk.fill(address)
        await self._overlay.kernel.sleep(self._stream.uniform(0, self._plan.full_s_max))
        self._full.remove(address)
        if address not in self._full:
            disk.make_room(address)

    async def _stall(self, disk: SimDisk) -> None:
        self._stalls += 1
        disk.write_latency_s = self._plan.stall_s
        await self._overlay.kernel.sleep(self._plan.stall_lasts_s)
        self._stalls -= 1
        if not self._stalls:
            disk.write_latency_s = self._plan.latency_s
