"""What `chord.Runtime` promises of calls holds in virtual time, in memory and on WebSockets."""

from __future__ import annotations

import pickle

import pytest

from chord import (
    AnotherAnswers,
    Busy,
    Contact,
    DialRefused,
    LinkClosed,
    RemoteFault,
    RequestTimeout,
)
from chord import exchange as exchange_module
from meteor.wire import codec as codec_module
from tests.runtime_worlds import (
    PARAMETERS,
    WORLDS,
    Ask,
    Peer,
    Told,
    World,
    outcome_of,
    two,
)


@pytest.fixture(params=PARAMETERS)
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]()


def test_a_call_brings_the_reply_of_the_handler(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        assert await a.runtime.call(b.contact, Ask("echo", 7), 5.0) == Told(7, "echo")
        assert await a.runtime.call(b.contact, Ask("later", 8), 5.0) == Told(8, "later")
        assert await a.runtime.call(b.contact, Ask("none"), 5.0) is None
        assert b.heard[0] == (a.contact, Ask("echo", 7))

    world.run(scenario)


def test_the_handler_learns_how_much_time_remains(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        reply = await a.runtime.call(b.contact, Ask("remaining"), 2.5)
        assert 0 < reply.number <= 2500

    world.run(scenario)


def test_who_is_asked_learns_for_how_long_it_lay(world: World) -> None:
    async def scenario() -> None:
        a, b, c = [Peer(await world.peer(id)) for id in (1, 2, 3)]

        async def late_s(asker: Peer) -> float:
            reply = await asker.runtime.call(b.contact, Ask("late"), 5.0)
            return float(reply.number) / 1000

        assert await late_s(a) < 1.0
        assert await late_s(c) < 1.0
        a.runtime.link(b.contact).since_s -= 3.0
        assert await late_s(a) < 1.0
        a.runtime.link(b.contact).since_s += 3.0  # as if the next left three seconds earlier
        assert 2.0 < await late_s(a) < 4.0
        assert await late_s(c) < 1.0

    world.run(scenario)


def test_a_contact_of_unknown_id_is_dialled_by_its_address(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        found = Contact.at(b.contact.address)
        assert await a.runtime.call(found, Ask("echo", 1), 5.0) == Told(1, "echo")
        assert await a.runtime.call(b.contact, Ask("echo", 2), 5.0) == Told(2, "echo")
        assert b.heard[0][0] == a.contact

    world.run(scenario)


def test_a_dial_to_nobody_is_refused(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        assert isinstance(await outcome_of(a, world.nowhere(), Ask("echo")), DialRefused)
        assert a.closed == []

    world.run(scenario)


def test_another_id_at_ones_own_address_is_not_oneself(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        stranger = Contact(77, a.contact.address)
        error = await outcome_of(a, stranger, Ask("echo"))
        assert isinstance(error, AnotherAnswers)
        assert error.who == a.contact
        earlier = Contact(1, a.contact.address, 0)
        assert await a.runtime.call(earlier, Ask("echo", 1), 5.0) == Told(1, "echo")

    world.run(scenario)


@pytest.mark.parametrize("linked", [False, True])
def test_another_peer_at_the_address_is_not_the_one_that_was_asked(
    world: World, linked: bool
) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        if linked:
            await a.runtime.call(b.contact, Ask("echo"), 5.0)
        stranger = Contact(77, b.contact.address)
        error = await outcome_of(a, stranger, Ask("none"))
        assert isinstance(error, AnotherAnswers)
        assert error.who == b.contact
        assert pickle.loads(pickle.dumps(error)).who == b.contact
        assert ("none", b) not in [(getattr(m, "what", ""), b) for _, m in b.heard]

    world.run(scenario)


def test_a_call_to_a_peer_that_crashes_ends_with_link_closed(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        pending = a.runtime.spawn(outcome_of(a, b.contact, Ask("never")))
        await b.hear(1)
        closed = a.runtime.expect("closed", 5.0)
        await world.crash(b.runtime)
        assert isinstance(await pending, LinkClosed)
        assert await closed == b.contact
        assert isinstance(await outcome_of(a, b.contact, Ask("echo")), DialRefused)

    world.run(scenario)


def test_a_late_reply_is_dropped_and_counted(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        await a.runtime.call(b.contact, Ask("later"), 5.0)  # once late, a request is not served
        assert isinstance(await outcome_of(a, b.contact, Ask("when told"), 0.3), RequestTimeout)
        assert isinstance(await outcome_of(a, b.contact, Ask("never"), 0.02), RequestTimeout)
        b.runtime.deliver("tell", None)
        await a.runtime.call(b.contact, Ask("slow", 2), 5.0)
        assert a.runtime.exchange.counters.late_replies == 1

    world.run(scenario)


def test_too_many_deferred_replies_make_a_peer_busy(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange_module, "SERVING_PER_LINK", 2)

    async def scenario() -> None:
        a, b = await two(world)
        running = [a.runtime.spawn(outcome_of(a, b.contact, Ask("slow", i))) for i in range(3)]
        outcomes = [await task for task in running]
        assert [type(outcome) for outcome in outcomes] == [Told, Told, Busy]
        assert await a.runtime.call(b.contact, Ask("slow", 4), 5.0) == Told(4, "slow")

    world.run(scenario)


def test_too_many_unanswered_calls_are_busy_before_they_leave(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange_module, "CALLS_PER_LINK", 2)

    async def scenario() -> None:
        a, b = await two(world)
        running = [a.runtime.spawn(outcome_of(a, b.contact, Ask("slow", i))) for i in range(3)]
        assert [type(await task) for task in running] == [Told, Told, Busy]
        assert len(b.heard) == 2

    world.run(scenario)


@pytest.mark.parametrize(
    ("what", "kind"), [("refuse", "Refused"), ("refuse later", "RefusedLater")]
)
def test_a_refusal_reaches_the_caller_with_its_fields(world: World, what: str, kind: str) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        error = await outcome_of(a, b.contact, Ask(what))
        assert isinstance(error, RemoteFault)
        assert (error.kind, error.message, error.details) == (kind, "not today", ("rule", "7"))

    world.run(scenario)
    assert world.failures == []


@pytest.mark.parametrize("what", ["bug", "bug later"])
def test_a_bug_in_a_handler_is_told_to_the_caller_and_is_a_failure_of_the_peer(
    world: World, what: str
) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        error = await outcome_of(a, b.contact, Ask(what))
        assert isinstance(error, RemoteFault)
        assert error.kind == "internal"

    world.run(scenario)
    assert [type(error) for error in world.failures] == [ZeroDivisionError]


def test_a_frame_that_is_too_large_is_refused_before_it_leaves(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_module, "FRAME_BYTES_MAX", 10_000)

    async def scenario() -> None:
        a, b = await two(world)
        large = Ask("echo", data=b"x" * 10_000)
        error = await outcome_of(a, b.contact, large)
        assert isinstance(error, RemoteFault)
        assert error.kind == "LimitExceeded"
        a.runtime.send(b.contact, large)
        undelivered: list[str] = []
        a.runtime.forward([b.contact], large, lambda _, reason: undelivered.append(reason))
        assert await a.runtime.call(b.contact, Ask("echo", 1), 5.0) == Told(1, "echo")
        assert len(b.heard) == 1
        assert "LimitExceeded" in undelivered[0]
        assert a.runtime.exchange.counters.unsent == 1

    world.run(scenario)


def test_a_call_to_oneself_is_served_in_a_later_turn(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        call = a.runtime.spawn(outcome_of(a, a.contact, Ask("later", 3)))
        a.runtime.send(Contact.at(a.contact.address), Told(1))
        a.runtime.forward([a.contact], Told(2), lambda *_: None)
        assert a.heard == []
        assert await call == Told(3, "later")
        assert {message for _, message in a.heard} == {Ask("later", 3), Told(1), Told(2)}
        assert a.heard[0][0] == a.contact

    world.run(scenario)


# ---- order -----------------------------------------------------------------------------------


def test_calls_and_one_way_frames_of_one_link_keep_their_order(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        for number in range(0, 9000, 3):
            a.runtime.send(b.contact, Told(number))
            a.runtime.forward([b.contact], Told(number + 1), lambda *_: None)
            a.runtime.exchange.call(b.contact, Ask("echo", number + 2), 5.0)
            if number % 900 == 0:
                await b.hear(number)
        heard = await b.hear(9000)
        assert [message.number for message in heard] == list(range(9000))  # type: ignore[attr-defined]

    world.run(scenario)


def test_several_are_asked_at_once_without_a_conversation_each(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        late, soon = (a.runtime.ask(b.contact, Ask(what), 5.0) for what in ("later", "echo"))
        refused = a.runtime.ask(b.contact, Ask("refuse"), 5.0)
        a.runtime.ask(b.contact, Ask("refuse"), 5.0)  # a failure that nobody awaits is nobody's
        assert await late == Told(0, "later")
        assert await soon == Told(0, "echo")
        with pytest.raises(RemoteFault):
            await refused

    world.run(scenario)
    assert world.failures == []


def test_what_a_handler_sends_arrives_before_its_reply(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        reply = await a.runtime.call(b.contact, Ask("pages", 50), 5.0)
        assert reply == Told(50, "end")
        assert [message for _, message in a.heard] == [Told(n, "page") for n in range(50)]

    world.run(scenario)


def test_two_peers_that_dial_each_other_share_one_link(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        calls = [
            asking.runtime.spawn(outcome_of(asking, asked.contact, Ask("echo", number)))
            for number in range(20)
            for asking, asked in ((a, b), (b, a))
        ]
        replies = [await call for call in calls]
        assert replies == [Told(number, "echo") for number in range(20) for _ in range(2)]
        assert a.closed == b.closed == []

    world.run(scenario)
