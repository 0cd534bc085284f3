"""A signed stream that a busy peer does not open uses its signature up no more than any other
request that is to come later; and still no signature opens two."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest

from meteor import Peer
from meteor.rendezvous.fair_queue import DoorLimits, FairQueue
from meteor.rest.config import RestConfig
from tests.meteor.building import SPACE
from tests.meteor.rest.http_client import events, take
from tests.meteor.security.signed_http import PROFILE, Http, headers

pytestmark = pytest.mark.sockets

PATH = f"/events?select={PROFILE}"
SOMEBODY = 9


async def until(condition: Callable[[], bool]) -> None:
    """Turn the loop until it holds."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the door tells nobody who comes
            await asyncio.sleep(0)


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    rest = RestConfig(streams_each=1)
    async with Peer(space=SPACE, rest=rest) as peer, aiohttp.ClientSession() as session:
        yield Http(peer, session)


async def assert_opens(http: Http, signed: dict[str, str]) -> None:
    """The same request, as often as the peer is busy still."""
    async with asyncio.timeout(60):
        while True:
            async with http.stream(PATH, signed) as reply:
                if reply.status != 503:
                    assert reply.status == 200, await reply.text()
                    assert [kind for kind, _, _ in await take(events(reply), 1)] == ["open"]
                    return


async def test_who_is_refused_at_the_door_comes_later_with_the_same_request(http: Http) -> None:
    """It was told to come later, and then that it had opened a stream before."""
    door = http.peer.core.entry._door = FairQueue(DoorLimits(each=1, in_progress=1, waiting=0))
    ticket, _ = door.arrive(SOMEBODY, 0, 0.0)
    signed = headers("GET", PATH) | {"Accept": "text/event-stream, */*"}
    for _ in range(2):
        status, problem = await http.send("GET", PATH, b"", signed)
        assert (status, problem["type"]) == (503, "urn:meteor:error:Busy")
    http.peer.core.entry._leave(SOMEBODY, ticket)
    await assert_opens(http, signed)


async def test_who_has_too_many_streams_comes_later_with_the_same_request(http: Http) -> None:
    signed = headers("GET", PATH) | {"Accept": "text/event-stream, */*"}
    async with http.stream(PATH, {}) as reply:
        await take(events(reply), 1)
        status, problem = await http.send("GET", PATH, b"", signed)
        assert (status, problem["type"]) == (503, "urn:meteor:error:Busy")
    await assert_opens(http, signed)


async def test_of_two_that_wait_with_one_signature_one_is_opened() -> None:
    async with Peer(space=SPACE) as peer, aiohttp.ClientSession() as session:
        http = Http(peer, session)
        door = peer.core.entry._door = FairQueue(DoorLimits(each=4, in_progress=1, waiting=9))
        ticket, _ = door.arrive(SOMEBODY, 0, 0.0)
        signed = headers("GET", PATH)

        async def status() -> int:
            async with http.stream(PATH, signed) as reply:
                return int(reply.status)

        asked = [asyncio.create_task(status()) for _ in range(3)]
        await until(lambda: door.waiting + sum(one.done() for one in asked) == 3)
        peer.core.entry._leave(SOMEBODY, ticket)
        assert sorted(await asyncio.gather(*asked)) == [200, 403, 403]
