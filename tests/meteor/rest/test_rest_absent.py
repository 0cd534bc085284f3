"""Event streams whose client is gone, or does not read: what they cost ends by itself."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import aiohttp
import pytest

import meteor
from meteor.rest.config import RestConfig
from tests.meteor.building import SPACE
from tests.meteor.rest.http_client import Http, events, take

pytestmark = pytest.mark.sockets

LARGE = bytes(900_000)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Ask again and again until it holds."""
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - an interest's end raises no event
            await asyncio.sleep(0)


async def interests(peer: meteor.Peer) -> int:
    return (await peer.delete_interest("temperature>=20", dry_run=True)).matches


@asynccontextmanager
async def that_reads_little(peer: meteor.Peer) -> AsyncIterator[socket.socket]:
    """A socket on which a stream was asked for, and opened, that takes in little by itself."""
    host, _, port = peer.address.rpartition(":")
    with socket.socket() as asking:
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asking.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(asking, (host, int(port)))
        target = f"/events?{urlencode({'select': 'temperature>=20'})}"
        asked = f"GET {target} HTTP/1.1\r\nHost: {peer.address}\r\n\r\n"
        await loop.sock_sendall(asking, asked.encode())

        async def is_open() -> bool:
            return await interests(peer) == 1

        await until(is_open)
        yield asking


async def test_the_interest_of_who_does_not_come_back_goes_after_a_while() -> None:
    config = RestConfig(linger_s=0.2)
    async with meteor.Peer(space=SPACE, rest=config) as peer, aiohttp.ClientSession() as session:
        http = Http(session, [peer])
        async with session.get(http.url("/events", select="temperature>=20")) as reply:
            ((opened, name, _),) = await take(events(reply), 1)
            assert (opened, await interests(peer)) == ("open", 1)
        await http.store(25.0)  # writing to it shows that nobody reads any more

        async def nobody_waits() -> bool:
            return await interests(peer) == 0

        await until(nobody_waits)
        headers = {"Last-Event-ID": name}
        url = http.url("/events", select="temperature>=20")
        async with session.get(url, headers=headers) as reply:
            ((word, _, _),) = await take(events(reply), 1)
        assert word == "reset", "what was kept for it is gone, and it is told"


async def test_who_does_not_read_is_cut_off() -> None:
    """A client that takes nothing costs one bounded write, and then its connection."""
    config = RestConfig(write_timeout_s=0.2, linger_s=0.2)
    async with meteor.Peer(space=SPACE, rest=config) as peer, that_reads_little(peer) as silent:
        loop = asyncio.get_running_loop()
        for number in range(12):
            await peer.store(f"type=t temperature={20 + number}", LARGE)

        async def is_cut_off() -> bool:
            return await interests(peer) == 0

        await until(is_cut_off)
        received = 0
        try:
            while piece := await loop.sock_recv(silent, 1 << 20):
                received += len(piece)
        except ConnectionResetError:
            was_reset = True
        else:
            was_reset = False
        assert received < 12 * len(LARGE)
        assert was_reset or sys.platform != "linux", "the system's megabytes are forgotten too"


async def test_who_reads_slowly_is_waited_for() -> None:
    """One write that took longer than a client may read nothing cut off who read all the time."""
    config = RestConfig(write_timeout_s=1.0)
    async with meteor.Peer(space=SPACE, rest=config) as peer, that_reads_little(peer) as slow:
        for number in range(4):
            await peer.store(f"type=t temperature={20 + number}", LARGE)
        loop = asyncio.get_running_loop()
        hurries_s, told = loop.time() + 3 * config.write_timeout_s, 0
        while told < 6:  # the word how soon to come back, and `open`, too
            if loop.time() < hurries_s:  # its pace, as a write waits for it; then all the rest
                await asyncio.sleep(0.05)
            piece = await loop.sock_recv(slow, 1 << 16)
            assert piece, f"closed after {told} events"
            told += piece.count(b"\n\n")
