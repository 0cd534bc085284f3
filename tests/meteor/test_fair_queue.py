"""The queue at the door: nobody waits behind another's flood, and nothing grows without bound."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from chord import Busy
from meteor import Client, Timeout
from meteor.rendezvous.fair_queue import DoorLimits, FairQueue
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

FLOODER, OTHER = 1, 2


def test_a_client_that_is_alone_has_all_of_the_peer() -> None:
    door = FairQueue(DoorLimits(each=10))
    tickets = [door.arrive(FLOODER, 100, 0.0) for _ in range(30)]
    assert [begins for _, begins in tickets] == [True] * 10 + [False] * 20
    assert not door.awaits_a_round
    for at, (ticket, _) in enumerate(tickets[:20]):
        assert door.leave(FLOODER, ticket, 0.0) == [tickets[10 + at][0]]


def test_who_comes_into_a_flood_begins_at_once_and_both_begin_one_a_round() -> None:
    door = FairQueue(DoorLimits(each=10))
    flood = [door.arrive(FLOODER, 10, 0.0) for _ in range(100)]
    running = [ticket for ticket, begins in flood if begins]
    mine, begins = door.arrive(OTHER, 10, 0.0)
    assert begins
    assert not door.arrive(OTHER, 10, 0.0)[1], "one a round"
    for _ in range(5):
        assert door.leave(FLOODER, running.pop(), 0.0) == [], "its turn comes with the round"
    assert door.awaits_a_round
    assert door.next_round() == [flood[10][0], mine + 1]
    assert door.next_round() == [flood[11][0]]
    assert not door.arrive(FLOODER, 10, 0.0)[1]
    assert door.arrive(OTHER, 10, 0.0)[1]


def test_a_flood_that_is_alone_again_has_everything_again() -> None:
    door = FairQueue(DoorLimits(each=10, lately_s=1.0))
    mine, _ = door.arrive(OTHER, 10, 0.0)
    tickets = [door.arrive(FLOODER, 10, 0.0) for _ in range(50)]
    door.leave(OTHER, mine, 0.1)
    assert [begins for _, begins in tickets].count(True) == 1
    assert door.leave(FLOODER, tickets[0][0], 0.5) == []
    (begun,) = door.next_round()
    assert len(door.leave(FLOODER, begun, 2.0)) == 10


def test_what_waits_is_bounded_for_each_and_for_all() -> None:
    limits = DoorLimits(each=1, waiting=5, waiting_bytes=100, all_waiting_bytes=250, in_progress=1)
    door = FairQueue(limits)
    door.arrive(FLOODER, 0, 0.0)
    for _ in range(5):
        door.arrive(FLOODER, 1, 0.0)
    with pytest.raises(Busy, match="5 requests"):
        door.arrive(FLOODER, 1, 0.0)
    door.arrive(OTHER, 90, 0.0)
    with pytest.raises(Busy, match="90 bytes of this client"):
        door.arrive(OTHER, 11, 0.0)
    door.arrive(3, 100, 0.0)
    with pytest.raises(Busy, match="all clients"):
        door.arrive(4, 60, 0.0)
    assert (door.waiting, door.waiting_bytes) == (7, 195)


def test_when_all_of_the_peer_is_taken_clients_are_served_in_turn() -> None:
    door = FairQueue(DoorLimits(each=4, in_progress=4))
    running = [(FLOODER, door.arrive(FLOODER, 1, 0.0)[0]) for _ in range(4)]
    owner: dict[int, int] = {}
    for client in (FLOODER, FLOODER, FLOODER, OTHER, OTHER, 3):
        ticket, begins = door.arrive(client, 1, 0.0)
        assert not begins
        owner[ticket] = client
    served = []
    while owner:
        assert door.leave(*running.pop(0), 0.0) == []
        for ticket in door.next_round():
            running.append((owner[ticket], ticket))
            served.append(owner.pop(ticket))
    assert served == [FLOODER, OTHER, 3, FLOODER, OTHER, FLOODER]


@pytest.mark.parametrize("seed", range(10))
def test_counts_agree_with_a_plain_account(seed: int) -> None:
    random, now = Random(seed), 0.0
    limits = DoorLimits(each=6, in_progress=8, waiting=4)
    door = FairQueue(limits)
    running: dict[int, int] = {}
    waiting: dict[int, int] = {}

    def begin(tickets: list[int]) -> None:
        for ticket in tickets:
            running[ticket] = client = waiting.pop(ticket)
            assert ticket < min([t for t, c in waiting.items() if c == client], default=ticket + 1)

    for _ in range(3000):
        now += random.choice([0.0, 0.01, 0.01, 1.5])
        client, what = random.randrange(6), random.random()
        if what < 0.5:
            try:
                ticket, begins = door.arrive(client, 1, now)
            except Busy:
                assert list(waiting.values()).count(client) == limits.waiting
                continue
            (running if begins else waiting)[ticket] = client
        elif what < 0.75:
            begin(door.next_round())
        elif running or waiting:
            ticket = random.choice(sorted({**running, **waiting}))
            client = running.pop(ticket) if ticket in running else waiting.pop(ticket)
            begin(door.leave(client, ticket, now))
        assert len(running) <= limits.in_progress
        assert max(Counter(running.values()).values(), default=0) <= limits.each
        assert (door.waiting, door.waiting_bytes) == (len(waiting), len(waiting))
    while running:
        ticket, client = running.popitem()
        begin(door.leave(client, ticket, now))
        begin(door.next_round())
    assert not waiting


# -- at a peer


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=4, space=SPACE, seed=9)


def test_a_flood_does_not_delay_another_client(
    overlay: Overlay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the arrival of the other client's question and its beginning at most one post of
    the flood begins, though hundreds wait; and a round lets in one of the flood, not more."""
    flooder, other = overlay.client(peer=0), overlay.client(peer=0)
    entry, other_id = overlay.peers[0].core.entry, other._session.runtime.contact.id
    seen: list[str] = []
    real_arrive, real_run = entry._door.arrive, entry._asking.run
    real_round = entry._door.next_round

    def arrive(client: int, *rest: Any) -> Any:
        if client == other_id:
            seen.append("arrives")
            waiting.append(entry._door.waiting)
        return real_arrive(client, *rest)

    async def run(sender: Any, *rest: Any, **more: Any) -> Any:
        seen.append("other" if sender.id == other_id else "flood")
        return await real_run(sender, *rest, **more)

    def next_round() -> list[int]:
        begun = real_round()
        rounds.append(len(begun))
        return begun

    waiting: list[int] = []
    rounds: list[int] = []
    monkeypatch.setattr(entry._door, "arrive", arrive)
    monkeypatch.setattr(entry._door, "next_round", next_round)
    monkeypatch.setattr(entry._asking, "run", run)

    async def ask() -> None:
        for _ in range(6):
            assert await other.retrieve("type=lamp temperature=1..2").all() == []

    posts = [overlay.kernel.spawn(_store(flooder, at)) for at in range(400)]
    overlay.run(ask())
    for post in posts:
        overlay.kernel.run_until(post)
    assert seen.count("flood") == 400
    arrivals = [at for at, what in enumerate(seen) if what == "arrives"]
    gaps = [seen.index("other", at) - at - 1 for at in arrivals]
    print(f"waiting: {waiting}; posts of the flood begun before the question was: {gaps}")
    assert max(waiting) > 50
    assert max(gaps) <= 1
    assert max(rounds) <= 2


async def _store(client: Client, at: int) -> None:
    await client.store(f"type=flood temperature={at % 100}", b"x", timeout=60)


def test_more_than_may_wait_is_refused_and_nothing_is_left_behind(overlay: Overlay) -> None:
    client = overlay.client(peer=0)
    entry = overlay.peers[0].core.entry
    entry._door = FairQueue(DoorLimits(each=1, waiting=3))

    async def outcome(at: int) -> str:
        try:
            await client.store(f"type=a temperature={at}", timeout=1)
        except (Busy, Timeout) as error:
            return type(error).__name__
        return "stored"

    posts = [overlay.kernel.spawn(outcome(at)) for at in range(30)]
    outcomes = Counter(overlay.kernel.run_until(post) for post in posts)
    assert outcomes["stored"] >= 4
    assert outcomes["Busy"] + outcomes["stored"] == 30
    assert outcomes["Busy"] > 0
    assert (entry._door.waiting, entry._door.waiting_bytes, entry._door._in_progress) == (0, 0, 0)
