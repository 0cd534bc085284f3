"""Notices that their client has not acknowledged yet.

Law of this file: pure; takes `now` and numbers, returns what to send.  A notification stream is
derived, not stored: it is the pairs of living data and living interest minus what the client
acknowledged.  Every pair has the number of its later arrival; what an interest's client has
acknowledged without a gap is its watermark.  After a hand-off or a restart the pairs above it are
matched again, after an overflow those from the first on that did not fit, which then wait in order
(`meteor.rendezvous.backlog`); the client drops what it has seen (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from arms import Record
from meteor.rendezvous.backlog import BACKLOG_MAX, Backlog, Behind, NoticeKind, Position
from meteor.wire.messages import Notice

PENDING_MAX = 10_000
"""Unacknowledged notices kept for one interest; beyond that the stream is derived again, once these
are acknowledged.  At about 300 bytes each a dead client costs 3 MB at most."""

BACKLOGS_MAX = 4 * BACKLOG_MAX
"""What the backlogs of all streams may hold together, but for `PENDING_MAX` in each."""

PENDING_BYTES_MAX = 8_000_000
"""The same in payload: large data must not fill the memory of a rendezvous peer."""

PASSING_ROOM = 2
"""So many times as much may wait of what is not to be derived again: what passes, and that an
interest is gone.  It does not wait behind what is."""

WINDOW = 256
"""Notices under way to one client at once and unacknowledged: more waits here, not in its link."""

MARKED_AT_ONCE = 32_000
"""Unacknowledged notices that are looked at in one turn for watermarks: some milliseconds."""
MARK_SIZE = 64
"""How many of them a stream takes as long as that has none."""

RETRY_S = 1.0
RETRY_MAX_S = 30.0


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
    last_noted: int = 0
    """The same of what was noted here: a stream that is taken over begins with how far its client
    was, which lies beyond its interest's number also where nothing was acknowledged yet."""
    missed: Position | None = None
    """The first pair that did not fit: derive again from there on when `pending` is empty."""
    backlog: Backlog | None = None
    """Pairs that were derived and come next."""
    awaited: set[str] = field(default_factory=set)
    """What was under way when `retry_at` was set: what leaves later does not put it off."""
    retry_at: float = 0.0
    retry_s: float = RETRY_S

    def wait(self, now: float) -> None:
        """Give what is under way its time, unless some of it has that already."""
        under_way = len(self.pending) - len(self.unsent)
        if under_way and not self.awaited:
            sent = (id for id in self.pending if id not in self.unsent)
            self.awaited = set(islice(sent, under_way))
            self.retry_at = now + self.retry_s

    def is_late(self, now: float) -> bool:
        """Whether something of it has waited too long."""
        return bool(self.awaited) and now >= self.retry_at

    def miss(self, position: Position) -> None:
        """A pair does not fit."""
        self.missed = min(self.missed or position, position)

    @property
    def first(self) -> int | None:
        """The number of the first pair that is not acknowledged."""
        unacknowledged = [number for number, _ in self.pending.values()]
        if self.missed is not None:
            unacknowledged.append(self.missed[0])
        if self.backlog is not None and self.backlog.first is not None:
            unacknowledged.append(self.backlog.first[0])
        return min(unacknowledged, default=None)

    @property
    def is_behind(self) -> bool:
        """Whether more is to come, and there is room for it."""
        return not self.pending and (self.missed is not None or self.has_backlog)

    @property
    def has_backlog(self) -> bool:
        """Whether pairs that were derived come next."""
        return self.backlog is not None and self.backlog.first is not None


class Outbox:
    """All streams of one rendezvous peer, by the name of their interest (`stream_name`)."""

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}

    def __len__(self) -> int:
        """How many notices wait for their acknowledgement."""
        return sum(len(stream.pending) for stream in self._streams.values())

    def add(
        self, notice: Notice, number: int, now: float | None = None, *, lasts: bool = True
    ) -> bool:
        """Keep a notice until it is acknowledged; a known one changes nothing.  One that does not
        last cannot be derived again.

        Whether the caller is to send it at once, at `now`, as nothing waits before it and the
        window has room; else `due` says when."""
        name = stream_name(notice.owner, notice.interest)
        stream = self._keep(name, notice, number, 1 if lasts else PASSING_ROOM)
        if stream is None:
            return False
        before = len(stream.pending) - 1
        waits = stream.unsent or before >= WINDOW
        if now is None or waits or stream.is_late(now):
            stream.unsent[notice.id] = None
            return False
        stream.wait(now)
        return True

    def _keep(self, name: str, notice: Notice, number: int, room: int) -> _Stream | None:
        """The stream that has it now; None where it has it already, or has no room."""
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = _Stream()
        pending = stream.pending
        if notice.id in pending:
            return None
        size = stream.size + len(notice.found.blob)
        if pending and (size > room * PENDING_BYTES_MAX or len(pending) >= room * PENDING_MAX):
            stream.miss((number, notice.id))
            return None
        stream.size = size
        stream.last_number = max(stream.last_number, number)
        stream.last_noted = max(stream.last_noted, number)
        pending[notice.id] = (number, notice)
        return stream

    def passes_over(
        self, name: str, position: Position, about: Record, kind: NoticeKind, version: int
    ) -> bool:
        """Whether a notice need not be made: it waits here already, or others do that come before
        it; then its pair waits behind them, or is noted as by `add`.  `version` is that of the
        interest."""
        stream = self._streams.get(name)
        if stream is None:
            return False
        if position[1] in stream.pending:
            return True
        if stream.missed is not None and position >= stream.missed:
            return True
        if stream.backlog is not None and stream.backlog.version != version:
            self.turn_to(name, version)
        if stream.backlog is not None and stream.has_backlog:
            stream.backlog.add(Behind(position, about, kind))
            return True
        if len(stream.pending) < PENDING_MAX:
            return False
        stream.miss(position)
        return True

    # -- what comes next

    def is_behind(self, name: str) -> bool:
        """Whether more is to come of this stream, and there is room for it."""
        stream = self._streams.get(name)
        return stream is not None and stream.is_behind

    def has_backlog(self, name: str) -> bool:
        """Whether its next pairs were derived."""
        stream = self._streams.get(name)
        return stream is not None and stream.has_backlog

    def catch_up(self, name: str) -> Position | None:
        """The pair from which on a stream is to be derived now, if one did not fit."""
        stream = self._streams.get(name)
        if stream is None:
            return None
        missed, stream.missed = stream.missed, None
        return missed

    def turn_to(self, name: str, version: int) -> None:
        """The interest asks for something else: what was derived for it is derived again."""
        stream = self._streams.get(name)
        if stream is None or stream.backlog is None or stream.backlog.version == version:
            return
        first, stream.backlog = stream.backlog.first, None
        if first is not None:
            stream.miss(first)

    def put_behind(self, name: str, one: Behind, version: int) -> None:
        """Let a pair that was derived wait until there is room."""
        stream = self._streams.setdefault(name, _Stream())
        self.turn_to(name, version)
        if stream.backlog is None:
            backlogs = [one.backlog for one in self._streams.values() if one.backlog is not None]
            left = BACKLOGS_MAX - sum(backlog.most for backlog in backlogs)
            most = max(PENDING_MAX, min(BACKLOG_MAX, left))
            stream.backlog = Backlog(version, most)
        if one.position[1] not in stream.pending:
            stream.backlog.add(one)

    def take_behind(self, name: str) -> Behind | None:
        """The next pair that waits, if there is room for its notice."""
        stream = self._streams.get(name)
        if stream is None or stream.backlog is None:
            return None
        one = stream.backlog.next()
        if one is None:
            beyond, stream.backlog = stream.backlog.beyond, None
            if beyond is not None:
                stream.miss(beyond)
            return None
        full = stream.size + len(one.about.blob) > PENDING_BYTES_MAX
        if stream.pending and (full or len(stream.pending) >= PENDING_MAX):
            return None
        stream.backlog.take()
        return one

    def has_told(self, name: str, since: int) -> bool:
        """Whether its client was told of anything, or is about to be, `since` the number of the
        interest itself: what one before it under its name was told of has lower ones."""
        stream = self._streams.get(name)
        if stream is None:
            return False
        waits = any(number >= since for number, _ in stream.pending.values())
        return waits or stream.last_noted >= max(since, 1)

    def acknowledge(self, stem: str, notice_ids: tuple[str, ...]) -> bool:
        """Forget what arrived; whether there is room now for more that is to come."""
        stream = self._streams.get(stem)
        if stream is None:
            return False
        for notice_id in notice_ids:
            _, notice = stream.pending.pop(notice_id, (0, None))
            if notice is not None:
                stream.size -= len(notice.found.blob)
            stream.unsent.pop(notice_id, None)
            stream.awaited.discard(notice_id)
        stream.retry_s = RETRY_S
        return stream.is_behind

    def watermark(self, stem: str) -> int:
        """Every pair up to this number is acknowledged."""
        stream = self._streams.get(stem)
        if stream is None:
            return 0
        first = stream.first
        return stream.last_number if first is None else first - 1

    def first(self, name: str) -> int | None:
        """The number of the first pair that is not acknowledged; None where all are."""
        stream = self._streams.get(name)
        return None if stream is None else stream.first

    def parts(self) -> Iterator[tuple[list[str], bool]]:
        """All streams, in parts of which one turn may ask the watermarks, and whether more may
        come; the last may be empty."""
        part, size = list[str](), 0
        for name in tuple(self._streams):
            stream = self._streams.get(name)
            if stream is None:
                continue  # it went meanwhile
            part.append(name)
            size += MARK_SIZE + len(stream.pending)
            if size >= MARKED_AT_ONCE:
                yield part, True
                part, size = [], 0
        yield part, False

    def knows(self, name: str) -> bool:
        """Whether there is a stream of this name."""
        return name in self._streams

    def start(self, stem: str, number: int) -> None:
        """A stream is taken over from where its holder before was."""
        if stem not in self._streams:
            self._streams[stem] = _Stream(last_number=number)

    def due(self, stem: str, now: float) -> list[Notice]:
        """What to send of one interest now: fresh notices within the window, and those that are
        unacknowledged for the retry time."""
        stream = self._streams.get(stem)
        if stream is None or not stream.pending:
            return []
        unsent, late = stream.unsent, stream.awaited
        if stream.is_late(now):
            again = (id for id in stream.pending if id in late or id in unsent)
            unsent = stream.unsent = dict.fromkeys(again)
            stream.awaited = set()
            stream.retry_s = min(2 * stream.retry_s, RETRY_MAX_S)
        under_way = len(stream.pending) - len(unsent)
        fresh = [stream.pending[id][1] for id in islice(unsent, max(WINDOW - under_way, 0))]
        for notice in fresh:
            del unsent[notice.id]
        stream.wait(now)
        return fresh

    def has_unsent(self, stem: str) -> bool:
        """Whether something waits to be sent, or to be sent again."""
        stream = self._streams.get(stem)
        return stream is not None and bool(stream.unsent)

    def again(self, stem: str) -> None:
        """The client moved: what is unacknowledged goes to its new place at once."""
        stream = self._streams.get(stem)
        if stream is not None:
            stream.unsent, stream.awaited = dict.fromkeys(stream.pending), set()
            stream.retry_s = RETRY_S

    def drop(self, stem: str) -> None:
        """The interest is gone, or another peer derives its stream now."""
        self._streams.pop(stem, None)

    def names(self) -> tuple[str, ...]:
        """All streams."""
        return tuple(self._streams)

    def waits(self, name: str) -> bool:
        """Whether something of this stream is unacknowledged."""
        stream = self._streams.get(name)
        return stream is not None and bool(stream.pending)
