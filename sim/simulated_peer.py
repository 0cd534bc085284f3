"""One simulated peer: the protocol side of `meteor`, its world, and its journal.

Law of this file: it assembles and ends, and decides nothing.  A peer whose disk fails ends, as its
process would on sockets; every other failure is a bug and stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from chord import ChordConfig, Contact, Supplanted
from meteor import Journal, JournalFailed, Policy, RendezvousPeer, log_events
from sim.clock import ClockPlan
from sim.disk import SimJournal
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime
from squid import Intervals, KeywordSpace, RouterConfig


class Surroundings(Protocol):
    """What a peer takes of the overlay that it is started in, and tells it."""

    kernel: Kernel
    network: Network
    clocks: ClockPlan
    space: KeywordSpace
    config: ChordConfig
    copies: int
    copies_min: int | None
    policy: Policy | None
    routing: RouterConfig | None
    events: Callable[[bytes], None] | None
    """Takes the peer's events, a JSON line each."""
    on_new: Callable[[SimPeer], None]
    on_end: Callable[[SimPeer], None]

    def cut_power(self, peer: SimPeer) -> None:
        """What a crashed peer had not made durable is lost."""


class SimPeer:
    """One simulated peer: its protocol side, its world, and its journal, which outlives it."""

    def __init__(
        self,
        overlay: Surroundings,
        contact: Contact,
        journal: Journal,
        incarnation: int = 0,
    ) -> None:
        self._overlay = overlay
        self.contact = replace(contact, incarnation=incarnation)
        self.journal = journal
        self.incarnation = incarnation
        """How often it was restarted."""
        self.via: Sequence[Contact] = ()
        """By whom it was told to join, and has not yet: it is told so again when it is restarted,
        as a process is by its command, and does not begin a ring of its own."""
        clock = overlay.clocks.clock_of(overlay.kernel, contact.address)
        self.runtime = SimRuntime(overlay.kernel, overlay.network, self.contact, clock)
        self.core = RendezvousPeer(
            self.runtime,
            overlay.space,
            journal,
            wall_clock=clock.wall,
            config=overlay.config,
            copies=overlay.copies,
            copies_min=overlay.copies_min,
            policy=overlay.policy or Policy(),
            routing=overlay.routing,
            born=journal.born(incarnation) if isinstance(journal, SimJournal) else 0,
        )
        self.core.serve()
        if overlay.events is not None:
            log_events(
                self.core, self.runtime, clock.wall, overlay.events, id_bits=overlay.config.bits
            )
        self.alive = True
        self.runtime.is_machine_failure = self._ends
        overlay.on_new(self)

    @property
    def id(self) -> int:
        """Its identifier on the ring."""
        return self.contact.id

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.contact.address

    def _ends(self, error: BaseException) -> bool:
        """Whether the failure is that of its disk, or its place is another's: its process ends
        then, as on sockets."""
        if not isinstance(error, JournalFailed | Supplanted):
            return False
        self._overlay.kernel.call_soon(self._end)
        return True

    def _end(self) -> None:
        if self.alive:
            self._overlay.on_end(self)
            self.crash()

    def crash(self) -> None:
        """End it without a word; one that has ended leaves its next incarnation alone."""
        if not self.alive and self.runtime.exchange.closed:
            return
        self.alive = False
        self._overlay.network.crash(self.contact)
        self._overlay.cut_power(self)

    def pause(self) -> None:
        """Hold its process, as SIGSTOP does."""
        self.runtime.pause()

    def resume(self) -> None:
        """Let its process go on; harmless when it is not held."""
        self.runtime.resume()

    async def leave(self) -> Intervals:
        """Hand over, say good-bye, stop; returns what nobody took.

        Raises `ValueError` for a peer that crashed or left already."""
        if not self.alive:
            raise ValueError(f"leave: {self.address} is not alive; restart() it first")
        self.alive = False
        left = await self.core.leave()
        self.runtime.close()
        return left
