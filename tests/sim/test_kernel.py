"""Virtual time: turns before time, order of timers, failures, and SimPy beside our own tasks."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import RequestTimeout
from sim import Deadlock, Kernel
from sim.collector import THRESHOLDS, rare_collections
from sim.kernel import ORPHAN_GRACE_S


def test_everything_ready_runs_before_time_moves() -> None:
    kernel = Kernel()
    order: list[object] = []

    def chain(left: int) -> None:
        order.append(left)
        if left:
            kernel.call_soon(chain, left - 1)

    kernel.call_later(0.0, order.append, "timer")
    kernel.call_soon(chain, 3)
    kernel.run()
    assert order == [3, 2, 1, 0, "timer"]
    assert kernel.now() == 0.0


@given(st.lists(st.floats(0, 10), max_size=30))
def test_timers_fire_in_the_order_of_their_time_and_of_their_setting(delays: list[float]) -> None:
    kernel = Kernel()
    fired: list[tuple[float, int]] = []
    for i, delay in enumerate(delays):
        kernel.call_later(delay, lambda i=i: fired.append((kernel.now(), i)))
    kernel.run()
    assert fired == sorted((delay, i) for i, delay in enumerate(delays))


def test_run_stops_at_its_time_and_goes_on_from_there() -> None:
    kernel = Kernel()
    fired: list[float] = []
    for delay in (1.0, 2.0, 3.0):
        kernel.call_later(delay, lambda: fired.append(kernel.now()))
    kernel.run(until_s=2.5)
    assert (fired, kernel.now()) == ([1.0, 2.0], 2.5)
    kernel.run(until_s=10)
    assert (fired, kernel.now()) == ([1.0, 2.0, 3.0], 10.0)


def test_run_until_gives_the_outcome_of_a_task() -> None:
    kernel = Kernel()

    async def good() -> str:
        await kernel.sleep(5)
        return "done"

    async def bad() -> None:
        raise KeyError("of the task")

    assert kernel.run_until(kernel.spawn(good())) == "done"
    assert kernel.now() == 5.0
    with pytest.raises(KeyError, match="of the task"):
        kernel.run_until(kernel.spawn(bad()))


def test_waiting_for_nothing_is_a_deadlock() -> None:
    kernel = Kernel()

    async def waits() -> None:
        await kernel.waiter()

    with pytest.raises(Deadlock):
        kernel.run_until(kernel.spawn(waits()))


def test_a_bug_stops_the_run_with_the_exception_itself() -> None:
    """SimPy would rebuild it from its arguments; this one cannot be rebuilt so."""

    class Peculiar(Exception):
        def __init__(self, one: int, two: int) -> None:
            super().__init__(one + two)
            self.two = two

    kernel = Kernel()

    async def fails() -> None:
        await kernel.sleep(1)
        raise Peculiar(1, 2)

    held = kernel.spawn(fails())
    with pytest.raises(Peculiar) as caught:
        kernel.run()
    assert caught.value.two == 2
    assert held.done()
    kernel.run()


def test_a_circumstance_may_be_awaited_within_the_grace_and_stops_the_run_after_it() -> None:
    kernel = Kernel()

    async def times_out() -> None:
        raise RequestTimeout("nobody answered")

    async def awaits(task: Any) -> str:
        await kernel.sleep(ORPHAN_GRACE_S / 2)
        with pytest.raises(RequestTimeout):
            await task
        return "awaited"

    first = kernel.spawn(times_out())
    assert kernel.run_until(kernel.spawn(awaits(first))) == "awaited"
    kernel.run(until_s=2 * ORPHAN_GRACE_S)
    del first
    second = kernel.spawn(times_out())
    with pytest.raises(RequestTimeout, match="nobody answered"):
        kernel.run(until_s=4 * ORPHAN_GRACE_S)
    assert second.done()


def test_a_conversation_that_waits_while_it_is_cancelled_breaks_the_contract() -> None:
    kernel = Kernel()

    async def clings() -> None:
        try:
            await kernel.sleep(100)
        finally:
            await kernel.sleep(1)

    task = kernel.spawn(clings())
    kernel.call_later(1, task.cancel)
    with pytest.raises(RuntimeError, match="GeneratorExit"):
        kernel.run(until_s=5)


def test_workload_may_be_an_ordinary_simpy_process() -> None:
    kernel = Kernel()
    served: list[float] = []
    arrived = kernel.waiter()

    def workload() -> Generator[Any, Any, None]:
        yield kernel.environment.timeout(3)
        arrived.resolve("by SimPy")

    async def conversation() -> None:
        served.append(kernel.now())
        assert await arrived == "by SimPy"
        served.append(kernel.now())

    kernel.environment.process(workload())
    kernel.spawn(conversation())
    kernel.run()
    assert served == [0.0, 3.0]


def test_streams_of_randomness_do_not_shift_each_other() -> None:
    first, second = Kernel(7), Kernel(7)
    second.random("b").random()
    assert first.random("a").random() == second.random("a").random()
    assert Kernel(8).random("a").random() != first.random("a").random()


def test_without_simpy_the_extra_is_named() -> None:
    program = """
        import sys
        sys.modules["simpy"] = None
        try:
            import sim.spark
            sim.Kernel
        except ImportError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    assert "meteor-rendezvous[sim]" in done.stdout


def test_timers_and_the_events_of_simpy_share_one_order() -> None:
    kernel = Kernel()
    order: list[object] = []

    def process(name: str) -> Generator[Any, Any, None]:
        yield kernel.environment.timeout(1)
        order.append((name, kernel.now()))

    kernel.environment.process(process("first"))
    kernel.run(until_s=0.5)
    kernel.call_later(0.5, lambda: order.append(("second", kernel.now())))
    third = kernel.environment.timeout(0.5)
    third.callbacks.append(lambda _: order.append(("third", kernel.now())))
    kernel.run()
    assert order == [("first", 1.0), ("second", 1.0), ("third", 1.0)]


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    """Not even what tests/conftest.py froze."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.long
@pytest.mark.usefixtures("nothing_frozen")
def test_the_collector_is_set_back_behind_a_block_of_rare_collections() -> None:
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("nothing_frozen")
def test_what_was_frozen_before_such_a_block_stays_so() -> None:
    gc.freeze()
    with rare_collections():
        pass
    assert gc.get_freeze_count() > 0
