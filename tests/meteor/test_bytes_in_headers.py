"""Headers hold bytes of anybody's: what is no text of them gets into no message and no log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from chord import CallError, Contact, Deferred, DialRejected, Fault, RemoteFault
from meteor.links.websocket_channel import CONTACT_HEADER, PROTOCOL, contact_header
from meteor.wire.messages import Greet
from tests.meteor.websocket_peers import Make

pytestmark = pytest.mark.sockets


@asynccontextmanager
async def refusing(reason: bytes) -> AsyncIterator[str]:
    """Refuses every dial for that reason."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 503 x\r\nMeteor-Reason: " + reason)
        writer.write(b"\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        yield f"{host}:{port}"


@pytest.mark.parametrize("reason", [b"caf\xe9", b"\x1b[2J" + b"a" * 5000])
async def test_why_a_dial_was_refused_can_be_said_to_others(make: Make, reason: bytes) -> None:
    """Whoever told somebody else why, in the words of who refused it, could not, which counts as a
    bug of his own: the peer closed.  At a terminal it cleared the screen."""
    asker, asked = await make(1), await make(2)

    async def ask(address: str) -> None:
        try:
            await asked.call(Contact.at(address), Greet(), 5.0)
        except CallError as error:
            raise Fault("Refused", str(error)) from error

    async with refusing(reason) as address:
        with pytest.raises(DialRejected, match="refused the dial") as caught:
            await asker.call(Contact.at(address), Greet(), 5.0)
        asked.serve(lambda *_: Deferred(ask(address)), lambda contact: None)
        with pytest.raises(RemoteFault, match="refused the dial") as told:
            await asker.call(asked.contact, Greet(), 5.0)
    assert told.value.kind == "Refused"
    assert not asked.exchange.closed
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 1000


@pytest.mark.parametrize("header", ["Sec-WebSocket-Protocol", "Sec-WebSocket-Key", "Upgrade"])
async def test_a_dial_with_such_bytes_is_refused_as_any_other(
    make: Make, caplog: pytest.LogCaptureFixture, header: str
) -> None:
    """It counted as a bug of the peer: status 500, and each left a traceback in its log."""
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "eHh4eHh4eHh4eHh4eHh4eA==",
        "Sec-WebSocket-Protocol": PROTOCOL,
        CONTACT_HEADER: contact_header(Contact(5, "")),
        header: "\xff",
    }
    peer = await make(1)
    host, port = peer.contact.address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = ["GET /peer HTTP/1.1", "Host: x", *(f"{name}: {it}" for name, it in headers.items())]
    with caplog.at_level(logging.WARNING):
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.close()
    assert answer.startswith(b"HTTP/1.1 400")
    assert [one for one in caplog.records if one.name.startswith("aiohttp")] == []
