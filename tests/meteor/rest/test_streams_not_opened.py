"""Event streams that are not opened: a door that is full, a client that hung up before its turn.

Neither is an error of the peer's, and its log says nothing of either.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import warnings
from collections.abc import Callable

import aiohttp
import pytest

import meteor
from meteor.rendezvous.fair_queue import DoorLimits, FairQueue
from tests.meteor.building import SPACE
from tests.meteor.rest.http_client import Http

pytestmark = pytest.mark.sockets

SOMEBODY = 9


async def until(condition: Callable[[], bool]) -> None:
    """Turn the loop until it holds."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the door tells nobody who comes
            await asyncio.sleep(0)


async def test_a_stream_that_is_refused_at_the_door_is_no_slip_of_the_peers() -> None:
    async with meteor.Peer(space=SPACE) as peer, aiohttp.ClientSession() as session:
        door = peer.core.entry._door = FairQueue(DoorLimits(each=1, in_progress=1, waiting=0))
        door.arrive(SOMEBODY, 0, 0.0)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", RuntimeWarning)
            status, _, form = await Http(session, [peer]).ask("GET", "/events", select="type=a")
            gc.collect()
        assert (status, form["type"]) == (503, "urn:meteor:error:Busy")
        assert not [one.message for one in told if "never awaited" in str(one.message)]


@pytest.mark.parametrize("last_id", ["", "events-unknown:d:1"])
async def test_who_hangs_up_before_its_stream_begins_leaves_no_error(
    caplog: pytest.LogCaptureFixture, last_id: str
) -> None:
    async with meteor.Peer(space=SPACE) as peer:
        door = peer.core.entry._door = FairQueue(DoorLimits(each=1, in_progress=1, waiting=9))
        ticket, _ = door.arrive(SOMEBODY, 0, 0.0)
        host, _, port = peer.address.rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        head = f"GET /events?select=type%3Da HTTP/1.1\r\nHost: x\r\nLast-Event-ID: {last_id}"
        writer.write(f"{head}\r\n\r\n".encode())
        await until(lambda: door.waiting == 1)
        connections = peer._transport._runner.server.connections  # type: ignore[union-attr]
        transports = [handler.transport for handler in connections]
        writer.transport.abort()
        await until(lambda: all(one is None or one.is_closing() for one in transports))
        with caplog.at_level(logging.ERROR):
            peer.core.entry._leave(SOMEBODY, ticket)
            await until(lambda: not door._in_progress and not door.waiting)
        assert not caplog.records, caplog.text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"select": "type=a"}, 200),
        ({"select": ""}, 400),
        ({"select": "temperature=warm"}, 400),
        ({"select": "nothing=1"}, 403),
        ({"select": "type=(", "action": "notify_interest"}, 400),
        ({"select": "type=" + "a" * 5000}, 413),
        ({"select": "type=*"}, 403),
        ({"select": "type=*", "everywhere": "true"}, 200),
        ({"select": "type=*", "action": "notify_interest"}, 200),
    ],
)
async def test_head_says_of_a_stream_what_get_does(query: dict[str, str], expected: int) -> None:
    """What no stream is opened for was 200 all the same."""
    async with meteor.Peer(space=SPACE) as peer, aiohttp.ClientSession() as session:
        url = Http(session, [peer]).url("/events", **query)
        answered = []
        for method in ("GET", "HEAD"):
            async with session.request(method, url) as reply:
                answered.append((reply.status, reply.content_type))
        assert answered[0] == answered[1]
        assert answered[0][0] == expected
        assert peer.core.shelf.store.public_count() <= 1
