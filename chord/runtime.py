"""What protocol code may ask of the world: one runtime a peer, injected.

Law of this file: nothing here does anything.  Protocol code in chord, squid, arms and meteor
never imports asyncio, sockets, threads, clocks or global randomness; it holds a `Runtime`.  Two
adapters keep this contract, one over asyncio and real sockets (`meteor.links.asyncio_runtime`), one
over SimPy and virtual time (`sim.runtime`); one conformance suite runs on both.

The contract:

1. Handlers are synchronous and atomic.  What must wait is returned as a `Deferred`; its outcome
   is the reply.
2. A resolved wait resumes in a later turn, first in first out, never inside the resolver's call;
   nothing is delivered inside the caller's own turn, a message to oneself included.
3. The first outcome wins; a late reply after a time-out is dropped and counted.
4. Cancellation is a `BaseException`; protocol code catches only `Exception` subclasses that it
   names and never awaits in `finally`.  A cancelled task is never stepped again, even when it was
   ready; a task that cancels itself ends at its next wait.
5. An exception in a spawned conversation that nobody awaits stops the simulation, and closes the
   peer in production (the runtime's `on_failure`).
6. After an await, read state again before acting on it.
7. On the wire only durations travel, never clock readings.
8. Iterate over sets only through `sorted`.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from chord.contact import Contact
from chord.frozen import dataclass

ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Deferred:
    """A handler's answer that takes time: the coroutine's return value becomes the reply.

    An exception `chord.errors.Fault` raised by it becomes a fault reply; any other exception is a
    bug and treated as contract rule 5 says, after the caller was told `RemoteFault("internal")`.
    """

    conversation: Coroutine[Any, Any, object]


@dataclass(frozen=True, slots=True)
class Unhurried:
    """A handler's answer that may wait for company: it leaves with whatever goes to the asker next,
    and within `chord.link.ACKNOWLEDGE_WITHIN_S`."""

    reply: object


Handler = Callable[[Contact, object, float], object]
"""`handler(sender, request, remaining_s)` → reply, `Deferred`, `Unhurried`, or None.

For one-way messages the return value is ignored and `remaining_s` is 0.  Raising
`chord.errors.Fault` answers the caller with a `RemoteFault`."""


class Link(Protocol):
    """What a runtime knows of the link to a contact at this moment; seconds of the local clock."""

    @property
    def last_heard_s(self) -> float:
        """When a frame last arrived; minus infinity if never."""

    @property
    def srtt_s(self) -> float:
        """Smoothed round-trip time; 0 while unknown."""

    @property
    def rttvar_s(self) -> float:
        """Its mean deviation (RFC 6298); 0 while unknown."""

    @property
    def frames(self) -> int:
        """Forwarded frames that were sent over it."""

    @property
    def silences(self) -> int:
        """How often such a frame was met by silence."""


class NoLink(NamedTuple):
    """What is known of a link that was never opened, or is closed."""

    last_heard_s: float = float("-inf")
    srtt_s: float = 0.0
    rttvar_s: float = 0.0
    frames: int = 0
    silences: int = 0


NO_LINK: Final = NoLink()


class Task(Protocol[ResultT_co]):
    """A spawned conversation: awaitable by several, cancellable once."""

    def cancel(self) -> None:
        """End it at its present wait; harmless when it is done."""

    def done(self) -> bool:
        """Whether it has an outcome."""

    def __await__(self) -> Generator[Any, Any, ResultT_co]: ...


class Runtime(Protocol):
    """The verbs of one peer's world."""

    @property
    def contact(self) -> Contact:
        """How others reach this peer; a client's has an empty address."""

    @property
    def random(self) -> random.Random:
        """Seeded from (run seed, peer id): one peer's draws never shift another's."""

    def now(self) -> float:
        """Seconds of a monotonic local clock."""

    def lateness(self) -> float:
        """How late this peer's own loop has run lately, in seconds.

        A late peer suspects nobody."""

    def request_late_s(self) -> float:
        """How much longer than usual the request that is being handled was on its way, in seconds
        (`chord.transit`): what its sender gave up may come when a cut is over.

        Asked in the handler's own turn."""

    def sleep(self, delay_s: float) -> Awaitable[None]:
        """Suspend the conversation that awaits it."""

    def spawn(self, conversation: Coroutine[Any, Any, ResultT]) -> Task[ResultT]:
        """Start a conversation owned by this peer; it takes its first step in a later turn."""

    def begin(self, conversation: Coroutine[Any, Any, ResultT]) -> Task[ResultT]:
        """As `spawn`, but its first step is taken now, within the caller's turn: for what mostly
        ends there, or has something to send that is to leave with what the caller sends."""

    def at_home(self, callback: Callable[[], object]) -> None:
        """Call it where the conversations run, from wherever this is called, as by `__del__`: now
        if that is there, else in a later turn, or never when there is none any more."""

    def close(self) -> None:
        """Cancel everything this peer owns, in spawn order; further sends vanish, calls raise
        `LinkClosed`."""

    def serve(
        self,
        handler: Handler,
        link_closed: Callable[[Contact], None],
    ) -> None:
        """Hand every arriving message to `handler`, every lost link to `link_closed`."""

    async def call(self, contact: Contact, request: object, timeout_s: float) -> Any:
        """The reply; raises only `DialRefused`, `LinkClosed`, `RequestTimeout`, `Busy`,
        `RemoteFault` (all `chord.errors.CallError`).  A contact whose id is
        `chord.contact.UNKNOWN_ID` is dialled by its address alone.

        Where another peer is just being dialled at the contact's address, it waits, as whatever is
        sent there, until it is known who is there: `AnotherAnswers` if that is somebody else.  By
        an address alone nobody is somebody else, and whom is dialled so is not known yet."""

    def ask(self, contact: Contact, request: object, timeout_s: float) -> Awaitable[Any]:
        """As `call`, but it is sent now, and the reply is awaited later: several may be asked at
        once without a conversation each.  A failure that nobody awaits is nobody's."""

    def send(self, contact: Contact, message: object) -> None:
        """One way, best effort, never raises, never waits."""

    def forward(
        self,
        candidates: Sequence[Contact],
        message: object,
        undelivered: Callable[[object, str], None],
    ) -> None:
        """One way and tracked: kept until the link to the first candidate that takes it has
        acknowledged the frame.  A refused dial, a closed link or silence beyond the link's
        retransmission time-out tries the next candidate; after the last,
        `undelivered(message, reason)` runs in a later turn.  The receiver may see it twice."""

    def expect(self, token: object, timeout_s: float | None) -> Awaitable[Any]:
        """Register now for a value that another peer than the one asked will bring.

        Awaited later, by several if need be; raises `RequestTimeout`.  Cancelling one awaiter
        leaves the others."""

    def deliver(self, token: object, value: object) -> bool:
        """Hand `value` to whoever expects `token`: the first delivery wins.  False when nobody
        does."""

    def link(self, contact: Contact) -> Link:
        """What is known of the link to `contact`."""

    def drop(self, contact: Contact) -> None:
        """Close the link to `contact` now, if there is one: calls over it raise `LinkClosed`, and
        both sides are told that it closed.  One to another peer at that address, or its dial, stays
        as it is."""

    def suspects(self, contact: Contact) -> bool:
        """Whether a forwarded frame on the link to `contact`, or a call whose time is up, met with
        silence, and nothing was heard since."""
