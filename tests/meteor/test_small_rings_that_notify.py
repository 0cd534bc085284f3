"""Small rings as in `test_small_rings`, in which interests are told of what comes.

All that was acknowledged while an interest was kept by three comes to its client, and nothing comes
twice: peers fall, all of them at times, restart, leave, and are held.
"""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from meteor import Client, MeteorError
from sim.overlay import SimPeer
from tests.meteor import copies_world
from tests.meteor.copies_world import assert_whole_within, build
from tests.meteor.notified_world import INTERESTS, Listener, Sensor, assert_exactly_once, opened
from tests.meteor.small_ring_world import FallingRing


class NotifyingRing(FallingRing):
    """A ring, interests, and what was acknowledged of what they are of."""

    sizes: tuple[int, ...] = (3, 3, 4, 4, 5, 5, 6)
    falls_below = 0.42

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drawn = random.Random(seed * 13 + 3)
        self.size = self.drawn.choice(self.sizes)
        monkeypatch.setattr(copies_world, "COPIES", 3)
        disk_s = self.drawn.choice([0.001, 0.002, 0.004])
        self.overlay = build(seed, self.size, disk_s=disk_s)
        assert_whole_within(self.overlay, 30)
        self.pairs: list[tuple[Sensor, Listener]] = []
        for selector in self.drawn.sample(INTERESTS, 2):
            self.listen(selector)
        self.stems = 0

    def listen(self, selector: str) -> None:
        client = self.overlay.client(peer=self.drawn.randrange(self.size))
        listener = Listener(client, self.overlay.run(opened(client, selector, ttl=7200))).listen()
        self.pairs.append((Sensor(client, self.drawn, selector), listener))

    def change(self) -> None:
        """At a drawn peer, with a drawn time."""
        client = self.drawn_client()
        if client is None:
            return
        for _ in range(self.drawn.randrange(1, 4)):
            self.store(client)

    def store(self, client: Client) -> None:
        attributes = self.pairs[0][0].draw()
        stem, self.stems = f"s{self.stems}", self.stems + 1
        timeout_s = self.drawn.choice([0.4, 2, 6])
        is_sure = False
        with suppress(MeteorError):
            self.overlay.run(
                client.store(attributes, b"x", id=stem, ttl=7200, timeout=timeout_s)
            )
            is_sure = self.counts(client.peer_address)
        for sensor, _ in self.pairs:
            if sensor.selects(attributes):
                (sensor.sure if is_sure else sensor.open).add(stem)

    def counts(self, _: str | None) -> bool:
        """Whether what a peer acknowledged just now is known to more than the last two."""
        return len(self.overlay.living) >= 3

    def hold(self, held: SimPeer) -> None:
        held.pause()
        self.change()
        self.overlay.run_for(self.drawn.choice([0.5, 2, 5]))
        held.resume()



def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = NotifyingRing(seed, monkeypatch)
    print(f"{ring.size} peers")
    ring.play(range(4, 10), 3)
    ring.bring_back()
    ring.change()
    for sensor, listener in ring.pairs:
        assert_exactly_once(ring.overlay, sensor, listener)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_all_is_told_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
