"""The simulated network: latency, order per link, refused dials and closed links.

Law of this file: what two peers can see of each other is what sockets would show.  A link is
opened by its first frame; frames of one link arrive in order; a dial to nobody comes back refused
after a round trip; when a peer crashes, what it had sent still arrives, then its links close.
What reaches a paused peer waits there.  All draws come from the network's own seeded stream; what
goes wrong on the way is decided in `sim.faults`, and costs one look a frame while nothing does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from chord import ACKNOWLEDGE_WITHIN_S, Contact, FrameKind
from meteor import wrong_values
from sim.clockwork import NORMAL
from sim.kernel import Kernel
from sim.link import (
    DIAL_TIMEOUT_S,
    Frame,
    MessageCodec,
    SimLinkEnd,
    Station,
    check_codec,
    link_key,
)

_REQUEST: Final = FrameKind.REQUEST
_FORWARD: Final = FrameKind.FORWARD
GAP_S: Final = 1e-9
"""Least time between two arrivals on one link: wider than the rounding of virtual time."""


class Latency(Protocol):
    """How long a frame takes one way."""

    def draw(self, stream: random.Random) -> float:
        """Seconds for one frame."""


@dataclass(frozen=True, slots=True)
class UniformLatency:
    """Between `low_s` and `high_s`, evenly: a local network.

    Raises `TypeError` and `ValueError` for what are no such times: a frame that arrives before it
    is sent would run virtual time backwards."""

    low_s: float = 0.0005
    high_s: float = 0.0015

    def __post_init__(self) -> None:
        wrong_values.check_numbers(self, {"low_s", "high_s"})
        if self.low_s > self.high_s:
            raise ValueError(f"low_s: {self.low_s} is above high_s, {self.high_s}")

    def draw(self, stream: random.Random) -> float:
        """Seconds for one frame."""
        return self.low_s + (self.high_s - self.low_s) * stream.random()


@dataclass(frozen=True, slots=True)
class TailedLatency:
    """At least `floor_s`, and an exponential tail of mean `tail_s` above it, or none where that is
    0: a wide network.  Raises as `UniformLatency` does."""

    floor_s: float = 0.010
    tail_s: float = 0.020

    def __post_init__(self) -> None:
        wrong_values.check_numbers(self, {"floor_s", "tail_s"})

    def draw(self, stream: random.Random) -> float:
        """Seconds for one frame."""
        tail_s = stream.expovariate(1.0 / self.tail_s) if self.tail_s else 0.0
        return self.floor_s + tail_s


class Interference(Protocol):
    """What the network asks while something goes wrong (`sim.faults`)."""

    def carry(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Decide when, and whether, a frame that is sent now travels."""

    def acknowledge_late_s(self) -> float:
        """How much later than usual an acknowledgement comes to whoever sent the frame."""

    def hold_back(self, end: SimLinkEnd, callback: Callable[[], None]) -> bool:
        """Keep something that travels to `end` until it may; False if nothing is in its way."""


class Network:
    """What carries frames between the simulated peers of one kernel.

    With a `codec`, every message is encoded when it is sent and arrives as decoded: tests run so.
    Without, the frozen objects themselves travel, and large studies run twice as fast.  Raises
    `TypeError` for a `latency` that draws nothing and a `codec` that turns nothing into bytes."""

    def __init__(
        self,
        kernel: Kernel,
        *,
        latency: Latency | None = None,
        codec: MessageCodec | None = None,
    ) -> None:
        _check_latency(latency)
        check_codec(codec)
        self.kernel = kernel
        self.codec = codec
        clockwork = kernel.environment
        self._now, self._number, self._push = clockwork.now_s, clockwork.number, clockwork.push
        self._arrival: Callable[[Frame], None] = self._arrive  # bound once, not for each frame
        self._record = kernel.trace.record
        self._draw_s = _drawing(latency or UniformLatency(), kernel.random("network"))
        self._runtimes: dict[object, Station] = {}
        self.faults: Interference | None = None
        """What goes wrong on the way; None while nothing does."""
        self.on_lost: Callable[[object], None] | None = None
        """Hears of every message that nobody was there to take, for measurements."""

    def ends(self) -> list[SimLinkEnd]:
        """Every end of every link now, in the order in which peers and links came."""
        return [end for runtime in self._runtimes.values() for end in runtime.ends]

    def enter(self, runtime: Station) -> None:
        """Take dials for the runtime's address; a client has none and takes none.

        Raises `ValueError` if a living peer listens there."""
        key = link_key(runtime.contact)
        if key in self._runtimes:
            raise ValueError(f"a peer listens at {runtime.contact.address} already")
        self._runtimes[key] = runtime

    def carry(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Let one frame travel from `end` to the far end of its link, if nothing is in its way."""
        if self.faults is not None:
            self.faults.carry(end, kind, number, duration_s, message)
            return
        # The names spare a look-up each: Python 3.11 finds a callable attribute slowly.
        now_s, draw_s, order, push = self._now, self._draw_s, self._number, self._push
        arrival_s, least_s = now_s() + draw_s(), end.arrival_s + GAP_S
        if arrival_s < least_s:  # noqa: PLR1730 - `max` takes five times as long
            arrival_s = least_s
        end.arrival_s, arrival = arrival_s, self._arrival
        push((arrival_s, NORMAL, order(), arrival, end, kind, number, duration_s, message))

    def launch(
        self,
        end: SimLinkEnd,
        kind: FrameKind,
        number: int,
        duration_s: float,
        message: object,
        *,
        extra_s: float = 0.0,
        ordered: bool = True,
    ) -> None:
        """Let one frame travel for its latency and `extra_s`.

        Unless it is `ordered`, it overtakes what was sent before it and is not waited for."""
        travel_s = self._travel_s(end, extra_s) if ordered else self._draw_s() + extra_s
        when_s, order, arrival = self._now() + max(0.0, travel_s), self._number(), self._arrival
        self._push((when_s, NORMAL, order, arrival, end, kind, number, duration_s, message))

    def expect_dial(self, end: SimLinkEnd, timeout_s: float) -> None:
        """Give up the dial of `end` unless it is answered in that time; asked for once a link."""
        if not end.dialling:
            end.dialling = True
            self.kernel.call_later(timeout_s, self._give_up_dial, end)

    def crash(self, contact: Contact) -> None:
        """End a peer without a word: it does nothing more, dials to it are refused, and whoever
        had a link to it sees that link close.  Harmless if nobody is there."""
        runtime = self._runtimes.get(link_key(contact))
        if runtime is not None:
            self.kernel.trace.record(self.kernel.now(), "crash", str(runtime.contact), "", "")
            runtime.close()

    def sever(self, runtime: Station, ends: Sequence[SimLinkEnd]) -> None:
        """Close the links of a runtime that stopped; the far ends see it a latency later."""
        self._runtimes.pop(link_key(runtime.contact), None)
        for end in ends:
            self.hang_up(end)

    def hang_up(self, end: SimLinkEnd) -> None:
        """Close one link; its far end sees it a latency later."""
        end.lost = True
        if end.other is not None and not end.other.lost:
            end.other.cut(self.kernel.now())
            self.kernel.call_later(self._travel_s(end), self._close, end.other)

    def _travel_s(self, end: SimLinkEnd, extra_s: float = 0.0) -> float:
        """Draw when a frame sent now arrives, after all that were sent before it."""
        now_s = self._now()
        arrival_s = now_s + self._draw_s() + extra_s
        end.arrival_s = arrival_s = max(arrival_s, end.arrival_s + GAP_S)
        return arrival_s - now_s

    def _arrive(self, frame: Frame) -> None:
        now_s, _, _, _, end, kind, number, duration_s, message = frame
        other = end.other
        if other is None or other.owner.paused:
            if self._waits_for_resume(end, frame):
                return
            if other is None:
                other = self._connect(end)
        record, what = self._record, type(message).__name__
        if other is None or other.lost:
            record(now_s, "lost", end.owner.name, end.contact.address, what)
            if self.on_lost is not None:
                self.on_lost(message)
            return
        receiver = other.owner
        record(now_s, "deliver", end.owner.name, receiver.name, what)
        if kind is _REQUEST:
            # Of one that came before, over a link that doubles, nothing is known.
            other.requested(end.ages_s.pop(number, None), receiver.clock.reader())
        elif kind is _FORWARD:
            self._acknowledge(end, number)
        receiver.exchange.receive(other, kind, number, duration_s, message)

    def _waits_for_resume(self, end: SimLinkEnd, frame: Frame) -> bool:
        """Whether the frame's receiver is paused: it takes the frame when it resumes."""
        if end.other is not None:
            receiver: Station | None = end.other.owner
        else:
            receiver = self._runtimes.get(end.contact.address)
        if receiver is None or not receiver.paused:
            return False
        if end.other is None:
            self.expect_dial(end, DIAL_TIMEOUT_S)
        receiver.when_resumed(self._arrive_late, frame)
        return True

    def _arrive_late(self, frame: Frame) -> None:
        self._arrive((self._now(), *frame[1:]))

    def _acknowledge(self, end: SimLinkEnd, number: int) -> None:
        """The far end of `end` acknowledges a forwarded frame a little later."""
        faults, late_s = self.faults, 0.0
        if faults is not None:
            if faults.hold_back(end, lambda: self._acknowledge(end, number)):
                return
            late_s = faults.acknowledge_late_s()
        left_s = self.kernel.now() + ACKNOWLEDGE_WITHIN_S
        end.acknowledged(left_s, left_s + late_s + self._draw_s(), number)

    def _connect(self, end: SimLinkEnd) -> SimLinkEnd | None:
        """Open the link that a first frame asks for; None if nobody takes it."""
        if end.lost:
            return None
        listener = self._runtimes.get(end.contact.address)
        expected = end.contact
        if listener is None or (expected.known and expected.id != listener.contact.id):
            who = listener.contact if listener is not None else None
            self.kernel.call_later(self._draw_s(), self._refuse, end, who)
            return None
        other = listener.accept(end)
        end.contact = listener.contact
        for waiting in end.owner.opened(end):  # others were sought there
            self.kernel.call_later(self._draw_s(), self._refuse, waiting, listener.contact)
        return other

    def _refuse(self, end: SimLinkEnd, who: Contact | None) -> None:
        """Tell a peer that dialled who was there as its dial came in, if anybody was."""
        if end.lost or self._delayed(end, partial(self._refuse, who=who)):
            return
        if end.other is not None:
            return  # whoever listens there now has dialled us meanwhile
        self._note("refuse", end, end.contact.address)
        end.owner.refuse(end, who)

    def _close(self, end: SimLinkEnd) -> None:
        if end.lost or self._delayed(end, self._close):
            return
        self._note("close", end, str(end.contact))
        end.owner.lose(end, "closed by the other side")

    def _give_up_dial(self, end: SimLinkEnd) -> None:
        if end.lost or end.other is not None or self._delayed(end, self._give_up_dial):
            return
        self._note("unanswered", end, end.contact.address)
        end.owner.give_up_dial(end, f"no answer to the dial in {DIAL_TIMEOUT_S} s")

    def _delayed(self, end: SimLinkEnd, arrival: Callable[[SimLinkEnd], None]) -> bool:
        """Whether what arrives at `end` has to wait: for its owner, or on its way."""
        if end.owner.paused:
            end.owner.when_resumed(arrival, end)
            return True
        if self.faults is None or arrival == self._give_up_dial:
            return False
        return self.faults.hold_back(end, lambda: arrival(end))

    def _note(self, kind: str, end: SimLinkEnd, target: str) -> None:
        self.kernel.trace.record(self.kernel.now(), kind, end.owner.name, target, "")


def _check_latency(latency: object) -> None:
    """Raises `TypeError` for what neither draws times nor is None."""
    if latency is not None and not callable(getattr(latency, "draw", None)):
        given = wrong_values.said(latency)
        raise TypeError(f"latency: give a UniformLatency or TailedLatency, not {given}")


def _drawing(latency: Latency, stream: random.Random) -> Callable[[], float]:
    """What draws the seconds of one frame; for the usual latency without looking up its bounds."""
    if not isinstance(latency, UniformLatency):
        return partial(latency.draw, stream)
    low_s, spread_s, uniform = latency.low_s, latency.high_s - latency.low_s, stream.random
    return lambda: low_s + spread_s * uniform()
