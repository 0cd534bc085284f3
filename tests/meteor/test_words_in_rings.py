"""Rings in which something has to have two holders: who relies on the word of a copy misses nothing
that others acknowledge, and nobody waits for a word that nobody relies on."""

from __future__ import annotations

import random
from collections.abc import Coroutine
from typing import Any

import pytest

from arms import Profile
from meteor import Client, MeteorError, profile
from meteor.wire.copy_messages import Instate, Instated
from meteor.wire.view import View
from sim.overlay import SimPeer
from squid import covers, of_arc
from tests.meteor.building import SPACE, draw_data
from tests.meteor.copies_world import index_of, primary_of, view_of
from tests.meteor.test_few_holders import ring, store

QUICKLY_S = 0.2
"""A join or a leave: less than half of what a word lasts."""


class Asked:
    """Three peers; the primary of a record is asked all the time, and others store beside it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        self.overlay = ring(monkeypatch, seed, 3, 2)
        self.data = profile(draw_data(random.Random(seed)))
        record = store(self.overlay, self.overlay.client(), seed)
        self.index, self.alone = index_of(record), primary_of(self.overlay, record)
        successor = self.alone.core.node.successors[0]
        (self.heir,) = [one for one in self.overlay.peers if one.contact == successor]
        (self.copy,) = {*self.overlay.peers} - {self.alone, self.heir}
        self.here, self.there = self._client(self.alone), self._client(self.heir)
        self.overlay.run_for(2.0)
        self.began_s = self.overlay.kernel.now()
        self.known: dict[str, float] = {}
        self.wrong: list[str] = []

    def _client(self, peer: SimPeer) -> Client:
        return self.overlay.client(peer=self.overlay.peers.index(peer))

    def cut(self, *others: SimPeer) -> Any:
        """The primary off from these."""
        contacts = [one.contact for one in others]
        return self.overlay.faults.partition([self.alone.contact], contacts)

    def now_s(self) -> float:
        return self.overlay.kernel.now() - self.began_s

    def ask_all_the_time(self) -> None:
        self.overlay.kernel.spawn(self._ask())

    async def _ask(self) -> None:
        """What was acknowledged before must be in what is complete."""
        while True:
            before, asked_s = dict(self.known), self.now_s()
            answer = self.here.retrieve(self.data, allow_partial=True, timeout=1.0)
            absent = before.keys() - {match.id for match in await answer.all()}
            if absent and answer.complete:
                times = sorted(before[one] for one in absent)
                self.wrong.append(f"asked {asked_s}, lacks what came {times}")
            await self.overlay.kernel.sleep(0.02)

    def store_some(self) -> None:
        for number in range(10):
            self.overlay.kernel.spawn(self._store(0.01 * number))

    async def _store(self, after_s: float) -> None:
        await self.overlay.kernel.sleep(after_s)
        try:
            receipt = await self.there.store(self.data, b"late", ttl=7200, timeout=3.0)
        except MeteorError:
            return
        self.known[receipt.id] = self.now_s()

    def until_taken_over(self, *, then_s: float = 0.0) -> float:
        """When the heir holds it; what comes after that is seen, too."""
        while not covers(self.heir.core.holdings.held, self.index):
            assert self.now_s() < 10.0, "nobody took over"
            self.overlay.run_for(0.001)
        taken_s = self.now_s()
        self.store_some()
        self.overlay.run_for(then_s)
        return taken_s


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("seed", [1, 2])  # in rings 3 to 6 the heir hears of the primary by others
def test_who_relies_on_a_copy_does_not_miss_what_that_one_takes_from_an_heir(
    seed: int, restarted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut off from the last that heard it just before that one could tell it; and whoever
    starts again has forgotten to whom it gave its word."""
    world = Asked(monkeypatch, seed)
    world.cut(world.heir)
    world.ask_all_the_time()
    taken_s = world.until_taken_over()
    # later the heir is alone as it takes over where the copy is not back yet, and waits
    for before_s in (0.5, 0.4, 0.3) if restarted else (0.5, 0.3, 0.1, 0.05, 0.02, 0.01):
        world = Asked(monkeypatch, seed)
        world.cut(world.heir)
        world.ask_all_the_time()
        world.overlay.run_for(taken_s - before_s)
        world.cut(world.heir, world.copy)
        if restarted:
            world.copy.crash()
            world.overlay.run_for(0.02)
            world.overlay.kernel.spawn(world.overlay.restart(world.copy))
        world.until_taken_over(then_s=2.0)
        assert world.known
        assert not world.wrong, f"cut {before_s} s before: {world.wrong}"


@pytest.mark.parametrize("seen_s", [0.03, 0.1])
@pytest.mark.parametrize("seed", [3, 4])
def test_an_heir_that_hears_the_primary_again_as_its_view_begins_says_so(
    seed: int, seen_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had found it silent for longer than a word lasts; then they see each other for a moment,
    while its view is being noted."""
    world = Asked(monkeypatch, seed)
    cut = world.cut(world.heir)
    world.cut(world.copy)
    while not world.heir.core._keeper.word._coming:
        assert world.now_s() < 10.0, "nobody takes over"
        world.overlay.run_for(0.0005)
    cut.heal()
    world.ask_all_the_time()
    world.overlay.run_for(seen_s)
    world.cut(world.heir)
    world.until_taken_over(then_s=2.0)
    assert world.known
    assert not world.wrong


def test_a_view_that_a_copy_refuses_takes_nothing_from_the_primary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = Asked(monkeypatch, 1)
    world.overlay.run(world.here.retrieve(world.data, timeout=2.0).all())  # it has its word
    epoch = view_of(world.overlay, next(iter(stored(world)))).epoch + (1 << 40)
    piece = ((world.index, world.index),)
    view = View(world.heir.contact, epoch, epoch, piece, (world.copy.contact,))

    async def ask() -> object:
        return await world.heir.runtime.call(world.copy.contact, Instate(view, epoch - 1), 2.0)

    asking = world.overlay.kernel.spawn(ask())
    for _ in range(600):
        world.overlay.run_for(0.001)
        assert covers(world.alone.core.holdings.held, world.index)
    reply = asking.result()
    assert isinstance(reply, Instated)
    assert not reply.known, "it has nothing of that epoch"


def stored(world: Asked) -> list[str]:
    answer = world.here.retrieve(world.data, timeout=2.0)
    return [match.id for match in world.overlay.run(answer.all())]


class Busy:
    """A primary of which all is asked for all the time, or one record alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seed: int, peers: int) -> None:
        self.overlay, drawn = ring(monkeypatch, seed, peers, 2), random.Random(seed)
        self.slowest_s = 0.0
        profiles = [profile(draw_data(drawn)) for _ in range(30)]
        client = self.overlay.client()
        ids = [self.overlay.run(client.store(one, b"x", ttl=7200)).id for one in profiles]
        self.primary = max(self.overlay.peers, key=held_size)
        held = self.primary.core.holdings.held
        self.of_it = [(at, one) for name, one in zip(ids, profiles, strict=True)
                      if covers(held, at := index_of(name))]  # fmt: skip
        self.asking = next(n for n, one in enumerate(self.overlay.peers) if one is not self.primary)
        self.overlay.run_for(3.0)

    def ask_for(self, data: Profile | None) -> None:
        self.overlay.kernel.spawn(self._ask(data))
        self.overlay.run_for(1.0)
        self.slowest_s = 0.0

    async def _ask(self, data: Profile | None) -> None:
        client, kernel = self.overlay.client(peer=self.asking), self.overlay.kernel
        while True:
            began_s = kernel.now()
            if data is None:
                answer = client.retrieve("type=*", everywhere=True, timeout=12.0)
            else:
                answer = client.retrieve(data, timeout=12.0)
            await answer.all()
            self.slowest_s = max(self.slowest_s, kernel.now() - began_s)
            await kernel.sleep(0.005)

    def took_s(self, work: Coroutine[Any, Any, object]) -> float:
        began_s = self.overlay.kernel.now()
        self.overlay.run(work)
        return self.overlay.kernel.now() - began_s


def held_size(peer: SimPeer) -> int:
    return sum(last - first for first, last in peer.core.holdings.held)


@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_join_does_not_wait_for_the_word_that_its_giver_has(
    seed: int, everything: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor as long as that one is asked about the part that it keeps."""
    world = Busy(monkeypatch, seed, 4)
    arc = world.primary.core.node.arc
    assert arc is not None
    middle = (arc.after + ((arc.last - arc.after) % (1 << 160)) // 2) % (1 << 160)
    stays = of_arc(middle, arc.last, SPACE.curve.index_bits, 160)
    kept = [one for at, one in world.of_it if covers(stays, at)]
    world.ask_for(None if everything else kept[0])
    assert world.took_s(world.overlay.add_peer(middle)) < QUICKLY_S
    world.overlay.run_for(2.0)
    assert world.slowest_s < QUICKLY_S


@pytest.mark.parametrize("seed", range(1, 9))
def test_nor_does_who_leaves(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    world = Busy(monkeypatch, seed, 5)
    world.ask_for(None)
    assert world.took_s(world.primary.leave()) < QUICKLY_S
    world.overlay.run_for(2.0)
    assert world.slowest_s < QUICKLY_S
