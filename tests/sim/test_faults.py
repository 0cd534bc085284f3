"""Faults of the network: each is what sockets would show, seeded, and nothing when off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chord import ACKNOWLEDGE_WITHIN_S, Contact, LinkClosed, RequestTimeout
from sim import Faults, FrameFaults, Kernel, Network, SimRuntime, UniformLatency
from sim.faults import LINK_SILENCE_S
from sim.link import DIAL_TIMEOUT_S


class Pair:
    """Two runtimes, a third, and what each heard with the time of it."""

    def __init__(self, seed: int = 1) -> None:
        self.kernel = Kernel(seed, keep_trace=True)
        self.network = Network(self.kernel, latency=UniformLatency(0.001, 0.001))
        self.faults = Faults(self.network)
        self.heard: dict[str, list[tuple[float, Any]]] = {}
        self.closed: list[tuple[str, str]] = []
        self.a, self.b, self.c = (self.runtime(name) for name in "abc")

    def runtime(self, name: str) -> SimRuntime:
        runtime = SimRuntime(self.kernel, self.network, Contact(ord(name), name))
        self.heard[name] = []

        def handle(_: Contact, message: object, __: float) -> object:
            self.heard[name].append((self.kernel.now(), message))
            return ("re", message)

        runtime.serve(handle, lambda contact: self.closed.append((name, contact.address)))
        return runtime

    def run_for(self, seconds: float) -> None:
        self.kernel.run(until_s=self.kernel.now() + seconds)

    def call(self, source: SimRuntime, target: SimRuntime, timeout_s: float = 60.0) -> Any:
        return self.kernel.run_until(
            self.kernel.spawn(source.call(target.contact, "call", timeout_s))
        )

    def messages(self, name: str) -> list[Any]:
        return [message for _, message in self.heard[name]]


@pytest.fixture
def pair() -> Pair:
    return Pair()


def send_numbers(pair: Pair, count: int) -> None:
    async def sends() -> None:
        for number in range(count):
            pair.a.send(pair.b.contact, number)
            await pair.a.sleep(0.01)

    pair.kernel.run_until(pair.kernel.spawn(sends()))
    pair.run_for(30.0)


def test_a_lost_frame_on_a_link_comes_late_and_what_follows_waits(pair: Pair) -> None:
    pair.faults.frames = FrameFaults(loss=0.1, retransmit_s=0.2)
    send_numbers(pair, 300)
    assert pair.messages("b") == list(range(300))
    assert 10 < pair.faults.counts["loss"] < 80
    late = [at - number * 0.01 for number, (at, _) in enumerate(pair.heard["b"])]
    assert max(late) > 0.2


def test_raw_frames_vanish_come_twice_and_overtake(pair: Pair) -> None:
    pair.call(pair.a, pair.b)
    pair.heard["b"].clear()
    pair.faults.frames = FrameFaults(loss=0.2, duplication=0.2, reordering=0.5, raw=True)
    send_numbers(pair, 300)
    heard = pair.messages("b")
    assert set(heard) < set(range(300))
    assert len(heard) > len(set(heard))
    assert heard != sorted(heard)


def test_a_reordered_frame_overtakes_other_links_and_never_its_own(pair: Pair) -> None:
    pair.faults.frames = FrameFaults(reordering=0.5, reorder_s=0.1)
    order: list[tuple[str, int]] = []
    pair.c.serve(lambda sender, n, _: order.append((sender.address, n)), lambda _: None)  # type: ignore[func-returns-value]

    async def sends(source: SimRuntime) -> None:
        for number in range(50):
            source.send(pair.c.contact, number)
            await source.sleep(0.002)

    pair.a.spawn(sends(pair.a))
    pair.b.spawn(sends(pair.b))
    pair.run_for(10.0)
    for name in "ab":
        assert [n for source, n in order if source == name] == list(range(50))
    assert [n for _, n in order] != sorted(n for _, n in order)


def test_a_forwarded_frame_whose_acknowledgement_is_lost_is_seen_twice(pair: Pair) -> None:
    for other in (pair.b, pair.c):
        for _ in range(9):
            pair.call(pair.a, other)
    pair.heard["b"].clear()
    pair.faults.frames = FrameFaults(duplication=1.0)
    pair.a.forward([pair.b.contact, pair.c.contact], "twice", lambda *_: None)
    pair.run_for(1.0)
    assert pair.messages("b") == ["twice"]
    assert "twice" in pair.messages("c")


@pytest.mark.parametrize("one_way", [False, True])
def test_frames_wait_for_the_end_of_a_partition_in_order(pair: Pair, one_way: bool) -> None:
    pair.call(pair.a, pair.b)
    cut = pair.faults.partition([pair.a.contact], one_way=one_way)
    for number in range(5):
        pair.a.send(pair.b.contact, number)
        pair.b.send(pair.a.contact, number)
    pair.run_for(5.0)
    assert pair.messages("b") == ["call"]
    assert pair.messages("a") == (list(range(5)) if one_way else [])
    cut.heal()
    cut.heal()
    pair.run_for(0.1)
    assert pair.messages("b") == ["call", *range(5)]
    assert pair.messages("a") == list(range(5))
    assert pair.network.faults is None
    assert pair.call(pair.a, pair.b) == ("re", "call")


def test_who_is_not_on_either_side_hears_both(pair: Pair) -> None:
    pair.faults.partition([pair.a.contact], [pair.b.contact])
    assert pair.call(pair.a, pair.c) == ("re", "call")
    assert pair.call(pair.b, pair.c) == ("re", "call")


@pytest.mark.parametrize("dialler", ["a", "b"])
def test_a_dial_needs_both_directions_and_is_given_up(pair: Pair, dialler: str) -> None:
    pair.faults.partition([pair.a.contact], one_way=True)
    source, target = (pair.a, pair.b) if dialler == "a" else (pair.b, pair.a)
    with pytest.raises(LinkClosed, match="no answer to the dial"):
        pair.call(source, target)
    assert pair.kernel.now() == pytest.approx(DIAL_TIMEOUT_S)
    assert pair.closed == []


@pytest.mark.parametrize("one_way", [False, True])
def test_links_across_a_long_partition_break_at_both_ends(pair: Pair, one_way: bool) -> None:
    pair.call(pair.a, pair.b)
    pair.call(pair.b, pair.c)
    cut = pair.faults.partition([pair.a.contact], one_way=one_way)
    pair.run_for(LINK_SILENCE_S - 1)
    assert pair.closed == []
    pair.run_for(2.0)
    assert sorted(pair.closed) == [("a", "b"), ("b", "a")]
    cut.heal()
    assert pair.call(pair.a, pair.b) == ("re", "call")


def test_a_clogged_link_flows_again_by_itself(pair: Pair) -> None:
    pair.call(pair.a, pair.b)
    pair.faults.clog(pair.a.contact, pair.b.contact, for_s=0.7)
    began_s = pair.kernel.now()
    assert pair.call(pair.b, pair.a) == ("re", "call")
    assert pair.kernel.now() - began_s == pytest.approx(0.702, abs=0.01)
    assert not pair.faults.active


def test_who_vanishes_closes_no_link_and_answers_no_dial(pair: Pair) -> None:
    pair.call(pair.a, pair.b)
    cut = pair.faults.vanish(pair.b.contact)
    with pytest.raises(RequestTimeout):
        pair.call(pair.a, pair.b, timeout_s=1.0)
    with pytest.raises(LinkClosed, match="dial"):
        pair.call(pair.c, pair.b)
    assert pair.closed == []
    cut.heal()
    pair.run_for(0.1)
    assert pair.closed == [("a", "b")]


def test_acknowledgements_do_not_pass_a_one_way_partition(pair: Pair) -> None:
    pair.call(pair.b, pair.a)
    pair.faults.partition([pair.a.contact], one_way=True)
    failed: list[str] = []
    pair.b.forward([pair.a.contact], "forwarded", lambda _, reason: failed.append(reason))
    pair.run_for(3.0)
    assert pair.messages("a") == ["call", "forwarded"]
    assert failed == ["silence"]


def test_a_paused_peer_does_nothing_and_goes_on_where_it_was(pair: Pair) -> None:
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            await pair.b.sleep(1.0)
            ticks.append(pair.kernel.now())

    pair.b.spawn(tick())
    pair.call(pair.a, pair.b)
    pair.run_for(2.5)
    pair.b.pause()
    pair.a.send(pair.b.contact, "first")
    pair.a.send(pair.b.contact, "second")
    with pytest.raises(RequestTimeout):
        pair.call(pair.a, pair.b, timeout_s=4.0)
    assert len(ticks) == 2
    assert pair.closed == []
    assert pair.messages("b") == ["call"]
    pair.b.resume()
    pair.run_for(0.01)
    assert pair.messages("b") == ["call", "first", "second", "call"]
    assert pair.b.lateness() == pytest.approx(4.0)
    pair.run_for(1.5)
    assert len(ticks) == 4
    assert pair.b.lateness() == 0.0


def test_a_dial_to_a_paused_peer_is_given_up_and_its_own_calls_time_out_late(pair: Pair) -> None:
    pair.b.pause()
    with pytest.raises(LinkClosed, match="no answer to the dial"):
        pair.call(pair.a, pair.b)
    pair.b.resume()
    waiting = pair.b.spawn(pair.b.call(pair.c.contact, "call", 0.5))
    pair.run_for(0.0005)
    pair.b.pause()
    pair.run_for(5.0)
    pair.b.resume()
    assert pair.kernel.run_until(waiting) == ("re", "call")  # it came in meanwhile


def test_a_paused_peer_can_be_killed(pair: Pair) -> None:
    pair.call(pair.a, pair.b)
    pair.b.pause()
    pair.a.send(pair.b.contact, "unheard")
    pair.run_for(0.1)
    pair.network.crash(pair.b.contact)
    pair.run_for(0.1)
    assert pair.messages("b") == ["call"]
    assert pair.closed == [("a", "b")]


def traced(make: Callable[[Pair], None]) -> str:
    pair = Pair()
    make(pair)
    for _ in range(50):
        pair.call(pair.a, pair.b)
    return pair.kernel.trace.digest()


def test_faults_that_are_off_change_nothing_and_faults_are_seeded() -> None:
    def stormy(pair: Pair) -> None:
        pair.faults.frames = FrameFaults(loss=0.3, reordering=0.3)

    def over(pair: Pair) -> None:
        stormy(pair)
        pair.faults.partition([pair.a.contact])
        pair.faults.clear()

    calm = traced(lambda _: None)
    assert traced(over) == calm
    assert traced(stormy) == traced(stormy) != calm


NAN = float("nan")


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"loss": 1.5}, ValueError, "loss is a share from 0 to 1, not 1.5"),
        ({"reordering": NAN}, ValueError, "reordering is a share from 0 to 1, not nan"),
        ({"duplication": "a"}, TypeError, "duplication is a number, not 'a'"),
        ({"retransmit_s": -1}, ValueError, "retransmit_s: -1 is not from 0"),
        ({"retransmit_s": NAN}, ValueError, "retransmit_s: nan is not from 0"),
        ({"reorder_s": -1}, ValueError, "reorder_s: -1 is not from 0"),
        ({"raw": "no"}, TypeError, "raw is True or False, not 'no'"),
    ],
)
def test_shares_are_shares_and_times_times(
    wrong: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        FrameFaults(**wrong)


@pytest.mark.parametrize(
    ("for_s", "error"), [(-1, ValueError), (NAN, ValueError), ("a", TypeError), (None, TypeError)]
)
def test_a_clog_is_for_some_time(pair: Pair, for_s: Any, error: type[Exception]) -> None:
    """Nothing ever passed again where it was for no number of seconds."""
    with pytest.raises(error, match="for_s"):
        pair.faults.clog(pair.a.contact, pair.b.contact, for_s)
    assert not pair.faults.active


def test_what_is_sent_again_is_sent_later_than_it_is_acknowledged() -> None:
    assert FrameFaults().retransmit_s > ACKNOWLEDGE_WITHIN_S
