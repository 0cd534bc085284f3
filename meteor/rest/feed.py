"""What one client of an event stream is to get, and what it may have got: a bounded queue.

Law of this file: synchronous and pure.  Nothing is dropped without being said: who is too slow gets
the word `overflow` after what was queued, and who comes back learns whether it is resumed whole.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream, as it is written."""

    id: str
    """What the client says when it comes back; empty for what needs no saying."""
    kind: str
    data: str

    def encode(self) -> bytes:
        """The event in the form of `text/event-stream`."""
        lines = [f"event: {self.kind}"]
        if self.id:
            lines.append(f"id: {self.id}")
        lines.extend(f"data: {line}" for line in self.data.split("\n"))
        return ("\n".join(lines) + "\n\n").encode()


class Feed:
    """The events of one interest on their way to its client.

    `name` is the id of the stream's first event, and that with which the others begin."""

    def __init__(
        self, name: str, select: str, length: int, wake: Callable[[], None], *, bytes_max: int
    ) -> None:
        self.name, self.select = name, select
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
        self._wake()

    def end(self, why: str) -> None:
        """No more will come."""
        self.ended = self.ended or why
        self._wake()

    def take(self, most: int) -> list[Event]:
        """What is to be written now; kept until as much came after it."""
        taken = [self._pending.popleft() for _ in range(min(most, len(self._pending)))]
        self._sent.extend(taken)
        size = sum(len(event.data) for event in taken)
        self._pending_bytes -= size
        self._sent_bytes += size
        while len(self._sent) > self._length or self._sent_bytes > self._bytes_max:
            self._sent_bytes -= len(self._sent.popleft().data)
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
