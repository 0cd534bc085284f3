"""A client that gives itself the identifier of the peer that it is linked to."""

from __future__ import annotations

import pytest

import meteor
from chord import CallError, Contact
from meteor.client.client import Client
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.websocket_transport import WebSocketTransport
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE

pytestmark = pytest.mark.sockets


async def test_it_gets_and_takes_nothing_that_is_for_the_peers_own_clients() -> None:
    """Who is in the ring, anybody may ask.  What the peer's own program and its guests were to be
    told went to whoever had said last that he has its identifier, and he could acknowledge it."""
    got: list[str] = []
    async with meteor.Peer(space=SPACE, identity=ALICE) as peer:
        mine = await peer.notify_data("type=light")
        runtime = AsyncioRuntime(Contact(peer.id, ""), WebSocketTransport())
        thief = Client(runtime, [Contact.at(peer.address)], release=runtime.aclose)
        thief._own_session._accept = lambda notice: got.append(notice.id)  # type: ignore[method-assign]
        try:
            await thief.open(5)
            await thief.retrieve("type=lamp").all()
        except (meteor.MeteorError, CallError):
            pass
        try:
            async with meteor.connect(peer.address, identity=ALICE) as teller:
                await teller.store("type=light", b"secret", visible_to=[])
            assert (await mine.recv(timeout=5)).data == b"secret"
        finally:
            await thief.close()
    assert not got
