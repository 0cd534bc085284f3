"""Who is sought at an address at which another one is just being dialled: it waits for that dial,
and what becomes of it follows from who answers, in virtual time as on sockets."""

from __future__ import annotations

import pytest

from chord import AnotherAnswers, Busy, Contact, DialRefused, LinkClosed, RequestTimeout
from chord import waiting_links as waiting_links_module
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


def others_at(contact: Contact, *ids: int) -> list[Contact]:
    return [Contact(id, contact.address) for id in ids]


def test_who_is_there_is_reached_though_another_was_dialled(world: World) -> None:
    """It was refused at once, by nobody, and whoever asked took that for evidence."""

    async def scenario() -> None:
        a, b = await two(world)
        former, stranger = others_at(b.contact, 77, 78)
        asked = [
            a.runtime.spawn(outcome_of(a, contact, Ask("echo", contact.id)))
            for contact in (former, b.contact, stranger)
        ]
        before, found, beside = [await outcome for outcome in asked]
        assert found == Told(b.contact.id, "echo")
        for error in (before, beside):
            assert isinstance(error, AnotherAnswers)
            assert error.who == b.contact
        assert [message.number for _, message in b.heard] == [2]  # type: ignore[attr-defined]
        assert await a.runtime.call(b.contact, Ask("echo", 3), 5.0) == Told(3, "echo")
        assert a.closed == b.closed == []

    world.run(scenario)


def test_who_is_not_there_is_refused_in_the_name_of_who_was_dialled_and_is(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        (stranger,) = others_at(b.contact, 77)
        first = a.runtime.spawn(outcome_of(a, b.contact, Ask("echo", 1)))
        a.runtime.spawn(outcome_of(a, b.contact, Ask("echo", 2)))
        error = await a.runtime.spawn(outcome_of(a, stranger, Ask("none")))
        assert isinstance(error, AnotherAnswers)
        assert error.who == b.contact
        assert await first == Told(1, "echo")
        assert await a.runtime.call(b.contact, Ask("echo", 3), 5.0) == Told(3, "echo")
        assert [message for _, message in b.heard] == [Ask("echo", n) for n in (1, 2, 3)]
        assert a.closed == b.closed == []

    world.run(scenario)


def test_what_waits_for_the_dial_of_another_keeps_its_order(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        (former,) = others_at(b.contact, 77)
        a.runtime.send(former, Told(1000))
        undelivered: list[str] = []
        for number in range(0, 90, 3):
            a.runtime.send(b.contact, Told(number))
            a.runtime.forward([b.contact], Told(number + 1), lambda _, why: undelivered.append(why))
            a.runtime.exchange.call(b.contact, Ask("echo", number + 2), 5.0)
        assert await a.runtime.call(b.contact, Ask("echo", 90), 5.0) == Told(90, "echo")
        heard = [message.number for _, message in b.heard]  # type: ignore[attr-defined]
        assert heard == list(range(91))
        assert undelivered == []
        assert a.runtime.link(b.contact).frames == 30

    world.run(scenario)


def test_where_nobody_listens_all_are_refused(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        contacts = [world.nowhere(), *others_at(world.nowhere(), 77, 78)]
        asked = [a.runtime.spawn(outcome_of(a, contact, Ask("none"))) for contact in contacts]
        assert [type(await outcome) for outcome in asked] == [DialRefused] * 3
        assert a.closed == []

    world.run(scenario)


def test_what_was_forwarded_to_who_is_not_there_goes_to_the_next(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        former, stranger = others_at(b.contact, 77, 78)
        reasons: list[str] = []
        a.runtime.forward([former, b.contact], Told(1), lambda *_: None)
        a.runtime.forward([stranger, b.contact], Told(2), lambda *_: None)
        a.runtime.forward([stranger, former], Told(3), lambda _, why: reasons.append(why))
        assert {message.number for message in await b.hear(2)} == {1, 2}  # type: ignore[attr-defined]
        assert await a.runtime.call(b.contact, Ask("echo", 4), 5.0) == Told(4, "echo")
        assert len(b.heard) == 3
        assert len(reasons) == 1
        assert "answers" in reasons[0]
        assert a.runtime.exchange.counters.rerouted >= 3

    world.run(scenario)


def test_who_is_being_dialled_may_be_dropped_beside_who_waits(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        former, stranger = others_at(b.contact, 77, 78)
        asked = [
            a.runtime.ask(contact, Ask("echo", contact.id), 5.0)
            for contact in (former, stranger, b.contact)
        ]
        a.runtime.drop(stranger)
        with pytest.raises(LinkClosed):
            await asked[1]
        a.runtime.drop(former)
        with pytest.raises(LinkClosed):
            await asked[0]
        assert await asked[2] == Told(2, "echo")

    world.run(scenario)


def test_the_deadline_of_a_call_counts_while_it_waits(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        (former,) = others_at(b.contact, 77)
        waits = a.runtime.ask(former, Ask("none"), 5.0)
        # An echo would be there in time where a loop is held up, and finds both due at once.
        error = await outcome_of(a, b.contact, Ask("never"), 0.0)
        assert isinstance(error, RequestTimeout)
        if isinstance(world, SimWorld):  # the dial that it waited for had not ended
            assert b.heard == []
        with pytest.raises(AnotherAnswers):
            await waits
        assert await a.runtime.call(b.contact, Ask("echo", 2), 5.0) == Told(2, "echo")

    world.run(scenario)


def test_not_more_than_so_many_wait_for_one_dial(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_links_module, "WAITING_MAX", 1)

    async def scenario() -> None:
        a, b = await two(world)
        former, stranger = others_at(b.contact, 77, 78)
        asked = [
            a.runtime.spawn(outcome_of(a, contact, Ask("echo", contact.id)))
            for contact in (former, b.contact, stranger)
        ]
        outcomes = [await outcome for outcome in asked]
        assert [type(outcome) for outcome in outcomes] == [AnotherAnswers, Told, Busy]

    world.run(scenario)


def test_who_closes_ends_what_waits(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        (former,) = others_at(b.contact, 77)
        asked = [a.runtime.ask(contact, Ask("echo"), 5.0) for contact in (former, b.contact)]
        await world.crash(a.runtime)
        for outcome in asked:
            with pytest.raises(LinkClosed):
                await outcome
        assert b.heard == []

    world.run(scenario)
