"""Small rings as in `test_small_rings_whose_records_run_out`, in which interests run out as well.

Nobody finds a pair of what is over; what lives to the end meets all that does, and is told of it
once; a watch knows whether anybody is interested still.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import pytest

from arms import Profile, Tell
from meteor import Client, Interest, MeteorError, Watch, profile
from sim.overlay import SimPeer
from tests.meteor.building import Attributes, draw_data
from tests.meteor.notified_world import INTERESTS, SETTLED_S, Listener
from tests.meteor.test_small_rings_whose_interests_move import selects
from tests.meteor.test_small_rings_whose_records_run_out import (
    DRIFT,
    LATE_S,
    NEVER,
    PAUSES_S,
    TIMEOUTS_S,
    FleetingRing,
    Life,
)

LIVES_S = (5, 15, 30, 60, 7200)
WATCHED: Attributes = {"type": "temperature", "temperature": 20, "humidity": 50}


@dataclass
class Asked:
    """An interest, and for how long it was promised."""

    selector: str
    listener: Listener
    life: Life


class LapsingRing(FleetingRing):
    """A ring, its interests, and what is told of them."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: dict[str, Asked] = {}
        self.opened: dict[str, Life] = {}
        self.stored: dict[str, Attributes] = {}
        self.false: list[str] = []
        super().__init__(seed, monkeypatch)
        self.overlay.hear_of_new(self.listen_to)
        self.home = self.client_of(self.drawn.randrange(self.size))
        self.watch = self.overlay.run(self.watching())
        for _ in range(3):
            with suppress(MeteorError):
                self.interest()

    async def watching(self) -> Watch:
        return await self.home.notify_interest(profile(WATCHED), ttl=30)

    def listen_to(self, peer: SimPeer) -> None:
        def hear(told: Tell) -> None:
            if told.kind == "gone" or self.is_apart():
                return
            for stem in (told.to.stem, told.about.stem):
                life = self.opened.get(stem, self.lives.get(stem))
                if life is None or life.is_under_way:
                    continue
                if life.is_gone or life.latest_s < self.now_s:
                    self.false.append(f"{peer.address} at {self.now_s}: {told.kind} {stem} {life}")

        peer.core.telling.on_tell = hear

    def is_apart(self) -> bool:
        """Whether one side may not know what became of it on the other."""
        return False

    def change(self) -> None:
        drawn = self.drawn.random()
        with suppress(MeteorError):
            if drawn < 0.15:
                self.interest()
            elif drawn < 0.35 and self.asked:
                self.renew_interest(self.drawn.choice(sorted(self.asked)))
            elif drawn < 0.42 and self.asked:
                self.close(self.drawn.choice(sorted(self.asked)))
            else:
                super().change()

    def interest(self) -> None:
        stem, ttl_s = f"i{len(self.opened)}", self.drawn.choice(LIVES_S)
        selector, life = self.drawn.choice(INTERESTS), Life("")
        self.opened[stem] = life
        client = self.home

        async def post() -> Interest:
            return await client.notify_data(
                selector, ttl=ttl_s, keep_alive=False, queue=10_000, id=stem,
                timeout=self.drawn.choice(TIMEOUTS_S),
            )  # fmt: skip

        began_s, counts = self.now_s, self.counts()
        interest, life.is_under_way = None, True
        try:
            interest = self.overlay.run(post())
        finally:
            self.note(life, ttl_s, began_s, is_sure=interest is not None and counts)
        self.asked[stem] = Asked(selector, Listener(client, interest).listen(), life)

    def renew_interest(self, stem: str) -> None:
        asked, ttl_s = self.asked[stem], self.drawn.choice(LIVES_S)
        began_s, counts, is_sure = self.now_s, self.counts(), False
        asked.life.is_under_way = True
        try:
            timeout_s = self.drawn.choice(TIMEOUTS_S)
            self.overlay.run(asked.listener.interest.renew(ttl_s, timeout=timeout_s))
            is_sure = counts
        finally:
            self.note(asked.life, ttl_s, began_s, is_sure=is_sure)

    def close(self, stem: str) -> None:
        asked = self.asked.pop(stem)
        asked.life.surely_s = 0.0
        asked.life.shortest_s, asked.life.pending_until_s = 0.0, NEVER
        self.overlay.run(asked.listener.interest.close())

    def note(self, life: Life, ttl_s: float, began_s: float, *, is_sure: bool) -> None:
        """What is promised after it was tried."""
        life.is_under_way = False
        surely_s = began_s + ttl_s / (1 + DRIFT)
        if is_sure and self.counts() and self.is_alone_with(life):
            life.sure(surely_s, self.now_s + ttl_s / (1 - DRIFT) + LATE_S, began_s)
        else:
            until_s = self.now_s + 2 * self.late_s
            life.unsure(surely_s, until_s + ttl_s / (1 - DRIFT) + LATE_S, NEVER)

    def draw_profile(self) -> Profile:
        attributes = self.stored[f"r{len(self.lives) - 1}"] = draw_data(self.drawn)
        return profile(attributes)

    def draw_life_s(self) -> float:
        return self.drawn.choice(LIVES_S)

    def replace(self, client: Client, timeout_s: float) -> None:
        """Not here: what is told of is told by its first content."""

    def assert_told(self) -> None:
        """Of all that lives, and once."""
        now_s = self.now_s
        for asked in self.asked.values():
            asked.listener.assert_once()
            if asked.life.surely_s < now_s:
                continue
            must = {
                stem for stem, life in self.lives.items()
                if life.surely_s > now_s and not life.is_gone
                and selects(asked.selector, self.stored[stem])
            }  # fmt: skip
            came = set(asked.listener.came)
            assert must <= came, f"never told: {sorted(must - came)}"
        watched = [one for one in self.asked.values() if selects(one.selector, WATCHED)]
        if any(one.life.surely_s > now_s for one in watched):
            assert self.watch.active, "nobody is interested, it says"
        elif all(one.latest_s < now_s - 30 or one.is_gone for one in self.opened.values()):
            assert not self.watch.active, "somebody is interested, it says"
        assert not self.false, "\n".join(self.false)


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = LapsingRing(seed, monkeypatch)
    print(f"{ring.size} peers, {ring.copies} copies")
    ring.play(range(4, 12), 5, PAUSES_S)
    ring.bring_back()
    ring.assert_ends()
    ring.overlay.run_for(SETTLED_S)
    ring.assert_told()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_what_is_over_is_told_to_nobody(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
