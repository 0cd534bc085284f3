"""What waits for reply addresses as their peer stops: each document is said to be dropped."""

from __future__ import annotations

import asyncio
import logging
import socket

import aiohttp
import pytest
from aiohttp import web

from meteor import Peer, parse_policy
from meteor.rest.replies import Replies
from tests.meteor.building import SPACE

pytestmark = pytest.mark.sockets


async def test_what_was_on_its_way_is_counted_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hole:
        replies = Replies()
        for at in range(3):
            replies.send(f"127.0.0.1:{hole.getsockname()[1]}", b"%d" % at)
        await asyncio.sleep(0)  # the first is being sent
        await replies.stop(web.Application())
    assert replies.dropped == 3


async def test_what_comes_once_it_stopped_is_dropped() -> None:
    for used_before in (False, True):
        replies = Replies()
        if used_before:
            replies.send("127.0.0.1:1", b"0")
            await asyncio.sleep(0)
        await replies.stop(web.Application())
        before = replies.dropped
        replies.send("127.0.0.1:1", b"1")
        assert replies.dropped == before + 1
        assert (len(replies._tasks), len(replies._waiting)) == (0, 0)


async def test_each_is_logged_by_a_peer_that_stops(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hole:
        address = f"127.0.0.1:{hole.getsockname()[1]}"
        policy = parse_policy(f'default = "allow"\nreply_addresses = ["{address}"]')
        question = {"profile": "type=light", "action": f"retrieve({address})"}
        async with Peer(space=SPACE, policy=policy) as peer, aiohttp.ClientSession() as session:
            for _ in range(4):
                url = f"http://{peer.address}/messages"
                async with session.post(url, json=question) as answer:
                    assert answer.status == 200
            caplog.set_level(logging.WARNING, "meteor.rest.replies")
    said = [one for one in caplog.messages if "the peer stops" in one]
    assert len(said) == 4
