"""An address that leads somewhere else: by a path of its own, or by whoever answers there."""

from __future__ import annotations

import pytest
from aiohttp import web

from chord import Contact, DialRefused
from meteor.wire.messages import Greet
from tests.meteor.websocket_peers import Make, serves, serving

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize("behind", ["/peer?post=all&", "/peer#", "/peer/../peer?"])
async def test_what_is_more_than_an_address_is_not_dialled(make: Make, behind: str) -> None:
    """Members tell each other addresses: one that goes on made all of them ask a web server that
    they reach for whatever somebody outside wanted."""
    asked: list[str] = []

    async def note(request: web.Request) -> web.Response:
        asked.append(request.path_qs)
        return web.Response()

    peer = await make(1)
    async with serving(note) as address:
        with pytest.raises(DialRefused, match="is no address"):
            await peer.call(Contact(2, address + behind), Greet(), 5.0)
    assert asked == []


async def test_who_sends_a_dial_elsewhere_is_no_peer(make: Make) -> None:
    """The dial went on to wherever it was sent: to another host, and with TLS to one without."""
    peer, other = await make(1), await make(2)
    asked: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        asked.append(request.path)
        where = f"http://{other.contact.address}/peer"
        return web.Response(status=307, headers={"Location": where})

    async with serving(elsewhere) as address:
        with pytest.raises(DialRefused, match="a web server answers there, with status 307"):
            await peer.call(Contact.at(address), Greet(), 5.0)
        assert asked == ["/peer"]
    assert other._links.find(peer.contact) is None
    assert await serves(peer, other)
