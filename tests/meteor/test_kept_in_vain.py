"""What could not be acknowledged in time shows all the same, and is told of as anything that shows.

Law of this file: the copies of a primary fall, and it finds no others for as long as a client
waits; afterwards all is well, and nobody asks for anything again unless a test says so.
"""

from __future__ import annotations

import random
from collections.abc import Coroutine
from typing import Any

import pytest

from chord import Task
from meteor import Client, Incomplete, Profile, profile
from sim.overlay import Overlay
from tests.meteor.building import draw_data
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    primary_of,
    seeds,
)
from tests.meteor.notified_world import Listener

WAITS_S = 2.0
ALONE_S = 12.0
"""Long enough for several tries."""
AT = "type=alarm temperature=50 humidity=20"


class InVain:
    """An overlay in which whoever answers for a place has copies, and soon has none."""

    def __init__(self, seed: int, at: Profile) -> None:
        self.overlay: Overlay = build(seed, 8, disk_s=0.001)
        assert_whole_within(self.overlay)
        drawn = self.overlay.client()
        self.probe: str = self.overlay.run(drawn.store(at, b"z", ttl=7200)).id
        self.overlay.run(drawn.cancel(self.probe))

    def client(self) -> Client:
        """One whose peer does not fall."""
        return client_away_from(self.overlay, self.probe)

    def alone(self, monkeypatch: pytest.MonkeyPatch, change: Coroutine[Any, Any, Any]) -> Task[Any]:
        """Nobody becomes a copy for so long, while this is asked for."""

        async def not_yet(*_: object) -> bool:
            return False

        self.overlay.run_for(3.0)
        primary = primary_of(self.overlay, self.probe)
        with monkeypatch.context() as patch:
            patch.setattr(primary.core._tending, "_fill", not_yet)
            crash(*copies_of(self.overlay, self.probe))
            asking = self.overlay.kernel.spawn(change)
            self.overlay.run_for(ALONE_S)
        return asking

    def in_vain(self, monkeypatch: pytest.MonkeyPatch, change: Coroutine[Any, Any, Any]) -> None:
        """The same, where the client does not wait as long."""
        asking = self.alone(monkeypatch, change)
        with pytest.raises(Incomplete):
            self.overlay.kernel.run_until(asking)
        assert_whole_within(self.overlay, 30.0)

    def listener(self) -> Listener:
        """An interest in everything."""
        client = self.client()
        opened = client.notify_data("type=*", everywhere=True, ttl=7200)
        return Listener(client, self.overlay.run(opened)).listen()


@pytest.mark.parametrize("seed", seeds(6))
def test_an_interest_hears_of_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was found from then on, and an interest that was there before never heard of it."""
    data = profile(draw_data(random.Random(seed)))
    world = InVain(seed, data)
    posting, listener = world.client(), world.listener()
    late = posting.store(data, b"x", ttl=7200, id="late", timeout=WAITS_S)
    world.in_vain(monkeypatch, late)
    world.overlay.run_for(5.0)
    found, complete = ask(world.overlay, posting)
    assert complete
    assert len(found) == 1
    assert listener.came == ["late"]


@pytest.mark.parametrize("seed", seeds(6))
def test_an_interest_hears_of_it_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client tries several times, as long as it has the time."""
    data = profile(draw_data(random.Random(seed)))
    world = InVain(seed, data)
    posting, listener = world.client(), world.listener()
    late = posting.store(data, b"x", ttl=7200, id="late", timeout=3 * ALONE_S)
    world.overlay.kernel.run_until(world.alone(monkeypatch, late))
    world.overlay.run_for(5.0)
    assert listener.came == ["late"]


@pytest.mark.parametrize("seed", seeds(6))
def test_a_watch_hears_that_an_interest_went(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counted what is gone for as long as it lived."""
    world = InVain(seed, profile({"type": "alarm", "temperature": 50, "humidity": 20}))
    overlay, interested, watching = world.overlay, world.client(), world.client()
    interest = overlay.run(interested.notify_data(AT, ttl=7200))
    watch = overlay.run(watching.notify_interest("type=alarm temperature=* humidity=*", ttl=7200))
    overlay.run(watch.wait_active(timeout=5))
    world.in_vain(monkeypatch, interested.cancel(interest.id, timeout=WAITS_S))
    overlay.run(watch.wait_idle(timeout=5))
