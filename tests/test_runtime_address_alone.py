"""Who is asked by its address alone while somebody is being dialled there, and who is asked by name
while that address alone is: each waits for who answers, in virtual time as on sockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chord import AnotherAnswers, Contact, DialRefused, LinkClosed
from tests.runtime_worlds import PARAMETERS, WORLDS, Ask, Peer, Told, World, outcome_of, two

ACKNOWLEDGED_WITHIN = 100
"""Calls after which a link that is in use has acknowledged everything."""


@pytest.fixture(params=PARAMETERS)
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]()


def numbers(peer: Peer) -> list[int]:
    return [message.number for _, message in peer.heard]  # type: ignore[attr-defined]


async def all_acknowledged(peer: Peer, contact: Contact) -> bool:
    for _ in range(ACKNOWLEDGED_WITHIN):
        if not peer.runtime.link(contact).unacknowledged:
            return True
        await peer.runtime.call(contact, Ask("later"), 5.0)
    return False


def test_whoever_is_there_is_reached_though_somebody_else_was_dialled(world: World) -> None:
    """It failed as the call to the other did, with `AnotherAnswers`, which is false of anybody."""

    async def scenario() -> None:
        a, b = await two(world)
        former = a.runtime.spawn(outcome_of(a, Contact(77, b.contact.address), Ask("echo", 77)))
        anybody = Contact.at(b.contact.address)
        asked = [
            a.runtime.spawn(outcome_of(a, contact, Ask("echo", number)))
            for number, contact in enumerate([anybody, b.contact, anybody])
        ]
        assert [await one for one in asked] == [Told(number, "echo") for number in range(3)]
        error = await former
        assert isinstance(error, AnotherAnswers)
        assert error.who == b.contact
        assert sorted(numbers(b)) == [0, 1, 2]
        assert await a.runtime.call(b.contact, Ask("echo", 3), 5.0) == Told(3, "echo")
        assert a.runtime.link(b.contact).asking == 0
        assert a.closed == b.closed == []

    world.run(scenario)


def test_what_is_for_one_peer_does_not_go_to_whoever_is_there(world: World) -> None:
    """It went by the link that was dialled by the address alone, and was carried out by another."""

    async def scenario() -> None:
        a, b = await two(world)
        stranger = Contact(77, b.contact.address)
        first = a.runtime.spawn(outcome_of(a, Contact.at(b.contact.address), Ask("echo", 1)))
        a.runtime.spawn(outcome_of(a, stranger, Ask("echo", 77)))
        a.runtime.send(stranger, Told(78))
        found = a.runtime.spawn(outcome_of(a, b.contact, Ask("echo", 2)))
        error = await a.runtime.spawn(outcome_of(a, stranger, Ask("echo", 79)))
        assert isinstance(error, AnotherAnswers)
        assert error.who == b.contact
        assert [await first, await found] == [Told(1, "echo"), Told(2, "echo")]
        assert await a.runtime.call(b.contact, Ask("echo", 3), 5.0) == Told(3, "echo")
        assert numbers(b) == [1, 2, 3]
        assert a.closed == b.closed == []

    world.run(scenario)


@pytest.mark.parametrize(
    "dialled",
    [
        pytest.param(lambda there: there, id="by name"),
        pytest.param(lambda there: Contact.at(there.address), id="by address"),
        pytest.param(lambda there: Contact(77, there.address), id="another"),
    ],
)
def test_what_was_sent_by_name_and_by_address_goes_one_way_each_in_its_order(
    world: World, dialled: Callable[[Contact], Contact]
) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        undelivered: list[object] = []
        names = [b.contact, Contact.at(b.contact.address)]
        a.runtime.send(dialled(b.contact), Told(1_000))
        for number in range(0, 90, 3):
            name = names[number % 2]
            a.runtime.send(name, Told(number))
            a.runtime.forward([name], Told(number + 1), lambda one, _: undelivered.append(one))
            a.runtime.exchange.call(name, Ask("echo", number + 2), 5.0)
        replied = [a.runtime.ask(name, Ask("echo", 90 + n), 5.0) for n, name in enumerate(names)]
        assert [await reply for reply in replied] == [Told(90, "echo"), Told(91, "echo")]
        assert sorted(set(numbers(b)) - {1_000}) == list(range(92))
        for parity in (0, 1):
            heard = [number for number in numbers(b) if number < 90 and number // 3 % 2 == parity]
            assert heard == sorted(heard)
        assert await all_acknowledged(a, b.contact)
        assert a.runtime.link(b.contact).frames == 30
        assert undelivered == []
        assert a.runtime.exchange.counters.rerouted == 0

    world.run(scenario)


def test_what_was_forwarded_before_it_was_known_who_is_there_is_kept(world: World) -> None:
    """Frames have numbers on each link: of two links that are one now they must not be the same."""

    async def scenario() -> None:
        a, b = await two(world)
        anybody = Contact.at(b.contact.address)
        undelivered: list[object] = []
        for name, number in ((b.contact, 1), (anybody, 2), (anybody, 3), (b.contact, 4)):
            a.runtime.forward([name], Told(number), lambda one, _: undelivered.append(one))
        for number in (5, 6):
            a.runtime.forward([b.contact], Told(number), lambda *_: None)
        await a.runtime.call(b.contact, Ask("later"), 5.0)
        assert [one.number for one in a.runtime.link(b.contact).unacknowledged] in (
            [],
            [1, 2, 3, 4, 5, 6],
        )
        assert await all_acknowledged(a, b.contact)
        assert a.runtime.link(b.contact).frames == 6
        assert undelivered == []

    world.run(scenario)


def test_where_nobody_listens_all_are_refused(world: World) -> None:
    async def scenario() -> None:
        a = Peer(await world.peer(1))
        there = world.nowhere()
        for contacts in ([there, Contact.at(there.address)], [Contact.at(there.address), there]):
            asked = [a.runtime.spawn(outcome_of(a, one, Ask("none"))) for one in contacts]
            assert [type(await outcome) for outcome in asked] == [DialRefused] * 2
        assert a.closed == []

    world.run(scenario)


@pytest.mark.parametrize("by_address_first", [False, True])
def test_who_is_dropped_takes_nobody_along(world: World, by_address_first: bool) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        contacts = [b.contact, Contact.at(b.contact.address)]
        if by_address_first:
            contacts.reverse()
        asked: list[Any] = [a.runtime.ask(one, Ask("echo", 1), 5.0) for one in contacts]
        a.runtime.drop(contacts[0])
        with pytest.raises(LinkClosed):
            await asked[0]
        assert await asked[1] == Told(1, "echo")

    world.run(scenario)


def test_the_identifier_0_is_a_peer_as_any_other(world: World) -> None:
    """It is what a contact has that is known by its address alone."""

    async def scenario() -> None:
        a, b = await two(world)
        zero, anybody = Contact(0, b.contact.address), Contact.at(b.contact.address)
        for dialled, behind in ((zero, anybody), (anybody, zero)):
            first = a.runtime.spawn(outcome_of(a, dialled, Ask("echo", 1)))
            second = a.runtime.spawn(outcome_of(a, behind, Ask("echo", 1)))
            outcomes = {dialled: await first, behind: await second}
            assert outcomes[anybody] == Told(1, "echo")
            assert isinstance(outcomes[zero], AnotherAnswers)
            a.runtime.drop(b.contact)

    world.run(scenario)
