"""A question that began before what a peer knows of what moved away: never silently partial.

It passes the new place before the record is there, waits at the old one until the record has left
it, and is answered by somebody who cannot tell where it went: as it was forgotten, as too much
moved, or as the peer was started since.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from meteor import Client, Receipt
from sim.overlay import Overlay, SimPeer
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    client_away_from,
    drawn_elsewhere,
    primary_of,
    seeds,
    store_some,
)

ANSWERS = {"retrieve", "delete_data"}


class Waiting:
    """Records at one peer, at which a question waits that has been everywhere else."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch, count: int = 1) -> None:
        self.overlay, drawn = build(seed, 9, disk_s=0.001), random.Random(seed)
        self.ids = store_some(self.overlay, self.overlay.client(), drawn, 1)
        assert_whole_within(self.overlay)
        self.old = primary_of(self.overlay, self.ids[0])
        self.client: Client = client_away_from(self.overlay, self.ids[0])
        self.drawn, self._holds = drawn, True
        self._fill(count)
        self._hold(self.old, monkeypatch)

    def _fill(self, count: int) -> None:
        """Some more that the same peer has."""
        while len(self.ids) < count:
            (one,) = store_some(self.overlay, self.client, self.drawn, 1)
            if primary_of(self.overlay, one) is self.old:
                self.ids.append(one)
            else:
                self.overlay.run(self.client.cancel(one))

    def _hold(self, peer: SimPeer, monkeypatch: pytest.MonkeyPatch) -> None:
        point: Any = peer.core.point
        perform = point._perform

        async def later(task: Any, *said: Any) -> Any:
            while self._holds and task.operation.verb in ANSWERS:
                await peer.runtime.sleep(0.01)
            return await perform(task, *said)

        monkeypatch.setattr(point, "answer", lambda *_: None)
        monkeypatch.setattr(point, "_perform", later)

    def let_go(self) -> None:
        self._holds = False

    def move(self, number: int = 0) -> str:
        elsewhere = drawn_elsewhere(self.overlay, self.drawn, self.client, self.old)
        return self.overlay.run(
            self.client.replace(self.ids[number], elsewhere, b"y", ttl=7200)
        ).id

    def retrieve(self, timeout: float) -> Any:
        async def found() -> tuple[list[str], bool]:
            answer = self.client.retrieve(
                "type=*", everywhere=True, allow_partial=True, timeout=timeout
            )
            return [match.id for match in await answer.all()], answer.complete

        asking = self.overlay.kernel.spawn(found())
        self.overlay.run_for(0.1)
        return asking


def shares_until(overlay: Overlay, do: Callable[[], Any]) -> int:
    """How many questions peers began meanwhile."""
    begun = 0
    for peer in overlay.living:
        router: Any = peer.core.router
        disseminate = router.disseminate

        async def counted(*said: Any, _do: Any = disseminate, **named: Any) -> Any:
            nonlocal begun
            begun += 1
            return await _do(*said, **named)

        router.disseminate = counted
    do()
    return begun


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_more_moved_than_one_question_is_told(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It said that it was complete, without all but the last ones."""
    monkeypatch.setattr("meteor.rendezvous.moves.TOLD_MAX", 2)
    world = Waiting(seed, monkeypatch, count=5)
    asking = world.retrieve(timeout=60)
    moved = {world.move(number) for number in range(5)}
    world.let_go()
    found, complete = world.overlay.kernel.run_until(asking)
    assert complete
    assert moved <= set(found)


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_more_moved_than_is_remembered(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meteor.rendezvous.moves.KEPT_MAX", 2)
    world = Waiting(seed, monkeypatch, count=5)
    asking = world.retrieve(timeout=60)
    moved = {world.move(number) for number in range(5)}
    world.let_go()
    found, complete = world.overlay.kernel.run_until(asking)
    assert complete
    assert moved <= set(found)


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_it_moved_longer_ago_than_is_spoken_of(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    world = Waiting(seed, monkeypatch)
    asking = world.retrieve(timeout=60)
    moved = world.move()
    world.overlay.run_for(15.0)
    world.let_go()
    found, complete = world.overlay.kernel.run_until(asking)
    assert complete
    assert moved in found


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_it_moved_before_the_old_place_was_restarted(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Waiting(seed, monkeypatch)
    asking = world.retrieve(timeout=60)
    moved = world.move()
    world.old.crash()
    world.overlay.run(world.overlay.restart(world.old))
    found, complete = world.overlay.kernel.run_until(asking)
    assert complete
    assert moved in found


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_where_there_is_no_time_to_ask_anew_it_says_so(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("meteor.rendezvous.asking.ASKED_MAX", 1)
    world = Waiting(seed, monkeypatch)
    asking = world.retrieve(timeout=60)
    moved = world.move()
    world.overlay.run_for(15.0)
    world.let_go()
    found, complete = world.overlay.kernel.run_until(asking)
    assert moved not in found
    assert not complete


def deleted_meanwhile(world: Waiting) -> tuple[Receipt, int]:
    """The receipt of a delete of everything beside which one record moves, and how many others
    there were."""
    others = store_some(world.overlay, world.client, world.drawn, 3)
    deleting = world.overlay.kernel.spawn(
        world.client.delete_data("type=*", timeout=60, allow_partial=True, everywhere=True)
    )
    world.overlay.run_for(0.1)
    world.move()
    world.overlay.run_for(15.0)
    world.let_go()
    return world.overlay.kernel.run_until(deleting), len(others)


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_a_delete_that_is_not_asked_anew_counts_once(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("meteor.rendezvous.asking.ASKED_MAX", 1)
    receipt, others = deleted_meanwhile(Waiting(seed, monkeypatch))
    assert not receipt.complete
    assert receipt.matches == others


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_a_delete_takes_what_it_missed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lived on, though the delete said that it was complete; and is counted once."""
    world = Waiting(seed, monkeypatch)
    receipt, others = deleted_meanwhile(world)
    assert receipt.complete
    assert receipt.matches == 1 + others
    found, complete = world.overlay.kernel.run_until(world.retrieve(timeout=10))
    assert (found, complete) == ([], True)


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_a_question_that_begins_after_all_of_that_is_asked_once(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("meteor.rendezvous.moves.KEPT_MAX", 2)
    world = Waiting(seed, monkeypatch, count=5)
    world.let_go()
    moved = {world.move(number) for number in range(5)}
    world.overlay.run(world.overlay.restart(_crashed(world.old)))
    assert_whole_within(world.overlay)

    def ask() -> None:
        found, complete = world.overlay.kernel.run_until(world.retrieve(timeout=10))
        assert complete
        assert moved <= set(found)

    assert shares_until(world.overlay, ask) == 1


def _crashed(peer: SimPeer) -> SimPeer:
    peer.crash()
    return peer
