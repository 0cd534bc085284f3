"""What `chord.runtime.Runtime` promises holds in virtual time, in memory and over WebSockets."""

from __future__ import annotations

from typing import Any

import pytest

from chord import Busy, Contact, DialRefused, LinkClosed, RemoteFault, RequestTimeout
from chord import exchange as exchange_module
from meteor.wire import codec as codec_module
from tests.runtime_worlds import (
    PARAMETERS,
    WORLDS,
    Ask,
    Peer,
    SimWorld,
    Told,
    World,
    outcome_of,
    two,
)


@pytest.fixture(params=PARAMETERS)
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]()


# ---- calls -----------------------------------------------------------------------------------


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
        assert isinstance(await outcome_of(a, stranger, Ask("echo")), DialRefused)
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
        assert isinstance(await outcome_of(a, stranger, Ask("none")), DialRefused)
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


# ---- forwarding ------------------------------------------------------------------------------


def test_a_forwarded_message_goes_to_the_first_candidate_that_takes_it(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        c = Peer(await world.peer(3))
        failed: list[object] = []
        a.runtime.forward([b.contact, c.contact], Told(1), lambda *_: failed.append(1))
        a.runtime.forward([world.nowhere(), c.contact], Told(2), lambda *_: failed.append(2))
        assert await b.hear(1) == [Told(1)]
        assert await c.hear(1) == [Told(2)]
        assert failed == []

    world.run(scenario)


def test_a_message_that_no_candidate_took_comes_back_in_a_later_turn(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        back: list[object] = []

        def undelivered(message: object, reason: str) -> None:
            back.append(message)
            a.runtime.deliver("back", reason)

        gone = Contact(9, "")
        a.runtime.forward([], Told(1), undelivered)
        a.runtime.forward([gone], Told(2), undelivered)
        assert back == []
        while len(back) < 2:
            await a.runtime.expect("back", 5.0)
        a.runtime.forward([world.nowhere(), gone], Told(3), undelivered)
        assert "link" in await a.runtime.expect("back", 5.0)
        assert back == [Told(1), Told(2), Told(3)]

    world.run(scenario)


def test_what_a_crashed_peer_has_not_acknowledged_goes_to_the_next(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        c = Peer(await world.peer(3))
        await a.runtime.call(b.contact, Ask("echo"), 5.0)
        a.runtime.forward([b.contact, c.contact], Told(1), lambda *_: None)
        await world.crash(b.runtime)
        assert await c.hear(1) == [Told(1)]

    world.run(scenario)


def test_an_acknowledged_message_is_not_sent_again_when_its_receiver_crashes(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        c = Peer(await world.peer(3))
        a.runtime.forward([b.contact, c.contact], Told(1), lambda *_: None)
        await b.hear(1)
        await a.runtime.sleep(0.1)
        closed = a.runtime.expect("closed", 5.0)
        await world.crash(b.runtime)
        await closed
        await a.runtime.call(c.contact, Ask("echo"), 5.0)
        assert [message for _, message in c.heard] == [Ask("echo")]

    world.run(scenario)


def test_a_one_way_message_may_start_a_conversation(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        a.runtime.send(b.contact, Ask("later"))
        a.runtime.send(b.contact, Ask("refuse"))
        a.runtime.send(b.contact, Ask("refuse later"))
        await b.hear(3)
        await b.runtime.sleep(0.01)

    world.run(scenario)
    assert world.failures == []


# ---- clients ---------------------------------------------------------------------------------


def test_a_client_is_reached_over_the_link_that_it_opened(world: World) -> None:
    async def scenario() -> None:
        b, client = Peer(await world.peer(2)), Peer(await world.client(900))
        await client.runtime.call(b.contact, Ask("echo"), 5.0)
        sender = b.heard[0][0]
        assert sender == client.contact
        assert await b.runtime.call(sender, Ask("echo", 4), 5.0) == Told(4, "echo")
        b.runtime.send(sender, Told(5))
        b.runtime.forward([sender], Told(6), lambda *_: None)
        assert await client.hear(3) == [Ask("echo", 4), Told(5), Told(6)]
        assert client.heard[0][0] == b.contact

    world.run(scenario)


def test_a_peer_is_told_when_its_client_has_gone(world: World) -> None:
    async def scenario() -> None:
        b, client = Peer(await world.peer(2)), Peer(await world.client(900))
        await client.runtime.call(b.contact, Ask("echo"), 5.0)
        closed = b.runtime.expect("closed", 5.0)
        client.runtime.close()
        assert await closed == client.contact
        assert isinstance(await outcome_of(b, client.contact, Ask("echo")), LinkClosed)
        b.runtime.send(client.contact, Told(1))
        assert b.runtime.exchange.counters.unsent == 1

    world.run(scenario)


def test_a_link_that_is_dropped_ends_what_waits_on_it_and_is_dialled_anew(world: World) -> None:
    async def scenario() -> None:
        b, client = Peer(await world.peer(2)), Peer(await world.client(900))
        client.runtime.drop(b.contact)  # there is none yet
        await client.runtime.call(b.contact, Ask("echo"), 5.0)
        closed = [one.runtime.expect("closed", 5.0) for one in (b, client)]
        waits = client.runtime.ask(b.contact, Ask("never"), 5.0)
        client.runtime.drop(b.contact)
        with pytest.raises(LinkClosed):
            await waits
        assert [await one for one in closed] == [client.contact, b.contact]
        assert await client.runtime.call(b.contact, Ask("echo", 3), 5.0) == Told(3, "echo")

    world.run(scenario)


def test_a_client_learns_that_its_peer_has_gone(world: World) -> None:
    async def scenario() -> None:
        b, client = Peer(await world.peer(2)), Peer(await world.client(900))
        await client.runtime.call(b.contact, Ask("echo"), 5.0)
        closed = client.runtime.expect("closed", 5.0)
        await world.crash(b.runtime)
        assert await closed == b.contact

    world.run(scenario)


def test_a_restarted_peer_is_reached_at_its_address(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        await a.runtime.call(b.contact, Ask("echo"), 5.0)
        closed = a.runtime.expect("closed", 5.0)
        await world.crash(b.runtime)
        await closed
        again = Peer(await world.peer(2, b.contact.address))
        assert await a.runtime.call(b.contact, Ask("echo", 2), 5.0) == Told(2, "echo")
        assert len(again.heard) == 1

    world.run(scenario)


def test_what_is_known_of_a_link(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        unknown = a.runtime.link(b.contact)
        assert (unknown.last_heard_s, unknown.srtt_s) == (float("-inf"), 0.0)
        await a.runtime.call(b.contact, Ask("slow"), 5.0)
        for number in range(20):
            await a.runtime.call(b.contact, Ask("echo", number), 5.0)
        known = a.runtime.link(b.contact)
        assert 0 <= a.runtime.now() - known.last_heard_s < 5
        assert known.srtt_s > 0
        assert known.rttvar_s >= 0
        assert a.runtime.lateness() >= 0

    world.run(scenario)


def test_a_peer_silent_about_a_forwarded_frame_is_suspected_until_it_is_heard(
    world: World,
) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        c = Peer(await world.peer(3))
        for number in range(5):
            await a.runtime.call(b.contact, Ask("echo", number), 5.0)
        assert not a.runtime.suspects(b.contact)
        hold(world, b.runtime)
        a.runtime.forward([b.contact, c.contact], Told(1), lambda *_: None)
        assert not a.runtime.suspects(b.contact)
        assert await c.hear(1) == [Told(1)]
        assert a.runtime.suspects(b.contact)
        assert not a.runtime.suspects(c.contact)
        release(world, b.runtime)
        await a.runtime.call(b.contact, Ask("echo"), 5.0)
        assert not a.runtime.suspects(b.contact)

    world.run(scenario)


def test_a_call_that_nothing_came_back_from_is_a_reason_to_suspect(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        await a.runtime.call(b.contact, Ask("echo"), 5.0)
        busy = a.runtime.spawn(outcome_of(a, b.contact, Ask("never"), 0.05))
        await a.runtime.sleep(0.01)
        await a.runtime.call(b.contact, Ask("echo"), 5.0)
        assert isinstance(await busy, RequestTimeout)
        assert not a.runtime.suspects(b.contact)
        hold(world, b.runtime)
        outcome = await outcome_of(a, b.contact, Ask("echo"), 0.05)
        assert isinstance(outcome, RequestTimeout)
        assert a.runtime.suspects(b.contact)
        release(world, b.runtime)
        await a.runtime.call(b.contact, Ask("echo"), 5.0)
        assert not a.runtime.suspects(b.contact)

    world.run(scenario)


def hold(world: World, runtime: Any) -> None:
    """Let a peer neither read nor answer, its links left open."""
    if isinstance(world, SimWorld):
        runtime.pause()
    else:
        runtime._links._received = lambda *_: None


def release(world: World, runtime: Any) -> None:
    """Let it read again."""
    if isinstance(world, SimWorld):
        runtime.resume()
    else:
        del runtime._links._received
