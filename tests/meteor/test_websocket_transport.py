"""The port of a peer: who is let in, and what bad input does."""

from __future__ import annotations

import asyncio
import contextlib
import gc

import aiohttp
import pytest
from aiohttp import web

from chord import Contact, DialRefused, DialRejected, LinkClosed, RemoteFault
from meteor.errors import AddressInUse
from meteor.links import websocket_transport
from meteor.links.websocket_channel import (
    CONTACT_HEADER,
    MESSAGE_BYTES_MAX,
    PROTOCOL,
    VERSION_HEADER,
    contact_header,
)
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.codec import FRAME_BYTES_MAX
from meteor.wire.messages import Greet
from tests.meteor.websocket_peers import HEADERS, Make, channels, serves, serving, until

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize(
    ("protocols", "headers", "status"),
    [
        (("meteor.99",), HEADERS, 426),
        ((), HEADERS, 426),
        ((PROTOCOL,), {**HEADERS, "Origin": "http://evil.example"}, 403),
        ((PROTOCOL,), {}, 400),
        ((PROTOCOL,), {CONTACT_HEADER: "zz 0 -"}, 400),
        ((PROTOCOL,), {CONTACT_HEADER: "1 2"}, 400),
        ((PROTOCOL,), {CONTACT_HEADER: "1 -2 a:1"}, 400),
        ((PROTOCOL,), {CONTACT_HEADER: f"{'f' * 200} 0 -"}, 400),
    ],
)
async def test_who_does_not_speak_our_version_or_is_a_browser_is_refused_at_the_door(
    make: Make, protocols: tuple[str, ...], headers: dict[str, str], status: int
) -> None:
    peer, other = await make(1), await make(2)
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await session.ws_connect(
                f"http://{peer.contact.address}/peer", protocols=protocols, headers=headers
            )
    assert caught.value.status == status
    assert await serves(other, peer)


async def test_a_peer_of_another_version_is_named_to_the_caller(make: Make) -> None:
    async def from_tomorrow(request: web.Request) -> web.Response:
        return web.Response(status=426, headers={VERSION_HEADER: "7"})

    async with serving(from_tomorrow) as address:
        asking = await make(1)
        with pytest.raises(RemoteFault, match="speaks wire version 7, this side 1") as caught:
            await asking.call(Contact.at(address), Greet(), 5.0)
    assert caught.value.kind == "VersionMismatch"


@pytest.mark.parametrize("version", ["\N{SUPERSCRIPT TWO}", "9" * 5000, "one"])
async def test_a_version_that_is_no_number_ends_the_dial_as_any_other(
    make: Make, version: str
) -> None:
    """The dial ended with an error that nobody took, and the link was being dialled for ever: who
    asked waited for as long as he had given it, and so did whoever asked that address after him."""

    async def from_nowhere(request: web.Request) -> web.Response:
        return web.Response(status=426, headers={VERSION_HEADER: version})

    async with serving(from_nowhere) as address:
        asking = await make(1)
        for _ in range(2):
            with pytest.raises(RemoteFault, match="speaks wire version unknown") as caught:
                await asking.call(Contact.at(address), Greet(), 5.0)
            assert caught.value.kind == "VersionMismatch"


async def test_what_is_no_peer_of_ours_counts_as_nobody(make: Make) -> None:
    async def a_web_page(request: web.Request) -> web.Response:
        return web.Response(text="hello")

    async def another_socket(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=(PROTOCOL,))
        await socket.prepare(request)
        await socket.receive()
        return socket

    asking = await make(1)
    for handler in (a_web_page, another_socket):
        async with serving(handler) as address:
            with pytest.raises(DialRefused, match=address):
                await asking.call(Contact.at(address), Greet(), 5.0)
    for address in ("", "no port", "127.0.0.1:99999", "[::bad:1", "user@:1"):
        with pytest.raises((DialRefused, LinkClosed)):
            await asking.call(Contact(9, address), Greet(), 5.0)


async def test_a_host_that_does_not_answer_is_not_taken_for_dead(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket_transport, "DIAL_TIMEOUT_S", 0.05)
    silent = asyncio.Event()

    async def says_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()
        writer.close()

    server = await asyncio.start_server(says_nothing, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    asking = await make(1)
    with pytest.raises(LinkClosed, match="did not answer"):
        await asking.call(Contact.at(f"{host}:{port}"), Greet(), 5.0)
    silent.set()
    server.close()


async def test_a_peer_that_listens_but_does_not_serve_yet_refuses(make: Make) -> None:
    transport = WebSocketTransport("127.0.0.1:0")
    address = await transport.listen()
    asking = await make(1)
    with pytest.raises(DialRejected, match="503"):
        await asking.call(Contact.at(address), Greet(), 5.0)
    await transport.close()


async def test_a_port_in_use_is_said_so(make: Make) -> None:
    peer = await make(1)
    second = WebSocketTransport(peer.contact.address)
    with pytest.raises(AddressInUse, match=peer.contact.address) as caught:
        await second.listen()
    assert caught.value.address == peer.contact.address
    assert isinstance(caught.value, OSError)
    await second.close()
    assert await serves(await make(2), peer)


# ---- bad input -------------------------------------------------------------------------------


async def test_random_bytes_on_the_port_do_no_harm(make: Make) -> None:
    peer, other = await make(1), await make(2)
    host, port = peer.contact.address.split(":")
    for noise in (b"\x00" * 5000, b"\xff\xfe" * 100, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(noise)
        writer.write_eof()
        await reader.read()
        writer.close()
    assert await serves(other, peer)


@pytest.mark.parametrize("bad", [
    b"", b"\x01", b"\x01\xc1", b"\x07\x90", b"\x01" + b"\x91" * 5000, b"x" * 1000, "text",
    b"\x01\x91\x95\x00\x01\x00\xa6Nobody\xc0", b"\x01\x91\x93\x63\x01\x00",
])  # fmt: skip
async def test_a_malformed_frame_ends_its_own_link_and_no_other(
    make: Make, bad: bytes | str
) -> None:
    peer, other = await make(1), await make(2)
    assert await serves(other, peer)
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(
            f"http://{peer.contact.address}/peer", protocols=(PROTOCOL,), headers=HEADERS
        )
        await (socket.send_str(bad) if isinstance(bad, str) else socket.send_bytes(bad))
        answer = await socket.receive(timeout=5)
        assert answer.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE)
    await until(lambda: len(channels(peer)) == 1)
    assert await serves(other, peer)


async def test_an_oversize_message_ends_its_own_link_and_no_other(make: Make) -> None:
    peer, other = await make(1), await make(2)
    assert await serves(other, peer)
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(
            f"http://{peer.contact.address}/peer", protocols=(PROTOCOL,), headers=HEADERS
        )
        with contextlib.suppress(ConnectionError):  # it may be cut before the last byte
            await socket.send_bytes(bytes(MESSAGE_BYTES_MAX + 1))
        assert (await socket.receive(timeout=5)).type is not aiohttp.WSMsgType.BINARY
    await until(lambda: len(channels(peer)) == 1)
    assert await serves(other, peer)


async def test_the_largest_frame_travels_and_a_larger_one_is_refused_here(make: Make) -> None:
    peer, other = await make(1), await make(2)
    await other.call(peer.contact, Greet(b"x" * (FRAME_BYTES_MAX - 100)), 10.0)
    with pytest.raises(RemoteFault, match="bytes"):
        await other.call(peer.contact, Greet(b"x" * FRAME_BYTES_MAX), 10.0)
    assert await serves(other, peer)


async def test_a_reader_that_stands_still_makes_the_sender_busy_not_fat(make: Make) -> None:
    stopped = asyncio.Event()
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    async def never_reads(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=(PROTOCOL,))
        socket.headers[CONTACT_HEADER] = contact_header(Contact(7, "x:1"))
        await socket.prepare(request)
        assert request.transport is not None
        request.transport.pause_reading()
        await stopped.wait()
        return socket

    async with serving(never_reads) as address:
        sender = await make(1)
        for _ in range(200):
            sender.send(Contact.at(address), Greet(bytes(256 * 1024)))
            await asyncio.sleep(0)
        assert sender.exchange.counters.unsent > 100
        stopped.set()
        await sender.aclose()
    gc.collect()
    assert complaints == []
