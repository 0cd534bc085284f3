"""Two peers and a client of plain HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

import meteor
from meteor.rest.config import RestConfig
from tests.meteor.building import SPACE
from tests.meteor.rest.http_client import Http

CONFIG = RestConfig(
    cors_origins=("https://panel.example",), body_timeout_s=0.3, keep_alive_s=0.2, stream_queue=50,
    streams_max=4,
)  # fmt: skip


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    async with (
        meteor.Peer(space=SPACE, rest=CONFIG) as founder,
        meteor.Peer(join=[founder.address], rest=CONFIG) as second,
        aiohttp.ClientSession() as session,
    ):
        yield Http(session, [founder, second])
