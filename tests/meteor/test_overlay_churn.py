"""What the overlay promises while peers come and go politely, in seeded virtual time.

Every answer is compared, as a set and as a count, with a plain filter over what was acknowledged.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from meteor import Client, profile
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE, Attributes, draw_data, draw_query


class Twin:
    """A dumb twin of the overlay: a dictionary of what was acknowledged."""

    def __init__(self, overlay: Overlay, drawn: random.Random) -> None:
        self.overlay, self.drawn = overlay, drawn
        self.data: dict[str, Attributes] = {}

    def store(self, client: Client) -> None:
        attributes = draw_data(self.drawn)
        receipt = self.overlay.run(client.store(profile(attributes), b"x"))
        self.data[receipt.id] = attributes

    def ask(self, client: Client) -> None:
        selector, wanted = draw_query(self.drawn)
        ids = [
            match.id for match in self.overlay.run(client.retrieve(selector, everywhere=True).all())
        ]
        expected = {i for i, attributes in self.data.items() if wanted(attributes)}
        assert set(ids) == expected, selector
        assert len(ids) == len(expected), selector

    def cancel(self, client: Client) -> None:
        if self.data:
            gone = self.drawn.choice(sorted(self.data))
            assert self.overlay.run(client.cancel(gone)).matches == 1
            del self.data[gone]

    def delete(self, client: Client) -> None:
        low = round(self.drawn.uniform(-40, 100), 1)
        receipt = self.overlay.run(client.delete_data(f"temperature={low}..{low + 8}"))
        gone = [i for i, d in self.data.items() if low <= d["temperature"] <= low + 8]
        assert receipt.matches == len(gone)
        for record in gone:
            del self.data[record]

    def replace(self, client: Client) -> None:
        if self.data:
            old = self.drawn.choice(sorted(self.data))
            attributes = draw_data(self.drawn)
            receipt = self.overlay.run(client.replace(old, profile(attributes), b"y"))
            del self.data[old]
            self.data[receipt.id] = attributes

    def join(self, _: Client) -> None:
        self.overlay.run(self.overlay.add_peer())

    def leave(self, _: Client) -> None:
        if len(self.overlay.living) > 6:
            self.overlay.run(self.drawn.choice(self.overlay.living[4:]).leave())


def weighted(twin: Twin) -> Any:
    return twin.drawn.choices(
        [twin.store, twin.ask, twin.cancel, twin.delete, twin.replace, twin.join, twin.leave],
        [60, 20, 5, 3, 4, 4, 4],
    )[0]


@pytest.mark.parametrize(
    "seed",
    [*range(1, 3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 101))],
)
def test_answers_equal_a_plain_filter_through_joins_and_leaves(seed: int) -> None:
    print(f"seed {seed}")
    drawn = random.Random(seed)
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=seed)
    clients = [overlay.client(peer=index) for index in range(3)]
    twin = Twin(overlay, drawn)
    for _ in range(200):
        weighted(twin)(drawn.choice(clients))
    twin.ask(clients[0])


@pytest.mark.parametrize(
    "seed",
    [*range(1, 3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 61))],
)
def test_nothing_acknowledged_is_lost_while_arcs_move_under_load(seed: int) -> None:
    """Stores, an interest and churn at once: every acknowledged profile is found afterwards, and
    the interest's client was told of each match exactly once."""
    print(f"seed {seed}")
    drawn = random.Random(seed)
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=seed)
    clients = [overlay.client(peer=index) for index in range(3)]
    acknowledged: dict[str, Attributes] = {}
    told: list[str] = []

    async def produce(client: Client) -> None:
        for _ in range(100):
            attributes = draw_data(drawn)
            receipt = await client.store(profile(attributes), b"x")
            acknowledged[receipt.id] = attributes

    async def watch(client: Client) -> None:
        interest = await client.notify_data("temperature=20..60")
        while True:
            told.append((await interest.recv()).id)

    async def churn() -> None:
        for _ in range(10):
            await overlay.peers[0].runtime.sleep(drawn.uniform(0.02, 0.12))
            if drawn.random() < 0.5 or len(overlay.living) < 8:
                await overlay.add_peer()
            else:
                await drawn.choice(overlay.living[3:]).leave()

    work = [produce(client) for client in clients]
    tasks = [overlay.kernel.spawn(task) for task in (churn(), *work)]
    overlay.kernel.spawn(watch(clients[0]))

    async def everything() -> None:
        for task in tasks:
            await task

    overlay.run(everything())
    overlay.run_for(3.0)
    found = [m.id for m in overlay.run(clients[1].retrieve("type=*", everywhere=True).all())]
    assert set(found) == set(acknowledged)
    assert len(found) == len(acknowledged)
    expected = {i for i, d in acknowledged.items() if 20 <= d["temperature"] <= 60}
    assert set(told) == expected
    assert len(told) == len(expected)


def test_sixteen_peers_that_join_at_once_hold_the_whole_space() -> None:
    overlay = Overlay(codec=wire_codec(), peers=1, space=SPACE, seed=5)
    client = overlay.client()
    stored = {overlay.run(client.store(profile(draw_data(random.Random(n))))).id for n in range(50)}
    tasks = [overlay.kernel.spawn(overlay.add_peer()) for _ in range(16)]

    async def everything() -> None:
        for task in tasks:
            await task

    overlay.run(everything())
    overlay.run_for(5.0)
    held = sorted(i for peer in overlay.peers for i in peer.core.holdings.held)
    assert held[0][0] == 0
    assert held[-1][1] == SPACE.curve.size - 1
    assert all(a[1] + 1 == b[0] for a, b in pairwise(held))
    assert not any(peer.core.holdings.lost for peer in overlay.peers)
    found = [m.id for m in overlay.run(client.retrieve("type=*", everywhere=True).all())]
    assert sorted(found) == sorted(stored)
