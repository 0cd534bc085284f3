"""One end of a simulated link, and how links are found.

Law of this file: what a frame becomes on its way (bytes and back) and what its acknowledgement does
at the sender; when it arrives is decided in `sim.network`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from chord import (
    ACKNOWLEDGE_WITHIN_S,
    CALLS_PER_LINK,
    Contact,
    Exchange,
    FrameKind,
    LinkClosed,
    LinkEnd,
    MeteorError,
    RemoteFault,
)
from meteor import wrong_values
from sim.clock import MachineClock

_REQUEST: Final = FrameKind.REQUEST
_FORWARD: Final = FrameKind.FORWARD
DIAL_TIMEOUT_S: Final = 3.0
"""A dial that is not answered for this long is given up, as by `meteor`'s transports."""


class MessageCodec(Protocol):
    """What turns messages into bytes and back, as `meteor.wire.codec.Codec` does."""

    def encode(self, message: object) -> bytes:
        """Bytes; raises `TypeError` for what is no message, a `MeteorError` for what is too
        large."""

    def decode(self, data: bytes) -> object:
        """The message."""


def check_codec(codec: object) -> None:
    """Raises `TypeError` for what neither turns messages into bytes nor is None."""
    both = (getattr(codec, name, None) for name in ("encode", "decode"))  # text has one of them
    if codec is not None and not all(callable(one) for one in both):
        given = wrong_values.said(codec)
        raise TypeError(f"codec: give a meteor.wire_codec(), or leave it out, not {given}")


class Carrier(Protocol):
    """What a link asks of its network."""

    codec: MessageCodec | None

    def carry(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Let one frame travel from `end` to the far end of its link."""


class Station(Protocol):
    """The peer, or client, at one end of a link, as links, the network and its faults see it."""

    name: str
    clock: MachineClock
    paused: bool
    exchange: Exchange

    @property
    def contact(self) -> Contact:
        """How others reach it."""

    @property
    def ends(self) -> Sequence[SimLinkEnd]:
        """The near ends of its links, in the order in which they were opened."""

    def accept(self, far: SimLinkEnd) -> SimLinkEnd:
        """The near end of a link that another peer opens by its end, joined to that."""

    def opened(self, end: SimLinkEnd) -> list[SimLinkEnd]:
        """A link that was dialled is open: what waited for its dial and is for others."""

    def lose(self, end: SimLinkEnd, reason: str) -> None:
        """A link is gone."""

    def refuse(self, end: SimLinkEnd, who: Contact | None) -> None:
        """Nobody took the dial, or `who` is there, another peer than was meant."""

    def give_up_dial(self, end: SimLinkEnd, reason: str) -> None:
        """Nobody answered the dial."""

    def when_resumed(self, callback: Callable[..., object], *args: Any) -> None:
        """Run `callback(*args)` when the pause is over."""

    def close(self) -> None:
        """End it."""


class Held:
    """Carries nothing yet: keeps the frames of a link that waits for the dial of another one."""

    __slots__ = ("codec", "frames")

    def __init__(self, codec: MessageCodec | None) -> None:
        self.codec = codec
        self.frames: list[tuple[SimLinkEnd, FrameKind, int, float, object]] = []

    def carry(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Keep one frame."""
        self.frames.append((end, kind, number, duration_s, message))


Frame = tuple[float, int, int, Callable[..., None], "SimLinkEnd", FrameKind, int, float, object]
"""One frame on its way, as `sim.clockwork` keeps it: when it arrives, its place among what happens
then, who is told; the end that it left, its kind, number and duration, the message."""


class SimLinkEnd(LinkEnd):
    """One end of a simulated link."""

    __slots__ = (
        "_acknowledgements",
        "_network",
        "ages_s",
        "arrival_s",
        "dialling",
        "lost",
        "other",
        "owner",
    )

    def __init__(self, network: Carrier, owner: Station, contact: Contact) -> None:
        super().__init__(contact)
        self._network = network
        self._acknowledgements: list[tuple[float, float, int]] = []
        self.owner = owner
        self.other: SimLinkEnd | None = None
        """The far end; None until the first frame has arrived."""
        self.ages_s: dict[int, float] = {}
        """How old this end was as each request left that is on its way, by their numbers."""
        self.arrival_s = 0.0
        """When the last frame sent from here arrives there."""
        self.lost = False
        self.dialling = False
        """Whether a deadline is set for its dial."""

    def transmit(self, kind: FrameKind, number: int, duration_s: float, message: object) -> None:
        """Let the frame travel."""
        if self.lost:
            raise LinkClosed(f"the link to {self.contact} is closed")
        network = self._network
        if network.codec is not None and message is not None:
            try:
                message = _travelled(network.codec, message)
            except (RemoteFault, TypeError):
                if self.other is None:  # on sockets it is dialled by now: others may wait for it
                    self.dial()
                raise
        if kind is _REQUEST:
            if len(self.ages_s) >= CALLS_PER_LINK:  # of what was lost on the way
                del self.ages_s[next(iter(self.ages_s))]
            self.ages_s[number] = self.age_s(self.owner.clock.reader())
        network.carry(self, kind, number, duration_s, message)

    def join(self, far: SimLinkEnd) -> None:
        """The link is open: these are its two ends."""
        self.other, far.other = far, self
        for end in (self, far):
            end.since_s = end.owner.clock.reader()

    def travel_by(self, network: Carrier) -> None:
        """Let what waited travel, and what comes from now on."""
        before, self._network = self._network, network
        if isinstance(before, Held):
            for frame in before.frames:
                network.carry(*frame)

    def dial(self) -> None:
        """Open it though nothing is to be said: by a frame that acknowledges none."""
        self._network.carry(self, FrameKind.ACKNOWLEDGE, 0, 0.0, None)

    def take_frames(self, other: SimLinkEnd, more: int) -> None:
        """Let what waits on another link, which was never dialled, travel by this one; the numbers
        of its forwarded frames grow by `more`."""
        before = other._network
        assert isinstance(before, Held)
        for _, kind, number, duration_s, message in before.frames:
            if kind is _REQUEST:
                self.ages_s[number] = other.ages_s[number]
            sent_number = number + more if kind is _FORWARD else number
            self._network.carry(self, kind, sent_number, duration_s, message)
        before.frames = []

    def acknowledged(self, left_s: float, arrives_s: float, number: int) -> None:
        """The far end acknowledges `number` in a frame that leaves and arrives then, in true time.

        No event is spent on it: it is taken in when somebody looks (`settle`)."""
        self._acknowledgements.append((left_s, arrives_s, number))

    def settle(self, now_s: float) -> None:
        """Take in the acknowledgements that have arrived, by the owner's clock."""
        if not self._acknowledgements:
            return
        pending = []
        for left_s, arrives_s, number in self._acknowledgements:
            heard_s = self.owner.clock.reading_at(arrives_s)
            if heard_s <= now_s:
                self.last_heard_s = max(self.last_heard_s, heard_s)
                self.acknowledge(number, ACKNOWLEDGE_WITHIN_S, heard_s)
            else:
                pending.append((left_s, arrives_s, number))
        self._acknowledgements = pending

    def cut(self, now_s: float) -> None:
        """The far end is gone: acknowledgements that had not left never will."""
        self._acknowledgements = [kept for kept in self._acknowledgements if kept[0] <= now_s]


def link_key(contact: Contact) -> object:
    """How links are found: by address, a client's by the whole contact."""
    return contact.address or contact


def _travelled(codec: MessageCodec, message: object) -> object:
    """The message as it comes out at the other side; too large a one is refused as on sockets."""
    try:
        return codec.decode(codec.encode(message))
    except MeteorError as error:
        raise RemoteFault(type(error).__name__, str(error)) from error
