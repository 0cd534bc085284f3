"""An overlay of real peers in virtual time.

Law of this file: it builds and steps, and decides nothing.  The peers are those of `meteor`, their
world is `sim.runtime`; one seed gives one trace.

    overlay = Overlay(peers=16, space=space, seed=1)
    client = overlay.client()
    receipt = overlay.run(client.store("type=temperature temperature=21.5", b"..."))
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, TypeVar

from chord import ChordConfig, Contact, identifier
from meteor import Client, ClientConfig, KeywordSpace, MemoryJournal, RendezvousPeer
from sim.kernel import Kernel
from sim.network import Latency, MessageCodec, Network
from sim.runtime import SimRuntime
from sim.trace import Trace

ResultT = TypeVar("ResultT")

SETTLE_S = 30.0
"""Virtual time for a new peer to hold its arc; on a quiet network it takes milliseconds."""

EPOCH_S = 1_700_000_000.0
"""The wall clock's reading when a simulation starts: journals keep wall-clock expiry."""


class SimPeer:
    """One simulated peer: its protocol side, its world, and its journal, which outlives it."""

    def __init__(
        self,
        overlay: Overlay,
        contact: Contact,
        journal: MemoryJournal,
    ) -> None:
        self._overlay = overlay
        self.contact, self.journal = contact, journal
        self.runtime = SimRuntime(overlay.kernel, overlay.network, contact)
        self.core = RendezvousPeer(
            self.runtime,
            overlay.space,
            journal,
            wall_clock=overlay.wall_clock,
            config=overlay.config,
        )
        self.core.serve()
        self.alive = True

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.contact.address

    def crash(self) -> None:
        """End it without a word."""
        self.alive = False
        self._overlay.network.crash(self.contact)

    async def leave(self) -> None:
        """Hand over, say good-bye, stop."""
        self.alive = False
        await self.core.leave()
        self.runtime.close()


class Overlay:
    """N peers over a simulated network, and what drives them."""

    def __init__(
        self,
        peers: int = 16,
        *,
        space: KeywordSpace,
        seed: int = 1,
        latency: Latency | None = None,
        config: ChordConfig | None = None,
        ids: Sequence[int] | None = None,
        kernel: Kernel | None = None,
        codec: MessageCodec | None = None,
    ) -> None:
        self.kernel = kernel or Kernel(seed)
        self.network = Network(self.kernel, latency=latency, codec=codec)
        self.space, self.seed = space, seed
        self.config = config or ChordConfig.lan()
        self.peers: list[SimPeer] = []
        self._clients = 0
        self._ids = list(ids) if ids is not None else None
        for _ in range(peers):
            self.run(self.add_peer())

    @property
    def trace(self) -> Trace:
        """What has happened so far."""
        return self.kernel.trace

    @property
    def living(self) -> list[SimPeer]:
        """The peers that have not crashed or left."""
        return [peer for peer in self.peers if peer.alive]

    def wall_clock(self) -> float:
        """Unix seconds, as the peers' journals see them."""
        return EPOCH_S + self.kernel.now()

    def run(self, work: Coroutine[Any, Any, ResultT] | Awaitable[ResultT]) -> ResultT:
        """Let virtual time pass until `work` is done; its result."""
        return self.kernel.run_until(self.kernel.spawn(_awaiting(work)))

    def run_for(self, seconds: float) -> None:
        """Let that much virtual time pass."""
        self.kernel.run(until_s=self.kernel.now() + seconds)

    async def add_peer(self, peer_id: int | None = None) -> SimPeer:
        """Start one more peer and let it join; returns once it holds its arc."""
        peer = self.new_peer(peer_id)
        others = [other.contact for other in self.living if other is not peer]
        await peer.core.start([Contact.at(other.address) for other in others[:3]])
        await peer.core.settled(SETTLE_S)
        return peer

    def new_peer(self, peer_id: int | None = None) -> SimPeer:
        """A peer that listens and has not joined yet."""
        number = len(self.peers)
        address = f"10.0.{number // 250}.{number % 250 + 1}:7400"
        if peer_id is None:
            given = self._ids[number] if self._ids is not None else None
            peer_id = identifier(address, self.config.bits) if given is None else given
        peer = SimPeer(self, Contact(peer_id, address), MemoryJournal())
        self.peers.append(peer)
        return peer

    def client(
        self, *, peer: int = 0, config: ClientConfig | None = None, first_version: int = 1
    ) -> Client:
        """A client that is linked to one peer and knows all living ones."""
        contact = Contact(identifier(f"client {self._clients}", self.config.bits), "")
        self._clients += 1
        runtime = SimRuntime(self.kernel, self.network, contact)
        living = self.living
        order = living[peer:] + living[:peer]
        addresses = [Contact.at(other.address) for other in order]
        client = Client(runtime, addresses, config=config, first_version=first_version)
        self.run(client.open())
        return client


async def _awaiting(work: Awaitable[ResultT]) -> ResultT:
    return await work
