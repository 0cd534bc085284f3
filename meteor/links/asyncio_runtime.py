"""One peer's world on an event loop and real sockets: the asyncio adapter of
`chord.runtime.Runtime`.

Law of this file: no protocol, no cleverness.  The same conformance suite runs on this adapter, on
memory and on WebSockets, and on `sim.runtime`.

    transport = WebSocketTransport("127.0.0.1:0")
    address = await transport.listen()
    runtime = AsyncioRuntime(Contact(chord.identifier(address), address), transport, seed=1)
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from chord import NO_LINK, Contact, Exchange, ExchangingRuntime, Link, LinkEnd
from meteor.links.asyncio_link import PeerLink
from meteor.links.asyncio_links import PeerLinks
from meteor.links.asyncio_task import Begun, Conversation, LoopWaiter, failing
from meteor.links.asyncio_timers import LONG_S, TOGETHER_S, timers_of
from meteor.links.transport import Transport
from meteor.wire.codec import Codec, wire_codec

ResultT = TypeVar("ResultT")

TICK_S: Final = 0.001
"""A timer that fired before its time is set anew by this: uvloop's clock has whole milliseconds,
and its timers round, so that one in two fires up to half of one early."""
LATELY_S: Final = 1.0
"""For how long a measured lateness counts."""
BEAT_S: Final = 0.25
"""By how much the time for which a peer was held may be told short."""

_log = logging.getLogger("meteor.runtime")


class AsyncioRuntime(ExchangingRuntime):
    """The runtime of one peer, or of a client if `contact` has no address.

    Made inside a running loop, after its transport listens.  `seed` None draws one.  `on_failure`
    hears of a bug in a conversation or handler (contract rule 5); without it the failure is logged
    and the runtime closes."""

    def __init__(
        self,
        contact: Contact,
        transport: Transport,
        seed: int | None = None,
        *,
        on_failure: Callable[[BaseException], None] | None = None,
        codec: Codec | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        plain = getattr(type(self._loop), "time", None) is asyncio.BaseEventLoop.time
        self.now: Callable[[], float] = time.monotonic if plain else self._loop.time
        """Seconds of the loop's monotonic clock, without the way there: it is read some sixty times
        a store."""
        self.contact = contact
        """How others reach this peer."""
        self._transport = transport
        name = f"{seed}/peer {contact.id:x} {contact.address}"
        self._random = random.Random(name if seed is not None else None)
        self._on_failure = on_failure
        self._owned: dict[Conversation[Any], None] = {}
        self._timers = timers_of(self._loop)
        self._sweep: asyncio.TimerHandle | None = None
        self._sweep_due_s = self._beat_due_s = float("inf")
        self._late_s, self._late_at_s = 0.0, float("-inf")
        self.waiter: Callable[[], LoopWaiter] = partial(LoopWaiter, self._loop)
        """Something new to wait for."""
        self.exchange = Exchange(self)
        self._links = PeerLinks(
            self._loop, self.now, contact, transport, self.exchange, codec or wire_codec()
        )
        self.link_to: Callable[[Contact], LinkEnd] = self._links.to
        """The link to a contact, dialled if there is none."""
        transport.serve(contact, self._links)
        if contact.address:  # a client is asked nothing
            self._beat()

    # ---- the verbs of chord.runtime.Runtime --------------------------------------------------

    @property
    def random(self) -> random.Random:
        """Seeded from the run's seed and this peer's contact."""
        return self._random

    def lateness(self) -> float:
        """The worst delay of a timer of this peer within the last second, in seconds; of one that
        is due and did not run yet, too: after a stall what came meanwhile is read before."""
        now_s = self.now()
        late_s = self._late_s if now_s - self._late_at_s < LATELY_S else 0.0
        return max(late_s, now_s - min(self._sweep_due_s, self._beat_due_s))

    async def sleep(self, delay_s: float) -> None:
        """Suspend this conversation."""
        due_s = self.now() + max(delay_s, 0.0)
        if delay_s < LONG_S:
            await asyncio.sleep(delay_s)
        else:
            due_s = await self._timers.sleep_until(due_s)
        self._note_lateness(due_s)

    def spawn(self, conversation: Coroutine[Any, Any, ResultT]) -> Conversation[ResultT]:
        """Start a conversation owned by this peer."""
        spawned = Conversation(self._loop, conversation, self._owned, self.failed)
        if self.exchange.closed:
            spawned.cancel()
        return spawned

    def begin(
        self, conversation: Coroutine[Any, Any, ResultT]
    ) -> Conversation[ResultT] | Begun[ResultT]:
        """Start a conversation owned by this peer, and take its first step now."""
        if self.exchange.closed:
            return self.spawn(conversation)
        try:
            waits_for = conversation.send(None)
        except StopIteration as ended:
            begun: Begun[ResultT] = Begun(self._loop)
            begun.resolve(ended.value)
            return begun
        except (Exception, asyncio.CancelledError) as error:
            return self.spawn(failing(error))
        return self._going_on(conversation, waits_for)

    def _going_on(
        self, conversation: Coroutine[Any, Any, ResultT], waits_for: Any
    ) -> Conversation[ResultT]:
        """What is left of a conversation that was stepped once, and waits."""
        left = Conversation(self._loop, conversation, self._owned, self.failed, waits_for)
        if self.exchange.closed:
            left.cancel()
        return left

    def at_home(self, callback: Callable[[], object]) -> None:
        """Call it now if the loop runs in this thread, which it may do in several, one after the
        other; else some time soon, if it still runs."""
        if asyncio._get_running_loop() is self._loop:
            callback()
            return
        with suppress(RuntimeError):  # the loop is closed: nothing is left to do it for
            self._loop.call_soon_threadsafe(callback)

    def close(self) -> None:
        """Cancel what this peer owns, in spawn order, close its links and stop listening.

        Sockets are released a moment later; `aclose` waits for that."""
        if not self.exchange.closed:
            self._end(self._owned)

    def _end(self, conversations: Iterable[Conversation[Any]]) -> None:
        self.exchange.close()
        if self._sweep is not None:
            self._sweep.cancel()
        self._sweep_due_s = self._beat_due_s = float("inf")
        for conversation in list(conversations):
            conversation.cancel()
        self._links.stop()

    async def aclose(self) -> None:
        """Close, and return when every task has ended and every socket is released.

        Whoever calls this from a conversation of this peer goes on: it may be the application's own
        handler, with more to do.  The next call from elsewhere ends that."""
        closing = asyncio.current_task()
        others = [one for one in self._owned if one.task is not closing]
        self._end(others)
        if others:
            await asyncio.wait([one.task for one in others])
        await self._transport.close()

    def link(self, contact: Contact) -> Link:
        """What is known of the link to `contact`."""
        end = self._links.find(contact)
        return NO_LINK if end is None else end

    def drop(self, contact: Contact) -> None:
        """Close the link to `contact` now, if there is one."""
        end = self._links.find(contact)
        if isinstance(end, PeerLink) and not contact.is_another(end.contact):
            self._links.lose(end, "it is not wanted any more")

    def suspects(self, contact: Contact) -> bool:
        """Whether the link to `contact` is silent about a forwarded frame."""
        end = self._links.find(contact)
        return end is not None and end.suspected

    # ---- what the exchange asks (`chord.World`) ----------------------------------------------

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        """Run `callback(*args)` in a later turn."""
        self._loop.call_soon(callback, *args)

    def sweep_at(self, when_s: float) -> None:
        """Look at deadlines at that time."""
        if self._sweep is not None:
            self._sweep.cancel()
        self._sweep_due_s = when_s
        self._sweep = self._loop.call_at(when_s, self._sweep_now, when_s)

    def _sweep_now(self, when_s: float) -> None:
        if self.now() < when_s:
            self._sweep = self._loop.call_later(TICK_S, self._sweep_now, when_s)
            return
        self._note_lateness(when_s)
        self._sweep_due_s = float("inf")
        self.exchange.sweep()

    def converse(
        self,
        conversation: Coroutine[Any, Any, object],
        concluded: Callable[[object, BaseException | None], None],
    ) -> None:
        """Run a conversation and hand its outcome to `concluded`: at once, if it need not wait."""
        if self.exchange.closed:
            self.spawn(conversation).concluded = concluded
            return
        try:
            waits_for = conversation.send(None)
        except StopIteration as ended:
            concluded(ended.value, None)
        except (Exception, asyncio.CancelledError) as error:
            concluded(None, error)
        else:
            left = self._going_on(conversation, waits_for)
            left.concluded = partial(self._links.at_once, concluded)

    def failed(self, error: BaseException) -> None:
        """Hear of a bug: by default it is logged and ends this peer."""
        if self.exchange.closed:
            return
        if self._on_failure is not None:
            self._on_failure(error)
            return
        _log.error("%s failed and closes", self.contact, exc_info=error)
        self.close()

    def _beat(self) -> None:
        """A timer that is always there: by what is due much later a stall would be told short."""
        if self._beat_due_s < float("inf"):
            self._note_lateness(self._beat_due_s)
        if not self.exchange.closed:
            self._beat_due_s = self._timers.call_at(self.now() + BEAT_S - TOGETHER_S, self._beat)

    def _note_lateness(self, due_s: float) -> None:
        now_s = self.now()
        late_s = now_s - due_s
        if late_s >= self._late_s or now_s - self._late_at_s >= LATELY_S:
            self._late_s, self._late_at_s = late_s, now_s
