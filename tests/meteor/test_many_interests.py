"""A client with very many interests: they are renewed and re-attached some at a time."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Deferred, Runtime
from meteor.client.gate import Gate
from meteor.client.uplink import RENEWALS_AT_ONCE
from tests.meteor.fake_peer import FakeOverlay
from tests.runtime_worlds import PARAMETERS, WORLDS, World


@pytest.fixture(params=PARAMETERS)
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]()


async def stay(gate: Gate, runtime: Runtime, number: int, inside: set[int], seen: Any) -> None:
    async with gate:
        inside.add(number)
        seen.append((number, len(inside)))
        try:
            await runtime.sleep(0.002)
        finally:
            inside.discard(number)


def test_a_gate_lets_so_many_in_and_the_others_in_their_order(world: World) -> None:
    async def scenario() -> None:
        runtime = await world.peer(1)
        gate, inside, seen = Gate(runtime, 3), set[int](), list[tuple[int, int]]()
        tasks = [runtime.spawn(stay(gate, runtime, n, inside, seen)) for n in range(20)]
        for task in tasks:
            await task
        assert [number for number, _ in seen] == list(range(20))
        assert max(count for _, count in seen) == 3

    world.run(scenario)


@pytest.mark.parametrize("turns", range(4))
def test_who_is_cancelled_at_a_gate_or_inside_makes_room(world: World, turns: int) -> None:
    async def scenario() -> None:
        runtime = await world.peer(1)
        gate, inside, seen = Gate(runtime, 2), set[int](), list[tuple[int, int]]()
        tasks = [runtime.spawn(stay(gate, runtime, n, inside, seen)) for n in range(12)]
        await tasks[0]
        for _ in range(turns):
            await runtime.sleep(0)
        for task in tasks[1:11]:
            task.cancel()
        await tasks[11]
        await runtime.sleep(0.01)
        tasks = [runtime.spawn(stay(gate, runtime, n, inside, seen)) for n in range(20, 24)]
        for task in tasks:
            await task
        assert max(count for _, count in seen) == 2
        assert gate._inside == 0

    world.run(scenario)


def test_interests_are_brought_to_another_link_some_at_a_time(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        first, second = overlay.peers
        client = await overlay.new_client().open()
        interests = [client.notify_data(f"type=t{n}", ttl=600) for n in range(300)]
        for interest in interests:
            await interest
        most = under_way = 0

        async def later(request: Any) -> Any:
            nonlocal under_way
            await second.runtime.sleep(0.01)
            under_way -= 1
            return second.amend(client._runtime.contact, request)

        def slowly(request: Any) -> Any:
            nonlocal most, under_way
            under_way += 1
            most = max(most, under_way)
            return Deferred(later(request))

        second.answer = slowly
        first.crash()
        await client._runtime.sleep(5.0)
        assert client.peer_address == second.contact.address
        assert under_way == 0
        assert 1 < most <= RENEWALS_AT_ONCE
        assert all(interest.state == "active" for interest in interests)

    overlay.run(scenario())
