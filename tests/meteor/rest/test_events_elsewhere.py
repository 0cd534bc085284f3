"""A client of `/events` that goes on at another peer, while its first one still waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

import meteor
from meteor.rest.config import RestConfig
from tests.meteor.building import SPACE
from tests.meteor.rest.http_client import Http, events, take

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize("meanwhile", ["it gives up waiting", "it renews"])
async def test_the_peer_that_was_left_takes_nothing_from_the_next(meanwhile: str) -> None:
    """After a minute it deleted the interest that both had under one name; a renewal of its own
    brought the notices back to it, where nobody reads them."""
    config = RestConfig(keep_alive_s=0.2, linger_s=0.5 if "gives" in meanwhile else 60.0)
    async with (
        meteor.Peer(space=SPACE, rest=config) as founder,
        meteor.Peer(join=[founder.address], rest=config) as second,
        aiohttp.ClientSession() as session,
    ):
        http, amended = Http(session, [founder, second]), _amended_by(founder)
        async with session.get(http.url("/events", select="temperature>=20")) as reply:
            ((_, last, _),) = await take(events(reply), 1)
        url = http.url("/events", 1, select="temperature>=20")
        async with session.get(url, headers={"Last-Event-ID": last}) as reply:
            stream = events(reply)
            await take(stream, 2)
            await _later(amended, founder, meanwhile)
            stored = await http.store(30.0)
            ((kind, _, match),) = await take(stream, 1)
            assert (kind, match["id"]) == ("match", stored)


async def _later(amended: asyncio.Event, founder: meteor.Peer, meanwhile: str) -> None:
    """Its time is over, or a third of the interest's is."""
    if meanwhile == "it renews":
        for stream in list(founder._session_of_guests().streams.values()):
            await stream.reattach()
    await asyncio.wait_for(amended.wait(), 10)


def _amended_by(peer: meteor.Peer) -> asyncio.Event:
    """Set when the peer has renewed or cancelled what its guests posted."""
    session, amended = peer._session_of_guests(), asyncio.Event()
    amend = session.amend

    async def and_say_so(*words: Any, **fields: Any) -> Any:
        try:
            return await amend(*words, **fields)
        finally:
            amended.set()

    session.amend = and_say_so  # type: ignore[method-assign]
    return amended
