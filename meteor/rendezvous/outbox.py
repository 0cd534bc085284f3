"""Notices that their client has not acknowledged yet.

Law of this file: pure; takes `now` and numbers, returns what to send.  A notification stream is
derived, not stored: it is the pairs of living data and living interest minus what the client
acknowledged.  Every pair has the number of its later arrival; what an interest's client has
acknowledged without a gap is its watermark.  After a hand-off, a restart or an overflow the pairs
above it are matched again; the client drops what it has seen (DESIGN section 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from meteor.wire.messages import Notice

PENDING_MAX = 10_000
"""Unacknowledged notices kept for one interest; beyond that the stream is derived again from the
watermark once these are acknowledged.  At about 300 bytes each a dead client costs 3 MB at most."""

PENDING_BYTES_MAX = 8_000_000
"""The same in payload: large data must not fill the memory of a rendezvous peer."""

WINDOW = 256
"""Notices under way to one client at once and unacknowledged: more waits here, not in its link."""

RETRY_S = 1.0
RETRY_MAX_S = 30.0


Position = tuple[int, str]
"""A pair's place in its stream: its number, then the id of its notice, as an interest that meets
many data at once gives all their pairs one number."""


def stream_name(owner: str, stem: str) -> str:
    """The name of the stream of an interest: two owners may have chosen one stem."""
    return f"{owner}/{stem}" if owner else stem


def owner_and_stem(name: str) -> tuple[str, str]:
    """The interest of a stream's name; no stem holds a slash, and base64url none either."""
    owner, _, stem = name.rpartition("/")
    return owner, stem


@dataclass(slots=True)
class _Stream:
    """The notices of one interest, oldest first."""

    pending: dict[str, tuple[int, Notice]] = field(default_factory=dict)
    size: int = 0
    """Bytes of payload in `pending`."""
    unsent: dict[str, None] = field(default_factory=dict)
    """What of `pending` is to be sent next."""
    last_number: int = 0
    missed: Position | None = None
    """The first pair that did not fit: derive again from there on when `pending` is empty."""
    retry_at: float = 0.0
    retry_s: float = RETRY_S


class Outbox:
    """All streams of one rendezvous peer, by the name of their interest (`stream_name`)."""

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}

    def __len__(self) -> int:
        """How many notices wait for their acknowledgement."""
        return sum(len(stream.pending) for stream in self._streams.values())

    def add(self, notice: Notice, number: int) -> None:
        """Keep a notice until it is acknowledged; a known one changes nothing."""
        name = stream_name(notice.owner, notice.interest)
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = _Stream()
        if notice.id in stream.pending:
            return
        size = stream.size + len(notice.found.blob)
        full = size > PENDING_BYTES_MAX
        if len(stream.pending) >= PENDING_MAX or (full and stream.pending):
            position = (number, notice.id)
            stream.missed = min(stream.missed or position, position)
            return
        stream.size = size
        stream.last_number = max(stream.last_number, number)
        stream.pending[notice.id] = (number, notice)
        stream.unsent[notice.id] = None

    def passes_over(self, name: str, position: Position) -> bool:
        """Whether a notice need not be made: it waits here already, or as many others do; that is
        noted then, as by `add`."""
        stream = self._streams.get(name)
        if stream is None:
            return False
        if position[1] in stream.pending:
            return True
        if len(stream.pending) < PENDING_MAX:
            return False
        stream.missed = min(stream.missed or position, position)
        return True

    def has_told(self, stem: str) -> bool:
        """Whether its client was told of anything, or is about to be."""
        stream = self._streams.get(stem)
        return stream is not None and (bool(stream.pending) or stream.last_number > 0)

    def acknowledge(self, stem: str, notice_ids: tuple[str, ...]) -> Position | None:
        """Forget what arrived; the position from which the stream must be derived again now that
        it has room, if some of it did not fit."""
        stream = self._streams.get(stem)
        if stream is None:
            return None
        for notice_id in notice_ids:
            _, notice = stream.pending.pop(notice_id, (0, None))
            if notice is not None:
                stream.size -= len(notice.found.blob)
            stream.unsent.pop(notice_id, None)
        stream.retry_s = RETRY_S
        if stream.pending:
            return None
        missed, stream.missed = stream.missed, None
        return missed

    def watermark(self, stem: str) -> int:
        """Every pair up to this number is acknowledged."""
        stream = self._streams.get(stem)
        if stream is None:
            return 0
        unacknowledged = [number for number, _ in stream.pending.values()]
        if stream.missed is not None:
            unacknowledged.append(stream.missed[0])
        return min(unacknowledged) - 1 if unacknowledged else stream.last_number

    def watermarks(self) -> dict[str, int]:
        """Every interest's watermark."""
        return {stem: self.watermark(stem) for stem in self._streams}

    def start(self, stem: str, number: int) -> None:
        """A stream is taken over from where its holder before was."""
        if stem not in self._streams:
            self._streams[stem] = _Stream(last_number=number)

    def due(self, stem: str, now: float) -> list[Notice]:
        """What to send of one interest now: fresh notices within the window, and all that are
        unacknowledged when the retry time has come."""
        stream = self._streams.get(stem)
        if stream is None or not stream.pending:
            return []
        unsent, under_way = stream.unsent, len(stream.pending) - len(stream.unsent)
        if under_way and now >= stream.retry_at:
            unsent = stream.unsent = dict.fromkeys(stream.pending)
            under_way = 0
            stream.retry_s = min(2 * stream.retry_s, RETRY_MAX_S)
        fresh = [stream.pending[id][1] for id in islice(unsent, max(WINDOW - under_way, 0))]
        for notice in fresh:
            del unsent[notice.id]
        if fresh:
            stream.retry_at = now + stream.retry_s
        return fresh

    def has_unsent(self, stem: str) -> bool:
        """Whether something waits to be sent, or to be sent again."""
        stream = self._streams.get(stem)
        return stream is not None and bool(stream.unsent)

    def again(self, stem: str) -> None:
        """The client moved: what is unacknowledged goes to its new place at once."""
        stream = self._streams.get(stem)
        if stream is not None:
            stream.unsent = dict.fromkeys(stream.pending)
            stream.retry_s = RETRY_S

    def drop(self, stem: str) -> None:
        """The interest is gone, or another peer derives its stream now."""
        self._streams.pop(stem, None)

    def stems(self) -> list[str]:
        """The interests with something unacknowledged."""
        return [stem for stem, stream in self._streams.items() if stream.pending]
