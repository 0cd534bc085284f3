"""Who listens in a scenario: interests that change hands, that are told once, and watches.

Law of this file: as `sim.workload`.  Of an interest that another client attaches to there is one
subscription a client, under one name: each is told of all that lives, and of nothing twice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from typing import Any, Final

from chord import MeteorError
from meteor import Client, Interest, Match, Refused, Watch
from sim.history import ALIVE_FOREVER, History, Subscription, Watching
from sim.overlay import Overlay
from sim.places import (
    HIGH,
    LOW,
    PARTS,
    TYPES,
    Drawn,
    draw_part,
    draw_range,
    drawn_point,
    region_asked,
    selector_of,
)
from sim.workload_plan import WorkloadPlan

TTL_S: Final = 60.0
"""Of every interest: longer than any client is away."""
QUEUE: Final = 100_000
NARROW: Final = 2.0
"""How wide the range of values is of what is told once."""
PASSING_S: Final = 2.0
LASTING_S: Final = 3600.0
"""How long what is stored for it lives at first, and then."""
AGAIN_S: Final = 1.0
"""Until an attachment that came to nothing is tried again."""
ATTEMPTS: Final = 10


class Listening:
    """The interests and watches of one run."""

    def __init__(
        self,
        overlay: Overlay,
        history: History,
        plan: WorkloadPlan,
        *,
        is_as_stored: Callable[[Match], bool],
        count: Callable[[str], None],
        store: Callable[[Client, Drawn, float], Coroutine[Any, Any, None]],
    ) -> None:
        self._overlay, self._history, self._plan = overlay, history, plan
        self._is_as_stored, self._count, self._store = is_as_stored, count, store
        self._stopped = False
        self._clients: list[Client] = []
        self._standing: dict[str, tuple[Client, Interest, Subscription]] = {}
        """By name, what may change hands."""
        self._watches: list[tuple[Watch, Watching]] = []
        self._opened = self._onces = 0
        self.on_change: Callable[[Client], None] = lambda _: None
        """Hears of every client that is about to post an interest, or to attach to one."""

    def connect(self) -> None:
        """Connect the clients."""
        first = self._plan.first_peer
        for number in range(self._plan.watchers):
            client = self._overlay.client(peer=first + number)
            client.callbacks.on_error = self._troubled
            self._clients.append(client)

    def open_first(self, number: int, low: float, high: float, word: str) -> None:
        """Open one client's interest."""
        client, name = self._clients[number], f"interest{number}"
        self._overlay.run(self._open(client, name, low, high, word))

    def start(self) -> None:
        """Open the watches, and whatever comes later."""
        kernel, plan = self._overlay.kernel, self._plan
        for number in range(plan.watches):
            self._overlay.run(self._watch(number, kernel.random("watches")))
        rates: dict[str, Callable[[random.Random], Coroutine[Any, Any, None]]] = {
            "interests": self._open_another,
            "attaches": self._hand_over,
            "onces": self._be_told_once,
        }
        for name, happens in rates.items():
            if rate := getattr(plan, name):
                kernel.spawn(self._now_and_then(kernel.random(name), rate, happens))

    def stop(self) -> None:
        """Open nothing more."""
        self._stopped = True

    def look(self) -> None:
        """Note what the watches know now."""
        for watch, seen in self._watches:
            seen.active = watch.active if watch.state == "active" else None

    async def _now_and_then(
        self,
        stream: random.Random,
        rate: float,
        happens: Callable[[random.Random], Coroutine[Any, Any, None]],
    ) -> None:
        while True:
            await self._overlay.kernel.sleep(stream.expovariate(rate))
            if self._stopped:
                return
            await happens(stream)

    # ---- interests ---------------------------------------------------------------------------

    async def _open_another(self, stream: random.Random) -> None:
        low, high = draw_range(stream)
        client, name = stream.choice(self._clients), f"later{self._opened}"
        self.on_change(client)
        try:
            await self._open(client, name, low, high, draw_part(stream, self._plan.partial))
        except MeteorError as error:
            self._count(f"notify_data: {type(error).__name__}")

    async def _open(
        self,
        client: Client,
        name: str,
        low: float,
        high: float,
        word: str,
        *,
        once: bool = False,
    ) -> Subscription:
        self._count("notify_data")
        self._opened += 1
        now, selector = self._overlay.kernel.now, selector_of(word, low, high)
        subscription = self._history.unheard[name] = Subscription(
            name, low, high, now(), ALIVE_FOREVER,
            word=word, region=region_asked(selector), once=once, goes_on=once,
        )  # fmt: skip
        interest = await client.notify_data(
            selector, id=name, ttl=TTL_S, queue=QUEUE, once=once, timeout=self._plan.timeout_s
        )
        del self._history.unheard[name]
        subscription.opened_s, subscription.missing = now(), interest.missing
        self._listen(client, interest, subscription)
        return subscription

    def _listen(self, client: Client, interest: Interest, subscription: Subscription) -> None:
        self._history.subscriptions.append(subscription)
        if not subscription.once:
            self._standing[subscription.name] = client, interest, subscription
        self._overlay.kernel.spawn(self._hear(interest, subscription))

    async def _hear(self, interest: Interest, subscription: Subscription) -> None:
        async for notification in interest:
            stem = self._history.label_of(notification.id)
            subscription.told.append((self._overlay.kernel.now(), stem))
            if not self._is_as_stored(notification):
                subscription.garbled.append(stem)

    def _troubled(self, error: Exception) -> None:
        self._count(f"interest: {type(error).__name__}")

    # ---- interests that change hands ---------------------------------------------------------

    async def _hand_over(self, stream: random.Random) -> None:
        if not self._standing:
            return
        name = stream.choice(list(self._standing))
        client, interest, subscription = self._standing.pop(name)
        drawn = stream.random()
        if drawn < 0.2:
            await self._delete(client, interest, subscription)
        elif drawn < 0.6:
            subscription.ended_s = self._overlay.kernel.now()
            await interest.detach()
            self._count("detach")
            await self._attach(stream, interest.id, subscription)
        else:
            await self._end(stream, client, [(interest.id, subscription)])

    async def _delete(self, client: Client, interest: Interest, subscription: Subscription) -> None:
        subscription.ended_s = subscription.delete_began_s = self._overlay.kernel.now()
        self._count("cancel_interest")
        self.on_change(client)
        try:
            receipt = await client.cancel(interest.id, timeout=self._plan.timeout_s)
        except MeteorError as error:
            self._count(f"cancel_interest: {type(error).__name__}")
            return
        if receipt.matches:
            subscription.deleted_s = self._overlay.kernel.now()
        else:
            self._count("cancel_interest: found nothing")
            subscription.not_found_s = self._overlay.kernel.now()

    async def _end(
        self, stream: random.Random, client: Client, left: list[tuple[str, Subscription]]
    ) -> None:
        """A client ends without a word; another one attaches to all that it had."""
        for name, (whose, interest, subscription) in list(self._standing.items()):
            if whose is client:
                del self._standing[name]
                left.append((interest.id, subscription))
        for _, subscription in left:
            subscription.ended_s = self._overlay.kernel.now()
        for subscription in self._history.subscriptions:
            if subscription.once and subscription.client is client:
                subscription.ended_s = min(subscription.ended_s, self._overlay.kernel.now())
        self._count("client_ends")
        client.abandon()
        place = self._clients.index(client)
        self._clients[place] = self._overlay.new_client(
            peer=stream.randrange(len(self._overlay.living))
        )
        self._clients[place].callbacks.on_error = self._troubled
        await self._clients[place].open()
        for full_id, subscription in left:
            await self._attach(stream, full_id, subscription)

    async def _attach(self, stream: random.Random, full_id: str, before: Subscription) -> None:
        """Take an interest up; what is not there, though it must be, is noted."""
        now = self._overlay.kernel.now
        for _ in range(ATTEMPTS):
            client, began_s = stream.choice(self._clients), now()
            self._count("attach")
            self.on_change(client)
            try:
                interest = await client.attach(
                    full_id, ttl=TTL_S, queue=QUEUE, timeout=self._plan.timeout_s
                )
            except Refused as error:
                self._count(f"attach: {error.rule}")
                self._history.not_attached.append((now(), before.name, error.rule))
                return
            except MeteorError as error:
                self._count(f"attach: {type(error).__name__}")
                await self._overlay.kernel.sleep(AGAIN_S)
                continue
            subscription = Subscription(
                before.name, before.low, before.high, began_s, now(), interest.missing,
                word=before.word, region=before.region, goes_on=True,
            )  # fmt: skip
            self._listen(client, interest, subscription)
            return

    # ---- told once ---------------------------------------------------------------------------

    async def _be_told_once(self, stream: random.Random) -> None:
        self._onces += 1
        self._overlay.kernel.spawn(self._once_again(stream, f"once{self._onces}"))

    async def _once_again(self, stream: random.Random, name: str) -> None:
        """Be interested in what few store, hear of something that is over soon, let go of it, and
        post it again to be told once."""
        low, word = round(stream.uniform(LOW, HIGH - NARROW), 1), stream.choice(TYPES)
        high, client = round(low + NARROW, 1), stream.choice(self._clients)
        sleep, now = self._overlay.kernel.sleep, self._overlay.kernel.now
        self.on_change(client)
        try:
            first = await self._open(client, name, low, high, "*")
            _, interest, _ = self._standing.pop(name)
            await self._store(client, drawn_point(word, low), PASSING_S)
            await sleep(stream.uniform(0.1, 2 * PASSING_S))
            first.ended_s = now()
            if stream.random() < 0.5:  # by another client, which its own does not know of
                await interest.detach()
                client = stream.choice(self._clients)
            self.on_change(client)
            again = await self._open(client, name, low, high, "*", once=True)
            again.client = client
        except MeteorError as error:
            self._count(f"once: {type(error).__name__}")
        else:
            await sleep(stream.uniform(0.0, PASSING_S))
            await self._store(client, drawn_point(word, high), LASTING_S)

    # ---- watches -----------------------------------------------------------------------------

    async def _watch(self, number: int, stream: random.Random) -> None:
        client = self._overlay.new_client(peer=self._plan.first_peer + number)
        client.callbacks.on_error = self._troubled
        await client.open()
        word, (low, high) = stream.choice(PARTS), draw_range(stream)
        named, began_s = selector_of("*", low, high), self._overlay.kernel.now()
        selector = f"type={word} {named}"
        self._count("notify_interest")
        watch = await client.notify_interest(
            selector, id=f"watch{number}", ttl=TTL_S, queue=QUEUE, timeout=self._plan.timeout_s
        )
        seen = Watching(
            f"watch{number}", low, high, word, region_asked(selector), began_s,
            self._overlay.kernel.now(), watch.missing,
        )  # fmt: skip
        self._history.watches.append(seen)
        self._watches.append((watch, seen))
        self._overlay.kernel.spawn(self._look_on(watch, seen))

    async def _look_on(self, watch: Watch, seen: Watching) -> None:
        async for notification in watch:
            stem = self._history.label_of(notification.id)
            seen.told.append((self._overlay.kernel.now(), notification.kind, stem))
