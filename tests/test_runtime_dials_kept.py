"""What a dial that finds somebody else leaves behind, whom a drop ends, and what begins a dial: in
virtual time as on sockets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chord import NO_LINK, AnotherAnswers, Contact, LinkClosed, RemoteFault
from meteor.wire.codec import FRAME_BYTES_MAX
from tests.runtime_worlds import PARAMETERS, WORLDS, Ask, Peer, Told, World, outcome_of, two

TOO_LARGE = bytes(FRAME_BYTES_MAX)
"""With what travels round it, more than a frame carries."""


@pytest.fixture(params=PARAMETERS)
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]()


async def heard_meanwhile(one: Peer, other: Peer) -> None:
    """So much that what was on its way to the other has come in."""
    for number in range(20):
        await one.runtime.call(other.contact, Ask("echo", number), 5.0)


async def by_address(world: World) -> list[Peer]:
    """Two peers, the one whose dial stands where both dial each other before the other."""
    return sorted(await two(world), key=lambda peer: peer.contact.address)


@pytest.mark.parametrize("seeker_first", [True, False])
@pytest.mark.parametrize("stands", [True, False])
def test_who_dials_where_its_former_self_is_sought_is_not_cut_off(
    world: World, stands: bool, seeker_first: bool
) -> None:
    """The dial that stood found another than it was for, and its channel was the other's too."""

    async def scenario() -> None:
        peers = await by_address(world)
        seeker, other = peers if stands else peers[::-1]
        seeks = (seeker, Contact(77, other.contact.address), Ask("echo", 77))
        dials = (other, seeker.contact, Ask("echo", 1))
        asked = [
            one[0].runtime.spawn(outcome_of(*one))
            for one in ((seeks, dials) if seeker_first else (dials, seeks))
        ]
        outcomes = [await one for one in asked]
        error, reply = outcomes if seeker_first else outcomes[::-1]
        assert isinstance(error, AnotherAnswers)
        assert error.who == other.contact
        assert reply == Told(1, "echo")
        assert await seeker.runtime.call(other.contact, Ask("echo", 2), 5.0) == Told(2, "echo")
        assert [message for _, message in other.heard] == [Ask("echo", 2)]
        assert seeker.closed == other.closed == []

    world.run(scenario)


def test_who_was_found_in_place_of_another_is_linked(world: World) -> None:
    """Who is there may have used the connection since: its own call by it was cut off."""

    async def scenario() -> None:
        a, b = await two(world)
        c = Peer(await world.peer(3))
        error = await outcome_of(a, Contact(77, b.contact.address), Ask("none"))
        assert isinstance(error, AnotherAnswers)
        await heard_meanwhile(c, b)
        assert a.runtime.link(b.contact) is not NO_LINK
        assert b.runtime.link(a.contact) is not NO_LINK
        assert await b.runtime.call(a.contact, Ask("echo", 1), 5.0) == Told(1, "echo")
        assert a.closed == b.closed == []
        b.runtime.drop(a.contact)
        await a.runtime.expect("closed", 5.0)
        assert (a.closed, b.closed) == ([b.contact], [a.contact])

    world.run(scenario)


def test_who_is_closed_as_it_hears_who_is_there_is_gone(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        c = Peer(await world.peer(3))
        a.runtime.send(b.contact, Told(1))
        a.runtime.send(Contact(77, b.contact.address), Told(77))
        await b.hear(1)
        closed = b.runtime.expect("closed", 5.0)
        await world.crash(a.runtime)
        await closed
        await heard_meanwhile(c, b)
        assert b.runtime.link(a.contact) is NO_LINK
        assert b.closed == [a.contact]

    world.run(scenario)


def test_a_client_keeps_nobody_whom_it_did_not_seek(world: World) -> None:
    """Nobody dials a client, and it would never be rid of that link."""

    async def scenario() -> None:
        client, b = Peer(await world.client(9)), Peer(await world.peer(2))
        error = await outcome_of(client, Contact(77, b.contact.address), Ask("none"))
        assert isinstance(error, AnotherAnswers)
        assert client.runtime.link(b.contact) is NO_LINK
        assert await client.runtime.call(b.contact, Ask("echo", 1), 5.0) == Told(1, "echo")

    world.run(scenario)


@pytest.mark.parametrize(
    "dialled",
    [
        pytest.param(lambda there: there, id="by name"),
        pytest.param(lambda there: Contact.at(there.address), id="by address"),
    ],
)
def test_whom_nothing_is_sent_to_may_be_dropped_while_another_is_dialled(
    world: World, dialled: Callable[[Contact], Contact]
) -> None:
    """It ended the dial of the other, whose calls were lost."""

    async def scenario() -> None:
        a, b = await two(world)
        reply = a.runtime.ask(dialled(b.contact), Ask("echo", 1), 5.0)
        for other in (Contact(77, b.contact.address), b.contact, Contact.at(b.contact.address)):
            if other != dialled(b.contact):
                a.runtime.drop(other)
                assert a.runtime.link(other) is NO_LINK
                assert not a.runtime.suspects(other)
        assert await reply == Told(1, "echo")
        assert a.closed == b.closed == []

    world.run(scenario)


def test_whom_nothing_is_sent_to_may_be_dropped_where_another_answers(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        assert await a.runtime.call(b.contact, Ask("echo", 1), 5.0) == Told(1, "echo")
        reply = a.runtime.ask(b.contact, Ask("later", 2), 5.0)
        a.runtime.drop(Contact(77, b.contact.address))
        assert await reply == Told(2, "later")
        assert a.closed == b.closed == []
        a.runtime.drop(Contact.at(b.contact.address))
        assert a.closed == [b.contact]

    world.run(scenario)


def test_a_first_frame_that_cannot_travel_holds_nobody_up(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        asked = [
            a.runtime.ask(contact, request, 5.0)
            for contact, request in (
                (Contact(77, b.contact.address), Ask("echo", 77, TOO_LARGE)),
                (b.contact, Ask("echo", 1)),
                (Contact(78, b.contact.address), Ask("echo", 78)),
            )
        ]
        with pytest.raises(RemoteFault):
            await asked[0]
        assert await asked[1] == Told(1, "echo")
        with pytest.raises(AnotherAnswers):
            await asked[2]
        assert [message for _, message in b.heard] == [Ask("echo", 1)]
        assert a.closed == b.closed == []

    world.run(scenario)


def test_nor_does_one_that_waits_and_is_dialled_then(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        contacts = [Contact(id, b.contact.address) for id in (77, 78)]
        dropped = a.runtime.ask(contacts[0], Ask("echo", 77), 5.0)
        refused = a.runtime.ask(contacts[1], Ask("echo", 78, TOO_LARGE), 5.0)
        found = a.runtime.ask(b.contact, Ask("echo", 1), 5.0)
        a.runtime.drop(contacts[0])
        with pytest.raises(LinkClosed):
            await dropped
        with pytest.raises(RemoteFault):
            await refused
        assert await found == Told(1, "echo")

    world.run(scenario)


def test_nor_one_that_is_no_message(world: World) -> None:
    async def scenario() -> None:
        a, b = await two(world)
        with pytest.raises(TypeError):
            a.runtime.ask(Contact(77, b.contact.address), object(), 5.0)
        assert await a.runtime.call(b.contact, Ask("echo", 1), 5.0) == Told(1, "echo")

    world.run(scenario)
