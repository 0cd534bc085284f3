"""One end of a link over a channel: frames in, and what leaves of them.

Law of this file: frames of one turn leave as one, in their order; when a turn ends is the owner's
affair (`meteor.links.asyncio_links`).  What waits is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from chord import Busy, Contact, FrameKind, LinkClosed, LinkEnd, RemoteFault
from meteor.errors import LimitExceeded
from meteor.links.asyncio_steady_clock import steady_clock
from meteor.links.transport import Channel
from meteor.wire.codec import FRAMES_MAX, Codec

QUEUE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes that may wait for one link; beyond that calls are `Busy` and one-way messages vanish."""
HEAD_BYTES: Final = 16
"""What travels round a frame, at most."""
BATCH_BYTES: Final = 256 * 1024
"""Frames are put together up to this size; larger ones travel alone."""

_REQUEST, _REPLY, _FORWARD = FrameKind.REQUEST, FrameKind.REPLY, FrameKind.FORWARD
_ACKNOWLEDGE, _GOODBYE = FrameKind.ACKNOWLEDGE, FrameKind.GOODBYE
"""By names of this file: until Python 3.12 a class of constants is asked for one in 400 steps."""


class LinkOwner(Protocol):
    """What a link asks of the peer whose it is."""

    codec: Codec
    now: Callable[[], float]
    is_client: bool

    def flush_soon(self, link: PeerLink) -> None:
        """Let what was put on a link leave at the end of the present turn."""

    def owe_soon(self, link: PeerLink) -> None:
        """Let a link leave what it owes, with whatever leaves next or soon."""


class PeerLink(LinkEnd):
    """One end of a link over a channel, or of one that is being dialled."""

    __slots__ = (
        "_frames", "_links", "_queued", "_unhurried", "_written", "channel", "dial", "due_number",
        "due_since_s", "lost", "retiring", "used_s",
    )  # fmt: skip

    def __init__(self, links: LinkOwner, contact: Contact) -> None:
        super().__init__(contact)
        self._links = links
        self._frames: list[bytes] = []
        self._queued = self._written = 0
        """Bytes of these frames, and of those before that the channel may have still: it is asked
        when all seem too many."""
        self._unhurried: list[tuple[int, float, object]] = []
        """Replies that wait for company: number, since when, and the reply."""
        self.channel: Channel | None = None
        self.dial: asyncio.Task[None] | None = None
        self.due_number = 0
        """The forwarded frame that is to be acknowledged; 0 when none is."""
        self.due_since_s = 0.0
        self.lost = False
        self.retiring = False
        self.used_s = links.now()

    def settle(self, now_s: float) -> None:
        """Nothing to settle: acknowledgements come as frames."""

    def transmit(self, kind: FrameKind, number: int, duration_s: float, message: object) -> None:
        """Queue one frame; it leaves at the end of the present turn."""
        if self.lost:
            raise LinkClosed(f"the link to {self.contact} is closed")
        try:
            links = self._links
            age_s = self.age_s(steady_clock()) if kind is _REQUEST else 0.0
            frame = links.codec.encode_frame(kind, number, duration_s, message, age_s)
        except LimitExceeded as error:
            raise RemoteFault("LimitExceeded", str(error)) from error
        size = len(frame) + HEAD_BYTES
        if self._queued + self._written + size > QUEUE_BYTES_MAX and kind is not _GOODBYE:
            self._check_room(size)
        if not self._frames and self.channel is not None:
            self._links.flush_soon(self)
        self._frames.append(frame)
        self._queued += size

    def _check_room(self, size: int) -> None:
        self._written = self.channel.backlog if self.channel is not None else 0
        waiting = self._queued + self._written
        if waiting + size > QUEUE_BYTES_MAX:
            raise Busy(f"{waiting} bytes wait for the link to {self.contact} already")

    def accompany(self, number: int, reply: object) -> None:
        """Send a reply with what leaves next, or soon."""
        if not self.lost:
            self._unhurried.append((number, self._links.now(), reply))
            self._links.owe_soon(self)

    def take_frames(self, other: PeerLink, more: int) -> None:
        """Let what waits on another link, which never opened, leave by this one; the numbers of its
        forwarded frames grow by `more`."""
        frames, other._frames, other._queued = other._frames, [], 0
        if more and other.frames:
            frames = [self._renumbered(frame, more) for frame in frames]
        if frames and not self._frames and self.channel is not None:
            self._links.flush_soon(self)
        self._frames += frames
        self._queued += sum(len(frame) + HEAD_BYTES for frame in frames)

    def _renumbered(self, frame: bytes, more: int) -> bytes:
        codec = self._links.codec
        (envelope,) = codec.split(codec.join([frame]))
        if envelope.kind is not _FORWARD:
            return frame
        message = codec.read(envelope.name, envelope.body)
        return codec.encode_frame(_FORWARD, envelope.number + more, 0.0, message)

    def flush(self) -> None:
        """Let everything that waits leave, and the acknowledgement that is due with it."""
        channel = self.channel
        if channel is None:
            return
        self.used_s = self._links.now()
        if self.due_number or self._unhurried:
            self._put_what_is_due(self.used_s)
        frames, self._frames = self._frames, []
        if not frames:
            return
        join = self._links.codec.join
        if self._queued <= BATCH_BYTES and len(frames) <= FRAMES_MAX:
            channel.write(join(frames))
        else:
            for batch in _batches(frames):
                channel.write(join(batch))
        self._written += self._queued
        self._queued = 0

    def _put_what_is_due(self, now_s: float) -> None:
        due: list[tuple[FrameKind, int, float, object]] = []
        if self.due_number:
            due.append((_ACKNOWLEDGE, self.due_number, self.due_since_s, None))
        due += [(_REPLY, *waits) for waits in self._unhurried]
        self.due_number, self._unhurried = 0, []
        for kind, number, since_s, message in due:
            frame = self._links.codec.encode_frame(kind, number, now_s - since_s, message)
            self._frames.append(frame)
            self._queued += len(frame) + HEAD_BYTES

    @property
    def owes(self) -> bool:
        """Whether something waits for company."""
        return bool(self.due_number or self._unhurried)

    @property
    def busy(self) -> bool:
        """Whether somebody waits for something on this link; a client's link always counts."""
        return bool(
            self.asking
            or self.serving
            or self._unhurried
            or self.unacknowledged
            or self.channel is None
            or not self.contact.address
            or self._links.is_client
        )


def _batches(frames: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Frames put together as they travel."""
    batch: list[bytes] = []
    size = 0
    for frame in frames:
        if batch and (size + len(frame) > BATCH_BYTES or len(batch) == FRAMES_MAX):
            yield batch
            batch, size = [], 0
        batch.append(frame)
        size += len(frame)
    yield batch
