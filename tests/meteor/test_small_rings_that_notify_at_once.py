"""Small rings as in `test_small_rings_whose_interests_move`, with much on its way as peers fall.

Several clients have interests that are renewed, moved, cancelled, and taken up by another client,
while records are stored, replaced and deleted, all at once, and peers crash, leave, are held and
come back in the middle of it.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Coroutine
from typing import Any

import pytest

from meteor import Client, MeteorError, Refused, profile
from meteor.rendezvous import deriving, outbox, reactions
from tests.meteor import copies_world
from tests.meteor.building import draw_data
from tests.meteor.busy_notices_world import Asked, Heard, Record, Version, Window, wrong_of
from tests.meteor.copies_world import assert_whole_within, build
from tests.meteor.notified_world import AFTERWARDS_S, INTERESTS, SETTLED_S
from tests.meteor.small_ring_world import FallingRing

GAPS_S = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Between a change and the next one: some messages are on their way."""
LIVES_S = (7200, 7200, 7200, 60, 15)
"""Of an interest: the short ones are renewed, or posted again, as long as their client lives."""
TIMES_S = (0.4, 2, 6)
LAST = 6
"""Stored once everything is there again: who cancelled hears of none."""
TRIES = 100
"""Until an interest that should be there is nowhere."""


class BusyNoticesRing(FallingRing):
    """A ring of whose clients many ask and post at once."""

    sizes: tuple[int, ...] = (3, 3, 4, 4, 5, 5, 6)
    falls_below = 0.4

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drawn = random.Random(seed * 13 + 3)
        self.size = self.drawn.choice(self.sizes)
        monkeypatch.setattr(copies_world, "COPIES", 3)
        self.let_little_fit(monkeypatch)
        disk_s = self.drawn.choice([0.001, 0.002, 0.004])
        self.overlay = build(seed, self.size, disk_s=disk_s)
        self.records: dict[str, Record] = {}
        self.asked: list[Asked] = []
        self.running: list[Any] = []
        self.fewest: dict[int, int] = {}
        """Of every change on its way, how few were awake at once since it began."""
        self.number = 0
        self.wrong: list[str] = []
        assert_whole_within(self.overlay, 30)
        for selector in self.drawn.sample(INTERESTS, 3):
            client = self.overlay.client(peer=self.drawn.randrange(self.size))
            self.overlay.run(self.ask(client, selector, self.drawn.choice(LIVES_S), 10))
        assert len(self.asked) == 3
        self.clients = [self.overlay.client(peer=at) for at in range(3)]
        for _ in range(self.drawn.choice((0, 10, 20))):
            self.overlay.run(self.store(self.clients[0], 10))

    def let_little_fit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As where much is to be told: some of it now, and the rest once that has arrived."""
        if self.drawn.random() < 0.7:
            monkeypatch.setattr(outbox, "PENDING_MAX", self.drawn.choice([1, 2, 4]))
            monkeypatch.setattr(outbox, "WINDOW", self.drawn.choice([1, 2, 4]))
            monkeypatch.setattr(reactions, "AT_ONCE", 2)
            monkeypatch.setattr(reactions, "SURE_AT_ONCE", 2)
            monkeypatch.setattr(deriving, "DERIVED_AT_ONCE", 2)

    # -- what happens

    def look(self) -> None:
        """Note how many are awake."""
        awake = sum(not one.runtime.paused for one in self.overlay.living)
        for number, count in self.fewest.items():
            self.fewest[number] = min(count, awake)

    def happen(self) -> None:
        super().happen()
        self.look()

    def hold(self, held: Any) -> None:
        held.pause()
        self.look()
        for _ in range(self.drawn.randrange(0, 4)):
            self.change()
        self.overlay.run_for(self.drawn.choice([0.5, 2, 5]))
        held.resume()

    def change(self) -> None:
        """Begin something at a drawn peer, with a drawn time, and let a little time pass."""
        work = self.begin()
        if work is not None:
            self.running.append(self.overlay.kernel.spawn(suppressing(work)))
        self.look()
        self.overlay.run_for(self.drawn.choice(GAPS_S) * self.drawn.random())

    def begin(self) -> Coroutine[Any, Any, None] | None:
        client = self.client()
        if client is None:
            return None
        what, timeout_s = self.drawn.random(), self.drawn.choice(TIMES_S)
        if what < 0.45:
            return self.store(client, timeout_s)
        if what < 0.65:
            return self.touch(client, timeout_s)
        if what < 0.7:
            life_s, client = self.drawn.choice(LIVES_S), self.drawn_client()
            if client is None:
                return None
            return self.ask(client, self.drawn.choice(INTERESTS), life_s, timeout_s)
        return self.amend(client, timeout_s)

    def client(self) -> Client | None:
        """One that is there, or a new one at a drawn peer."""
        is_new = self.drawn.random() < 0.2
        return self.drawn_client() if is_new else self.drawn.choice(self.clients)

    def touch(self, client: Client, timeout_s: float) -> Coroutine[Any, Any, None] | None:
        able = [one for _, one in sorted(self.records.items()) if not one.is_busy and one.id]
        if not able:
            return None
        record = self.drawn.choice(able)
        record.is_busy, record.promised = True, None
        is_replace = self.drawn.random() < 0.6
        return (self.replace if is_replace else self.cancel)(record, client, timeout_s)

    def amend(self, client: Client, timeout_s: float) -> Coroutine[Any, Any, None] | None:
        asked, what = self.drawn.choice(self.asked), self.drawn.random()
        if not asked.is_kept:
            return None
        if what < 0.35:
            return self.renew(asked, client, timeout_s)
        if asked.is_taken_up:
            return None
        if what < 0.7:
            return self.move(asked, self.drawn.choice(INTERESTS), timeout_s)
        if what < 0.9:
            if asked.moving:
                return None
            if self.drawn.random() < 0.7:  # else it was only taken for dead, and goes on
                asked.last.client.abandon()
            asked.is_taken_up = True
            return self.take_up(asked)
        asked.is_kept = False
        return self.end(asked, client, timeout_s)

    def found(self) -> list[str]:
        """What is not as it was promised."""
        return self.wrong + [one for asked in self.asked for one in wrong_of(asked, self.records)]

    def settle(self) -> None:
        """Until nothing is on its way."""
        for task in self.running:
            self.overlay.kernel.run_until(task)
        self.running = []

    # -- what is asked

    async def counted(self, work: Awaitable[Any]) -> tuple[Any, MeteorError | None, bool]:
        """What it came to, and whether three or more were awake all the while."""
        number = self.number = self.number + 1
        self.fewest[number] = self.size
        self.look()
        found, failed = None, None
        try:
            found = await work
        except MeteorError as error:
            failed = error
        self.look()
        return found, failed, self.fewest.pop(number) >= 3

    def version(self) -> Version:
        self.number += 1
        return Version(self.number, draw_data(self.drawn), self.overlay.kernel.now())

    async def store(self, client: Client, timeout_s: float) -> None:
        new = self.version()
        post = client.store(
            profile(new.attributes), str(new.number), id=f"s{new.number}", ttl=7200,
            timeout=timeout_s,
        )  # fmt: skip
        record = self.records[f"s{new.number}"] = Record("", [new], is_busy=True)
        receipt, error, counts = await self.counted(post)
        if error is None:
            record.id, record.is_unknown = receipt.id, not counts
            record.promised = new if counts else None
        record.is_busy = False

    async def replace(self, record: Record, client: Client, timeout_s: float) -> None:
        new = self.version()
        record.versions.append(new)
        post = client.replace(
            record.id, profile(new.attributes), str(new.number), ttl=7200, timeout=timeout_s
        )
        receipt, error, counts = await self.counted(post)
        record.is_unknown = record.is_unknown or not counts
        if error is None:
            record.id = receipt.id
            if counts:
                record.promised = new
                self.over(record.versions[:-1])
        record.is_busy = False

    async def cancel(self, record: Record, client: Client, timeout_s: float) -> None:
        receipt, error, counts = await self.counted(client.cancel(record.id, timeout=timeout_s))
        if error is None and receipt.complete and counts and not record.is_unknown:
            self.over(record.versions)
            record.id = ""
        record.is_busy = False

    def over(self, versions: list[Version]) -> None:
        for one in versions:
            one.over_s = min(one.over_s, self.overlay.kernel.now())

    # -- interests

    async def ask(self, client: Client, selector: str, life_s: float, timeout_s: float) -> None:
        began_s, number = self.overlay.kernel.now(), self.number + 1
        self.number = number
        post = client.notify_data(
            selector, id=f"i{number}", ttl=life_s, timeout=timeout_s, queue=10_000
        )
        interest, error, counts = await self.counted(post)
        if error is None and counts:
            window = Window(selector, began_s)
            asked = Asked(f"i{number}", [Heard(client, interest)], [window])
            asked.lasts = life_s > 1000
            self.asked.append(asked)

    async def renew(self, asked: Asked, client: Client, timeout_s: float) -> None:
        """By its client, or by somebody else, whom that does not hear of: no shorter then."""
        if self.drawn.random() < 0.5:
            await client.renew(asked.last.interest.id, ttl=LIVES_S[0], timeout=timeout_s)
            return
        asked.lasts = False
        await asked.last.interest.renew(self.drawn.choice(LIVES_S), timeout=timeout_s)

    async def move(self, asked: Asked, selector: str, timeout_s: float) -> None:
        """Of several at once it is the last one that counts, as far as they are acknowledged."""
        window = asked.may_ask(selector, self.overlay.kernel.now())
        asked.moving += 1
        try:
            receipt, error, counts = await self.counted(
                asked.last.interest.replace(selector, timeout=timeout_s)
            )
        finally:
            asked.moving -= 1
        if error is None and receipt.complete and counts:
            asked.asks(window, self.overlay.kernel.now())

    async def end(self, asked: Asked, client: Client, timeout_s: float) -> None:
        """By somebody else, so that whoever listens goes on to listen."""
        id = asked.last.interest.id
        receipt, error, counts = await self.counted(client.cancel(id, timeout=timeout_s))
        if error is None and receipt.complete and counts:
            asked.cancelled_s = self.overlay.kernel.now()

    async def take_up(self, asked: Asked) -> None:
        """By another client, as its own is gone."""
        for _ in range(TRIES):
            client = self.overlay.new_client(peer=0)
            for id in asked.ids:
                try:
                    await client.open()
                    interest = await client.attach(id, timeout=6, queue=10_000)
                except MeteorError as error:
                    if isinstance(error, Refused):
                        asked.notes.append(f"{self.overlay.kernel.now()} {error}")
                    continue
                asked.heard.append(Heard(client, interest))
                asked.is_taken_up = False
                return
            client.abandon()
            await self.overlay.kernel.sleep(1.0)
        asked.is_kept = False  # it has run out
        if asked.lasts:
            self.wrong.append(f"{asked.stem}: nowhere to be found: {asked.notes[-3:]}")


async def suppressing(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except MeteorError:
        return


FOUND = {
    3008: "who had taken an interest up was told of nothing, as its former client posted it again",
    3054: "the same",
}


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = BusyNoticesRing(seed, monkeypatch)
    print(f"{ring.size} peers")
    ring.play(range(4, 11), 12, (0, 0, 0, 0.01, 0.03, 0.1, 0.5, 2, 6))
    ring.bring_back()
    ring.settle()
    for _ in range(LAST):
        ring.overlay.run(ring.store(ring.overlay.client(), 10))
    until_s = ring.overlay.kernel.now() + SETTLED_S
    while ring.found() and ring.overlay.kernel.now() < until_s:
        ring.overlay.run_for(1.0)
    ring.overlay.run_for(AFTERWARDS_S)
    wrong = ring.found()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_all_is_told_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
