"""Small rings as in `test_small_rings`, whose records are replaced, by others at other places.

Of every record one version is there, never one that was replaced before an acknowledged one, in
every answer that does not name a place of it as missing; what was deleted is not back.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from meteor import Client, Incomplete, MeteorError, profile
from meteor.wire.record_id import stem_of
from sim.overlay import SimPeer
from squid import covers
from tests.meteor import copies_world
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    index_of,
)
from tests.meteor.small_ring_world import FallingRing

CALM_S = 12.0
FOUND = {
    29: "all woke, and one that nobody else knew began a ring of its own",
    56: "halfway as all fell: a copy of the old place had the new one, and differed for good",
    58: "the same, with falls in between",
}


@dataclass
class Record:
    """What was promised of one record."""

    id: str
    """Its last acknowledged one, or one that may be its."""
    places: set[str] = field(default_factory=set)
    """All its ids since that."""
    least: int = 0
    """No earlier version may be seen."""
    state: str = "kept"
    """`kept`, `unsure` whether it is there at all, or `gone`."""
    is_unknown: bool = False
    """Whether fewer than three were told of some of it: others may not know of that, and delete
    it without."""


class MovingRing(FallingRing):
    """A ring, and what was promised of its records."""

    sizes: tuple[int, ...] = (3, 3, 4, 4, 5, 5, 6)
    is_apart = False
    """Whether what is nowhere here may be on another side."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drawn = random.Random(seed * 11 + 5)
        self.size = self.drawn.choice(self.sizes)
        self.copies = min(self.size, 3)
        monkeypatch.setattr(copies_world, "COPIES", self.copies)
        disk_s = self.drawn.choice([0.001, 0.002, 0.004])
        self.overlay = build(seed, self.size, disk_s=disk_s)
        self.records: dict[str, Record] = {}
        self.anywhere: set[str] = set()
        """What may be at a place that nobody told of."""
        self.number = 0
        for _ in range(6):
            self.store(self.overlay.client(), 6)
        assert_whole_within(self.overlay, 30)

    def change(self) -> None:
        """At a drawn peer, with a drawn time."""
        client = self.drawn_client()
        if client is None:
            return
        what, timeout_s = self.drawn.random(), self.drawn.choice([0.4, 2, 6])
        with suppress(MeteorError):
            if what < 0.15:
                self.store(client, timeout_s)
            elif what < 0.7:
                self.replace(client, timeout_s)
            elif what < 0.85:
                self.cancel(client, timeout_s)
            else:
                self.ask(client, 4.0)

    def store(self, client: Client, timeout_s: float) -> None:
        self.number += 1
        data = profile(draw_data(self.drawn))
        try:
            receipt = self.overlay.run(
                client.store(data, str(self.number), ttl=7200, timeout=timeout_s)
            )
        except Incomplete as error:
            if error.receipt is not None:
                one = Record(error.receipt.id, {error.receipt.id}, self.number, "unsure")
                one.is_unknown = not self.counts()
                self.records[stem_of(one.id)] = one
            raise
        if self.counts():
            self.records[stem_of(receipt.id)] = Record(receipt.id, {receipt.id}, self.number)

    def replace(self, client: Client, timeout_s: float) -> None:
        drawn = self.drawn
        able = [one for _, one in sorted(self.records.items()) if one.state != "gone"]
        if not able:
            return
        record = drawn.choice(able)
        self.number += 1
        record.is_unknown = record.is_unknown or not self.counts()
        data = profile(draw_data(drawn))
        old_id = drawn.choice(sorted(record.places)) if drawn.random() < 0.3 else record.id
        try:
            receipt = self.overlay.run(
                client.replace(old_id, data, str(self.number), ttl=7200, timeout=timeout_s)
            )
        except Incomplete as error:
            record.places |= set() if error.receipt is None else {error.receipt.id}
            raise
        except MeteorError:
            self.anywhere.add(stem_of(record.id))
            raise
        record.places |= {receipt.id}
        if self.counts():
            record.id, record.least = receipt.id, self.number

    def cancel(self, client: Client, timeout_s: float) -> None:
        able = [one for _, one in sorted(self.records.items()) if one.state != "gone"]
        if not able:
            return
        record = self.drawn.choice(able)
        record.state = "unsure"
        receipt = self.overlay.run(client.cancel(record.id, timeout=timeout_s))
        is_gone = receipt.complete and (receipt.matches or not self.is_apart)
        if is_gone and self.counts() and not record.is_unknown:
            record.state = "gone"  # else who knows of it may be back, and the delete wins

    def counts(self) -> bool:
        """Whether what was acknowledged just now is known to more than the last two."""
        return len(self.overlay.living) >= 3

    def ask(self, client: Client, timeout_s: float) -> None:
        answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=timeout_s)
        found: dict[str, list[int]] = {}
        for match in self.overlay.run(answer.all()):
            found.setdefault(stem_of(match.id), []).append(int(match.data))
        twice = {stem: numbers for stem, numbers in found.items() if len(numbers) > 1}
        assert not twice, f"there twice: {twice}"
        for stem, record in sorted(self.records.items()):
            missing = any(covers(answer.missing, index_of(place)) for place in record.places)
            missing = missing or (stem in self.anywhere and not answer.complete)
            there = found.get(stem)
            if record.state == "gone":
                assert there is None, f"deleted, and there: {stem} {there}"
            elif there is None:
                assert missing or record.state == "unsure", f"silently absent: {stem} {record}"
            else:
                assert missing or there[0] >= record.least, f"of before: {stem} {there} {record}"

    def hold(self, held: SimPeer) -> None:
        held.pause()
        self.overlay.run_for(self.drawn.choice([0.5, 2, 5]))
        for _ in range(self.drawn.randrange(0, 3)):
            self.change()
        held.resume()

    def to_the_end(self) -> None:
        """Let it happen; all are back, and asked twice."""
        print(f"{self.size} peers, {self.copies} copies")
        self.play(range(4, 12), 4)
        self.bring_back()
        self.ask(self.overlay.client(), 8.0)
        self.overlay.run_for(CALM_S)
        self.ask(self.overlay.client(), 8.0)


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    MovingRing(seed, monkeypatch).to_the_end()


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_one_version_is_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
