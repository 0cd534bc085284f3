"""What one client of an event stream is to get, and what it may have got: a bounded queue.

Law of this file: synchronous and pure.  Nothing is dropped without being said: who is too slow gets
the word `overflow` after what was queued, and who comes back learns whether it is resumed whole.
All queues together are bounded too: for one event more the fullest of the address that keeps most
gives up, first what it kept for a client that comes back, then what waits.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream, as it is written."""

    id: str
    """What the client says when it comes back; empty for what needs no saying."""
    kind: str
    data: str
    size: int = field(init=False, compare=False)
    """The memory that its data takes, in bytes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sys.getsizeof(self.data))

    def encode(self) -> bytes:
        """The event in the form of `text/event-stream`."""
        lines = [f"event: {self.kind}"]
        if self.id:
            lines.append(f"id: {self.id}")
        lines.extend(f"data: {line}" for line in self.data.split("\n"))
        return ("\n".join(lines) + "\n\n").encode()


class Room:
    """What the feeds of a peer keep together, and whose they are."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self.size = 0
        """Bytes of all of them."""
        self._feeds: dict[Feed, str] = {}

    def enter(self, feed: Feed, address: str) -> None:
        """A feed for a client at this address."""
        self._feeds[feed] = address

    def leave(self, feed: Feed) -> None:
        """Nobody is to read it any more: what it keeps goes."""
        feed.clear()
        self._feeds.pop(feed, None)

    def keep(self, size: int) -> None:
        """So many bytes more are kept, or less."""
        self.size += size
        if size <= 0:  # who gives up comes by here as well
            return
        while self.size > self._bytes_max and any(feed.size for feed in self._feeds):
            each: Counter[str] = Counter()
            for feed, address in self._feeds.items():
                each[address] += feed.size
            fullest = max(each, key=each.__getitem__)
            own = [feed for feed, address in self._feeds.items() if address == fullest]
            max(own, key=lambda feed: feed.size).give_up()


class Feed:
    """The events of one interest on their way to its client.

    `name` is the id of the stream's first event, and that with which the others begin."""

    def __init__(
        self, name: str, select: str, length: int, wake: Callable[[], None], *, bytes_max: int,
        room: Room | None = None,
    ) -> None:  # fmt: skip
        self.name, self.select = name, select
        self.size = 0
        """Bytes that it keeps in memory, of what waits and of what was sent."""
        self._room = room or Room(sys.maxsize)
        self.dropped = 0
        """Events that came while the queue was full."""
        self.ended = ""
        """Why no more will come; empty while they may."""
        self._wake, self._length, self._bytes_max = wake, length, bytes_max
        self._pending_bytes = self._sent_bytes = 0
        self._limit = sys.maxsize  # what lives already comes before anybody can take it
        self._pending: deque[Event] = deque()
        self._sent: deque[Event] = deque()

    def opened(self) -> None:
        """What lived already is queued: from now on so much more may wait."""
        self._limit = len(self._pending) + self._length

    def put(self, event: Event) -> None:
        """Queue an event; once one did not fit, none is taken any more."""
        if self.ended:
            return
        size = len(event.data)
        if len(self._pending) >= self._limit or self._pending_bytes + size > self._bytes_max:
            self.dropped += 1
            self.ended = (
                f"{len(self._pending)} events of {self._pending_bytes} characters wait to be read "
                "and more came: what came since is not in this stream; open it anew and read "
                "faster, or select less"
            )
        else:
            self._pending.append(event)
            self._pending_bytes += size
            self._keep(event.size)
        self._wake()

    def end(self, why: str) -> None:
        """No more will come."""
        self.ended = self.ended or why
        self._wake()

    def give_up(self) -> None:
        """All feeds together keep too much, and this one the most of it: what it kept for a client
        that comes back goes, or, where that is nothing, what waits."""
        if self._sent:
            self._forget(self._sent)
            self._sent_bytes = 0
            return
        self.dropped += len(self._pending)
        self.ended = self.ended or (
            "all streams of this peer together keep as much as they may, and this one the most: "
            "open it anew and read faster, or select less"
        )
        self.clear()
        self._wake()

    def clear(self) -> None:
        """Nothing that it keeps is to be read any more."""
        self._forget(self._pending)
        self._forget(self._sent)
        self._pending_bytes = self._sent_bytes = 0

    def take(self, most: int, most_bytes: int = sys.maxsize) -> list[Event]:
        """What is to be written now, at least one event if there is any; kept until as much came
        after it."""
        taken: list[Event] = []
        size = 0
        while self._pending and len(taken) < most and size < most_bytes:
            event = self._pending.popleft()
            taken.append(event)
            size += len(event.data)
        self._sent.extend(taken)
        self._pending_bytes -= size
        self._sent_bytes += size
        while len(self._sent) > self._length or self._sent_bytes > self._bytes_max:
            event = self._sent.popleft()
            self._sent_bytes -= len(event.data)
            self._keep(-event.size)
        self._limit = max(self._length, min(self._limit, len(self._pending) + self._length))
        return taken

    def resume(self, last_id: str) -> bool:
        """Queue again what came after `last_id`; false if that is no longer known here."""
        places = [place for place, event in enumerate(self._sent) if event.id == last_id]
        if not places:
            return False
        again = list(islice(self._sent, places[-1] + 1, None))
        for event in reversed(again):
            self._sent.pop()
            self._pending.appendleft(event)
            self._sent_bytes -= len(event.data)
            self._pending_bytes += len(event.data)
        self._limit = max(self._limit, len(self._pending) + self._length)
        return True

    def _forget(self, events: deque[Event]) -> None:
        self._keep(-sum(event.size for event in events))
        events.clear()

    def _keep(self, size: int) -> None:
        self.size += size
        self._room.keep(size)
