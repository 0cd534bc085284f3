"""The sockets of a peer themselves: in which turn what is read and written, and who is cut off."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from chord import Contact, FrameKind, Unhurried
from meteor.links import websocket_door
from meteor.links.websocket_channel import (
    PROTOCOL,
    READ_AT_ONCE,
    WebSocketChannel,
)
from meteor.links.websocket_door import Door
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.messages import Greet, Greeting
from tests.certificates import tls
from tests.meteor.websocket_peers import HEADERS, Make, channels, serves, until

pytestmark = pytest.mark.sockets


async def test_many_messages_at_once_are_taken_in_a_few_at_a_time(make: Make) -> None:
    peer, answering = await make(1), 300
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(
            f"http://{peer.contact.address}/peer",
            protocols=(PROTOCOL,), headers=HEADERS, autoping=False,
        )  # fmt: skip
        await until(lambda: len(channels(peer)) == 1)
        (channel,) = channels(peer)
        taken, turns = [0], [0]
        take = channel._take_in

        def counted() -> None:
            turns[0] += 1
            before = channel._traffic.messages_in
            take()
            taken[0] = max(taken[0], channel._traffic.messages_in - before)

        channel._take_in = counted  # type: ignore[method-assign]
        for number in range(answering):
            frames = peer._links.codec.encode_frame(FrameKind.REQUEST, number + 1, 5.0, Greet())
            await socket.send_bytes(peer._links.codec.join([frames]))
        replies = 0
        while replies < answering:
            message = await socket.receive(timeout=10)
            assert message.type is aiohttp.WSMsgType.BINARY
            replies += len(peer._links.codec.split(message.data))
        assert taken[0] <= READ_AT_ONCE
        assert turns[0] >= answering / READ_AT_ONCE
        await socket.close()


async def test_an_accepted_socket_is_silent_until_the_other_side_took_it_over(make: Make) -> None:
    peer = await make(1)
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(
            f"http://{peer.contact.address}/peer",
            protocols=(PROTOCOL,), headers=HEADERS, autoping=False,
        )  # fmt: skip
        await until(lambda: len(channels(peer)) == 1)
        (channel,) = channels(peer)
        channel.write(b"\x01\x90")
        assert channel.backlog == 2
        with pytest.raises(TimeoutError):
            await socket.receive(timeout=0.05)
        await socket.pong()
        assert (await socket.receive(timeout=10)).data == b"\x01\x90"
        await socket.close()


async def test_a_close_is_answered_with_a_close(make: Make) -> None:
    peer = await make(1)
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(
            f"http://{peer.contact.address}/peer", protocols=(PROTOCOL,), headers=HEADERS
        )
        assert await socket.close()
        assert socket.close_code == 1000
    await until(lambda: channels(peer) == [])


async def test_an_answer_that_may_wait_leaves_with_what_goes_to_the_asker_next(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = await make(1), await make(2)
    await serves(a, b)
    written: list[int] = []
    write = WebSocketChannel.write
    monkeypatch.setattr(
        WebSocketChannel, "write", lambda self, data: (written.append(len(data)), write(self, data))
    )
    greeting = Greeting(b.contact, "", b"", ready=True)

    def answers(sender: Contact, message: object, remaining_s: float) -> object:
        asyncio.get_running_loop().call_soon(b.send, sender, Greet())
        return Unhurried(greeting)

    b.serve(answers, lambda contact: None)
    assert await a.call(b.contact, Greet(), 5.0) == greeting
    assert len(written) == 2  # the question; another message and the answer


class Silent:
    """A connection that has not asked for anything."""

    async def open(self, address: str, said: bytes = b"") -> Silent:
        host, _, port = address.rpartition(":")
        self._reader, self._writer = await asyncio.open_connection(host, int(port))
        self._writer.write(said)
        return self

    async def ends(self) -> bool:
        """Waits until the other side closes it."""
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(self._reader.read(), 20) == b""
        await self.close()
        return True

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionResetError):
            await self._writer.wait_closed()


@pytest.mark.parametrize("said", [b"", b"GET /peer HTTP/1.1\r\nHost: x\r\nX-Trickle: "])
async def test_a_connection_that_asks_for_nothing_is_closed(
    make: Make, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    """It held a descriptor for ever: a thousand of them, and nobody else came in."""
    monkeypatch.setattr(websocket_door, "FIRST_REQUEST_S", 0.05)
    peer = await make(1)
    assert await (await Silent().open(peer.contact.address, said)).ends()


async def test_silent_connections_are_bounded_and_others_go_on(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket_door, "SILENT_MAX", 3)
    peer, caller = await make(1), await make(2)
    assert isinstance(await caller.call(peer.contact, Greet(), 20.0), Greeting)
    connections = [await Silent().open(peer.contact.address) for _ in range(6)]
    for connection in connections[:3]:
        assert await connection.ends()
    third = await make(3)
    assert isinstance(await caller.call(peer.contact, Greet(), 20.0), Greeting)
    for connection in connections[3:]:
        await connection.close()
    assert isinstance(await third.call(peer.contact, Greet(), 20.0), Greeting)


@pytest.mark.parametrize("secured", [False, True], ids=["plain", "TLS"])
async def test_who_does_not_read_a_large_answer_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, secured: bool
) -> None:
    """Forty of them kept a gigabyte of answers for ever."""
    monkeypatch.setattr(websocket_door, "READING_S", 0.05)
    shown = tls("127.0.0.1") if secured else None
    context = None if shown is None else shown.client_context()
    transport, cut_off = WebSocketTransport("127.0.0.1:0", tls=shown), asyncio.Event()

    async def large(_: web.Request) -> web.Response:
        return web.Response(body=bytes(30_000_000))

    transport.app.router.add_get("/large", large)
    address = await transport.listen()
    (door,) = transport._door
    close = door._close

    def and_say(protocol: object) -> None:
        close(protocol)
        cut_off.set()

    monkeypatch.setattr(door, "_close", and_say)
    host, _, port = address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port), limit=1024, ssl=context)
    try:
        writer.write(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.wait_for(cut_off.wait(), 20)
        assert (door.closed, len(door._answers)) == (1, 0)
    finally:
        writer.transport.abort()
        with contextlib.suppress(ConnectionResetError, ssl.SSLError):
            await writer.wait_closed()
        await transport.close()


class Reader:
    """A protocol and its transport, of which so much is not read yet."""

    def __init__(self, *left: int) -> None:
        self.transport, self._left, self.aborted = self, list(left), False

    def get_write_buffer_size(self) -> int:
        return self._left.pop(0)

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None:
        self.aborted = True


@pytest.mark.parametrize(
    ("left", "cut_off"),
    [
        ((0,), False),
        ((900_000, 500_000, 100_000, 0), False),
        ((900_000, 890_000), True),
        ((999_999,), True),
    ],
)
async def test_who_reads_slowly_is_not_cut_off(left: tuple[int, ...], cut_off: bool) -> None:
    server: Any = None
    door, reader = Door(server), Reader(*left)
    door.answers(reader, 1_000_000)
    size = 1_000_000
    while reader in door._answers:
        next_size = reader._left[0]
        door._answers[reader].cancel()
        door._look(reader, size, None)
        size = next_size
    assert (reader.aborted, bool(reader._left)) == (cut_off, False)
    door.answers(reader, 1000)
    assert not door._answers


async def test_who_has_asked_is_looked_after_no_more() -> None:
    transport = WebSocketTransport("127.0.0.1:0")

    async def hello(_: web.Request) -> web.Response:
        return web.Response(text="hello")

    transport.app.router.add_get("/hello", hello)
    address = await transport.listen()
    (door,) = transport._door
    try:
        async with aiohttp.ClientSession() as session:
            for path, status in (("/hello", 200), ("/nothing", 404), ("/hello", 200)):
                async with session.get(f"http://{address}{path}") as answer:
                    assert answer.status == status
                assert (len(door), door.closed) == (0, 0)
    finally:
        await transport.close()
