"""Small rings as in `test_small_rings_that_move`, which peers join, and in which peers move.

They join two at once at times, or go to another place, while others fall, and records are replaced
meanwhile: all that is promised there is promised here.
"""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest

from chord import Task
from meteor import MeteorError
from tests.meteor.copies_world import crash
from tests.meteor.test_small_rings_that_move import MovingRing

PEERS_MAX = 12
FOUND = {42: "moved with what nobody took, as who was to take it fell"}


class GrowingRing(MovingRing):
    """A ring that peers come to."""

    def happen(self) -> None:
        """One drawn event."""
        event = self.drawn.random()
        if event < 0.3 and self.overlay.living and len(self.overlay.peers) < PEERS_MAX:
            self.beside(*(self.overlay.add_peer() for _ in range(self.drawn.choice([1, 1, 2]))))
        elif event < 0.45 and len(self.overlay.living) > 1:
            moving, place = self.drawn.choice(self.overlay.living), self.drawn.getrandbits(160)
            self.beside(self.overlay.move(moving, place))
        else:
            super().happen()

    def beside(self, *work: Coroutine[Any, Any, object]) -> None:
        """Changes, and a fall perhaps, while this is done."""
        drawn, kernel = self.drawn, self.overlay.kernel
        tasks: list[Task[None]] = [kernel.spawn(self.tried(one)) for one in work]
        self.overlay.run_for(drawn.choice([0, 0.01, 0.05, 0.2]) * drawn.random())
        for _ in range(drawn.randrange(0, 3)):
            self.change()
        if drawn.random() < 0.4 and self.overlay.living:
            crash(drawn.choice(self.overlay.living))
        for task in tasks:
            kernel.run_until(task)

    async def tried(self, work: Coroutine[Any, Any, object]) -> None:
        with suppress(MeteorError):
            await work


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = GrowingRing(seed, monkeypatch)
    print(f"{ring.size} peers, {ring.copies} copies")
    ring.play(range(4, 12), 4)
    ring.bring_back()
    ring.ask(ring.overlay.client(), 8.0)
    ring.overlay.run_for(12.0)
    ring.ask(ring.overlay.client(), 8.0)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_one_version_is_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
