"""Small rings as in `test_small_rings_that_notify`, whose interests are replaced by others."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from arms import Profile
from meteor import Client, MeteorError, profile
from tests.meteor.building import SPACE, Attributes, draw_data
from tests.meteor.notified_world import INTERESTS, SETTLED_S, Listener, opened
from tests.meteor.test_small_rings_that_notify import NotifyingRing


def selects(selector: str, attributes: Attributes) -> bool:
    return Profile.parse(selector, SPACE).matches(profile(attributes).typed(SPACE))


FOUND = {124: "replaced in part: a copy of its old place had the new one alone, for good"}


@dataclass
class Asked:
    """An interest, and what it may ask for now."""

    listener: Listener
    possible: set[str]
    ever: set[str] = field(default_factory=set)


class MovingRing(NotifyingRing):
    """A ring whose interests move."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Asked] = []
        self.stored: dict[str, tuple[Attributes, bool]] = {}
        super().__init__(seed, monkeypatch)

    def listen(self, selector: str) -> None:
        client = self.overlay.client(peer=self.drawn.randrange(self.size))
        interest = self.overlay.run(opened(client, selector, ttl=7200))
        self.asked.append(Asked(Listener(client, interest).listen(), {selector}, {selector}))

    def store(self, client: Client) -> None:
        attributes = draw_data(self.drawn)
        stem, self.stems = f"s{self.stems}", self.stems + 1
        timeout_s, is_sure = self.drawn.choice([0.4, 2, 6]), False
        with suppress(MeteorError):
            self.overlay.run(client.store(attributes, b"x", id=stem, ttl=7200, timeout=timeout_s))
            is_sure = self.counts(client.peer_address)
        self.stored[stem] = attributes, is_sure

    def change(self) -> None:
        if self.drawn.random() < 0.4:
            self.ask_otherwise()
        else:
            super().change()

    def ask_otherwise(self) -> None:
        asked, selector = self.drawn.choice(self.asked), self.drawn.choice(INTERESTS)
        interest = asked.listener.interest
        asked.possible.add(selector)
        asked.ever.add(selector)
        with suppress(MeteorError):
            receipt = self.overlay.run(
                interest.replace(selector, timeout=self.drawn.choice([0.4, 2, 6]))
            )
            if receipt.complete and self.counts(None):
                asked.possible = {selector}


    def assert_told(self, asked: Asked) -> None:
        """Of all that it asks for, whatever it asks for now, and of nothing that it never did."""
        must, may = set[str](), set[str]()
        for stem, (attributes, is_sure) in self.stored.items():
            if is_sure and all(selects(one, attributes) for one in asked.possible):
                must.add(stem)
            if any(selects(one, attributes) for one in asked.ever):
                may.add(stem)
        came = set(asked.listener.came)
        assert must <= came, f"never told: {sorted(must - came)}, asked for {asked.possible}"
        assert came <= may, "told of what was not asked for"
        asked.listener.assert_once()


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = MovingRing(seed, monkeypatch)
    print(f"{ring.size} peers")
    ring.play(range(4, 10), 3)
    ring.bring_back()
    ring.overlay.run_for(SETTLED_S)
    for asked in ring.asked:
        ring.assert_told(asked)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_all_is_told_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
