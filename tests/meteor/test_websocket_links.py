"""Links on WebSockets: one a pair, several frames a message, and what ends when."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import subprocess
import sys
import textwrap
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from chord import Contact, DialRefused
from meteor.links import asyncio_links, link_keeping
from meteor.links.websocket_channel import (
    WebSocketChannel,
    contact_header,
    parse_contact,
)
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.messages import Greet, Greeting
from tests.meteor.websocket_peers import Make, channels, serves, until

pytestmark = pytest.mark.sockets


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
