"""Rings of real routers whose workers only note what they were asked to do.

The holdings are given by hand: the arcs of an ideal ring, whatever the routing state says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chord import ChordConfig, ChordNode, Contact, Fault, ideal_ring
from meteor.wire.codec import wire_codec
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime
from squid import (
    Addressing,
    HandOn,
    Intervals,
    KeywordSpace,
    Number,
    Router,
    RouterConfig,
    Work,
    of_arc,
)


@dataclass
class NotingWorker:
    """Holds given intervals and notes the parts it performed."""

    held_intervals: Intervals
    performed: list[tuple[bytes, Intervals]] = field(default_factory=list)
    kept_copies: Intervals = ()
    holder: Contact | None = None
    """Whom it takes for the holder of what it does not hold itself."""

    def held(self) -> Intervals:
        return self.held_intervals

    def holder_of(self, _: int) -> Contact | None:
        return self.holder

    def unreachable(self, holder: Contact) -> None:
        assert holder

    def copied(self) -> Intervals:
        return self.kept_copies

    async def stand_in(self, share: HandOn, part: Intervals) -> Work | None:
        return Work(body=b"from a copy") if part else None

    async def settle(self, index: int, timeout_s: float) -> None:
        assert timeout_s >= 0
        assert index >= 0

    def may_come_late(self, share: HandOn) -> bool:
        return share.body != b"delete"

    def having_lain(self, share: HandOn, late_s: float) -> HandOn:
        if late_s > 5.0:
            raise Fault("Late", "its time is over")
        return share

    def may_be_done(self, share: HandOn, part: Intervals) -> bool:
        return False

    def answer(self, share: HandOn, part: Intervals) -> Work | None:
        return None

    async def perform(self, share: HandOn, part: Intervals) -> Work:
        self.performed.append((share.body, part))
        return Work(frames=(b"page",), body=b"done")


class Deaf:
    """An observer of the ring that minds nothing."""

    def arc_changed(self, before: object, now: object) -> None:
        """Ignored."""

    def contact_gone(self, contact: Contact) -> None:
        """Ignored."""


class RingOfWorkers:
    """Routers of peers with the given ids over an ideal ring of them."""

    def __init__(
        self,
        ids: Sequence[int],
        space: KeywordSpace,
        *,
        id_bits: int,
        seed: int = 1,
        addressing: Addressing = Addressing.FIRST_MATCH,
        kernel: Kernel | None = None,
    ) -> None:
        self.kernel = kernel or Kernel(seed)
        self.network = Network(self.kernel, codec=wire_codec())
        self.space, self.id_bits = space, id_bits
        self.config = ChordConfig(bits=id_bits)
        self.router_config = RouterConfig(addressing=addressing)
        self.nodes: dict[int, ChordNode] = {}
        self.workers: dict[int, NotingWorker] = {}
        self.routers: dict[int, Router] = {}
        for peer_id in sorted(ids):
            self._add(peer_id)
        self.point_ideally(sorted(ids))
        self.hold(sorted(ids))

    def _add(self, peer_id: int) -> None:
        contact = Contact(peer_id, f"peer-{peer_id}")
        runtime = SimRuntime(self.kernel, self.network, contact)
        node = ChordNode(contact, runtime, self.config, Deaf())
        worker = NotingWorker(())
        router = Router(
            node, runtime, self.space, worker, id_bits=self.id_bits, config=self.router_config
        )
        handlers = {**node.handlers, **router.handlers}

        def handle(sender: Contact, message: object, remaining_s: float) -> object:
            return handlers[type(message)](sender, message, remaining_s)

        runtime.serve(handle, node.link_closed)
        self.nodes[peer_id], self.workers[peer_id] = node, worker
        self.routers[peer_id] = router

    def point_ideally(self, ids: Sequence[int]) -> None:
        """Let the nodes of these ids point as in the ideal ring of them."""
        contacts = [self.nodes[peer_id].contact for peer_id in ids]
        for place in ideal_ring(contacts, self.config.successor_count):
            self.nodes[place.contact.id].install(place.predecessor, place.successors, place.fingers)

    def hold(self, ids: Sequence[int]) -> None:
        """Give each of these the arc that it has in their ideal ring."""
        for worker in self.workers.values():
            worker.held_intervals = ()
        for before, peer_id in zip((ids[-1], *ids), ids, strict=False):
            self.workers[peer_id].held_intervals = of_arc(
                before, peer_id, self.space.curve.index_bits, self.id_bits
            )

    def performed(self) -> dict[int, list[Intervals]]:
        """Peer id to the parts that it performed."""
        return {
            peer_id: [part for _, part in worker.performed]
            for peer_id, worker in self.workers.items()
            if worker.performed
        }


def number_space(dimensions: int, bits: int) -> KeywordSpace:
    """A space whose boxes the tests give in cells."""
    axes = [Number(f"axis{number}", 0, 1) for number in range(dimensions)]
    return KeywordSpace("cells", axes, bits=bits)
