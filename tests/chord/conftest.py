"""A ring of real nodes over a simulated network, for the tests of chord."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from chord import (
    MESSAGES,
    Arc,
    ChordConfig,
    ChordNode,
    Contact,
    Fault,
    RingState,
    ideal_ring,
)
from meteor.wire.codec import Codec
from sim import Kernel, Network, SimRuntime, UniformLatency


@dataclass
class Recorder:
    """An observer that keeps what it is told."""

    arcs: list[tuple[Arc | None, Arc | None]] = field(default_factory=list)
    gone: list[Contact] = field(default_factory=list)

    def arc_changed(self, before: Arc | None, now: Arc | None) -> None:
        self.arcs.append((before, now))

    def contact_gone(self, contact: Contact) -> None:
        self.gone.append(contact)


class CountingNetwork(Network):
    """Counts the frames that peers send, by the type of their message."""

    def __init__(self, kernel: Kernel, **options: Any) -> None:
        super().__init__(kernel, **options)
        self.frames: Counter[str] = Counter()

    def carry(self, end: Any, kind: Any, number: int, duration_s: float, message: object) -> None:
        self.frames[type(message).__name__] += 1
        super().carry(end, kind, number, duration_s, message)


class SimPeer:
    """One node with its runtime and what its observer heard."""

    def __init__(self, ring: SimRing, contact: Contact) -> None:
        self.runtime = SimRuntime(ring.kernel, ring.network, contact)
        self.observer = Recorder()
        self.kept: list[RingState] = []
        self.node = ChordNode(contact, self.runtime, ring.config, self.observer, self.kept.append)
        self.runtime.serve(self._handle, self.node.link_closed)

    def _handle(self, sender: Contact, request: object, remaining_s: float) -> object:
        handler = self.node.handlers.get(type(request))
        if handler is None:
            raise Fault("UnknownMessage", type(request).__name__)
        return handler(sender, request, remaining_s)


class SimRing:
    """Peers by identifier, in one simulated world.

    Every message is encoded and decoded on its way, unless `coded` says otherwise."""

    def __init__(
        self,
        seed: int = 0,
        config: ChordConfig | None = None,
        *,
        latency: Any = None,
        coded: bool = True,
        **changes: Any,
    ) -> None:
        self.config = replace(config or ChordConfig.local(), **changes)
        self.kernel = Kernel(seed)
        self.network = CountingNetwork(
            self.kernel,
            latency=latency or UniformLatency(),
            codec=Codec(MESSAGES) if coded else None,
        )
        self.peers: dict[int, SimPeer] = {}

    def add(self, node_id: int, address: str | None = None) -> ChordNode:
        """A new node that is no member yet."""
        contact = Contact(node_id, address or f"peer-{node_id:x}:1")
        peer = SimPeer(self, contact)
        self.peers[node_id] = peer
        return peer.node

    def ideal(self, ids: Iterable[int], *, start: bool = False) -> list[ChordNode]:
        """An ideal ring of new nodes, at once."""
        nodes = {node_id: self.add(node_id) for node_id in sorted(ids)}
        contacts = [node.contact for node in nodes.values()]
        for place in ideal_ring(contacts, self.config.successor_count):
            node = nodes[place.contact.id]
            node.install(place.predecessor, place.successors, place.fingers)
            if start:
                node.start()
        self.settle(0.1)
        return list(nodes.values())

    def grow(self, ids: Sequence[int], *, start: bool = True) -> list[ChordNode]:
        """Found a ring and let the others join one after another, knowing its address."""
        nodes = [self.add(node_id) for node_id in ids]
        founder = nodes[0]
        self.run(founder.found())
        for node in nodes[1:]:
            self.run(node.join([Contact.at(founder.contact.address)]))
        if start:
            for node in nodes:
                node.start()
        return nodes

    def run(self, conversation: Any) -> Any:
        """Run one conversation to its end."""
        return self.kernel.run_until(self.kernel.spawn(conversation))

    def settle(self, duration_s: float) -> None:
        """Let that much time pass."""
        self.kernel.run(until_s=self.kernel.now() + duration_s)

    def crash(self, node_id: int) -> None:
        """End a peer without a word."""
        peer = self.peers.pop(node_id)
        self.network.crash(peer.node.contact)

    def bring_back(self, peer: SimPeer) -> ChordNode:
        """A new incarnation of a peer that has crashed, not yet resumed."""
        contact = peer.node.contact
        again = SimPeer(self, replace(contact, incarnation=contact.incarnation + 1))
        self.peers[contact.id] = again
        return again.node

    def leave(self, node_id: int) -> None:
        """Let a peer leave politely and close."""
        peer = self.peers.pop(node_id)
        self.run(peer.node.leave())
        peer.runtime.close()

    @property
    def members(self) -> list[ChordNode]:
        """The living members by identifier."""
        return [self.peers[i].node for i in sorted(self.peers) if self.peers[i].node.joined]

    def ideal_within_s(self, limit_s: float) -> float:
        """How long it takes from now until the ring is ideal; the limit where it does not."""
        began_s = self.kernel.now()
        while self.flaws() and self.kernel.now() < began_s + limit_s:
            self.settle(0.25)
        return self.kernel.now() - began_s

    def flaws(self, *, fingers: bool = False) -> list[str]:
        """How the members' pointers differ from those of the ideal ring."""
        members = {node.contact.id: node for node in self.members}
        found = []
        places = ideal_ring([n.contact for n in members.values()], self.config.successor_count)
        for place in places:
            node = members[place.contact.id]
            if node.predecessor != place.predecessor:
                found.append(f"{node.contact}: predecessor {node.predecessor}")
            if node.successors != place.successors:
                found.append(f"{node.contact}: successors {[str(s) for s in node.successors]}")
            if fingers and node.fingers != place.fingers:
                found.append(f"{node.contact}: fingers {node.fingers}")
        return found


@pytest.fixture
def sim_ring() -> type[SimRing]:
    """The class, so that a test may build rings of its own."""
    return SimRing
