"""Long waits of the peers of one loop end together, late by little and never early."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from meteor.links.asyncio_timers import TOGETHER_S, LoopTimers, timers_of


class Alarms:
    """An event loop of which only the timers run, when told to."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.set: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []

    def call_at(self, when_s: float, callback: Callable[..., None], *args: Any) -> None:
        self.set.append((when_s, callback, args))

    def run(self) -> None:
        """All of them, in order."""
        while self.set:
            first = min(self.set, key=lambda one: one[0])
            self.set.remove(first)
            self.now_s, callback, args = first
            callback(*args)


@given(st.lists(st.floats(0.0, 2.0, allow_nan=False), min_size=1, max_size=40))
def test_whoever_waits_is_called_in_order_and_no_later_than_a_moment(due: list[float]) -> None:
    alarms = Alarms()
    timers = LoopTimers(alarms)  # type: ignore[arg-type]  # of a loop it uses nothing else
    called: list[tuple[float, int]] = []
    for number, due_s in enumerate(due):
        told_s = timers.call_at(due_s, lambda one=number: called.append((alarms.now_s, one)))  # type: ignore[misc]
        assert due_s <= told_s < due_s + 1.001 * TOGETHER_S
    assert len(alarms.set) <= 2.0 / TOGETHER_S + 1
    alarms.run()
    assert [one for _, one in called] == sorted(range(len(due)), key=lambda one: due[one])
    for at_s, number in called:
        assert due[number] <= at_s < due[number] + 1.001 * TOGETHER_S


def test_those_of_one_moment_are_one_timer_of_the_loop() -> None:
    alarms = Alarms()
    timers = LoopTimers(alarms)  # type: ignore[arg-type]
    for part in range(64):
        timers.call_at(1.0 + TOGETHER_S * (part + 1) / 65, lambda: None)
    assert len(alarms.set) == 1


async def test_a_wait_that_was_cancelled_leaves_the_others_of_its_moment() -> None:
    loop = asyncio.get_running_loop()
    timers = timers_of(loop)
    due_s = loop.time() + TOGETHER_S
    cancelled = asyncio.ensure_future(timers.sleep_until(due_s))
    other = asyncio.ensure_future(timers.sleep_until(due_s))
    await asyncio.sleep(0)
    cancelled.cancel()
    assert await other >= due_s
    assert cancelled.cancelled()
    assert loop.time() >= due_s


async def test_all_peers_of_a_loop_share_its_timers_which_go_with_them() -> None:
    loop = asyncio.get_running_loop()
    timers = timers_of(loop)
    assert timers_of(loop) is timers
    await timers.sleep_until(0.0)
    left = weakref.ref(timers)
    del timers
    gc.collect()
    assert left() is None


async def test_a_wait_that_was_cancelled_is_not_kept_until_it_would_have_ended() -> None:
    """An interest is renewed every twenty minutes: each that was opened and closed left something
    behind for as long, in the loop of whoever opened it."""
    loop = asyncio.get_running_loop()
    timers = LoopTimers(loop)
    due_s = loop.time() + 1200.0
    waits = [asyncio.ensure_future(timers.sleep_until(due_s + one // 2)) for one in range(20)]
    await asyncio.sleep(0)
    assert len(timers) == 20
    for wait in waits[:-1]:
        wait.cancel()
    await asyncio.wait(waits[:-1])
    assert len(timers) == 1
    waits[-1].cancel()
    await asyncio.wait(waits)
    assert len(timers) == 0
