"""Small rings as in `test_small_rings_at_once`, whose records live for seconds and are renewed.

What is within its time is there, or named as missing; what is past it is in no answer; and all
that is promised there is promised here.
"""

from __future__ import annotations

from dataclasses import replace as with_
from typing import Any

import pytest

from meteor import Client
from meteor.wire.record_id import stem_of
from tests.meteor.test_small_rings_at_once import BusyRing, Promised, Touched
from tests.meteor.test_small_rings_whose_records_run_out import LIVES_S, Life

LATE_S = 9.0
"""An attempt lasts 1, 2, 4 s, and within one the time counts from when it is written."""
PENDING_S = 45.0
"""A replace that was incomplete is gone on with for half a minute."""


class FleetingBusyRing(BusyRing):
    """A ring of which much is asked at once, of what lives for seconds."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lives: dict[str, Life] = {}
        self.drawn_ttls: dict[int, float] = {}
        super().__init__(seed, monkeypatch)

    @property
    def now_s(self) -> float:
        return self.overlay.kernel.now()

    def begin(self) -> None:
        """Renew something in one of five."""
        if self.drawn.random() >= 0.2:
            super().begin()
            return
        client = self.drawn_client()
        record = None if client is None else self.free()
        if client is not None and record is not None:
            record.is_busy, record.touched = True, record.touched + 1
            work = self.renew(record, client, self.drawn.choice([0.4, 2, 6]))
            self.running.append(self.overlay.kernel.spawn(self.suppressing(work)))

    def draw_ttl_s(self, number: int) -> float:
        ttl_s = self.drawn_ttls[number] = self.drawn.choice(LIVES_S)
        return ttl_s

    async def store(self, client: Client, timeout_s: float) -> None:
        number, began_s = self.number + 1, self.now_s
        await super().store(client, timeout_s)
        for stem, record in self.records.items():
            if stem not in self.lives:
                life = self.lives[stem] = Life(record.id)
                self.note(life, self.drawn_ttls[number], began_s, record.state == "kept")

    async def replace(self, record: Touched, client: Client, timeout_s: float) -> None:
        number, began_s, life = self.number + 1, self.now_s, self.lives[stem_of(record.id)]
        await super().replace(record, client, timeout_s)
        self.note(life, self.drawn_ttls[number], began_s, record.least == number, PENDING_S)

    async def renew(self, record: Touched, client: Client, timeout_s: float) -> None:
        ttl_s, began_s = self.draw_ttl_s(0), self.now_s
        life = self.lives[stem_of(record.id)]
        post = client.renew(record.id, ttl=ttl_s, timeout=timeout_s)
        receipt, error, counts = await self.counted(client, post)
        record.is_busy = False
        if error is None and not receipt.matches:
            lived = life.surely_s > self.now_s and record.state == "kept"
            if lived and not record.is_unknown:
                self.wrong.append(f"a renewal of {began_s} found nothing: {record} {life}")
            return
        self.note(life, ttl_s, began_s, error is None and counts)

    def note(
        self, life: Life, ttl_s: float, began_s: float, is_sure: bool, pending_s: float = 0.0
    ) -> None:
        """What is promised after it was tried."""
        latest_s = self.now_s + ttl_s + LATE_S
        if is_sure:
            life.sure(began_s + ttl_s, latest_s, began_s)
        else:
            until_s = self.now_s + LATE_S + pending_s
            life.unsure(began_s + ttl_s, until_s + ttl_s, until_s)

    def judge(self, one: Promised, found: dict[str, list[int]], missing: Any, whole: bool) -> None:
        stem = stem_of(one.record.id)
        life, untouched = self.lives[stem], one.record.touched == one.touched
        if untouched and found.get(stem) and one.at_s > life.latest_s:
            self.wrong.append(f"over, and there at {one.at_s}: {one.record} {life}")
        if life.surely_s <= self.now_s + 0.1:
            one = with_(one, state="unsure" if one.state == "kept" else one.state)
        super().judge(one, found, missing, whole)


FOUND = {
    85: "a copy had its primary's next epoch, which never began: it was taken to have moved on",
    99: "the last of a ring was back alone: it takes another way since those that wake look twice",
    170: "restarted with half of a replace alone: the same, and papers.md says what is left",
}


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    FleetingBusyRing(seed, monkeypatch).to_the_end(range(6, 16), 7)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_what_lives_is_there_and_what_is_over_is_not(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_all_holds(seed, monkeypatch)
