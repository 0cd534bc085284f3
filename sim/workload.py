"""Clients that know the right answers: what they store, ask and watch is written into a history.

Law of this file: conversations over the public client, decisions drawn from one seeded stream; an
error of the overlay is an outcome, never a failure of the workload: what came of the post is then
unknown, and the history says so.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from chord import MeteorError
from meteor import Client, Match, Profile
from sim.changing import RENEWED_S, Changing, written
from sim.history import History, Question, Write
from sim.listening import Listening
from sim.overlay import Overlay
from sim.places import (
    HIGH,
    LOW,
    TYPES,
    Drawn,
    draw_part,
    draw_range,
    draw_wide,
    drawn_point,
    region_asked,
    selector_of,
)
from sim.posting_again import PostingAgain
from sim.workload_plan import WorkloadPlan

REFILLED: Final = 3
"""How much is stored at once where all was deleted."""
TTL_SPREAD: Final = 0.05
"""By what share clocks may make a time to live longer than it was given: more than any plan's."""


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
            cleared=plan.cleared,
        )  # fmt: skip
        self._again = PostingAgain(
            overlay, history, stream, described=self._profiles, count=self._count,
            timeout_s=plan.timeout_s,
        )  # fmt: skip
        self._listening = Listening(
            overlay, history, plan, is_as_stored=self._is_as_stored, count=self._count,
            store=self._store,
        )  # fmt: skip
        self._on_change: Callable[[Client], None] = lambda _: None

    def start(self) -> None:
        """Connect the clients, open the interests, and begin to post."""
        plan, overlay = self._plan, self._overlay
        first = plan.first_peer
        clients = [overlay.client(peer=first + number) for number in range(plan.clients)]
        if plan.twice:
            self._again.connect(first)
        self._listening.connect()
        for number in range(plan.watchers):
            self._listening.open_first(number, *self._range(), self._part())
        self._listening.start()
        for client in clients:
            overlay.kernel.spawn(self._post_on_and_on(client))

    def hear_of_changes(self, hears: Callable[[Client], None]) -> None:
        """Tell of every client that is about to change something."""
        self._on_change = self._listening.on_change = hears

    def stop(self) -> None:
        """Post nothing more; what is under way ends."""
        self._stopped = True
        self._listening.stop()

    def look(self) -> None:
        """Note what clients know without asking."""
        self._listening.look()

    async def ask_everything(self, client: Client) -> bool:
        """Ask for all that there is, now that everything has healed; whether an answer came."""
        return await self._ask(client, LOW, HIGH, last=True)

    # ---- posts -------------------------------------------------------------------------------

    async def _post_on_and_on(self, client: Client) -> None:
        plan, stream = self._plan, self._stream
        while True:
            await self._overlay.kernel.sleep(stream.expovariate(1 / plan.pause_s))
            if self._stopped:
                return
            drawn = stream.random()
            if drawn >= plan.asks:
                self._on_change(client)
            if drawn < plan.asks:
                span = self._place() if plan.places else self._range()
                await self._ask(client, *span, self._part())
            elif drawn < (share := plan.asks + plan.deletes):
                await self._delete(client)
            elif drawn < (share := share + plan.moves):
                await self._changing.move(client)
            elif drawn < (share := share + plan.renewals):
                await self._changing.renew(client)
            elif drawn < (share := share + plan.clearings):
                await self._clear(client)
            elif drawn < (share := share + plan.again):
                await self._again.again(client)
            elif drawn < share + plan.twice:
                await self._again.twice(self._begun())
            else:
                await self._store(client)

    async def _clear(self, client: Client) -> None:
        value = await self._changing.clear(client)
        if value is None or not self._plan.refills:
            return
        if self._stream.random() < self._plan.refills:
            low, high = (
                max(value - self._plan.cleared / 2, LOW),
                min(value + self._plan.cleared / 2, HIGH),
            )
            for _ in range(REFILLED):
                there = round(self._stream.uniform(low, high), 1)
                await self._store(client, drawn_point(self._stream.choice(TYPES), there))

    async def _store(
        self, client: Client, drawn: Drawn | None = None, ttl_s: float | None = None
    ) -> None:
        write = self._begun(drawn, ttl_s)
        stem, described = write.stem, self._profiles[write.stem]
        self._count("store")
        try:
            receipt = await client.store(
                described, stem, id=stem, ttl=write.ttl_s, timeout=self._plan.timeout_s
            )
        except MeteorError as error:
            self._count(f"store: {type(error).__name__}")
            return
        write.id, write.acknowledged_s = receipt.id, self._overlay.kernel.now()

    def _begun(self, drawn: Drawn | None = None, ttl_s: float | None = None) -> Write:
        """Something that is about to be stored."""
        stream, drawn = self._stream, drawn or self._drawn()
        if ttl_s is None:
            ttl_s = 3600.0
            if stream.random() < self._plan.short_lived:
                ttl_s = round(stream.uniform(2.0, 8.0), 1)
        stem, now_s = f"w{len(self._history.writes)}", self._overlay.kernel.now()
        write = written(drawn, stem, ttl_s, now_s, self._overlay.clocks.drift_max)
        self._changing.begin(write)
        self._profiles[stem] = drawn.profile
        return write

    async def _ask(
        self, client: Client, low: float, high: float, word: str = "*", *, last: bool = False
    ) -> bool:
        began_s = self._overlay.kernel.now()
        self._count("retrieve")
        place = self._at(low) if low == high else None
        selector = selector_of(word, low, high)
        asked: str | Profile = selector
        region = region_asked(selector)
        if place is not None:
            asked, region, word = place.profile, place.region, place.word
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

    def _part(self) -> str:
        return draw_part(self._stream, self._plan.partial)

    def _place(self) -> tuple[float, float]:
        """The value of one of the places, and the same again: a range that is nothing else."""
        number, places = self._stream.randrange(self._plan.places), self._plan.places
        value = round(LOW + (number + 0.5) * (HIGH - LOW) / places, 1)
        return value, value

    def _at(self, value: float) -> Drawn:
        """What is at the place of that value."""
        return drawn_point(TYPES[int(value) % len(TYPES)], value)

    def _range(self) -> tuple[float, float]:
        return draw_range(self._stream)

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
