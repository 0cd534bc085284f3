"""An overlay of real peers in virtual time.

Law of this file: it builds and steps, and decides nothing.  The peers are those of `meteor`, their
world is `sim.runtime`; one seed gives one trace.

    overlay = Overlay(peers=16, space=space, seed=1)
    client = overlay.client()
    receipt = overlay.run(client.store("type=temperature temperature=21.5", b"..."))
    overlay.peers[3].crash()
    overlay.run(until=60.0)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from inspect import isawaitable
from typing import Any, TypeVar, overload

from chord import (
    ChordConfig,
    Contact,
    RelocationConfig,
    ask_for_place,
    identifier,
)
from meteor import (
    ActingFor,
    Client,
    ClientConfig,
    Identity,
    JoinFailed,
    Journal,
    KeywordSpace,
    MemoryJournal,
    Policy,
    wrong_values,
)
from sim.clock import EPOCH_S, ClockPlan
from sim.disk import SimDisk
from sim.faults import Faults
from sim.kernel import Kernel
from sim.link import MessageCodec
from sim.network import Latency, Network
from sim.overlay_arguments import (
    check_client,
    checked_config,
    checked_end,
    checked_identifier,
    checked_peers,
    network_of,
)
from sim.runtime import SimRuntime
from sim.simulated_peer import SimPeer
from sim.task import Cancelled
from sim.trace import Trace
from squid import RouterConfig

ResultT = TypeVar("ResultT")

SETTLE_S = 30.0
"""Virtual time for a new peer to hold its arc; on a quiet network it takes milliseconds."""


class Overlay:
    """N peers over a simulated network, and what drives them.

    `copies` peers keep every record; where fewer than `copies_min` do, nothing counts.  With a
    `disk` their journals take time; with a `codec` every message travels as bytes; with `clocks`
    those of peers and clients are wrong as planned.  A `network` brings its own kernel, latency and
    codec; raises `ValueError` for both, and for `ids` that are too few or make no ring.  A kernel
    that is given, or the network's, has its own seed: `seed` counts where there is none.

    What is given is looked at before anything is made: raises `TypeError` for what is of another
    kind than it has, and `ValueError` for what no ring can be told."""

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
        network: Network | None = None,
        codec: MessageCodec | None = None,
        disk: SimDisk | None = None,
        clocks: ClockPlan | None = None,
        moves: RelocationConfig | None = None,
        copies: int = 3,
        copies_min: int | None = None,
        routing: RouterConfig | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.config = checked_config(
            config, space, copies=copies, copies_min=copies_min, moves=moves, routing=routing,
            policy=policy, disk=disk, clocks=clocks,
        )  # fmt: skip
        count, self._ids = checked_peers(peers, ids, self.config.bits)
        self.network = network_of(network, kernel, seed, latency=latency, codec=codec)
        self.kernel = self.network.kernel
        self.space, self.seed, self.disk = space, self.kernel.seed, disk
        self.faults = Faults(self.network)
        """What goes wrong on the network: nothing until it is told."""
        self.clocks = clocks if clocks is not None else ClockPlan()
        """How wrong the machines' clocks are."""
        self.moves = moves
        """When light peers move to where more is to be carried; None: they stay."""
        self.copies, self.copies_min, self.routing = copies, copies_min, routing
        self.policy = policy
        """What the peers allow; those that start later, too."""
        self.on_new: Callable[[SimPeer], None] = lambda _: None
        """Hears of every peer, and of every new incarnation, before it starts."""
        self.on_end: Callable[[SimPeer], None] = lambda _: None
        """Hears of every peer that is about to end because its disk failed."""
        self.events: Callable[[bytes], None] | None = None
        """Takes the events of all peers that come from now on, a JSON line each."""
        self.peers: list[SimPeer] = []
        self.clients: dict[Contact, Client] = {}
        """Those that were made here, by the contacts of their links."""
        self._visitors = 0
        for _ in range(count):
            self.run(self.add_peer())

    def hear_of_new(self, hears: Callable[[SimPeer], None]) -> None:
        """Tell of every peer that is there, and of whoever comes, besides all told until now."""
        told_before = self.on_new

        def tell(peer: SimPeer) -> None:
            told_before(peer)
            hears(peer)

        self.on_new = tell
        for peer in self.peers:
            hears(peer)

    @property
    def trace(self) -> Trace:
        """What has happened so far: its length and digest; its events too, where the overlay was
        given a kernel that keeps them (`kernel=Kernel(seed, keep_trace=True)`)."""
        return self.kernel.trace

    @property
    def living(self) -> list[SimPeer]:
        """The peers that have not crashed or left."""
        return [peer for peer in self.peers if peer.alive]

    def wall_clock(self) -> float:
        """True Unix seconds, as exact clocks show them."""
        return EPOCH_S + self.kernel.now()

    @overload
    def run(self, work: Coroutine[Any, Any, ResultT] | Awaitable[ResultT]) -> ResultT: ...
    @overload
    def run(self, *, until: float) -> None: ...
    def run(
        self,
        work: Coroutine[Any, Any, ResultT] | Awaitable[ResultT] | None = None,
        *,
        until: float | None = None,
    ) -> ResultT | None:
        """Let virtual time pass until `work` is done, and give its result; or `until` that time.

        Raises what the work raises, and what a conversation raised that nobody awaits; `TypeError`
        without either, as peers never come to an end, for both and for what is neither, and
        `ValueError` for a time that is over, or never comes."""
        if work is None:
            if until is None:
                raise TypeError("run: give it something to do, or a time: until=...")
            self.kernel.run(until_s=checked_end(until, self.kernel.now()))
            return None
        if until is not None:
            raise TypeError("run: give it something to do, or a time, not both")
        if not isawaitable(work):
            raise TypeError(f"run: {wrong_values.said(work)} is nothing to await")
        return self.kernel.run_until(self.kernel.spawn(_awaiting(work)))

    def run_for(self, seconds: float) -> None:
        """Let that much virtual time pass; raises as `run` does for what is no such time."""
        seconds = wrong_values.checked_number("seconds", seconds)
        self.kernel.run(until_s=self.kernel.now() + seconds)

    async def add_peer(self, peer_id: int | None = None) -> SimPeer:
        """Start one more peer and let it join; returns once it holds its arc.

        Raises what joining raises, `JoinFailed` first of all; the peer is dead then.  Raises
        `ValueError` and `TypeError` for an identifier that the ring does not have."""
        peer = self.new_peer(await self.place() if peer_id is None else peer_id)
        await self.rejoin(peer)
        return peer

    async def place(self) -> int | None:
        """Ask the ring for the identifier of one more peer, as peers on sockets do; None where one
        of `ids` is its own, placement goes by hash, or the ring knows no place."""
        known = [Contact.at(peer.address) for peer in self.living[:3]]
        if self._given_id() is not None or self.config.placement == "hash" or not known:
            return None
        seed = identifier(f"joiner {self._visitors}", self.config.bits)
        self._visitors += 1
        visitor = SimRuntime(self.kernel, self.network, Contact(seed, ""))
        try:
            return await ask_for_place(visitor, known, seed)
        finally:
            visitor.close()

    def new_peer(self, peer_id: int | None = None, *, incarnation: int = 0) -> SimPeer:
        """A peer that listens and has not joined yet; of a later `incarnation` than another one
        whose identifier it is given, as on sockets, where that goes by the clock.

        Raises as `add_peer` does for the identifier."""
        if peer_id is not None:
            peer_id = checked_identifier("peer_id", peer_id, self.config.bits)
        number = len(self.peers)
        address = f"10.0.{number // 250}.{number % 250 + 1}:7400"
        if peer_id is None:
            given = self._given_id()
            peer_id = identifier(address, self.config.bits) if given is None else given
        peer = SimPeer(self, Contact(peer_id, address), self._journal(address), incarnation)
        self.peers.append(peer)
        return peer

    def _given_id(self) -> int | None:
        """The identifier that was given for the next peer, if one was."""
        number = len(self.peers)
        return self._ids[number] if self._ids is not None and number < len(self._ids) else None

    async def move(self, peer: SimPeer, peer_id: int) -> SimPeer:
        """Let a peer leave and come back under another identifier, as its process would; under its
        own where it could not hand everything over.

        Raises what `restart` raises, and `ValueError` for a peer that is not alive."""
        peer_id = checked_identifier("peer_id", peer_id, self.config.bits)
        self._check_last("move", peer)
        if not peer.alive:
            raise ValueError(f"move: {peer.address} is not alive; restart() it first")
        left = await peer.leave()
        return await self.restart(peer, None if left else peer_id)

    async def restart(self, peer: SimPeer, peer_id: int | None = None) -> SimPeer:
        """Start a crashed or departed peer again, a new incarnation of the same address, and of the
        same id unless another is given, under the same journal; it takes the old one's place in
        `peers`.

        Raises what joining raises, `JoinFailed` first of all; the new incarnation is dead then.
        Raises `ValueError` for a peer that is alive, or that a later incarnation replaced, and for
        an identifier as `add_peer` does."""
        again = self.reincarnate(peer, peer_id)
        await self.rejoin(again)
        return again

    def reincarnate(self, peer: SimPeer, peer_id: int | None = None) -> SimPeer:
        """The first half of a restart: the new incarnation listens and has not started.  It is the
        next one, whatever its journal tells of: on sockets that goes by the clock."""
        if peer_id is not None:
            peer_id = checked_identifier("peer_id", peer_id, self.config.bits)
        self._check_last("restart", peer)
        if peer.alive:
            raise ValueError(f"restart: {peer.address} is alive; crash() or leave() first")
        journal = peer.journal
        if isinstance(journal, MemoryJournal):
            journal.reopen()
        else:
            journal = self._journal(peer.address)
        contact = peer.contact if peer_id is None else Contact(peer_id, peer.address)
        again = SimPeer(self, contact, journal, peer.incarnation + 1)
        again.via = peer.via
        self.peers[self.peers.index(peer)] = again
        return again

    def _check_last(self, what: str, peer: object) -> None:
        """Raises `TypeError` for what is no peer, `ValueError` for one that was replaced."""
        if not isinstance(peer, SimPeer):
            given = wrong_values.said(peer)
            raise TypeError(f"{what}: give one of the overlay's peers, not {given}")
        if peer not in self.peers:  # its journal is the later one's now
            raise ValueError(f"{what}: a later incarnation of {peer.address} was started already")

    async def rejoin(self, again: SimPeer) -> None:
        """The second half: it comes into the ring; raises as `restart` does."""
        others = [Contact.at(other.address) for other in self.living if other is not again]
        again.via = others[:3] or again.via
        try:
            await again.core.start(again.via)
        except Cancelled:
            if again.alive:
                raise
            raise JoinFailed(f"{again.address} was crashed as it joined", ()) from None
        except Exception:  # a bug, too, leaves nobody half-made among the living
            again.crash()
            raise
        again.via = ()
        await again.core.settled(SETTLE_S)
        self._let_move(again)

    def _let_move(self, peer: SimPeer) -> None:
        if self.moves is not None:
            peer.core.move_with(lambda place: self.kernel.spawn(self._go(peer, place)), self.moves)

    async def _go(self, peer: SimPeer, place: int) -> None:
        """Let a peer go where it wants to be, unless it ended meanwhile: then it wants nothing."""
        if peer.alive:
            await self.move(peer, place)

    def cut_power(self, peer: SimPeer) -> None:
        """What a crashed peer had not made durable is lost."""
        if self.disk is not None:
            self.disk.crash(peer.address)

    def _journal(self, address: str) -> Journal:
        return MemoryJournal() if self.disk is None else self.disk.journal(address)

    def client(
        self,
        *,
        peer: int = 0,
        config: ClientConfig | None = None,
        first_version: int | None = None,
        identity: Identity | ActingFor | None = None,
    ) -> Client:
        """A client that is linked to one peer and knows all living ones, among which `peer` counts;
        an `identity` signs what it posts.  Raises `ValueError` where there is no such peer, and
        `TypeError` for what is of another kind than it has.

        Its versions run with the wall clock, in microseconds, as those of clients on sockets."""
        client = self.new_client(
            peer=peer, config=config, first_version=first_version, identity=identity
        )
        try:
            self.run(client.open())
        except BaseException:
            client.abandon()  # nobody else could close it
            raise
        return client

    def new_client(
        self,
        *,
        peer: int = 0,
        config: ClientConfig | None = None,
        first_version: int | None = None,
        identity: Identity | ActingFor | None = None,
    ) -> Client:
        """The same, not open yet: for who is in a conversation already."""
        living = self.living
        check_client(
            peer, len(living), config=config, first_version=first_version, identity=identity
        )
        name = f"client {len(self.clients)}"
        contact = Contact(identifier(name, self.config.bits), "")
        clock = self.clocks.clock_of(self.kernel, name)
        runtime = SimRuntime(self.kernel, self.network, contact, clock)
        order = living[peer:] + living[:peer]
        addresses = [Contact.at(other.address) for other in order]
        if first_version is None:
            first_version = int(clock.wall() * 1_000_000)
        try:
            client = Client(
                runtime, addresses, config=config, first_version=first_version,
                identity=identity, wall_clock=clock.wall,
            )  # fmt: skip
        except BaseException:
            runtime.close()  # the next one has the same name
            raise
        self.clients[contact] = client
        return client


async def _awaiting(work: Awaitable[ResultT]) -> ResultT:
    return await work
