"""Who is served next at the door, so that one client's flood is not the others' weather.

Law of this file: pure; numbers and `now` in, decisions out.  Every client has a queue of its own.
A client that is alone begins whatever it asks, up to a bound; as soon as another one was seen
lately, each begins one request a round, and what comes beyond waits in its own queue.  A round is
a few turns of the peer, so it is the peer's work that is shared, not what waits for others: how
many are in progress matters only above the bound.  Queues are served in turn and bounded in
requests and bytes: more is refused with `Busy` (a fair queue as in RFC 970, over clients).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Final

from chord import Busy


@dataclass(frozen=True, slots=True)
class DoorLimits:
    """What clients may have in progress and waiting at one peer."""

    each: int = 64
    """Requests in progress of one client: what is begun, the next one who comes waits for."""
    in_progress: int = 512
    """Of all clients together."""
    waiting: int = 448
    """Requests of one client that wait."""
    waiting_bytes: int = 8 * 1024 * 1024
    """Their documents."""
    all_waiting_bytes: int = 128 * 1024 * 1024
    """The documents that wait of all clients."""
    lately_s: float = 1.0
    """A client that asked within so long is there."""


@dataclass(slots=True)
class _Queue:
    """One client at the door."""

    in_progress: int = 0
    waiting: deque[tuple[int, int]] = field(default_factory=deque)
    """Tickets, with the bytes of each."""
    size: int = 0
    seen_s: float = 0.0
    had_its_turn: bool = False
    """In this round."""


class FairQueue:
    """The requests of all clients of one peer."""

    def __init__(self, limits: DoorLimits | None = None) -> None:
        self._limits: Final = limits or DoorLimits()
        self._queues: OrderedDict[int, _Queue] = OrderedDict()
        """Who was seen last stands last."""
        self._turns: OrderedDict[int, None] = OrderedDict()
        """Clients with something waiting, in the order of their turns."""
        self._tickets = self._in_progress = self._size = 0

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return sum(len(self._queues[client].waiting) for client in self._turns)

    @property
    def waiting_bytes(self) -> int:
        """The bytes of their documents."""
        return self._size

    @property
    def awaits_a_round(self) -> bool:
        """Whether the next round changes anything."""
        for queue in self._queues.values():  # asked twice a post: a generator takes three times
            if queue.had_its_turn:
                return True
        for client in self._turns:  # noqa: SIM110 - as above
            if self._has_room(self._queues[client]):
                return True
        return False

    def arrive(self, client: int, size: int, now: float) -> tuple[int, bool]:
        """A request comes: its ticket, and whether it begins at once.  Raises `Busy`."""
        queue = self._queues.setdefault(client, _Queue())
        queue.seen_s = now
        self._queues.move_to_end(client)
        self._forget_absent(now)
        paced = queue.had_its_turn and self._is_shared
        begins = client not in self._turns and not paced and self._has_room(queue)
        if not begins:
            self._check_room(queue, size)
        self._tickets += 1
        if begins:
            self._note_begin(queue)
        else:
            queue.waiting.append((self._tickets, size))
            queue.size += size
            self._size += size
            self._turns.setdefault(client)
        return self._tickets, begins

    def leave(self, client: int, ticket: int, now: float) -> list[int]:
        """A request ended, or its client is gone before its turn came; the tickets that begin
        now: of a client that is alone."""
        queue = self._queues[client]
        if queue.waiting and ticket >= queue.waiting[0][0]:
            self._give_up(client, queue, ticket)
            return []
        queue.in_progress -= 1
        self._in_progress -= 1
        self._forget_absent(now)
        begun: list[int] = []
        while not self._is_shared and queue.waiting and self._has_room(queue):
            begun.append(self._begin(client, queue))
        return begun

    def next_round(self) -> list[int]:
        """The tickets that begin now: the next of every client, in turn, as far as there is
        room."""
        for queue in self._queues.values():
            queue.had_its_turn = False
        begun: list[int] = []
        for client in list(self._turns):
            queue = self._queues[client]
            if not self._has_room(queue):
                continue
            begun.append(self._begin(client, queue))
            if queue.waiting:
                self._turns.move_to_end(client)
        return begun

    @property
    def _is_shared(self) -> bool:
        """Whether another client was here lately."""
        return len(self._queues) > 1

    def _has_room(self, queue: _Queue) -> bool:
        limits = self._limits
        return queue.in_progress < limits.each and self._in_progress < limits.in_progress

    def _note_begin(self, queue: _Queue) -> None:
        queue.in_progress += 1
        self._in_progress += 1
        queue.had_its_turn = self._is_shared

    def _begin(self, client: int, queue: _Queue) -> int:
        ticket, size = queue.waiting.popleft()
        queue.size -= size
        self._size -= size
        self._note_begin(queue)
        if not queue.waiting:
            del self._turns[client]
        return ticket

    def _give_up(self, client: int, queue: _Queue, ticket: int) -> None:
        size = next(size for waiting, size in queue.waiting if waiting == ticket)
        queue.waiting.remove((ticket, size))
        queue.size -= size
        self._size -= size
        if not queue.waiting:
            del self._turns[client]

    def _check_room(self, queue: _Queue, size: int) -> None:
        limits = self._limits
        if len(queue.waiting) >= limits.waiting:
            raise Busy(f"{len(queue.waiting)} requests of this client wait already; ask fewer")
        if queue.waiting and queue.size + size > limits.waiting_bytes:
            raise Busy(f"{queue.size} bytes of this client wait already; ask fewer at once")
        if self._size + size > limits.all_waiting_bytes:
            raise Busy(f"{self._size} bytes of all clients wait already; ask again later")

    def _forget_absent(self, now: float) -> None:
        """Who was not seen lately, and has nothing here, is gone."""
        while self._queues:
            client = next(iter(self._queues))
            queue = self._queues[client]
            if now - queue.seen_s < self._limits.lately_s:
                return
            if queue.in_progress or queue.waiting:
                queue.seen_s = now
                self._queues.move_to_end(client)
            else:
                del self._queues[client]
