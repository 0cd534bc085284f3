"""Order among conversations, in virtual time: every schedule of a few against what must be."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chord import Contact
from meteor.copies.turns import Bell, Mutex, Sequence
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime

FEWER = settings(max_examples=settings().max_examples // 2)
ticks = st.integers(0, 4)
"""Tenths of a second: few, so that much happens in one instant."""


def runtime() -> tuple[Kernel, SimRuntime]:
    kernel = Kernel(1)
    return kernel, SimRuntime(kernel, Network(kernel), Contact(1, "10.0.0.1:1"))


def finish(kernel: Kernel, work: list[Coroutine[Any, Any, None]]) -> None:
    for task in [kernel.spawn(one) for one in work]:
        kernel.run_until(task)


@FEWER
@given(st.lists(st.tuples(ticks, ticks), max_size=8))
def test_a_mutex_lets_one_in_at_a_time_in_the_order_of_asking(
    workers: list[tuple[int, int]],
) -> None:
    kernel, peer = runtime()
    mutex = Mutex(peer, "mutex")
    inside: list[int] = []
    asked, served = [], []

    async def work(name: int, comes: int, stays: int) -> None:
        await peer.sleep(comes / 10)
        asked.append(name)
        await mutex.enter()
        inside.append(name)
        assert inside == [name]
        served.append(name)
        if stays:
            await peer.sleep(stays / 10)
        inside.remove(name)
        mutex.leave()

    finish(kernel, [work(name, *one) for name, one in enumerate(workers)])
    assert served == asked
    assert len(served) == len(workers)


@FEWER
@given(st.lists(st.tuples(ticks, ticks, st.booleans()), max_size=8))
def test_a_sequence_goes_on_in_the_order_of_beginning(
    workers: list[tuple[int, int, bool]],
) -> None:
    """However long each takes, and though some end without having waited for their turn."""
    kernel, peer = runtime()
    order = Sequence(peer, "order")
    begun: list[int] = []
    ended: set[int] = set()
    shown = []

    async def work(name: int, comes: int, takes: int, fails: bool) -> None:
        await peer.sleep(comes / 10)
        ticket = order.begin()
        begun.append(name)
        before = set(begun[:-1])
        try:
            await peer.sleep(takes / 10)
            if not fails:
                await order.reached(ticket)
                assert before <= ended, "an earlier one is still under way"
                shown.append(name)
        finally:
            ended.add(name)
            order.end(ticket)
            order.end(ticket)

    finish(kernel, [work(name, *one) for name, one in enumerate(workers)])
    failed = {name for name, (_, _, fails) in enumerate(workers) if fails}
    assert shown == [name for name in begun if name not in failed]


@FEWER
@given(st.lists(st.tuples(ticks, ticks), max_size=6), st.lists(ticks, max_size=4))
def test_a_barrier_waits_for_what_was_begun_before_and_for_nothing_else(
    workers: list[tuple[int, int]], barriers: list[int]
) -> None:
    kernel, peer = runtime()
    order = Sequence(peer, "order")
    open_since: dict[int, float] = {}
    ends_s: dict[int, float] = {}

    async def work(name: int, comes: int, takes: int) -> None:
        await peer.sleep(comes / 10)
        ticket = order.begin()
        open_since[name] = peer.now()
        await peer.sleep(takes / 10)
        await order.reached(ticket)
        del open_since[name]
        ends_s[name] = peer.now()
        order.end(ticket)

    async def wait(comes: int) -> None:
        await peer.sleep(comes / 10)
        before = list(open_since)
        await order.barrier()
        assert not set(before) & set(open_since)
        last_s = max((ends_s[name] for name in before), default=comes / 10)
        assert abs(peer.now() - last_s) < 1e-6, "it waited for what came later"

    finish(kernel, [work(name, *one) for name, one in enumerate(workers)] + [*map(wait, barriers)])


@FEWER
@given(st.lists(ticks, max_size=8), st.lists(ticks, min_size=1, max_size=6))
def test_no_ring_of_a_bell_is_lost(rings: list[int], work: list[int]) -> None:
    """After every ring the work is done once more, at once when nothing is going on."""
    kernel, peer = runtime()
    bell = Bell(peer, "bell")
    rung_s: list[float] = []
    began_s: list[float] = []

    async def ring() -> None:
        for pause in rings:
            await peer.sleep(pause / 10)
            rung_s.append(peer.now())
            bell.ring()

    async def go_round() -> None:
        for takes in (work * 20)[:20]:
            began_s.append(peer.now())
            await peer.sleep(takes / 10)
            await bell.wait(1000.0)

    kernel.spawn(go_round())
    finish(kernel, [ring()])
    kernel.run(until_s=100.0)
    assert len(began_s) <= 1 + len(rings), "it went round without a ring"
    longest_s = max(work) / 10
    for at_s in rung_s:
        assert any(at_s - 1e-6 <= began <= at_s + longest_s + 1e-6 for began in began_s)


def test_a_bell_that_nobody_rings_wakes_when_the_time_is_up() -> None:
    kernel, peer = runtime()
    bell = Bell(peer, "bell")
    finish(kernel, [bell.wait(2.5)])
    assert kernel.now() == 2.5
    bell.ring()
    finish(kernel, [bell.wait(2.5)])
    assert kernel.now() == 2.5
    finish(kernel, [bell.wait(2.5)])
    assert kernel.now() == 5.0
