"""One end of a link between two peers: what it has heard, and what it waits to be acknowledged.

Law of this file: pure decisions; `now` is an argument, nothing is sent here.  Forwarded frames are
numbered per link and acknowledged cumulatively; the acknowledgement says how long it was held, so
that the round trip is measured without it.  The estimate is RFC 6298's with one change: its lower
bound is `SILENCE_FLOOR_S`, not a second, as a falsely suspected link costs one message and no
more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Final

from chord.contact import Contact
from chord.errors import CallError
from chord.frozen import dataclass
from chord.transit import Transit

SILENCE_FLOOR_S: Final = 0.020
"""Silence shorter than this is never suspicious: a garbage collection takes 10 ms."""
SILENCE: Final = "silence"
"""Why a forwarded frame was not delivered: nothing came back in time.  Other reasons are words."""
SILENCE_FIRST_S: Final = 0.250
"""The retransmission time-out of the first link; that of a later one without a measured round trip
follows from the others', but never is longer than this ..."""
SILENCE_DIAL_S: Final = 0.050
"""... nor shorter than this: both loops are needed to open it."""
DIAL_ROUND_TRIPS: Final = 4
"""Connecting, the upgrade, the frame itself, and one to spare."""
SILENCE_CEILING_S: Final = 3.0
"""Backing off ends here."""
ACKNOWLEDGE_WITHIN_S: Final = 0.003
"""How long an acknowledgement may wait for company."""


class FrameKind(IntEnum):
    """What a frame is; the number that follows it on the wire differs in meaning."""

    REQUEST = 0
    """Number of the call; the duration is what remains for it.  It says how old its sender's end of
    the link was as well (`chord.transit`)."""
    REPLY = 1
    """Number of the call; the duration is how long the request was held."""
    FAULT = 2
    """As REPLY; the message is a `FaultReport`."""
    BUSY = 3
    """As REPLY; the receiver did not look at the request."""
    SEND = 4
    """No number."""
    FORWARD = 5
    """Number of the forwarded frame on this link."""
    ACKNOWLEDGE = 6
    """Every forwarded frame up to this number arrived; the duration is how long the last was
    held."""
    GOODBYE = 7
    """An idle link: the sender puts nothing more on it and will open a new one when it must."""


@dataclass(frozen=True, slots=True)
class FaultReport:
    """Why a request was refused: the fields of `chord.Fault`."""

    kind: str
    message: str
    details: tuple[str, ...] = ()


MESSAGES: tuple[type, ...] = (FaultReport,)


class RoundTrip:
    """Smoothed round-trip time of a link and the silence that is suspicious (RFC 6298)."""

    __slots__ = ("backoff", "elsewhere", "rttvar_s", "srtt_s")

    def __init__(self) -> None:
        self.srtt_s = 0.0
        self.rttvar_s = 0.0
        self.backoff = 1
        self.elsewhere: RoundTrip | None = None
        """The first round trips of all links of the same peer."""

    def sample(self, round_trip_s: float) -> None:
        """Take a measured round trip into account; a negative one is read as 0."""
        if round_trip_s < 0.0:  # noqa: PLR1730 - `max` takes five times as long
            round_trip_s = 0.0
        self.backoff = 1
        if not self.srtt_s:
            self.srtt_s, self.rttvar_s = round_trip_s, round_trip_s / 2
            if self.elsewhere is not None:
                self.elsewhere.sample(round_trip_s)
            return
        self.rttvar_s += (abs(self.srtt_s - round_trip_s) - self.rttvar_s) / 4
        self.srtt_s += (round_trip_s - self.srtt_s) / 8

    def silence_s(self) -> float:
        """How long a forwarded frame may stay unacknowledged."""
        if not self.srtt_s:
            return min(self._first_silence_s() * self.backoff, SILENCE_CEILING_S)
        measured_s = self.srtt_s + 4 * self.rttvar_s + ACKNOWLEDGE_WITHIN_S
        return min(max(SILENCE_FLOOR_S, measured_s) * self.backoff, SILENCE_CEILING_S)

    def _first_silence_s(self) -> float:
        """The same for a link that is not measured, and perhaps not open yet."""
        others = self.elsewhere
        if others is None or not others.srtt_s:
            return SILENCE_FIRST_S
        usual_s = DIAL_ROUND_TRIPS * (others.srtt_s + 4 * others.rttvar_s)
        return min(max(SILENCE_DIAL_S, usual_s), SILENCE_FIRST_S)

    def back_off(self) -> None:
        """Be twice as patient until the next sample."""
        self.backoff = min(self.backoff * 2, 64)


@dataclass(slots=True, eq=False)
class Forwarded:
    """A tracked message on its way through its candidates."""

    message: object
    candidates: Sequence[Contact]
    undelivered: Callable[[object, str], None]
    tried: int = 0
    """How many candidates were tried."""

    def next_candidate(self) -> Contact | None:
        """The candidate to try now; None when all were tried."""
        if self.tried >= len(self.candidates):
            return None
        self.tried += 1
        return self.candidates[self.tried - 1]


@dataclass(slots=True, eq=False)
class Unacknowledged:
    """A forwarded frame that the other end has not acknowledged."""

    number: int
    sent_s: float
    forwarded: Forwarded


class LinkEnd(ABC):
    """One end of a link: to whom, and the state that both runtimes keep of it.

    A runtime adds how a frame leaves."""

    __slots__ = (
        "asking",
        "begun",
        "contact",
        "last_heard_s",
        "opened_s",
        "round_trip",
        "sent_number",
        "serving",
        "silences",
        "since_s",
        "suspected",
        "transit",
        "unacknowledged",
        "watched",
    )

    def __init__(self, contact: Contact) -> None:
        self.contact = contact
        self.round_trip = RoundTrip()
        self.last_heard_s = float("-inf")
        self.opened_s = float("-inf")
        """When it opened; what was sent before had to wait for the dial and measures nothing."""
        self.asking = 0
        """Calls that wait for this link's replies."""
        self.serving = 0
        """Deferred conversations that will reply over this link."""
        self.begun = 0
        """Those that one-way messages began: nobody waits for their end."""
        self.sent_number = 0
        """Number of the last forwarded frame."""
        self.silences = 0
        """How often it was silent for too long about one."""
        self.unacknowledged: list[Unacknowledged] = []
        self.watched = False
        """Whether a deadline is set for the oldest unacknowledged frame."""

        self.suspected = False
        """Whether it has been silent for too long about a frame, and still is."""
        self.since_s = float("inf")
        """When both ends had it: how old it is counts from then."""
        self.transit: Transit | None = None
        """What the requests that came over it show; None before the first."""

    @property
    def late_s(self) -> float:
        """How much longer than usual the last request was on its way."""
        return 0.0 if self.transit is None else self.transit.late_s

    @property
    def srtt_s(self) -> float:
        """Smoothed round-trip time; 0 while unknown."""
        return self.round_trip.srtt_s

    @property
    def rttvar_s(self) -> float:
        """Its mean deviation; 0 while unknown."""
        return self.round_trip.rttvar_s

    @property
    def frames(self) -> int:
        """Forwarded frames that were sent over it."""
        return self.sent_number

    def heard(self, now_s: float) -> float:
        """A frame came in at `now_s`, which is returned: nothing is suspicious any more."""
        self.last_heard_s = now_s
        self.suspected = False
        return now_s

    def requested(self, age_s: float | None, now_s: float) -> None:
        """A request comes in that left when its sender's end was `age_s` old, if it says so."""
        if age_s is None:
            self.transit = self.transit or Transit(now_s)
            self.transit.unknown()
            return
        if self.transit is None:
            self.transit = Transit(min(self.since_s, now_s - age_s))
        self.transit.came(age_s, now_s)

    def age_s(self, now_s: float) -> float:
        """How old it is; 0 while it is being opened."""
        return max(0.0, now_s - self.since_s)

    def suspect(self) -> None:
        """It was silent for too long: so it stays until something is heard, and the next wait is
        twice as long.  Once a silence: what was sent into one says nothing more about how slow the
        link is, and each frame to who is dead would wait twice as long as the one before."""
        if not self.suspected:
            self.round_trip.back_off()
        self.suspected = True
        self.silences += 1

    @abstractmethod
    def transmit(self, kind: FrameKind, number: int, duration_s: float, message: object) -> None:
        """Send one frame, in the order of these calls.

        Raises `Busy` if the link's queue is full, `LinkClosed` after its end, `RemoteFault` if
        the frame is larger than the link carries."""

    @abstractmethod
    def settle(self, now_s: float) -> None:
        """Take in acknowledgements that arrived by other ways than frames, if the link has any."""

    def track(self, forwarded: Forwarded, now_s: float) -> int:
        """Number a forwarded frame and keep it until it is acknowledged."""
        self.sent_number += 1
        self.unacknowledged.append(Unacknowledged(self.sent_number, now_s, forwarded))
        return self.sent_number

    def untrack(self) -> None:
        """Forget the frame tracked last: it did not leave."""
        self.unacknowledged.pop()

    def acknowledge(self, number: int, held_s: float, now_s: float) -> None:
        """Forget the frames up to `number`; the newest of them measures the round trip."""
        count = 0
        for frame in self.unacknowledged:
            if frame.number > number:
                break
            count += 1
        self.suspected = False
        if count:
            newest = self.unacknowledged[count - 1]
            if newest.number == number and newest.sent_s >= self.opened_s:
                self.round_trip.sample(now_s - newest.sent_s - held_s)
            del self.unacknowledged[:count]

    def silent_at_s(self) -> float | None:
        """When the oldest unacknowledged frame will have been met by too much silence; None
        without one.  Anything heard since it was sent starts the wait again."""
        if not self.unacknowledged:
            return None
        since_s = max(self.unacknowledged[0].sent_s, self.last_heard_s)
        return since_s + self.round_trip.silence_s()

    def take_unacknowledged(self) -> list[Forwarded]:
        """Give up every unacknowledged frame, oldest first."""
        frames, self.unacknowledged = self.unacknowledged, []
        return [frame.forwarded for frame in frames]

    def take_over(self, other: LinkEnd) -> int:
        """Keep what another link to the same peer, which never opened, was to see acknowledged, as
        if it had been sent over this one; returns by how much the numbers of its frames grow."""
        before = self.sent_number
        for frame in other.unacknowledged:
            frame.number += before
        self.unacknowledged += other.unacknowledged
        other.unacknowledged = []
        self.sent_number += other.sent_number
        self.asking += other.asking
        other.asking = 0
        return before

    def accompany(self, number: int, reply: object) -> None:
        """Send a reply with what leaves next, soon: here at once, for want of anything better."""
        with suppress(CallError):
            self.transmit(FrameKind.REPLY, number, 0.0, reply)


class LoopBack(LinkEnd):
    """The link of a peer to itself: everything arrives in a later turn."""

    __slots__ = ("_call_soon", "_receive")

    def __init__(
        self,
        contact: Contact,
        call_soon: Callable[..., None],
        receive: Callable[[LinkEnd, FrameKind, int, float, object], None],
    ) -> None:
        super().__init__(contact)
        self._call_soon, self._receive = call_soon, receive

    def settle(self, now_s: float) -> None:
        """Nothing to settle: nothing is acknowledged here."""

    def transmit(self, kind: FrameKind, number: int, duration_s: float, message: object) -> None:
        """Hand the frame back in a later turn."""
        self._call_soon(self._receive, self, kind, number, duration_s, message)
