"""The port of a peer: who is let in, what bad input does, what ends when."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ssl
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from chord import Contact, DialRefused, DialRejected, FrameKind, LinkClosed, RemoteFault, Unhurried
from meteor.errors import AddressInUse
from meteor.links import asyncio_links, link_keeping, websocket_door, websocket_transport
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.websocket_channel import (
    CONTACT_HEADER,
    MESSAGE_BYTES_MAX,
    PROTOCOL,
    READ_AT_ONCE,
    VERSION_HEADER,
    WebSocketChannel,
    contact_header,
    parse_contact,
)
from meteor.links.websocket_door import Door
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.codec import FRAME_BYTES_MAX
from meteor.wire.messages import Greet, Greeting
from tests.certificates import tls

pytestmark = pytest.mark.sockets

HEADERS = {CONTACT_HEADER: contact_header(Contact(5, ""))}
Make = Callable[..., Awaitable[AsyncioRuntime]]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Makes peers (and clients) that answer every `Greet`, and closes them."""
    made: list[AsyncioRuntime] = []

    async def peer(id: int, *, client: bool = False) -> AsyncioRuntime:
        transport = WebSocketTransport() if client else WebSocketTransport("127.0.0.1:0")
        address = "" if client else await transport.listen()
        runtime = AsyncioRuntime(Contact(id, address), transport, seed=1)
        made.append(runtime)
        greeting = Greeting(runtime.contact, "", b"", ready=True)
        runtime.serve(lambda sender, message, remaining_s: greeting, lambda contact: None)
        return runtime

    yield peer
    for runtime in made:
        await runtime.aclose()


async def serves(asking: AsyncioRuntime, asked: AsyncioRuntime) -> bool:
    return (await asking.call(asked.contact, Greet(), 5.0)).contact == asked.contact  # type: ignore[no-any-return]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is looked at raises no event
            await asyncio.sleep(0.002)


def channels(runtime: AsyncioRuntime) -> list[WebSocketChannel]:
    transport = runtime._transport
    assert isinstance(transport, WebSocketTransport)
    return list(transport._channels)


# ---- the door --------------------------------------------------------------------------------


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


class serving:  # noqa: N801 - reads as a function
    """Something else than a peer, at an address of its own."""

    def __init__(self, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        app = web.Application()
        app.router.add_get("/peer", handler)
        self.runner = web.AppRunner(app, shutdown_timeout=0.1)

    async def __aenter__(self) -> str:
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        host, port = self.runner.addresses[0]
        return f"{host}:{port}"

    async def __aexit__(self, *_: object) -> None:
        await self.runner.cleanup()


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


# ---- links -----------------------------------------------------------------------------------


async def test_two_peers_share_one_socket_whoever_dials(make: Make) -> None:
    a, b = await make(1), await make(2)
    await asyncio.gather(*[serves(x, y) for _ in range(10) for x, y in ((a, b), (b, a))])
    await until(lambda: len(channels(a)) == len(channels(b)) == 1)
    assert await serves(a, b)
    assert await serves(b, a)


async def test_a_ring_that_starts_at_one_moment_has_one_link_a_pair(make: Make) -> None:
    peers = [await make(id) for id in range(1, 9)]
    answers = await asyncio.gather(
        *[serves(x, y) for _ in range(3) for x in peers for y in peers if x is not y]
    )
    assert all(answers)
    assert not any(peer.exchange.counters.late_replies for peer in peers)
    await until(lambda: all(len(channels(peer)) == len(peers) - 1 for peer in peers))


async def test_the_frames_of_one_turn_leave_in_one_message(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = await make(1), await make(2)
    await serves(a, b)
    written: list[int] = []
    write = WebSocketChannel.write
    monkeypatch.setattr(
        WebSocketChannel, "write", lambda self, data: (written.append(len(data)), write(self, data))
    )
    await asyncio.gather(*[a.call(b.contact, Greet(), 5.0) for _ in range(50)])
    assert len(written) == 2  # fifty requests, fifty replies


async def test_idle_links_are_closed_by_agreement_and_opened_again(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio_links, "TIDY_EVERY_S", 0.01)
    monkeypatch.setattr(asyncio_links, "RETIRE_S", 0.01)
    monkeypatch.setattr(link_keeping, "IDLE_S", 0.02)
    a, b, client = await make(1), await make(2), await make(3, client=True)
    told: list[Contact] = []
    for peer in (a, b):
        peer.serve(lambda *_: Greeting(b.contact, "", b"", ready=True), told.append)
    await serves(client, b)
    await serves(a, b)
    await until(lambda: channels(a) == [] and len(channels(b)) == 1)
    assert told == []
    assert await serves(a, b)
    b.send(client.contact, Greet())
    assert len(channels(client)) == 1


async def test_links_are_closed_at_once_when_a_peer_closes(make: Make) -> None:
    peer, others = await make(1), [await make(n) for n in range(2, 8)]
    closed: list[Contact] = []
    for other in others:
        other.serve(lambda *_: None, closed.append)
        await other.call(peer.contact, Greet(), 5.0)
    async with asyncio.timeout(2):
        await peer.aclose()
        await until(lambda: len(closed) == len(others))
    with pytest.raises(DialRefused):
        await others[0].call(peer.contact, Greet(), 5.0)


@pytest.mark.parametrize("turns", range(5))
async def test_a_connection_taken_while_the_peer_stops_is_closed_too(
    make: Make, turns: int
) -> None:
    peer = await make(1)
    host, port = peer.contact.address.split(":")
    dials = [asyncio.ensure_future(asyncio.open_connection(host, int(port))) for _ in range(20)]
    for _ in range(turns):
        await asyncio.sleep(0)
    await peer.aclose()
    for dialled in await asyncio.gather(*dials, return_exceptions=True):
        if isinstance(dialled, tuple):
            reader, writer = dialled
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
    gc.collect()  # an unclosed socket would be a warning, and so an error


async def test_the_same_port_serves_what_others_add() -> None:
    async def health(request: web.Request) -> web.Response:
        return web.Response(text="fine")

    transport = WebSocketTransport("127.0.0.1:0")
    transport.app.router.add_get("/healthz", health)
    address = await transport.listen()
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{address}/healthz") as response,
    ):
        assert (response.status, await response.text()) == (200, "fine")
    await transport.close()


def test_a_contact_introduces_itself_in_a_header() -> None:
    for contact in (Contact(0, ""), Contact(1 << 159, "127.0.0.1:7400", 12), Contact(1, "[::1]:1")):
        assert parse_contact(contact_header(contact)) == contact


PROGRAM = """
import asyncio
from chord import Contact
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.wire.messages import Greet
from meteor.links.websocket_transport import WebSocketTransport

async def peer(id):
    transport = WebSocketTransport("127.0.0.1:0")
    runtime = AsyncioRuntime(Contact(id, await transport.listen()), transport, seed=1)
    runtime.serve(lambda *_: None, lambda contact: None)
    return runtime

async def waits(runtime):
    await runtime.expect("never", None)

async def main():
    a, b = await peer(1), await peer(2)
    await a.call(b.contact, Greet(), 5.0)
    a.spawn(waits(a))
    pending = asyncio.ensure_future(a.call(a.contact, Greet(), 5.0))
    a.forward([Contact.at("127.0.0.1:1"), b.contact], Greet(), print)
    print("ends without close")

asyncio.run(main())
"""


@pytest.mark.processes
def test_a_program_that_never_closes_its_peer_ends_cleanly_and_soon() -> None:
    done: Any = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(PROGRAM)],
        capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends without close\n", "")


# ---- the socket itself ------------------------------------------------------------------------


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
