"""A peer that is dialled by another address than it gives itself: a name of DNS, another interface.

It says `127.0.0.1:PORT`, and is dialled as `localhost:PORT` here.
"""

from __future__ import annotations

import asyncio
import socket

import pytest

import meteor
from chord import Contact, DialRefused, LinkClosed
from meteor.links import asyncio_links, link_keeping
from meteor.links.address import checked_address, checked_listen
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.messages import Greet, Greeting
from tests.meteor.fake_peer import SPACE
from tests.meteor.websocket_peers import Make

pytestmark = pytest.mark.sockets


def by_name(address: str) -> str:
    return f"localhost:{address.rpartition(':')[2]}"


async def asked(asking: AsyncioRuntime, address: str) -> Contact:
    greeting = await asking.call(Contact.at(address), Greet(), 5.0)
    assert isinstance(greeting, Greeting)
    return greeting.contact


async def test_a_client_finds_a_peer_that_it_knows_by_name_again_after_a_restart() -> None:
    lost: asyncio.Queue[meteor.MeteorError] = asyncio.Queue()
    found: asyncio.Queue[str] = asyncio.Queue()
    async with asyncio.timeout(20):
        async with meteor.Peer(space=SPACE, seed=1) as peer:
            address = peer.address
            client = await meteor.connect(
                by_name(address), on_disconnected=lost.put_nowait, on_reconnected=found.put_nowait
            )
            interest = await client.notify_data("type=probe")
        await lost.get()
        assert not client.connected
        async with meteor.Peer(space=SPACE, seed=2, listen=address):
            assert await found.get() == by_name(address)
            await client.store("type=probe", b"x")
            assert (await interest.recv(10)).data == b"x"
            await client.close()


async def test_a_peer_that_was_dialled_by_name_has_one_link_and_both_its_names(make: Make) -> None:
    one, other = await make(1), await make(2)
    address = other.contact.address
    assert await asked(one, by_name(address)) == other.contact
    link = one.link(Contact.at(by_name(address)))
    assert link is one.link(other.contact)
    assert await asked(one, address) == other.contact
    assert await asked(other, one.contact.address) == one.contact
    assert one.link(other.contact) is link


async def test_a_peer_that_was_dialled_by_both_its_names_keeps_the_later_link(make: Make) -> None:
    one, other = await make(1), await make(2)
    address = other.contact.address
    await asked(one, address)
    for name in (by_name(address), address):
        assert await asked(one, name) == other.contact
    assert one.link(other.contact) is one.link(Contact.at(by_name(address)))


async def test_two_dials_of_one_peer_by_its_two_names_leave_one_link(make: Make) -> None:
    one, other = await make(1), await make(2)
    address = other.contact.address
    asking = [asked(one, name) for name in (address, by_name(address))]
    answers = await asyncio.gather(*asking, return_exceptions=True)
    assert all(a == other.contact or isinstance(a, LinkClosed) for a in answers), answers
    assert other.contact in answers
    for name in (by_name(address), address):
        assert await asked(one, name) == other.contact


async def test_a_peer_that_was_dialled_by_name_is_dialled_anew_after_its_end(make: Make) -> None:
    one, other = await make(1), await make(2)
    address = other.contact.address
    await asked(one, by_name(address))
    await other.aclose()
    for name in (by_name(address), address):
        with pytest.raises((LinkClosed, DialRefused)):
            await asked(one, name)
    again = await make(2, address)
    for name in (by_name(address), address):
        assert await asked(one, name) == again.contact


async def test_an_idle_link_to_a_peer_that_was_dialled_by_name_is_closed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
    monkeypatch.setattr(asyncio_links, "TIDY_EVERY_S", 0.01)
    monkeypatch.setattr(asyncio_links, "RETIRE_S", 0.01)
    monkeypatch.setattr(link_keeping, "IDLE_S", 0.02)
    one, other = await make(1), await make(2)
    transport = one._transport
    assert isinstance(transport, WebSocketTransport)
    await asked(one, by_name(other.contact.address))
    async with asyncio.timeout(10):
        while transport.links:  # noqa: ASYNC110 - what is looked at raises no event
            await asyncio.sleep(0.002)
    assert complaints == []
    assert await asked(one, by_name(other.contact.address)) == other.contact


async def test_a_peer_that_dials_itself_by_name_is_refused_and_still_hears_itself(
    make: Make,
) -> None:
    one = await make(1)
    with pytest.raises(DialRefused, match="own"):
        await asked(one, by_name(one.contact.address))
    assert await asked(one, one.contact.address) == one.contact


async def test_nobody_else_is_taken_for_the_peer_itself(make: Make) -> None:
    """What the peer says to itself went to whoever had said that its address was his."""
    one = await make(1)
    address = one.contact.address
    liar = WebSocketTransport()
    runtime = AsyncioRuntime(Contact(7, address), liar, seed=1)
    try:
        with pytest.raises(DialRefused, match="own"):
            await liar.dial(by_name(address))
        assert await asked(one, address) == one.contact
    finally:
        await runtime.aclose()


async def test_a_peer_that_is_listed_by_its_own_name_founds_a_ring_where_it_is_alone() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    own = by_name(address)
    listed = meteor.Peer(space=SPACE, listen=address, join=[own], found_if_alone=True, seed=1)
    async with asyncio.timeout(20), listed as peer:
        assert len((await peer.ring()).peers) == 1


@pytest.mark.parametrize("address", ["::1:7400", "fe80::1:7400", "[::1:7400", "::1]:7400", "a:b:1"])
def test_an_address_of_ipv6_is_written_in_brackets(address: str) -> None:
    """A peer listened on `::1:7400`, and said so to others, of whom none could dial it."""
    with pytest.raises(ValueError, match=r"\[::1\]:7400"):
        meteor.connect(address)
    with pytest.raises(ValueError, match=r"\[::1\]:7400"):
        meteor.Peer(space=SPACE, listen=address)
    assert checked_address("connect", "[::1]:7400") == "[::1]:7400"
    checked_listen(":::7400", "peer.example:7400")
