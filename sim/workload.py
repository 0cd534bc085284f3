"""Clients that know the right answers: what they store, ask and watch is written into a history.

Law of this file: conversations over the public client, decisions drawn from one seeded stream; an
error of the overlay is an outcome, never a failure of the workload: what came of the post is then
unknown, and the history says so.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from chord import MeteorError
from meteor import Client, Interest, Match, Profile
from sim.changing import RENEWED_S, Changing, written
from sim.history import History, Question, Subscription
from sim.overlay import Overlay
from sim.places import (
    HIGH,
    LOW,
    PARTS,
    TYPES,
    Drawn,
    draw_wide,
    drawn_point,
    region_asked,
    selector_of,
)

TTL_SPREAD: Final = 0.05
"""By what share clocks may make a time to live longer than it was given: more than any plan's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan:
    """What the clients do."""

    clients: int = 3
    """Clients that store, ask and delete, each one thing at a time."""
    pause_s: float = 0.1
    """Mean pause of a client between two posts."""
    asks: float = 0.2
    """Share of posts that ask, ..."""
    deletes: float = 0.1
    """... and that delete, ..."""
    moves: float = 0.0
    """... and that replace something by another content, ..."""
    renewals: float = 0.0
    """... and that renew what is short-lived, ..."""
    clearings: float = 0.0
    """... and that delete a range of values; the others store."""
    short_lived: float = 0.15
    """Share of stored profiles that expire within the run, after 2 to 8 s."""
    places: int = 0
    """Everything is stored at so many places, and asked for there, again and again, as by sensors,
    so that clients go straight to owners; 0: anywhere."""
    watchers: int = 2
    """Clients with an interest each, ..."""
    interests: float = 0.0
    """... and so many more a virtual second, which are told first of what lives already."""
    timeout_s: float = 5.0
    """How long a post may take."""
    wide: float = 0.0
    """Share of stored profiles with a range of values, half of them with a part of a word for their
    type: they lie at many places."""
    partial: float = 0.0
    """Share of questions and interests that name a part of a word, too."""
    overlaps: float = 0.0
    """Share of the deletes of a range that take what reaches out of it, too."""


class Workload:
    """The clients of one run."""

    def __init__(
        self, overlay: Overlay, history: History, plan: WorkloadPlan, stream: random.Random
    ) -> None:
        self._overlay, self._history, self._plan = overlay, history, plan
        self._stream = stream
        self._stopped = False
        self._profiles: dict[str, Profile] = {}
        """What was stored, by label; its data is the label."""
        self.counts: dict[str, int] = {}
        """How often each verb was posted, and how often one came to nothing."""
        self._changing = Changing(
            overlay, history, stream, draw=self._drawn, described=self._profiles,
            count=self._count, timeout_s=plan.timeout_s, overlaps=plan.overlaps,
        )  # fmt: skip
        self._clients: list[Client] = []
        self._watchers: list[Client] = []

    def start(self) -> None:
        """Connect the clients, open the interests, and begin to post."""
        plan, overlay = self._plan, self._overlay
        self._clients = [overlay.client(peer=number) for number in range(plan.clients)]
        self._watchers = [overlay.client(peer=number) for number in range(plan.watchers)]
        for number, client in enumerate(self._watchers):
            client.callbacks.on_error = self._troubled
            overlay.run(self._watch(client, f"interest{number}", *self._range(), self._part()))
        if plan.interests:
            overlay.kernel.spawn(self._watch_now_and_then(overlay.kernel.random("interests")))
        for client in self._clients:
            overlay.kernel.spawn(self._post_on_and_on(client))

    def stop(self) -> None:
        """Post nothing more; what is under way ends."""
        self._stopped = True

    async def ask_everything(self, client: Client) -> bool:
        """Ask for all that there is, now that everything has healed; whether an answer came."""
        return await self._ask(client, LOW, HIGH, last=True)

    # ---- interests ---------------------------------------------------------------------------

    async def _watch_now_and_then(self, stream: random.Random) -> None:
        while True:
            await self._overlay.kernel.sleep(stream.expovariate(self._plan.interests))
            if self._stopped:
                return
            low = round(stream.uniform(LOW, HIGH * 0.8), 1)
            high = round(low + stream.uniform(50, 400), 1)
            client, name = stream.choice(self._watchers), f"later{self.counts['notify_data']}"
            try:
                await self._watch(client, name, low, high, self._part(stream))
            except MeteorError as error:
                self._count(f"notify_data: {type(error).__name__}")

    async def _watch(self, client: Client, name: str, low: float, high: float, word: str) -> None:
        self._count("notify_data")
        began_s, selector = self._overlay.kernel.now(), selector_of(word, low, high)
        interest = await client.notify_data(
            selector, id=name, ttl=60.0, queue=100_000, timeout=self._plan.timeout_s
        )
        subscription = Subscription(
            name, low, high, began_s, self._overlay.kernel.now(), interest.missing,
            word=word, region=region_asked(selector),
        )  # fmt: skip
        self._history.subscriptions.append(subscription)
        self._overlay.kernel.spawn(self._listen(interest, subscription))

    async def _listen(self, interest: Interest, subscription: Subscription) -> None:
        async for notification in interest:
            stem = self._history.label_of(notification.id)
            subscription.told.append((self._overlay.kernel.now(), stem))
            if not self._is_as_stored(notification):
                subscription.garbled.append(stem)

    def _troubled(self, error: Exception) -> None:
        self._count(f"interest: {type(error).__name__}")

    # ---- posts -------------------------------------------------------------------------------

    async def _post_on_and_on(self, client: Client) -> None:
        plan, stream = self._plan, self._stream
        while True:
            await self._overlay.kernel.sleep(stream.expovariate(1 / plan.pause_s))
            if self._stopped:
                return
            drawn = stream.random()
            if drawn < plan.asks:
                span = self._place() if plan.places else self._range()
                await self._ask(client, *span, self._part())
            elif drawn < (share := plan.asks + plan.deletes):
                await self._delete(client)
            elif drawn < (share := share + plan.moves):
                await self._changing.move(client)
            elif drawn < (share := share + plan.renewals):
                await self._changing.renew(client)
            elif drawn < share + plan.clearings:
                await self._changing.clear(client)
            else:
                await self._store(client)

    async def _store(self, client: Client) -> None:
        stream, plan, now = self._stream, self._plan, self._overlay.kernel.now
        drawn = self._drawn()
        ttl_s = 3600.0
        if stream.random() < plan.short_lived:
            ttl_s = round(stream.uniform(2.0, 8.0), 1)
        stem = f"w{len(self._history.writes)}"
        write = written(drawn, stem, ttl_s, now(), self._overlay.clocks.drift_max)
        self._changing.begin(write)
        self._profiles[stem] = drawn.profile
        self._count("store")
        try:
            receipt = await client.store(
                drawn.profile, stem, id=stem, ttl=ttl_s, timeout=plan.timeout_s
            )
        except MeteorError as error:
            self._count(f"store: {type(error).__name__}")
            return
        write.id, write.acknowledged_s = receipt.id, now()

    async def _ask(
        self, client: Client, low: float, high: float, word: str = "*", *, last: bool = False
    ) -> bool:
        began_s = self._overlay.kernel.now()
        self._count("retrieve")
        place = self._at(low) if low == high else None
        asked = selector_of(word, low, high) if place is None else place.profile
        region = region_asked(asked) if isinstance(asked, str) else None
        answer = client.retrieve(asked, timeout=self._plan.timeout_s, allow_partial=True)
        try:
            matches = await answer.all()
        except MeteorError as error:
            self._count(f"retrieve: {type(error).__name__}")
            return False
        if not answer.complete:
            self._count("retrieve: said incomplete")
        label_of = self._history.label_of
        found = tuple(label_of(match.id) for match in matches)
        garbled = tuple(label_of(one.id) for one in matches if not self._is_as_stored(one))
        self._history.questions.append(
            Question(
                low, high, began_s, self._overlay.kernel.now(), found,
                answer.complete, answer.missing, last, garbled, word, region,
            )
        )  # fmt: skip
        return True

    async def _delete(self, client: Client) -> None:
        living = list(self._changing.living())
        if not living:
            return
        write = self._stream.choice(living)
        write.delete_began_s = self._overlay.kernel.now()
        self._count("cancel")
        try:
            receipt = await client.cancel(write.id, timeout=self._plan.timeout_s)
        except MeteorError as error:
            self._count(f"cancel: {type(error).__name__}")
            return
        if receipt.matches:
            write.deleted_s = self._overlay.kernel.now()
        else:
            self._count("cancel: found nothing")
            write.not_found_s = self._overlay.kernel.now()

    # ---- small parts -------------------------------------------------------------------------

    def _drawn(self) -> Drawn:
        if self._plan.wide and self._stream.random() < self._plan.wide:
            return draw_wide(self._stream)
        if self._plan.places:
            return self._at(self._place()[0])
        value = round(self._stream.uniform(LOW, HIGH), 1)
        return drawn_point(self._stream.choice(TYPES), value)

    def _part(self, stream: random.Random | None = None) -> str:
        """A part of a word for a question or an interest; nothing is drawn where none has one."""
        stream = stream or self._stream
        if self._plan.partial and stream.random() < self._plan.partial:
            return stream.choice(PARTS)
        return "*"

    def _place(self) -> tuple[float, float]:
        """The value of one of the places, and the same again: a range that is nothing else."""
        number, places = self._stream.randrange(self._plan.places), self._plan.places
        value = round(LOW + (number + 0.5) * (HIGH - LOW) / places, 1)
        return value, value

    def _at(self, value: float) -> Drawn:
        """What is at the place of that value."""
        return drawn_point(TYPES[int(value) % len(TYPES)], value)

    def _range(self) -> tuple[float, float]:
        low = round(self._stream.uniform(LOW, HIGH * 0.8), 1)
        return low, round(low + self._stream.uniform(50, 400), 1)

    def _is_as_stored(self, match: Match) -> bool:
        """Whether a match is what was stored under its label; so is one that nobody stored, of
        which the checkers know by its label."""
        stem = self._history.label_of(match.id)
        described = self._profiles.get(stem)
        if described is None:
            return True
        write = self._history.writes[stem]
        longest_s = write.ttl_s if write.renew_began_s is None else RENEWED_S
        longest_s *= 1 + TTL_SPREAD
        return match.text == stem and match.profile == described and match.ttl <= longest_s

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
