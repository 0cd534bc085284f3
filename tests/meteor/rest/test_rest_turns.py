"""Callers over HTTP wait for their turn as clients do: one's flood is not the others' weather."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

import meteor
from meteor.rendezvous.fair_queue import DoorLimits, FairQueue
from meteor.rest.body import read_body
from meteor.rest.config import RestConfig
from tests.meteor.building import SPACE
from tests.meteor.rest.http_client import Http

pytestmark = pytest.mark.sockets

LIMITS = DoorLimits(each=8, in_progress=24, waiting=200)
ABOVE = LIMITS.each + LIMITS.waiting + 20
"""More requests at once than one caller may have."""


def narrow_door(peer: meteor.Peer) -> FairQueue:
    """A door with room for few, so that few connections make a flood."""
    door = peer.core.entry._door = FairQueue(LIMITS)
    return door


@asynccontextmanager
async def caller_at(host: str, peer: meteor.Peer) -> AsyncIterator[Http]:
    connector = aiohttp.TCPConnector(local_addr=(host, 0), limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Http(session, [peer])


async def until(condition: Callable[[], bool]) -> None:
    """Turn the loop until it holds."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the door tells nobody who comes
            await asyncio.sleep(0)


async def test_a_flood_is_bounded_and_another_caller_is_served_meanwhile() -> None:
    async with (
        meteor.Peer(space=SPACE) as peer,
        caller_at("127.0.0.1", peer) as flooder,
        caller_at("127.0.0.2", peer) as other,
    ):
        statuses: Counter[int] = Counter()
        door = narrow_door(peer)

        async def post(number: int) -> None:
            profile = f"type=flood temperature={number % 100}"
            status, headers, form = await flooder.ask("POST", "/profiles", profile=profile)
            statuses[status] += 1
            assert status == 200 or (
                headers["Retry-After"] and form["type"] == "urn:meteor:error:Busy"
            )

        flood = asyncio.gather(*(post(number) for number in range(ABOVE)))
        await until(lambda: door.waiting >= LIMITS.waiting // 2)
        assert max(queue.in_progress for queue in door._queues.values()) <= LIMITS.each
        status, _, _ = await other.ask("POST", "/profiles", profile="type=calm temperature=5")
        assert status == 200
        assert door.waiting, "its turn came before all of the flood's"
        await flood
        assert set(statuses) <= {200, 503}
        assert statuses[200] >= LIMITS.each + LIMITS.waiting
        assert not door.waiting
        assert not door._in_progress


async def test_who_hangs_up_while_waiting_leaves_nothing_behind() -> None:
    async with meteor.Peer(space=SPACE) as peer, caller_at("127.0.0.1", peer) as caller:
        door = narrow_door(peer)
        for _ in range(5):
            asked = [
                asyncio.ensure_future(caller.ask("GET", "/profiles", select="type=flood"))
                for _ in range(40)
            ]
            await until(lambda: door._in_progress > 0)
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        status, _, _ = await caller.ask("GET", "/profiles", select="type=flood")
        assert status == 200
        await until(lambda: not door._in_progress and not door.waiting)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_nobody_has_its_turn_before_its_body_is_here(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Also of a route without a body, which is read where a request says that it is signed."""
    async with meteor.Peer(space=SPACE) as peer, caller_at("127.0.0.1", peer) as caller:
        door = narrow_door(peer)
        in_progress: list[int] = []

        async def read(request: web.Request, config: RestConfig) -> bytes:
            in_progress.append(door._in_progress)
            return await read_body(request, config)

        monkeypatch.setattr("meteor.rest.call.read_body", read)
        signed = {
            "Meteor-Key": "ed25519:nobody", "Meteor-Signature": "", "Meteor-Issued": "1"
        }  # fmt: skip
        path = f"/profiles?{'profile' if method == 'POST' else 'select'}=type%3Dturn"
        status, _, form = await caller.ask(method, path, headers=signed, data=b"slow")
        assert (status, form["rule"]) == (403, "issue_time")
        assert in_progress == [0]


async def test_what_asks_nobody_waits_for_nobody() -> None:
    """Health, numbers and pictures are there while the door is full."""
    async with meteor.Peer(space=SPACE) as peer, caller_at("127.0.0.1", peer) as caller:
        door = narrow_door(peer)
        tickets = [door.arrive(client, 0, 0.0)[0] for client in range(LIMITS.in_progress)]
        assert len(tickets) == LIMITS.in_progress
        for path in ("/healthz", "/readyz", "/metrics", "/space", "/ring", "/"):
            assert (await caller.ask("GET", path))[0] == 200, path


async def test_one_address_leaves_streams_for_others() -> None:
    """What waits for the same address's return gives way first."""
    config = RestConfig(streams_max=4, streams_each=3)
    async with (
        meteor.Peer(space=SPACE, rest=config) as peer,
        caller_at("127.0.0.1", peer) as greedy,
        caller_at("127.0.0.2", peer) as other,
    ):
        replies = [
            await greedy.session.get(greedy.url("/events", select=f"temperature={number}"))
            for number in range(3)
        ]
        assert [reply.status for reply in replies] == [200] * 3
        status, _, form = await greedy.ask("GET", "/events", select="temperature=9")
        assert (status, "3 event streams of 127.0.0.1" in form["detail"]) == (503, True)
        theirs = await other.session.get(other.url("/events", select="temperature=9"))
        assert theirs.status == 200
        replies[0].close()
        status = 503
        async with asyncio.timeout(60):
            while status == 503:
                reply = await greedy.session.get(greedy.url("/events", select="temperature=7"))
                status = reply.status
                reply.close()
        assert status == 200
        assert not theirs.content.at_eof()
        for left in (*replies, theirs):
            left.close()
