"""An acknowledgement names whom it is for: a peer dials nobody because a client says so."""

from __future__ import annotations

import asyncio

import pytest

import meteor
from chord import Contact
from meteor.wire.messages import Acknowledge, AcknowledgeAll, Arrived
from tests.meteor.building import SPACE

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize("together", [False, True])
async def test_no_address_that_a_client_names_is_dialled(together: bool) -> None:
    dialled: list[object] = []

    def taken(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dialled.append(writer.get_extra_info("peername"))
        writer.close()

    async with (
        await asyncio.start_server(taken, "127.0.0.1", 0) as server,
        meteor.Peer(space=SPACE) as peer,
        meteor.connect(peer.address) as client,
    ):
        host, port = server.sockets[0].getsockname()[:2]
        source = Contact(5, f"{host}:{port}")
        ids = ("a:b:1",)
        message: object = Acknowledge("a", ids, source)
        if together:
            message = AcknowledgeAll((Arrived("a", ids), Arrived("c", ids)), source)
        link = client._session.uplink.peer
        assert link is not None
        client._session.runtime.send(link, message)
        for _ in range(3):  # it was read, and what it leads to was begun
            await client.retrieve("type=light").all()
            await asyncio.sleep(0)
    assert not dialled
