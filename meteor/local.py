"""A whole overlay in one process: for tests, notebooks and a first look.

Law of this file: it starts and stops ordinary peers; nothing in them knows that they are together.
With many of them it takes the process for its own, as far as the collector of cycles is concerned.

    async with meteor.LocalOverlay(peers=16, space=space) as overlay:
        client = await overlay.connect()
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Literal, Self

from chord import ChordConfig, Contact
from meteor.client.client import Client
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.asyncio_steady_clock import steady_clock
from meteor.links.transport import MemoryHub, MemoryTransport, Transport
from meteor.peer import Peer
from meteor.peer_options import check_alike, check_kinds, check_overlay_space
from meteor.rare_collections import RareCollections
from meteor.security.credentials import ActingFor, check_signer
from meteor.security.identity import Identity
from meteor.security.policy import Policy
from meteor.wrong_values import check_kind, checked_whole, said
from squid import KeywordSpace

TransportName = Literal["memory", "websocket"]
MANY: Final = 24
"""From so many peers on a full collection holds them all for longer than a late loop is excused for
(`ChordConfig.lateness_s_max`): 113 ms on a shared machine, 86 with 16 peers and 356 with 64."""


class LocalOverlay:
    """`peers` rendezvous peers on one event loop; `ids` gives their identifiers by hand."""

    def __init__(
        self,
        peers: int = 16,
        *,
        space: KeywordSpace,
        transport: TransportName = "memory",
        ids: Sequence[int] | None = None,
        config: ChordConfig | None = None,
        seed: int = 1,
        copies: int = 3,
        copies_min: int | None = None,
        policy: Policy | None = None,
    ) -> None:
        if checked_whole("peers", peers) < 1:
            raise ValueError(f"peers: an overlay has at least one peer, not {said(peers)}")
        check_overlay_space(space)
        check_kinds(config=config, policy=policy)
        checked_whole("seed", seed)
        check_alike(config or ChordConfig.local(), space, copies=copies, copies_min=copies_min)
        if not (isinstance(transport, str) and transport in {"memory", "websocket"}):
            raise ValueError(f"transport is 'memory' or 'websocket', not {said(transport)}")
        check_kind("ids", ids, (list, tuple, range))
        if ids is not None and len(ids) < peers:
            raise ValueError(f"{len(ids)} ids for {peers} peers")
        self.peers: list[Peer] = []
        self._count, self._space, self._name = peers, space, transport
        self._ids, self._config, self._seed, self._copies = ids, config, seed, copies
        self._copies_min, self._policy = copies_min, policy
        self._hub = MemoryHub()
        self._clients: list[Client] = []
        self._collections = RareCollections()

    @property
    def space(self) -> KeywordSpace:
        """The keyword space of the ring."""
        return self._space

    async def __aenter__(self) -> Self:
        try:
            for _ in range(self._count):
                await self._start_peer(None)
        except BaseException:
            await self.close()
            raise
        self._heed_size()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<LocalOverlay {self._space.name!r} peers={len(self.living)}>"

    async def close(self) -> None:
        """Stop everything at once, without handing over."""
        try:
            for client in self._clients:
                await client.close()
            for peer in self.peers:
                await peer.close(hand_over=False)
        finally:
            self._collections.end()

    async def add_peer(self, id: int | None = None) -> Peer:
        """One more peer, joined."""
        peer = await self._start_peer(id)
        self._heed_size()
        return peer

    def _heed_size(self) -> None:
        if len(self.peers) >= MANY:
            self._collections.begin()

    async def _start_peer(self, id: int | None) -> Peer:
        number = len(self.peers)
        if id is None and self._ids is not None and number < len(self._ids):
            id = self._ids[number]
        peer = Peer(
            space=self._space,
            join=[other.address for other in self.living[:3]],
            transport=self._transport(),
            id=id,
            config=self._config,
            seed=self._seed + number,
            copies=self._copies,
            copies_min=self._copies_min,
            policy=self._policy,
        )
        await peer.start()
        self.peers.append(peer)
        return peer

    @property
    def living(self) -> list[Peer]:
        """The peers that have not stopped."""
        return [peer for peer in self.peers if peer.serving]

    async def connect(
        self, peer: int = 0, *, identity: Identity | ActingFor | None = None
    ) -> Client:
        """A client that is linked to the `peer`-th living peer, and knows the others; an
        `identity` signs what it posts."""
        check_signer(identity)
        living = self.living
        if not -len(living) <= checked_whole("peer", peer) < len(living):
            raise ValueError(f"peer: {peer} is not one of {len(living)} living peers, from 0")
        addresses = [other.address for other in living[peer:] + living[:peer]]
        runtime = AsyncioRuntime(
            Contact(self._seed * 1_000_003 + len(self._clients) + 1, ""),
            self._client_transport(),
            self._seed + len(self._clients),
        )
        client = Client(
            runtime,
            [Contact.at(address) for address in addresses],
            first_version=time.time_ns() // 1000,
            identity=identity,
            wall_clock=time.time,
            steady_clock=steady_clock,
            release=runtime.aclose,
        )
        self._clients.append(client)
        return await client.open()

    def _transport(self) -> Transport:
        if self._name == "memory":
            return MemoryTransport(self._hub)
        from meteor.links.websocket_transport import WebSocketTransport  # noqa: PLC0415 - slow to import

        return WebSocketTransport("127.0.0.1:0")

    def _client_transport(self) -> Transport:
        if self._name == "memory":
            return MemoryTransport(self._hub)
        from meteor.links.websocket_transport import WebSocketTransport  # noqa: PLC0415 - slow to import

        return WebSocketTransport()
