"""The weather of the network: frame faults all the time, partitions and clogs now and then.

Law of this file: who and when is drawn from one stream; what a fault is, is `sim.faults`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chord import Contact
from sim.faults import FrameFaults
from sim.history import Cut, History
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherPlan:
    """What goes wrong between peers; rates are means, events a virtual second."""

    frames: FrameFaults | None = None
    """What befalls single frames, all the time."""
    partitions: float = 0.0
    """Two-way cuts of some peers and the clients that are linked to them from all others, ..."""
    one_way_partitions: float = 0.0
    """... and cuts of one direction."""
    partition_s_max: float = 4.0
    """The longest cut: evenly drawn up to this."""
    side_max: float = 0.4
    """The largest share of the peers on the smaller side of a cut."""
    clogs: float = 0.0
    """Links of two peers that stand still."""
    clog_s_max: float = 1.0
    """The longest clog: evenly drawn up to this."""

    @property
    def rates(self) -> dict[str, float]:
        """What happens how often."""
        kinds = ("partitions", "one_way_partitions", "clogs")
        return {kind: getattr(self, kind) for kind in kinds if getattr(self, kind) > 0}


class Weather:
    """What goes wrong on the network of one run."""

    def __init__(
        self, overlay: Overlay, history: History, plan: WeatherPlan, stream: random.Random
    ) -> None:
        self._overlay, self._history, self._plan, self._stream = overlay, history, plan, stream
        self._stopped = False
        self.counts: dict[str, int] = {}
        """How often each fault was drawn."""

    def start(self) -> None:
        """Begin, if anything is to go wrong."""
        self._overlay.faults.frames = self._plan.frames
        if self._plan.rates:
            self._overlay.kernel.spawn(self._go_on())

    def stop(self) -> None:
        """Everything gets through again."""
        self._stopped = True
        self._overlay.faults.clear()
        for cut in self._history.cuts:
            cut.healed_s = min(cut.healed_s, self._overlay.kernel.now())

    async def _go_on(self) -> None:
        rates = self._plan.rates
        while True:
            await self._overlay.kernel.sleep(self._stream.expovariate(sum(rates.values())))
            if self._stopped:
                return
            (kind,) = self._stream.choices(list(rates), list(rates.values()))
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if kind == "clogs":
                self._clog()
            else:
                self._overlay.kernel.spawn(self._cut(one_way=kind == "one_way_partitions"))

    def _clog(self) -> None:
        one, other = self._stream.sample(self._overlay.living, 2)
        for_s = self._stream.uniform(0, self._plan.clog_s_max)
        self._overlay.faults.clog(one.contact, other.contact, for_s)

    async def _cut(self, *, one_way: bool) -> None:
        living = self._overlay.living
        count = self._stream.randint(1, max(1, int(len(living) * self._plan.side_max)))
        side = self._stream.sample(living, count)
        kernel = self._overlay.kernel
        noted = Cut(kernel.now())
        self._history.cuts.append(noted)
        cut_off = [*(peer.contact for peer in side), *self._clients_of(side)]
        partition = self._overlay.faults.partition(cut_off, one_way=one_way)
        await kernel.sleep(self._stream.uniform(0, self._plan.partition_s_max))
        partition.heal()
        noted.healed_s = min(noted.healed_s, kernel.now())

    def _clients_of(self, side: Sequence[SimPeer]) -> Iterator[Contact]:
        """Who is served by a peer of a side is on that side too: else nobody would ever ask there,
        and what is promised of it were never looked at."""
        there = {peer.address for peer in side}
        for contact, client in self._overlay.clients.items():
            if client.connected and client.peer_address in there:
                yield contact
