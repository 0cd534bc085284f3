"""A ring of real `chord.ChordNode`s alone, for the studies of the Chord papers' tables.

Law of this file: it builds and counts, and decides nothing.  A lookup is recognised by its key,
which nobody else draws: what its messages meet is counted where they arrive, or find nobody.
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from chord import Arc, ChordConfig, ChordNode, Contact, Fault, FindOwner, ideal_ring
from sim.kernel import Kernel
from sim.network import Latency, Network
from sim.runtime import SimRuntime

ResultT = TypeVar("ResultT")


class RingPeer:
    """One node and its world."""

    __slots__ = ("_handlers", "_ring", "node", "runtime")

    def __init__(self, ring: Ring, contact: Contact) -> None:
        self._ring = ring
        self.runtime = SimRuntime(ring.kernel, ring.network, contact)
        self.node = ChordNode(contact, self.runtime, ring.config, self)
        self._handlers = self.node.handlers
        self.runtime.serve(self._handle, self.node.link_closed)

    def arc_changed(self, before: Arc | None, now: Arc | None) -> None:
        """Nothing is kept in these arcs."""

    def contact_gone(self, contact: Contact) -> None:
        """Nothing is kept."""

    def _handle(self, sender: Contact, message: object, remaining_s: float) -> object:
        if isinstance(message, FindOwner):
            self._ring.visits[message.key] += 1
        handler = self._handlers.get(type(message))
        if handler is None:
            raise Fault("UnknownMessage", type(message).__name__)
        return handler(sender, message, remaining_s)


class Ring:
    """Nodes by identifier, and what befell the lookups among them."""

    def __init__(
        self,
        seed: int,
        config: ChordConfig,
        *,
        latency: Latency | None = None,
        keep_trace: bool = False,
    ) -> None:
        self.config = config
        self.kernel = Kernel(seed, keep_trace=keep_trace)
        self.network = Network(self.kernel, latency=latency)
        self.network.on_lost = self._lost
        self.peers: dict[int, RingPeer] = {}
        self._ids: list[int] = []
        """Those of `peers`, rising."""
        self.visits: Counter[int] = Counter()
        """Peers that each key's lookup was handed to, attempts that came to nothing included."""
        self.time_outs: Counter[int] = Counter()
        """Peers that it was sent to and that were gone."""
        self._made = 0

    def add(self, node_id: int) -> ChordNode:
        """A new node that is no member yet."""
        self._made += 1
        peer = RingPeer(self, Contact(node_id, f"10.{self._made}:1"))
        self.peers[node_id] = peer
        insort(self._ids, node_id)
        return peer.node

    def ideal(self, ids: Iterable[int], *, start: bool) -> None:
        """An ideal ring of new nodes, at once; `start` begins their periodic upkeep."""
        nodes = {node_id: self.add(node_id) for node_id in sorted(ids)}
        contacts = [node.contact for node in nodes.values()]
        for place in ideal_ring(contacts, self.config.successor_count):
            node = nodes[place.contact.id]
            node.install(place.predecessor, place.successors, place.fingers)
            if start:
                node.start()

    def crash(self, node_id: int) -> None:
        """End a node without a word."""
        self.network.crash(self._take(node_id).node.contact)

    async def leave(self, node_id: int) -> None:
        """Let a node leave politely and close."""
        peer = self._take(node_id)
        await peer.node.leave()
        peer.runtime.close()

    @property
    def members(self) -> list[ChordNode]:
        """The living members by rising identifier."""
        return [self.peers[i].node for i in self._ids if self.peers[i].node.joined]

    def any_member(self, stream: random.Random) -> ChordNode:
        """A living member, each as likely as the others; there must be one."""
        while True:
            node = self.peers[stream.choice(self._ids)].node
            if node.joined:
                return node

    def owner_of(self, key: int) -> int:
        """The identifier of the closest living member at or behind the key."""
        at = bisect_left(self._ids, key)
        while not self.peers[self._ids[at % len(self._ids)]].node.joined:
            at += 1
        return self._ids[at % len(self._ids)]

    def run(self, conversation: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Run one conversation to its end."""
        return self.kernel.run_until(self.kernel.spawn(conversation))

    def settle(self, duration_s: float) -> None:
        """Let that much time pass."""
        self.kernel.run(until_s=self.kernel.now() + duration_s)

    def _take(self, node_id: int) -> RingPeer:
        del self._ids[bisect_left(self._ids, node_id)]
        return self.peers.pop(node_id)

    def _lost(self, message: object) -> None:
        if isinstance(message, FindOwner):
            self.time_outs[message.key] += 1
