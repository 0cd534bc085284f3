"""Small rings as in `test_small_rings_that_move`, with many changes and questions on their way as
peers fall, leave, are held and come back.

An answer has every record that was promised before it was asked and that nobody touched since, or
names its place as missing; nothing that was replaced or deleted before; and nothing twice.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from meteor import Client, Incomplete, MeteorError, profile
from meteor.wire.record_id import stem_of
from sim.overlay import SimPeer
from squid import covers
from tests.meteor import copies_world
from tests.meteor.building import Attributes, draw_data
from tests.meteor.copies_world import assert_whole_within, build, index_of
from tests.meteor.small_ring_world import FallingRing
from tests.meteor.test_small_rings_that_move import CALM_S, Record

GAPS_S = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Between a change and the next one: some messages are on their way."""
PAUSES_S = (0, 0, 0.01, 0.1, 0.5, 2, 6)
FOUND = {
    329: "halfway, and let go by who kept the new place for a moment: nothing said where it went",
}


@dataclass
class Touched(Record):
    """A record that may be just changed."""

    touched: int = 0
    """How often somebody began to change it."""
    is_busy: bool = False


@dataclass
class Promised:
    """What was promised of a record as a question began."""

    record: Touched
    state: str
    least: int
    touched: int
    places: set[str] = field(default_factory=set)
    at_s: float = 0.0


class BusyRing(FallingRing):
    """A ring of which much is asked at once."""

    falls_below = 0.4
    sizes: tuple[int, ...] = (3, 3, 4, 4, 5, 5, 6)
    is_apart = False
    """Whether what is nowhere here may be on another side; then nothing is asked meanwhile."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drawn = random.Random(seed * 13 + 3)
        self.size = self.drawn.choice(self.sizes)
        self.copies = min(self.size, 3)
        monkeypatch.setattr(copies_world, "COPIES", self.copies)
        disk_s = self.drawn.choice([0.001, 0.002, 0.004])
        self.overlay = build(seed, self.size, disk_s=disk_s)
        self.records: dict[str, Touched] = {}
        self.running: list[Any] = []
        self.fewest: dict[int, tuple[str | None, int]] = {}
        """Of every change on its way, where, and how few were awake there since it began."""
        self.anywhere: set[str] = set()
        self.number = 0
        self.wrong: list[str] = []
        client = self.overlay.client()
        for _ in range(6):
            self.overlay.run(self.store(client, 6))
        assert_whole_within(self.overlay, 30)

    # -- what happens

    def look(self) -> None:
        """Note how many are awake."""
        for number, (address, count) in self.fewest.items():
            awake = sum(not one.runtime.paused for one in self.living_with(address))
            self.fewest[number] = address, min(count, awake)

    def living_with(self, address: str | None) -> list[SimPeer]:
        """Who may hear of what is done there."""
        del address
        return list(self.overlay.living)

    def happen(self) -> None:
        super().happen()
        self.look()

    def change(self) -> None:
        """Begin something at a drawn peer, with a drawn time, and let a little time pass."""
        self.begin()
        self.look()
        self.overlay.run_for(self.drawn.choice(GAPS_S) * self.drawn.random())

    def begin(self) -> None:
        client = self.drawn_client()
        if client is None:
            return
        what, timeout_s = self.drawn.random(), self.drawn.choice([0.4, 2, 6])
        if what < 0.25:
            work = self.store(client, timeout_s)
        elif what < 0.75:
            record = self.free()
            if record is None:
                return
            record.is_busy, record.touched = True, record.touched + 1
            work = (self.replace if what < 0.6 else self.cancel)(record, client, timeout_s)
        elif not self.is_apart:
            work = self.ask(client, 4.0)
        else:
            return
        self.running.append(self.overlay.kernel.spawn(self.suppressing(work)))

    async def suppressing(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except MeteorError:
            return

    def free(self) -> Touched | None:
        able = [one for _, one in sorted(self.records.items())
                if one.state != "gone" and not one.is_busy]  # fmt: skip
        return self.drawn.choice(able) if able else None

    def settle(self) -> None:
        """Until nothing is on its way."""
        for task in self.running:
            self.overlay.kernel.run_until(task)
        self.running = []

    # -- what is asked

    async def counted(
        self, client: Client, work: Awaitable[Any]
    ) -> tuple[Any, MeteorError | None, bool]:
        """What it came to, and whether three or more were awake all the while."""
        number = self.number = self.number + 1
        self.fewest[number] = client.peer_address, self.size
        self.look()
        found, failed = None, None
        try:
            found = await work
        except MeteorError as error:
            failed = error
        self.look()
        return found, failed, self.fewest.pop(number)[1] >= 3

    def draw_content(self, number: int) -> Attributes:
        """What the version of this number says."""
        del number
        return draw_data(self.drawn)

    def draw_ttl_s(self, number: int) -> float:
        """How long that version is to live."""
        del number
        return 7200

    async def store(self, client: Client, timeout_s: float) -> None:
        number = self.number = self.number + 1
        data = profile(self.draw_content(number))
        ttl_s = self.draw_ttl_s(number)
        post = client.store(data, str(number), ttl=ttl_s, timeout=timeout_s)
        receipt, error, counts = await self.counted(client, post)
        if error is None:
            if counts:
                self.records[stem_of(receipt.id)] = Touched(receipt.id, {receipt.id}, number)
        elif isinstance(error, Incomplete) and error.receipt is not None:
            one = error.receipt.id
            self.records[stem_of(one)] = Touched(one, {one}, number, "unsure", not counts)

    async def replace(self, record: Touched, client: Client, timeout_s: float) -> None:
        number = self.number = self.number + 1
        data = profile(self.draw_content(number))
        others = sorted(record.places)
        old_id = self.drawn.choice(others) if self.drawn.random() < 0.3 else record.id
        ttl_s = self.draw_ttl_s(number)
        post = client.replace(old_id, data, str(number), ttl=ttl_s, timeout=timeout_s)
        receipt, error, counts = await self.counted(client, post)
        record.is_unknown = record.is_unknown or not counts
        if error is None:
            record.places |= {receipt.id}
            if counts:
                record.id, record.least = receipt.id, number
        elif isinstance(error, Incomplete):
            record.places |= set() if error.receipt is None else {error.receipt.id}
        else:
            self.anywhere.add(stem_of(record.id))
        record.is_busy = False

    async def cancel(self, record: Touched, client: Client, timeout_s: float) -> None:
        record.state = "unsure"
        post = client.cancel(record.id, timeout=timeout_s)
        receipt, error, counts = await self.counted(client, post)
        record.is_busy = False
        is_gone = error is None and receipt.complete and (receipt.matches or not self.is_apart)
        if is_gone and counts and not record.is_unknown:
            record.state = "gone"

    async def ask(self, client: Client, timeout_s: float) -> None:
        now_s = self.overlay.kernel.now()
        before = [
            Promised(one, one.state, one.least, one.touched, set(one.places), now_s)
            for _, one in sorted(self.records.items())
            if not one.is_busy
        ]
        answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=timeout_s)
        found: dict[str, list[int]] = {}
        for match in await answer.all():
            found.setdefault(stem_of(match.id), []).append(int(match.data))
        for promised in before:
            self.judge(promised, found, answer.missing, answer.complete)

    def judge(self, one: Promised, found: dict[str, list[int]], missing: Any, whole: bool) -> None:
        """Note what an answer must not say."""
        record, stem = one.record, stem_of(one.record.id)
        there = found.get(stem, [])
        named = any(covers(missing, index_of(place)) for place in one.places | record.places)
        named = named or (stem in self.anywhere and not whole)
        untouched = record.touched == one.touched
        if one.state == "gone" and there:
            self.wrong.append(f"deleted, and there: {stem} {there}")
        if untouched and len(there) > 1:
            self.wrong.append(f"there twice: {stem} {there}")
        if untouched and not there and one.state == "kept" and not named:
            self.wrong.append(f"silently absent: {record}")
        if there and max(there) < one.least and not named:
            self.wrong.append(f"of before: {stem} {there} {one}")
        if untouched and there and min(there) < one.least and not named:
            self.wrong.append(f"of before: {stem} {there} {one}")

    # -- how it ends

    def to_the_end(
        self,
        events: range,
        changes: int,
        pauses_s: Sequence[float] = PAUSES_S,
        settled_s: float = 0.0,
    ) -> None:
        """Let it happen; all are back, and asked twice.  While it is cut nothing is asked."""
        print(f"{self.size} peers, {self.copies} copies")
        self.play(events, changes, pauses_s)
        assert not self.wrong, self.wrong
        self.heal()
        self.bring_back()
        self.settle()
        self.overlay.run_for(settled_s)
        for _ in range(2):
            self.overlay.run(self.ask(self.overlay.client(), 8.0))
            self.overlay.run_for(CALM_S)
        assert not self.wrong, self.wrong

    def heal(self) -> None:
        """If it is cut: one ring again."""


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    BusyRing(seed, monkeypatch).to_the_end(range(6, 16), 7)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_answers_are_right_in_the_middle(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
