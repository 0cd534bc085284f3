"""What an exchange gives up, and when: silence, deadlines, a late look; turn by turn by hand."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from chord import (
    CallError,
    Contact,
    Deferred,
    Exchange,
    FrameKind,
    LinkClosed,
    LinkEnd,
    RequestTimeout,
)
from chord.exchange import SERVING_PER_LINK
from chord.link import SILENCE_FIRST_S
from chord.sweep import LATE_S, LATE_S_MAX
from sim.task import Waiter

OWN, B, C = Contact(1, "own:1"), Contact(2, "b:1"), Contact(3, "c:1")


class WrittenLink(LinkEnd):
    """A link that only writes down what was put on it."""

    def __init__(self, contact: Contact) -> None:
        super().__init__(contact)
        self.sent: list[tuple[FrameKind, int, object]] = []

    def settle(self, now_s: float) -> None: ...

    def transmit(self, kind: FrameKind, number: int, duration_s: float, message: object) -> None:
        self.sent.append((kind, number, message))


class HandWorld:
    """A world whose clock and turns are moved by the test."""

    def __init__(self) -> None:
        self.time_s = 100.0
        self.contact = OWN
        self.turns: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self.sweeps: list[float] = []
        self.links = {B: WrittenLink(B), C: WrittenLink(C)}
        self.running = None
        self.exchange = Exchange(self)

    def now(self) -> float:
        return self.time_s

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        self.turns.append((callback, args))

    def sweep_at(self, when_s: float) -> None:
        self.sweeps.append(when_s)

    def waiter(self) -> Waiter:
        return Waiter()

    def orphaned(self, task: object, error: BaseException) -> None: ...
    def failed(self, error: BaseException) -> None: ...

    def converse(self, conversation: Coroutine[Any, Any, object], concluded: object) -> None:
        conversation.close()

    def link_to(self, contact: Contact) -> LinkEnd:
        if contact not in self.links:
            raise LinkClosed(f"no link to {contact}")
        return self.links[contact]

    def run_turns(self) -> None:
        turns, self.turns = self.turns, []
        for callback, args in turns:
            callback(*args)

    def sweep_at_time(self, when_s: float) -> None:
        """Let the clock reach the asked-for time, plus how late the sweep comes."""
        self.time_s = when_s
        self.exchange.sweep()


def test_silence_makes_the_next_candidate_try_and_is_reported_after_the_last() -> None:
    world, undelivered = HandWorld(), []
    world.exchange.forward([B, C], "m", lambda message, reason: undelivered.append(reason))
    assert world.links[B].sent == [(FrameKind.FORWARD, 1, "m")]
    assert world.links[C].sent == []
    world.sweep_at_time(100.0 + SILENCE_FIRST_S)
    assert world.links[C].sent == [(FrameKind.FORWARD, 1, "m")]
    assert world.links[B].round_trip.silence_s() == 2 * SILENCE_FIRST_S
    world.sweep_at_time(world.sweeps[-1])
    assert undelivered == []
    world.run_turns()
    assert undelivered == ["silence"]
    assert world.exchange.counters.rerouted == 2


def test_an_acknowledgement_ends_the_wait_and_other_frames_put_it_off() -> None:
    world = HandWorld()
    world.exchange.forward([B, C], "m", lambda *_: None)
    world.time_s = 100.2
    world.exchange.receive(world.links[B], FrameKind.SEND, 0, 0.0, "something")
    world.sweep_at_time(100.0 + SILENCE_FIRST_S)
    assert world.links[C].sent == []
    assert world.sweeps[-1] == 100.2 + SILENCE_FIRST_S
    world.exchange.receive(world.links[B], FrameKind.ACKNOWLEDGE, 1, 0.0, None)
    world.sweep_at_time(world.sweeps[-1])
    assert world.links[C].sent == []
    assert world.links[B].round_trip.srtt_s == pytest.approx(SILENCE_FIRST_S)


def test_a_late_sweep_gives_nothing_up_before_it_has_looked_again() -> None:
    world = HandWorld()
    waiter = world.exchange.call(B, "asked", 1.0)
    world.exchange.forward([B, C], "m", lambda *_: None)
    late_s = 101.0 + 2 * LATE_S
    world.sweep_at_time(late_s)
    assert not waiter.done()
    assert world.links[C].sent == []
    assert world.sweeps[-1] == late_s + LATE_S_MAX
    # What had come in meanwhile is read in the turn between.
    world.exchange.receive(world.links[B], FrameKind.ACKNOWLEDGE, 1, 0.0, None)
    world.exchange.receive(world.links[B], FrameKind.REPLY, 1, 0.0, "replied")
    world.sweep_at_time(world.sweeps[-1])
    assert waiter.result() == "replied"
    assert world.links[C].sent == []


def test_the_second_look_of_a_late_sweep_gives_up_what_is_still_open() -> None:
    world = HandWorld()
    waiter = world.exchange.call(B, "asked", 1.0)
    world.sweep_at_time(102.0)
    assert world.sweeps[-1] == 102.0 + LATE_S_MAX
    world.sweep_at_time(world.sweeps[-1])
    with pytest.raises(RequestTimeout, match="str to b:1"):
        waiter.result()


def test_only_the_link_that_was_asked_may_answer() -> None:
    world = HandWorld()
    waiter = world.exchange.call(B, "asked", 1.0)
    world.exchange.receive(world.links[C], FrameKind.REPLY, 1, 0.0, "forged")
    world.exchange.receive(world.links[B], FrameKind.REPLY, 2, 0.0, "of no call")
    assert not waiter.done()
    world.exchange.receive(world.links[B], FrameKind.REPLY, 1, 0.0, "replied")
    assert waiter.result() == "replied"
    assert world.exchange.counters.late_replies == 2


def test_a_reply_may_not_settle_an_expectation() -> None:
    world = HandWorld()
    waiter = world.exchange.expect("token", 1.0)
    world.exchange.receive(world.links[B], FrameKind.REPLY, 1, 0.0, "forged")
    assert not waiter.done()
    world.sweep_at_time(101.0)
    with pytest.raises(RequestTimeout):
        waiter.result()


def test_a_lost_link_fails_its_calls_and_no_others() -> None:
    world, told = HandWorld(), []
    world.exchange.serve(lambda *_: None, told.append)
    lost, kept = world.exchange.call(B, "asked", 1.0), world.exchange.call(C, "asked", 1.0)
    world.exchange.forward([B, C], "m", lambda *_: None)
    world.exchange.link_lost(world.links[B], "cut")
    with pytest.raises(LinkClosed, match="cut"):
        lost.result()
    assert not kept.done()
    assert world.links[C].sent[-1] == (FrameKind.FORWARD, 1, "m")
    assert told == [B]
    assert (world.links[B].asking, world.links[C].asking) == (0, 1)


def test_one_timer_serves_many_deadlines() -> None:
    world = HandWorld()
    waiters = [world.exchange.call(B, "asked", 1.0 + i / 10) for i in range(10)]
    assert world.sweeps == [101.0]
    world.sweep_at_time(101.0)
    assert [waiter.done() for waiter in waiters] == [True] + 9 * [False]
    assert world.sweeps == [101.0, 101.1]


def test_a_bare_exchange_answers_busy_until_it_serves() -> None:
    world = HandWorld()
    world.exchange.receive(world.links[B], FrameKind.REQUEST, 9, 1.0, "asked")
    world.exchange.receive(world.links[B], FrameKind.SEND, 0, 0.0, "told")
    assert world.links[B].sent == [(FrameKind.BUSY, 9, None)]
    assert world.exchange.counters.unasked == 1


def test_whatever_comes_in_takes_the_suspicion_back() -> None:
    world = HandWorld()
    link = world.links[B]
    link.suspect()
    world.time_s = 101.0
    world.exchange.receive(link, FrameKind.SEND, 0, 0.0, "m")
    assert (link.suspected, link.last_heard_s) == (False, 101.0)


def test_closing_twice_is_closing_once() -> None:
    world = HandWorld()
    waiter = world.exchange.call(B, "asked", 1.0)
    world.exchange.close()
    world.exchange.close()
    with pytest.raises(CallError):
        waiter.result()
    world.exchange.receive(world.links[B], FrameKind.REQUEST, 9, 1.0, "asked")
    world.exchange.link_lost(world.links[B], "cut")
    assert len(world.links[B].sent) == 1
    assert isinstance(world.exchange.expect("t", 1.0), Waiter)


def test_one_way_messages_begin_no_more_conversations_than_requests_may() -> None:
    """Who sends requests as what needs no answer would else be served without end."""
    world, begun = HandWorld(), list[Callable[..., object]]()

    def converse(conversation: Coroutine[Any, Any, object], ended: Callable[..., object]) -> None:
        conversation.close()
        begun.append(ended)

    async def work() -> None: ...

    world.converse = converse  # type: ignore[method-assign, assignment]
    world.exchange.serve(lambda *_: Deferred(work()), lambda _: None)
    for _ in range(SERVING_PER_LINK + 5):
        world.exchange.receive(world.links[B], FrameKind.SEND, 0, 0.0, "m")
    assert len(begun) == SERVING_PER_LINK
    assert world.exchange.counters.unasked == 5
    begun[0](None, None)
    world.exchange.receive(world.links[B], FrameKind.SEND, 0, 0.0, "m")
    world.exchange.receive(world.links[C], FrameKind.FORWARD, 1, 0.0, "m")
    assert len(begun) == SERVING_PER_LINK + 2, "there is room again, and on other links all along"
