"""The simulated network: latency, order per link, refused dials and closed links.

Law of this file: what two peers can see of each other is what sockets would show.  A link is
opened by its first frame; frames of one link arrive in order; a dial to nobody comes back refused
after a round trip; when a peer crashes, what it had sent still arrives, then its links close.
All draws come from the network's own seeded stream.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from chord import (
    ACKNOWLEDGE_WITHIN_S,
    Contact,
    FrameKind,
    LinkClosed,
    LinkEnd,
    MeteorError,
    RemoteFault,
)
from sim.kernel import Kernel

if TYPE_CHECKING:
    from sim.runtime import SimRuntime

GAP_S: Final = 1e-9
"""Least time between two arrivals on one link: wider than the rounding of virtual time."""


class Latency(Protocol):
    """How long a frame takes one way."""

    def draw(self, stream: random.Random) -> float:
        """Seconds for one frame."""


@dataclass(frozen=True, slots=True)
class UniformLatency:
    """Between `low_s` and `high_s`, evenly: a local network."""

    low_s: float = 0.0005
    high_s: float = 0.0015

    def draw(self, stream: random.Random) -> float:
        """Seconds for one frame."""
        return self.low_s + (self.high_s - self.low_s) * stream.random()


@dataclass(frozen=True, slots=True)
class TailedLatency:
    """At least `floor_s`, and an exponential tail of mean `tail_s` above it: a wide network."""

    floor_s: float = 0.010
    tail_s: float = 0.020

    def draw(self, stream: random.Random) -> float:
        """Seconds for one frame."""
        return self.floor_s + stream.expovariate(1.0 / self.tail_s)


class MessageCodec(Protocol):
    """What turns messages into bytes and back, as `meteor.codec.Codec` does."""

    def encode(self, message: object) -> bytes:
        """Bytes; raises `TypeError` for what is no message, a `MeteorError` for what is too
        large."""

    def decode(self, data: bytes) -> object:
        """The message."""


class SimLinkEnd(LinkEnd):
    """One end of a simulated link."""

    __slots__ = ("_acknowledgements", "_network", "arrival_s", "lost", "other", "owner")

    def __init__(self, network: Network, owner: SimRuntime, contact: Contact) -> None:
        super().__init__(contact)
        self._network = network
        self._acknowledgements: list[tuple[float, float, int]] = []
        self.owner = owner
        self.other: SimLinkEnd | None = None
        """The far end; None until the first frame has arrived."""
        self.arrival_s = 0.0
        """When the last frame sent from here arrives there."""
        self.lost = False

    def transmit(self, kind: FrameKind, number: int, duration_s: float, message: object) -> None:
        """Let the frame travel."""
        if self.lost:
            raise LinkClosed(f"the link to {self.contact} is closed")
        if self._network.codec is not None and message is not None:
            message = _travelled(self._network.codec, message)
        self._network.carry(self, kind, number, duration_s, message)

    def acknowledged(self, left_s: float, arrives_s: float, number: int) -> None:
        """The far end acknowledges `number` in a frame that leaves and arrives then.

        No event is spent on it: it is taken in when somebody looks (`settle`)."""
        self._acknowledgements.append((left_s, arrives_s, number))

    def settle(self, now_s: float) -> None:
        """Take in the acknowledgements that have arrived."""
        pending = []
        for left_s, arrives_s, number in self._acknowledgements:
            if arrives_s <= now_s:
                self.last_heard_s = max(self.last_heard_s, arrives_s)
                self.acknowledge(number, ACKNOWLEDGE_WITHIN_S, arrives_s)
            else:
                pending.append((left_s, arrives_s, number))
        self._acknowledgements = pending

    def cut(self, now_s: float) -> None:
        """The far end is gone: acknowledgements that had not left never will."""
        self._acknowledgements = [kept for kept in self._acknowledgements if kept[0] <= now_s]


class Network:
    """What carries frames between the simulated peers of one kernel.

    With a `codec`, every message is encoded when it is sent and arrives as decoded: tests run so.
    Without, the frozen objects themselves travel, and large studies run twice as fast."""

    def __init__(
        self,
        kernel: Kernel,
        *,
        latency: Latency | None = None,
        codec: MessageCodec | None = None,
    ) -> None:
        self.kernel = kernel
        self.codec = codec
        self._latency = latency if latency is not None else UniformLatency()
        self._stream = kernel.random("network")
        self._runtimes: dict[object, SimRuntime] = {}

    def enter(self, runtime: SimRuntime) -> None:
        """Take dials for the runtime's address; a client has none and takes none.

        Raises `ValueError` if a living peer listens there."""
        key = link_key(runtime.contact)
        if key in self._runtimes:
            raise ValueError(f"a peer listens at {runtime.contact.address} already")
        self._runtimes[key] = runtime

    def carry(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Let one frame travel from `end` to the far end of its link."""
        self.kernel.call_later(
            self._travel_s(end), self._arrive, end, kind, number, duration_s, message
        )

    def crash(self, contact: Contact) -> None:
        """End a peer without a word: it does nothing more, dials to it are refused, and whoever
        had a link to it sees that link close.  Harmless if nobody is there."""
        runtime = self._runtimes.get(link_key(contact))
        if runtime is not None:
            self.kernel.trace.record(self.kernel.now(), "crash", str(runtime.contact), "", "")
            runtime.close()

    def sever(self, runtime: SimRuntime, ends: list[SimLinkEnd]) -> None:
        """Close the links of a runtime that stopped; the far ends see it a latency later."""
        self._runtimes.pop(link_key(runtime.contact), None)
        now_s = self.kernel.now()
        for end in ends:
            end.lost = True
            if end.other is not None and not end.other.lost:
                end.other.cut(now_s)
                self.kernel.call_later(self._travel_s(end), self._close, end.other)

    def _travel_s(self, end: SimLinkEnd) -> float:
        """Draw when a frame sent now arrives, after all that were sent before it."""
        now_s = self.kernel.now()
        arrival_s = now_s + self._latency.draw(self._stream)
        arrival_s = max(arrival_s, end.arrival_s + GAP_S)
        end.arrival_s = arrival_s
        return arrival_s - now_s

    def _arrive(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        other = end.other if end.other is not None else self._connect(end)
        now_s = self.kernel.now()
        what = type(message).__name__
        if other is None or other.lost:
            self.kernel.trace.record(now_s, "lost", end.owner.name, end.contact.address, what)
            return
        self.kernel.trace.record(now_s, "deliver", end.owner.name, other.owner.name, what)
        if kind == FrameKind.FORWARD:
            left_s = now_s + ACKNOWLEDGE_WITHIN_S
            end.acknowledged(left_s, left_s + self._latency.draw(self._stream), number)
        other.owner.exchange.receive(other, kind, number, duration_s, message)

    def _connect(self, end: SimLinkEnd) -> SimLinkEnd | None:
        """Open the link that a first frame asks for; None if nobody takes it."""
        if end.lost:
            return None
        listener = self._runtimes.get(end.contact.address)
        expected = end.contact
        if listener is None or (expected.known and expected.id != listener.contact.id):
            self.kernel.call_later(self._latency.draw(self._stream), self._refuse, end)
            return None
        other = listener.accept(end.owner.contact)
        end.other, other.other = other, end
        end.contact = listener.contact
        return other

    def _refuse(self, end: SimLinkEnd) -> None:
        if not end.lost:
            now_s = self.kernel.now()
            self.kernel.trace.record(now_s, "refuse", end.owner.name, end.contact.address, "")
            end.owner.refuse(end, "nobody listens")

    def _close(self, end: SimLinkEnd) -> None:
        if not end.lost:
            now_s = self.kernel.now()
            self.kernel.trace.record(now_s, "close", end.owner.name, str(end.contact), "")
            end.owner.lose(end, "closed by the other side")


def link_key(contact: Contact) -> object:
    """How links are found: by address, a client's by the whole contact."""
    return contact.address or contact


def _travelled(codec: MessageCodec, message: object) -> object:
    """The message as it comes out at the other side; too large a one is refused as on sockets."""
    try:
        return codec.decode(codec.encode(message))
    except MeteorError as error:
        raise RemoteFault(type(error).__name__, str(error)) from error
