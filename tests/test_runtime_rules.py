"""The rules of `chord.runtime` on turns, tasks and failures, in each of its three worlds."""

from __future__ import annotations

import gc

import pytest

from chord import DialRefused, LinkClosed, NotJoined, RequestTimeout
from tests.runtime_worlds import PARAMETERS, WORLDS, Ask, Peer, Told, World, ended, two


@pytest.fixture(params=PARAMETERS)
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]()


# ---- turns -----------------------------------------------------------------------------------


def test_resolved_waits_resume_in_a_later_turn_first_in_first_out(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        order: list[object] = []

        async def wait_for(token: str) -> None:
            order.append(await a.runtime.expect(token, 5.0))

        tasks = [a.runtime.spawn(wait_for(token)) for token in ("x", "y", "x", "z")]
        await a.runtime.sleep(0)
        for token in ("z", "x", "y"):
            assert a.runtime.deliver(token, token)
        assert order == []
        for task in tasks:
            await task
        assert order == ["z", "x", "x", "y"]

    world.run(scenario)


def test_a_spawned_conversation_takes_its_first_step_in_a_later_turn(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        order: list[int] = []

        async def step(number: int) -> None:
            order.append(number)

        tasks = [a.runtime.spawn(step(number)) for number in range(5)]
        assert order == []
        for task in tasks:
            await task
        assert order == [0, 1, 2, 3, 4]
        assert all(task.done() for task in tasks)

    world.run(scenario)


def test_sleep_lasts_and_now_never_goes_back(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        began_s = a.runtime.now()
        await a.runtime.sleep(0.01)
        assert a.runtime.now() - began_s >= 0.0099
        await a.runtime.sleep(0)
        await a.runtime.sleep(-1)

    world.run(scenario)


# ---- expectations ----------------------------------------------------------------------------


def test_an_expectation_is_registered_when_made_and_may_be_awaited_later(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        expected = a.runtime.expect(("token", 1), 5.0)
        assert a.runtime.deliver(("token", 1), "value")
        await a.runtime.sleep(0)
        assert await expected == "value"
        assert await expected == "value"

    world.run(scenario)


def test_the_first_delivery_wins_and_nobody_is_there_for_the_second(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        first, second = a.runtime.expect("t", 5.0), a.runtime.expect("t", None)
        assert not a.runtime.deliver("other", 0)
        assert a.runtime.deliver("t", 1)
        assert not a.runtime.deliver("t", 2)
        assert (await first, await second) == (1, 1)

    world.run(scenario)


def test_an_expectation_times_out_once_and_late_deliveries_find_nobody(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        short, long = a.runtime.expect("t", 0.005), a.runtime.expect("t", 5.0)
        with pytest.raises(RequestTimeout, match="not delivered"):
            await short
        assert a.runtime.deliver("t", 1)
        assert await long == 1
        with pytest.raises(RequestTimeout):
            await short
        assert not a.runtime.deliver("t", 2)

    world.run(scenario)


def test_cancelling_one_awaiter_of_an_expectation_leaves_the_others(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        expected = a.runtime.expect("t", 5.0)

        async def wait() -> object:
            return await expected

        leaves, stays = a.runtime.spawn(wait()), a.runtime.spawn(wait())
        await a.runtime.sleep(0)
        leaves.cancel()
        await ended(a, leaves)
        assert not stays.done()
        assert a.runtime.deliver("t", 3)
        assert await stays == 3

    world.run(scenario)


def test_expectations_whose_awaiters_were_cancelled_count_for_nobody(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))

        async def wait(number: int) -> None:
            await a.runtime.expect(number, None)

        for round_ in range(10):
            tokens = range(500 * round_, 500 * round_ + 500)
            waiting = [a.runtime.spawn(wait(token)) for token in tokens]
            await a.runtime.sleep(0)
            for task in waiting:
                task.cancel()
            await ended(a, *waiting)
        assert not a.runtime.deliver(4999, "too late")
        assert len(a.runtime.exchange._expected) < 1500

    world.run(scenario)


# ---- failures --------------------------------------------------------------------------------


def test_several_spawned_calls_may_fail_and_be_awaited_one_after_the_other(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)

        async def ask(what: str) -> object:
            return await a.runtime.call(b.contact, Ask(what), 5.0)

        slow, refused = a.runtime.spawn(ask("slow")), a.runtime.spawn(ask("refuse"))
        assert await slow == Told(0, "slow")
        assert refused.done()
        with pytest.raises(Exception, match="not today"):
            await refused

    world.run(scenario)
    assert world.failures == []


def test_a_bug_in_a_conversation_that_nobody_awaits_is_a_failure_at_once(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))

        async def conversation() -> None:
            await a.runtime.sleep(0.001)
            raise KeyError("a bug")

        held = a.runtime.spawn(conversation())
        await ended(a, held)

    world.run(scenario)
    assert [type(error) for error in world.failures] == [KeyError]


def test_an_error_of_a_conversation_whose_handle_was_dropped_is_a_failure(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))

        async def conversation() -> None:
            await a.runtime.call(world.nowhere(), Ask("echo"), 1.0)

        a.runtime.spawn(conversation())
        await a.runtime.sleep(0.1)
        gc.collect()
        await a.runtime.sleep(0)

    world.run(scenario)
    assert [type(error) for error in world.failures] == [DialRefused]


@pytest.mark.parametrize("where", ["undelivered", "link_closed"])
def test_a_bug_in_a_callback_is_a_failure_of_the_peer(world: World, where: str) -> None:
    async def scenario() -> None:
        a, b = await two(world)

        def breaks(*_: object) -> None:
            raise KeyError(where)

        a.runtime.serve(a.handle, breaks)
        await a.runtime.call(b.contact, Ask("echo"), 5.0)
        if where == "undelivered":
            a.runtime.forward([], Told(1), breaks)
        else:
            await world.crash(b.runtime)
        while not world.failures:
            await a.runtime.sleep(0.001)

    world.run(scenario)
    assert [type(error) for error in world.failures] == [KeyError]


# ---- closing ---------------------------------------------------------------------------------


def test_close_cancels_in_spawn_order_and_nothing_leaves_any_more(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        cleaned_up: list[int] = []

        async def conversation(number: int) -> None:
            try:
                await a.runtime.sleep(100)
            finally:
                cleaned_up.append(number)

        tasks = [a.runtime.spawn(conversation(number)) for number in range(4)]
        await b.runtime.sleep(0.001)
        a.runtime.close()
        a.runtime.close()
        a.runtime.send(b.contact, Told(1))
        a.runtime.forward([b.contact], Told(2), lambda *_: None)
        with pytest.raises(LinkClosed):
            await a.runtime.call(b.contact, Ask("echo"), 1.0)
        never = a.runtime.spawn(conversation(9))
        await ended(b, *tasks, never)
        assert cleaned_up == [0, 1, 2, 3]
        c = Peer(await world.peer(3))  # what had left before its request would be there before it
        await c.runtime.call(b.contact, Ask("echo"), 5.0)
        assert b.heard == [(c.contact, Ask("echo"))]

    world.run(scenario)


def test_what_was_sent_before_a_close_still_leaves(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        await a.runtime.call(b.contact, Ask("echo"), 5.0)
        closed = b.runtime.expect("closed", 5.0)
        a.runtime.send(b.contact, Told(1))
        a.runtime.close()
        await closed
        assert [message for _, message in b.heard] == [Ask("echo"), Told(1)]

    world.run(scenario)


def test_a_conversation_may_close_its_own_peer(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)

        async def leave() -> None:
            a.runtime.close()
            await a.runtime.sleep(1)

        task = a.runtime.spawn(leave())
        await ended(b, task)

    world.run(scenario)
    assert world.failures == []


def test_the_same_seed_and_contact_give_the_same_draws() -> None:
    draws = []
    for _ in range(2):
        world = WORLDS["sim"]()

        async def scenario(world: World = world) -> None:
            a, b = await two(world)
            b.runtime.random.random()  # the draws of one peer never shift another's
            draws.append([a.runtime.random.random() for _ in range(3)])

        world.run(scenario)
    assert draws[0] == draws[1]


def test_a_conversation_that_is_begun_takes_its_first_step_at_once(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        steps: list[str] = []

        async def ends() -> str:
            steps.append("ends")
            return "over"

        async def waits() -> str:
            steps.append("began")
            await a.runtime.sleep(0.0)
            steps.append("went on")
            return "at last"

        begun, waiting = a.runtime.begin(ends()), a.runtime.begin(waits())
        assert steps == ["ends", "began"]
        assert begun.done()
        assert not waiting.done()
        assert [await begun, await waiting, await begun] == ["over", "at last", "over"]
        begun.cancel()
        assert await begun == "over"

    world.run(scenario)


def test_a_begun_conversation_is_cancelled_and_cleans_up(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        steps: list[str] = []

        async def waits() -> None:
            try:
                await a.runtime.expect("never", None)
            finally:
                steps.append("cleaned up")

        waiting = a.runtime.begin(waits())
        await a.runtime.sleep(0.001)
        waiting.cancel()
        await ended(a, waiting)
        assert steps == ["cleaned up"]

    world.run(scenario)


def test_what_a_begun_conversation_raises_is_for_who_awaits_it(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))

        async def fails(delay_s: float) -> None:
            if delay_s:
                await a.runtime.sleep(delay_s)
            raise NotJoined("for whom it concerns")

        for delay_s in (0.0, 0.001):
            with pytest.raises(NotJoined, match="whom it concerns"):
                await a.runtime.begin(fails(delay_s))

    world.run(scenario)


def test_a_closed_peer_begins_nothing(world: World) -> None:
    async def scenario() -> None:
        a, steps = Peer(await world.peer(1)), []

        async def conversation() -> None:
            steps.append("began")

        a.runtime.close()
        task = a.runtime.begin(conversation())
        with pytest.raises(BaseException):  # noqa: B017,PT011 - each runtime has its own
            await task
        assert steps == []

    world.run(scenario)


def test_an_answer_that_may_wait_comes_all_the_same_and_once(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        ask = [a.runtime.call(b.contact, Ask("unhurried", n), 5.0) for n in (1, 2)]
        asked = [a.runtime.spawn(call) for call in ask]
        assert [await task for task in asked] == [Told(1, "unhurried"), Told(2, "unhurried")]
        own = await a.runtime.call(a.contact, Ask("unhurried", 3), 5.0)
        assert own == Told(3, "unhurried")
        assert a.runtime.exchange.counters.late_replies == 0

    world.run(scenario)
