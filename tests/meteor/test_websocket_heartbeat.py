"""A link whose other side has gone without a word is closed; one that is merely idle stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from chord import Contact
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.websocket_channel import (
    CONTACT_HEADER,
    PROTOCOL,
    WebSocketChannel,
    contact_header,
)
from meteor.links.websocket_frames import Opcode, frame
from meteor.links.websocket_transport import WebSocketTransport
from tests.certificates import tls

HOST = "127.0.0.1"
pytestmark = pytest.mark.sockets

HEADERS = {CONTACT_HEADER: contact_header(Contact(5, ""))}


class Watched:
    """A peer, the one link that others opened to it, and whether that has closed."""

    def __init__(self, runtime: AsyncioRuntime, transport: WebSocketTransport) -> None:
        self.runtime, self._transport = runtime, transport
        self.closed = asyncio.Event()
        runtime.serve(lambda sender, message, remaining_s: None, lambda contact: self.closed.set())

    @property
    def url(self) -> str:
        return f"http://{self.runtime.contact.address}/peer"

    async def channel(self) -> WebSocketChannel:
        async with asyncio.timeout(10):
            while not self._transport._channels:  # noqa: ASYNC110 - it raises no event
                await asyncio.sleep(0.002)
        (channel,) = self._transport._channels
        return channel


@pytest.fixture
async def peer() -> AsyncIterator[Watched]:
    transport = WebSocketTransport("127.0.0.1:0")
    runtime = AsyncioRuntime(Contact(1, await transport.listen()), transport, seed=1)
    yield Watched(runtime, transport)
    await runtime.aclose()


@asynccontextmanager
async def linked(
    peer: Watched, *, answers_pings: bool = True
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """The other side of a link to the peer."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(
            peer.url, protocols=(PROTOCOL,), headers=HEADERS, autoping=answers_pings
        ) as other,
    ):
        yield other


async def heard(channel: WebSocketChannel) -> None:
    """Wait until something has come since the last beat."""
    async with asyncio.timeout(10):
        while channel._quiet_beats:  # noqa: ASYNC110 - it raises no event
            await asyncio.sleep(0.002)


async def taken_over(channel: WebSocketChannel) -> None:
    """Wait until nothing is held back any more."""
    async with asyncio.timeout(10):
        while channel._held is not None:  # noqa: ASYNC110 - it raises no event
            await asyncio.sleep(0.002)


async def test_an_idle_link_whose_other_side_answers_pings_stays(peer: Watched) -> None:
    async with linked(peer) as other:
        answering = asyncio.create_task(other.receive())  # aiohttp answers pings in here
        channel = await peer.channel()
        for _ in range(3):
            channel.beat()
            channel.beat()
            await heard(channel)
        assert not peer.closed.is_set()
        answering.cancel()


async def test_a_link_whose_other_side_answers_no_ping_is_closed(peer: Watched) -> None:
    async with linked(peer, answers_pings=False) as other:
        channel = await peer.channel()
        channel.beat()
        channel.beat()
        assert (await other.receive(timeout=10)).type is aiohttp.WSMsgType.PING
        assert not peer.closed.is_set()
        channel.beat()
        assert peer.closed.is_set()
        assert (await other.receive(timeout=10)).type is aiohttp.WSMsgType.CLOSED


async def test_a_link_whose_other_side_talks_and_never_reads_is_closed(peer: Watched) -> None:
    """It was told the same again and again, up to 16 MiB a link, and stayed for ever."""
    async with linked(peer, answers_pings=False) as other:
        channel = await peer.channel()
        await other.pong(b"")
        await taken_over(channel)
        connection = other._response.connection
        assert connection is not None
        assert connection.transport is not None
        connection.transport.pause_reading()  # type: ignore[attr-defined]
        channel.write(bytes(8_000_000))
        beats = 0
        while not peer.closed.is_set():
            assert beats < 10
            channel._quiet_beats = 0  # something came
            channel.beat()
            beats += 1
        assert beats >= 4
        connection.transport.resume_reading()  # type: ignore[attr-defined]


@pytest.mark.parametrize("secured", [False, True], ids=["plain", "TLS"])
async def test_a_link_that_is_read_slowly_stays(secured: bool) -> None:
    """Some is read between any two looks, and more waits all the time: the buffers below tell of it
    megabytes at a time, or under TLS when the last of it has gone."""
    shown = tls(HOST) if secured else None
    transport = WebSocketTransport(f"{HOST}:0", tls=shown)
    runtime = AsyncioRuntime(Contact(1, await transport.listen()), transport, seed=1)
    watched = Watched(runtime, transport)
    context = None if shown is None else shown.client_context()
    host, _, port = runtime.contact.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), ssl=context, limit=1 << 14)
    lines = ["GET /peer HTTP/1.1", f"Host: {HOST}", "Connection: Upgrade", "Upgrade: websocket",
             "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
             f"Sec-WebSocket-Protocol: {PROTOCOL}",
             *(f"{name}: {value}" for name, value in HEADERS.items()), "", ""]  # fmt: skip
    writer.write("\r\n".join(lines).encode())
    await reader.readuntil(b"\r\n\r\n")
    writer.write(frame(Opcode.PONG, b"", masked=True))
    channel = await watched.channel()
    await taken_over(channel)
    for _ in range(16):
        channel.write(bytes(1_000_000))
    for _ in range(16):
        channel.write(bytes(100))
        assert channel.backlog
        await reader.readexactly(300_000)
        channel._quiet_beats = 0  # it talks as well
        channel.beat()
        assert not watched.closed.is_set()
    writer.transport.abort()
    await runtime.aclose()


async def test_a_peer_answers_the_pings_of_others(peer: Watched) -> None:
    async with linked(peer, answers_pings=False) as other:
        await other.ping(b"there?")
        answer = await other.receive(timeout=10)
        assert (answer.type, answer.data) == (aiohttp.WSMsgType.PONG, b"there?")


async def test_every_link_is_looked_at_again_and_again(
    peer: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    beaten: list[WebSocketChannel] = []

    def beat(channel: WebSocketChannel) -> None:
        beaten.append(channel)

    monkeypatch.setattr(WebSocketChannel, "beat", beat)
    async with linked(peer):
        channel = await peer.channel()
        first = peer._transport._heart
        assert first is not None
        first.cancel()
        peer._transport._beat()
        assert beaten == [channel]
        assert peer._transport._heart is not first
