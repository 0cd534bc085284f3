"""What cancelling a conversation does and does not do, in each of the runtime's three worlds."""

from __future__ import annotations

import pytest

from tests.runtime_worlds import (
    PARAMETERS,
    WORLDS,
    Ask,
    Peer,
    Told,
    World,
    ended,
    outcome_of,
    two,
)


@pytest.fixture(params=PARAMETERS)
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]()


def test_a_cancelled_task_is_not_stepped_although_it_was_ready(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        steps: list[str] = []

        async def conversation() -> None:
            try:
                await a.runtime.expect("t", 5.0)
                steps.append("stepped")
            finally:
                steps.append("cleaned up")

        task = a.runtime.spawn(conversation())
        await a.runtime.sleep(0)
        a.runtime.deliver("t", 1)  # ready now ...
        task.cancel()  # ... and cancelled before its turn
        task.cancel()
        await ended(a, task)
        assert steps == ["cleaned up"]
        task.cancel()

    world.run(scenario)


def test_a_task_cancelled_before_its_first_step_never_begins(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        begun: list[int] = []

        async def conversation() -> None:
            begun.append(1)

        task = a.runtime.spawn(conversation())
        task.cancel()
        await ended(a, task)
        assert begun == []

    world.run(scenario)


def test_a_task_that_cancels_itself_ends_at_its_next_wait(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        steps: list[str] = []

        async def conversation() -> None:
            tasks[0].cancel()
            steps.append("still running")
            try:
                await a.runtime.sleep(0.001)
            except Exception:
                steps.append("an Exception")
            steps.append("after the wait")

        tasks = [a.runtime.spawn(conversation())]
        await ended(a, *tasks)
        assert steps == ["still running"]

    world.run(scenario)


def test_who_awaits_a_cancelled_task_ends_too_and_no_exception_is_seen(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        seen: list[BaseException] = []

        async def waits() -> None:
            try:
                await inner
            except BaseException as error:
                seen.append(error)
                raise

        inner = a.runtime.spawn(a.never())
        outer = a.runtime.spawn(waits())
        await a.runtime.sleep(0.001)
        inner.cancel()
        await ended(a, outer)
        assert len(seen) == 1
        assert not isinstance(seen[0], Exception)

    world.run(scenario)
    assert world.failures == []


def test_several_may_await_a_task_and_cancelling_one_leaves_it(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))

        async def work() -> str:
            await a.runtime.sleep(0.002)
            return "done"

        async def wait() -> str:
            return await shared

        shared = a.runtime.spawn(work())
        leaves, stays = a.runtime.spawn(wait()), a.runtime.spawn(wait())
        await a.runtime.sleep(0)
        await a.runtime.sleep(0)
        leaves.cancel()
        assert await stays == "done"
        assert await shared == "done"

    world.run(scenario)


def test_cancelling_a_caller_leaves_its_link_in_order(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        task = a.runtime.spawn(outcome_of(a, b.contact, Ask("slow", 1)))
        await b.hear(1)
        task.cancel()
        assert await a.runtime.call(b.contact, Ask("echo", 2), 5.0) == Told(2, "echo")
        await a.runtime.call(b.contact, Ask("slow", 3), 5.0)
        assert a.runtime.exchange.counters.late_replies == 0

    world.run(scenario)
    assert world.failures == []
