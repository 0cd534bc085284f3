"""Interests that a peer follows for reply addresses: no more than it may, also of those at once."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from meteor import Peer, parse_policy
from tests.meteor.building import SPACE

pytestmark = pytest.mark.sockets

ADDRESS = "127.0.0.1:9"
FOLLOWED_MAX = 2


async def test_interests_that_are_posted_at_once_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("meteor.rest.replies.STANDING_MAX", FOLLOWED_MAX)
    policy = parse_policy(f'default = "allow"\nreply_addresses = ["{ADDRESS}"]')
    document = {"profile": "type=light", "action": f"notify_data({ADDRESS})", "ttl": 60}

    async with Peer(space=SPACE, policy=policy) as peer, aiohttp.ClientSession() as session:
        url = f"http://{peer.address}/messages"

        async def post(form: dict[str, Any]) -> int:
            async with session.post(url, json=form) as answer:
                return answer.status

        refused = {**document, "profile": "nowhere=*"}  # it would ask every peer
        assert [await post(refused) for _ in range(FOLLOWED_MAX)] == [403] * FOLLOWED_MAX
        answered = await asyncio.gather(*(post(document) for _ in range(4)))
        assert sorted(answered) == [200] * FOLLOWED_MAX + [503] * 2
        assert await post(document) == 503
