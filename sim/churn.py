"""Churn: peers that join, leave, crash, come back and are held, at seeded times.

Law of this file: who and when is drawn from one stream; what happens then is the peers' own
business.  The first `steady` peers stay: they are whom clients and joiners know.  Who goes down and
who comes back is told to the watch over the copies, at that moment.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from chord import Contact, MeteorError
from sim.copy_watch import CopyWatch
from sim.overlay import SETTLE_S, Overlay
from sim.simulated_peer import SimPeer

FALLEN_S: Final = 1.0
"""How long a ring that fell lies there; and until who found nobody to join looks again."""
LOOK_S: Final = 0.05
"""How often it is looked whether a peer has done what it is doing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnPlan:
    """How often what happens to peers; rates are means, events a virtual second."""

    joins: float = 0.0
    leaves: float = 0.0
    crashes: float = 0.0
    restarts: float = 0.0
    """Crashed peers that come back under their journal, as far as there are any."""
    behind: float = 0.0
    """Share of these whose journal is that of a backup (`DiskPlan.backups_every_s`), ..."""
    behind_s_max: float = 6.0
    """... of evenly drawn up to this before the last one; only where all that they had is up with
    others."""
    groups: float = 0.0
    """Ring neighbours that crash in one moment, `group_size` of them, ..."""
    group_size: int = 3
    group_down_s_max: float = 4.0
    """... and each come back under its journal after evenly drawn up to this."""
    falls: float = 0.0
    """All peers but the steady ones crash, one within `fall_gap_s_max` after the other, ..."""
    fall_gap_s_max: float = 0.06
    back_gap_s_max: float = 1.5
    """... and come back under their journals, in another order, each within this after the one
    before; the first of them a second after the last one fell."""
    relocations: float = 0.0
    """Peers that leave and come back at once under another identifier, as those do that carry far
    less than others: to where a newcomer would go."""
    pauses: float = 0.0
    pause_s_max: float = 1.0
    """The longest pause: evenly drawn up to this."""
    steady: int = 3
    """The first peers stay for good."""
    peers_min: int = 8
    """Nobody leaves or crashes while only so many live, ..."""
    peers_max: int = 32
    """... nobody joins while so many do."""
    strikes: float = 0.0
    """Share of what clients change during which something befalls the peer of that client, ..."""
    strike_within_s: float = 0.01
    """... evenly drawn up to this after it was posted, ..."""
    strike_cut_s_max: float = 2.0
    """... and how long the two may be cut off from one another."""
    cut_offs: float = 0.0
    """Clients that cannot reach their peers, nor these them, for as long at most."""
    careful: bool = False
    """Whether only such peers crash or are held whose every record another peer has too: then
    nothing at all may be lost."""

    @property
    def rates(self) -> dict[str, float]:
        """What happens how often."""
        kinds = (
            "joins", "leaves", "crashes", "restarts", "groups", "falls", "pauses", "relocations",
        )  # fmt: skip
        return {kind: getattr(self, kind) for kind in kinds if getattr(self, kind) > 0}


class Churn:
    """What happens to the peers of one run."""

    def __init__(
        self, overlay: Overlay, copies: CopyWatch, plan: ChurnPlan, stream: random.Random
    ) -> None:
        self._overlay, self._copies, self._plan = overlay, copies, plan
        self._stream = stream
        self._stopped = False
        self._moving: dict[Contact, None] = {}
        self.counts: dict[str, int] = {}
        """How often each event happened."""
        self._events: dict[str, Callable[[], Awaitable[None]]] = {
            "joins": self._join,
            "leaves": self._leave,
            "crashes": self._crash,
            "restarts": self._restart,
            "groups": self._crash_group,
            "falls": self._fall,
            "pauses": self._pause,
            "relocations": self._relocate,
        }

    def start(self) -> None:
        """Begin, if there is anything to do."""
        if self._plan.rates:
            self._overlay.kernel.spawn(self._go_on())

    def stop(self) -> None:
        """Draw no more events; held peers go on, and joins under way end."""
        self._stopped = True
        for peer in self._overlay.living:
            peer.resume()
            self._copies.came_back(peer)

    @property
    def quiet(self) -> bool:
        """Whether nobody is joining, leaving or coming back."""
        return not self._moving

    async def _go_on(self) -> None:
        rates = self._plan.rates
        while True:
            await self._overlay.kernel.sleep(self._stream.expovariate(sum(rates.values())))
            if self._stopped:
                return
            (event,) = self._stream.choices(list(rates), list(rates.values()))
            self._overlay.kernel.spawn(self._happen(event))

    async def _happen(self, event: str) -> None:
        await self._events[event]()

    # ---- events ------------------------------------------------------------------------------

    async def _join(self) -> None:
        if len(self._overlay.living) >= self._plan.peers_max:
            return
        self._count("joins")
        peer = self._overlay.new_peer(await self._overlay.place())
        self._moving[peer.contact] = None
        await self._done(peer, self._start(peer))
        if not peer.alive:
            self._count("joins that failed")
        self._moving.pop(peer.contact, None)

    async def _start(self, peer: SimPeer) -> None:
        known = [Contact.at(one.address) for one in self._overlay.peers[: self._plan.steady]]
        try:
            await peer.core.start(known)
        except MeteorError:
            peer.crash()
        else:
            await peer.core.settled(SETTLE_S)

    async def _rejoin(self, again: SimPeer) -> None:
        with suppress(MeteorError):  # it is dead then, and counted as such
            await self._overlay.rejoin(again)

    async def _done(self, peer: SimPeer, conversation: Coroutine[Any, Any, object]) -> None:
        """Let the peer do something, unless it ends before: what it waits for may never come."""
        task = peer.runtime.spawn(conversation)
        while not task.done() and not peer.runtime.exchange.closed:
            await self._overlay.kernel.sleep(LOOK_S)

    async def _leave(self) -> None:
        peer = self._drawn()
        if peer is None:
            return
        self._count("leaves")
        await self._depart(peer)
        self._moving.pop(peer.contact, None)

    async def _depart(self, peer: SimPeer) -> None:
        self._moving[peer.contact] = None
        await self._done(peer, peer.leave())
        peer.runtime.close()
        self._copies.went_down(peer)

    async def _relocate(self) -> None:
        peer = self._drawn()
        if peer is None:
            return
        self._count("relocations")
        await self._depart(peer)
        place = await self._overlay.place()
        again = self._overlay.reincarnate(
            peer, self._stream.getrandbits(self._overlay.config.bits) if place is None else place
        )
        self._moving[again.contact] = None
        await self._done(again, self._rejoin(again))
        self._copies.was_restarted(again)
        if again.alive:
            self._copies.came_back(again)
        else:
            self._count("relocations that failed")
        self._moving.pop(peer.contact, None)
        self._moving.pop(again.contact, None)

    async def _crash(self) -> None:
        peer = self._drawn(goes_down=True)
        if peer is None:
            return
        self._crash_one(peer)

    def crash(self, peer: SimPeer) -> None:
        """Crash this one, if it may go."""
        if peer in self._free(goes_down=True):
            self._crash_one(peer)

    def _crash_one(self, peer: SimPeer) -> None:
        self._count("crashes")
        self._copies.went_down(peer)
        peer.crash()

    async def _restart(self) -> None:
        dead = [
            peer
            for peer in self._overlay.peers
            if not peer.alive and peer.contact not in self._moving
        ]
        if not dead or len(self._overlay.living) >= self._plan.peers_max:
            return
        await self._come_back(self._stream.choice(dead))

    async def _come_back(self, peer: SimPeer) -> None:
        self._count("restarts")
        self._moving[peer.contact] = None
        self._go_back(peer)
        again = self._overlay.reincarnate(peer)
        await self._done(again, self._rejoin(again))
        self._copies.was_restarted(again)
        if again.alive:
            self._copies.came_back(again)
        else:
            self._count("restarts that failed")
        self._moving.pop(peer.contact, None)

    def _go_back(self, peer: SimPeer) -> None:
        """Put a backup in the place of a crashed peer's journal, if that is its lot.  Its next life
        is a new one all the same, as on sockets, where that goes by the clock
        (`meteor.peer_start.next_incarnation`)."""
        disk, plan = self._overlay.disk, self._plan
        if disk is None or not plan.behind or self._stream.random() >= plan.behind:
            return
        if not self._copies.is_kept_elsewhere(peer):
            return
        if disk.go_back(peer.address, self._stream.uniform(0, plan.behind_s_max)):
            self._count("journals put back")
            self._copies.went_back(peer)

    async def _crash_group(self) -> None:
        first = self._drawn()
        if first is None:
            return
        ring = sorted(self._overlay.living, key=lambda peer: peer.contact.id)
        at = ring.index(first)
        near = [ring[(at + step) % len(ring)] for step in range(self._plan.group_size)]
        fallen = [peer for peer in near if self._may_go(peer)]
        self._copies.went_down(*fallen)
        for peer in fallen:
            self._count("crashes")
            peer.crash()
            self._overlay.kernel.spawn(self._come_back_later(peer))

    async def _come_back_later(self, peer: SimPeer) -> None:
        self._moving[peer.contact] = None
        down_s = self._stream.uniform(0, self._plan.group_down_s_max)
        await self._overlay.kernel.sleep(down_s)
        await self._come_back(peer)
        self._moving.pop(peer.contact, None)

    async def _fall(self) -> None:
        if self._moving:  # one at a time, and nobody is to be left out
            return
        self._count("falls")
        draw, sleep = self._stream.uniform, self._overlay.kernel.sleep
        fallen = [peer for peer in self._overlay.living if self._may_go(peer)]
        self._stream.shuffle(fallen)
        self._moving |= {peer.contact: None for peer in fallen}
        for peer in fallen:
            self._count("crashes")
            self._copies.went_down(peer)
            peer.crash()
            await sleep(draw(0, self._plan.fall_gap_s_max))
        await sleep(FALLEN_S)
        self._stream.shuffle(fallen)
        for peer in fallen:
            self._overlay.kernel.spawn(self._come_back_at_last(peer))
            await sleep(draw(0, self._plan.back_gap_s_max))

    async def _come_back_at_last(self, peer: SimPeer) -> None:
        """It may find nobody to join for as long as the others look for somebody, too."""
        address, contact = peer.address, peer.contact
        while True:
            await self._come_back(peer)
            peer = next(one for one in self._overlay.peers if one.address == address)
            if peer.alive:
                break
            self._moving[contact] = None
            await self._overlay.kernel.sleep(FALLEN_S)
        self._moving.pop(contact, None)

    async def _pause(self) -> None:
        peer = self._drawn(goes_down=True)
        if peer is not None and not peer.runtime.paused:
            await self._hold(peer)

    async def pause(self, peer: SimPeer) -> None:
        """Hold this one for a while, if it may go."""
        if peer in self._free(goes_down=True) and not peer.runtime.paused:
            await self._hold(peer)

    async def _hold(self, peer: SimPeer) -> None:
        self._count("pauses")
        self._copies.went_down(peer)
        peer.pause()
        await self._overlay.kernel.sleep(self._stream.uniform(0, self._plan.pause_s_max))
        if peer.alive:
            peer.resume()
            self._copies.came_back(peer)

    # ---- small parts -------------------------------------------------------------------------

    def _drawn(self, *, goes_down: bool = False) -> SimPeer | None:
        """A living peer that may go; None when there is none, or too few are left."""
        free = self._free(goes_down=goes_down)
        return self._stream.choice(free) if free else None

    def _free(self, *, goes_down: bool) -> list[SimPeer]:
        """Who may go now."""
        living = self._overlay.living
        if len(living) <= self._plan.peers_min:
            return []
        free = [one for one in living if self._may_go(one)]
        if goes_down and self._plan.careful:
            needed = set(self._copies.have_last_copies(free))
            free = [one for one in free if one not in needed]
        return free

    def _may_go(self, peer: SimPeer) -> bool:
        steady = self._overlay.peers[: self._plan.steady]
        return peer not in steady and peer.contact not in self._moving

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
