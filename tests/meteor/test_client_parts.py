"""The pure parts of a client against dumb twins: what was seen, who watches, what waits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meteor
from chord import Contact, RequestTimeout
from meteor.client.deduplication import Deduplicator
from meteor.client.mailbox import Mailbox, Signal
from meteor.client.watch import Watchers
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime

KEYS = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(KEYS, st.integers(0, 20)), max_size=60))
def test_with_room_every_key_is_new_exactly_once(arrivals: list[tuple[str, int]]) -> None:
    deduplicator, seen = Deduplicator(), set[str]()
    for now, (key, ttl) in enumerate(arrivals):
        assert deduplicator.add(key, now + ttl, now) == (key not in seen)
        seen.add(key)
        assert key in deduplicator


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 30)), max_size=200),
    st.integers(1, 8),
    st.integers(0, 8),
)
def test_a_living_key_is_kept_while_the_oldest_allows_and_the_number_is_bounded(
    arrivals: list[tuple[int, int]], kept: int, beyond: int
) -> None:
    """A dumb twin: a list in order of arrival, cut at its old end."""
    deduplicator = Deduplicator(keys_kept=kept, keys_max=kept + beyond)
    twin: list[tuple[str, int]] = []
    for now, (number, ttl) in enumerate(arrivals):
        key = str(number)
        is_new = key not in [name for name, _ in twin]
        assert deduplicator.add(key, now + ttl, now) == is_new
        if is_new:
            twin.append((key, now + ttl))
            while len(twin) > kept and (twin[0][1] <= now or len(twin) > kept + beyond):
                twin.pop(0)
        assert len(deduplicator) == len(twin) <= kept + beyond


@given(st.lists(st.tuples(KEYS, st.integers(0, 5), st.booleans()), max_size=60), st.randoms())
def test_watchers_count_the_living_whatever_the_order_of_the_news(
    news: list[tuple[str, int, bool]], order: Any
) -> None:
    newest: dict[str, tuple[int, bool]] = {}
    for stem, version, gone in news:
        newest[stem] = max(newest.get(stem, (-1, True)), (version, gone))
    living = sum(not gone for _, gone in newest.values())
    for _ in range(2):
        watchers = Watchers()
        for stem, version, gone in news:
            watchers.note(("", stem), version, gone=gone)
        assert watchers.count == living
        order.shuffle(news)


def test_the_memory_of_watchers_that_went_is_bounded() -> None:
    watchers = Watchers(stems_kept=10)
    for number in range(100):
        watchers.note(("", str(number)), 1, gone=False)
        watchers.note(("", str(number)), 1, gone=True)
    watchers.note(("", "here"), 1, gone=False)
    assert len(watchers._newest) == 11
    assert watchers.count == 1


def run(scenario: Any) -> Any:
    kernel = Kernel(1)
    runtime = SimRuntime(kernel, Network(kernel), Contact(1, ""))
    return kernel.run_until(kernel.spawn(scenario(runtime)))


def test_a_mailbox_gives_in_order_then_ends() -> None:
    async def scenario(runtime: SimRuntime) -> None:
        mailbox: Mailbox[int] = Mailbox(runtime)
        mailbox.put(1)
        mailbox.extend([2, 3])
        mailbox.end(meteor.Closed("over"))
        mailbox.end()
        assert [await mailbox.take() for _ in range(3)] == [1, 2, 3]
        for _ in range(2):
            with pytest.raises(meteor.Closed):
                await mailbox.take()

    run(scenario)


def test_a_taker_waits_for_the_next_item_and_no_longer_than_it_may() -> None:
    async def scenario(runtime: SimRuntime) -> None:
        mailbox: Mailbox[int] = Mailbox(runtime)
        taken = [runtime.spawn(mailbox.take()) for _ in range(2)]
        await runtime.sleep(1)
        mailbox.put(1)
        mailbox.put(2)
        assert [await task for task in taken] == [1, 2]
        with pytest.raises(RequestTimeout):
            await mailbox.take(timeout_s=3)
        assert runtime.now() == pytest.approx(4)

    run(scenario)


def test_a_wait_at_a_closed_runtime_raises_instead_of_spinning() -> None:
    async def scenario(runtime: SimRuntime) -> None:
        signal, mailbox = Signal(runtime), Mailbox[int](runtime)
        runtime.close()
        with pytest.raises(meteor.Closed):
            await signal.wait()
        with pytest.raises(meteor.Closed):
            await mailbox.take()

    run(scenario)
