"""What `chord.Runtime` promises of forwarded frames and of links holds in all three worlds."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from chord import Contact, LinkClosed, RequestTimeout
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
        # A loop that was held up may have suspected this one too, until it heard from it.
        assert await a.runtime.call(c.contact, Ask("echo", 2), 5.0) == Told(2, "echo")
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
        for link in runtime._links._links:
            link.channel.read_with(lambda _: None, lambda _: None)


def release(world: World, runtime: Any) -> None:
    """Let it read again."""
    if isinstance(world, SimWorld):
        runtime.resume()
    else:
        links = runtime._links
        for link in links._links:
            link.channel.read_with(partial(links._received, link), partial(links._ended, link))
