"""Who answers a dial as the one that dialled, or as somebody who cannot be dialled.

The door refuses both; a dial is answered by whoever is at its address.
"""

from __future__ import annotations

import pytest
from aiohttp import web

from chord import Contact, DialRefused
from meteor.links.websocket_channel import CONTACT_HEADER, PROTOCOL, contact_header
from meteor.wire.messages import Greet
from tests.meteor.websocket_peers import Make, serves, serving

pytestmark = pytest.mark.sockets


class Answering:
    """Takes every dial as the contact that it was told to be, and keeps what it hears."""

    def __init__(self) -> None:
        self.contact = Contact(7, "")
        self.heard: list[object] = []

    async def take(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=(PROTOCOL,))
        socket.headers[CONTACT_HEADER] = contact_header(self.contact)
        await socket.prepare(request)
        async for message in socket:
            if message.type is not web.WSMsgType.PONG:
                self.heard.append(message.data)
        return socket


@pytest.mark.parametrize("id", [1, 7])
@pytest.mark.parametrize("known", [True, False])
async def test_what_a_peer_says_to_itself_stays_with_it(make: Make, id: int, known: bool) -> None:
    """From then on it heard what the peer had to say to itself; or the peer could not any more."""
    peer, other = await make(1), Answering()
    other.contact = Contact(id, peer.contact.address)
    async with serving(other.take) as address:
        with pytest.raises(DialRefused, match="as this peer itself"):
            await peer.call(Contact(id, address, known=known), Greet(), 2.0)
        assert await serves(peer, peer)
        assert other.heard == []


async def test_a_client_is_not_what_was_dialled(make: Make) -> None:
    """It was asked as a peer and then had as a client of the identifier that it said: what was to
    be told to that client went there."""
    peer, other = await make(1), Answering()
    client = await make(9, client=True)
    other.contact = client.contact
    async with serving(other.take) as address:
        with pytest.raises(DialRefused, match=address):
            await peer.call(Contact.at(address), Greet(), 2.0)
        assert peer._links.find(client.contact) is None
        assert other.heard == []
