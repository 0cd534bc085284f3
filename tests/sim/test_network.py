"""What two simulated peers see of each other: order, refusals, crashes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import AnotherAnswers, CallError, Contact, DialRefused, LinkClosed
from sim import Kernel, Network, SimRuntime, TailedLatency, UniformLatency


@given(st.integers(0, 2**32), st.lists(st.floats(0, 0.01), min_size=1, max_size=40))
def test_frames_of_a_link_arrive_in_order_whatever_their_latency(
    seed: int, pauses: list[float]
) -> None:
    kernel = Kernel(seed)
    network = Network(kernel, latency=TailedLatency(0.0, 0.05))
    a = SimRuntime(kernel, network, Contact(1, "a"))
    b = SimRuntime(kernel, network, Contact(2, "b"))
    heard: list[object] = []
    b.serve(lambda sender, message, remaining_s: heard.append(message), lambda contact: None)

    async def sends() -> None:
        for number, pause in enumerate(pauses):
            a.send(b.contact, number)
            await a.sleep(pause)

    a.spawn(sends())
    kernel.run()
    assert heard == list(range(len(pauses)))


@pytest.mark.parametrize("latency", [UniformLatency(0.001, 0.002), TailedLatency(0.01, 0.01)])
def test_latency_has_its_floor_and_its_mean(latency: UniformLatency | TailedLatency) -> None:
    stream = random.Random(1)
    draws = [latency.draw(stream) for _ in range(20_000)]
    low, mean = (0.001, 0.0015) if isinstance(latency, UniformLatency) else (0.01, 0.02)
    assert min(draws) >= low
    assert sum(draws) / len(draws) == pytest.approx(mean, rel=0.05)


def test_a_latency_without_a_tail_is_its_floor() -> None:
    """It was divided by, as the first frame travelled."""
    assert TailedLatency(0.25, 0.0).draw(random.Random(1)) == 0.25


@pytest.mark.parametrize(
    ("kind", "times", "error", "said"),
    [
        (TailedLatency, (0.01, -1), ValueError, "tail_s: -1 is not from 0"),
        (TailedLatency, (-0.5, 0.1), ValueError, "floor_s: -0.5 is not from 0"),
        (TailedLatency, (float("nan"), 0.1), ValueError, "floor_s: nan is not from 0"),
        (TailedLatency, (0.1, float("inf")), ValueError, "tail_s: inf is not from 0"),
        (TailedLatency, ("a", 0.1), TypeError, "floor_s is a number, not 'a'"),
        (UniformLatency, (-1, -0.5), ValueError, "low_s: -1 is not from 0"),
        (UniformLatency, (0.1, float("nan")), ValueError, "high_s: nan is not from 0"),
        (UniformLatency, (0.2, 0.1), ValueError, "low_s: 0.2 is above high_s, 0.1"),
        (UniformLatency, (0.1, None), TypeError, "high_s is a number, not None"),
    ],
)
def test_a_latency_that_is_none_is_refused(
    kind: Any, times: tuple[object, ...], error: type[Exception], said: str
) -> None:
    """Virtual time ran backwards, or stood still."""
    with pytest.raises(error, match=said):
        kind(*times)
    assert UniformLatency(0, 0).high_s == TailedLatency(0, 0).tail_s == 0


def test_a_refused_dial_takes_a_round_trip_and_a_crash_a_latency() -> None:
    kernel = Kernel()
    network = Network(kernel, latency=UniformLatency(0.010, 0.010))
    a = SimRuntime(kernel, network, Contact(1, "a"))
    b = SimRuntime(kernel, network, Contact(2, "b"))
    closed: list[tuple[float, Contact]] = []
    a.serve(lambda *_: None, lambda contact: closed.append((kernel.now(), contact)))
    b.serve(lambda *_: None, lambda contact: None)

    async def asks() -> None:
        with pytest.raises(DialRefused):
            await a.call(Contact(3, "c"), "m", 1.0)
        assert kernel.now() == pytest.approx(0.020)
        await a.call(b.contact, "m", 1.0)
        network.crash(b.contact)
        network.crash(b.contact)
        with pytest.raises(LinkClosed):
            await a.call(b.contact, "m", 1.0)
        assert closed == [(pytest.approx(0.050), b.contact)]

    kernel.run_until(a.spawn(asks()))


class ScriptedLatency:
    """Gives these latencies in turn, the last one for ever."""

    def __init__(self, *latencies_s: float) -> None:
        self._left = list(latencies_s)

    def draw(self, stream: random.Random) -> float:
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]


def test_a_refusal_that_comes_late_leaves_alone_the_link_that_was_dialled_back() -> None:
    """Nobody listened where `a` dialled; a peer that has started there since has dialled `a`."""
    kernel = Kernel()
    network = Network(kernel, latency=ScriptedLatency(0.010, 0.030, 0.001))
    a = SimRuntime(kernel, network, Contact(1, "a"))
    heard: list[object] = []
    a.serve(lambda sender, message, remaining_s: heard.append(message), lambda contact: None)
    a.send(Contact(2, "b"), "to nobody")
    kernel.run(until_s=0.015)
    b = SimRuntime(kernel, network, Contact(3, "b"))
    b.serve(lambda *_: None, lambda contact: None)
    b.send(a.contact, "first")
    kernel.run(until_s=0.060)
    b.send(a.contact, "second")
    kernel.run()
    assert heard == ["first", "second"]


def test_who_refused_a_dial_is_who_was_there_as_it_came_in() -> None:
    """Who listens by the time that the refusal is heard was named, and its own dial refused for
    it: as if another one were there."""
    kernel = Kernel()
    network = Network(kernel, latency=UniformLatency(0.010, 0.010))
    a = SimRuntime(kernel, network, Contact(1, "a"))

    async def asks(contact: Contact) -> CallError | None:
        try:
            await a.call(contact, "m", 1.0)
        except CallError as error:
            return error
        return None

    early = kernel.spawn(asks(Contact(2, "b")))
    kernel.run(until_s=0.015)
    b = SimRuntime(kernel, network, Contact(2, "b"))
    b.serve(lambda *_: None, lambda contact: None)
    assert type(kernel.run_until(early)) is DialRefused
    late = kernel.spawn(asks(Contact(3, "b")))
    kernel.run(until_s=0.035)
    network.crash(b.contact)
    error = kernel.run_until(late)
    assert isinstance(error, AnotherAnswers)
    assert error.who == b.contact


def test_two_peers_cannot_listen_at_one_address() -> None:
    kernel = Kernel()
    network = Network(kernel)
    SimRuntime(kernel, network, Contact(1, "a"))
    with pytest.raises(ValueError, match="listens at a"):
        SimRuntime(kernel, network, Contact(2, "a"))
    for number in (3, 4):  # clients have no address
        SimRuntime(kernel, network, Contact(number, ""))
