"""Plain HTTP to two peers over sockets, and reading Server-Sent Events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

import meteor


@dataclass
class Http:
    """A client of plain HTTP, and the two peers that it may ask."""

    session: aiohttp.ClientSession
    peers: list[meteor.Peer]

    def url(self, path: str, peer: int = 0, **query: str) -> str:
        asked = f"?{urlencode(query)}" if query else ""
        return f"http://{self.peers[peer].address}{path}{asked}"

    async def ask(
        self, method: str, path: str, *, peer: int = 0, headers: Any = None, data: Any = None,
        **query: str,
    ) -> tuple[int, Any, Any]:  # fmt: skip
        """Status, headers, and the body as JSON where it is."""
        url = self.url(path, peer, **query)
        async with self.session.request(method, url, headers=headers, data=data) as reply:
            raw = await reply.read()
            as_json = raw and reply.content_type.endswith("json")
            return reply.status, reply.headers, json.loads(raw) if as_json else raw

    async def store(self, number: float, **query: str) -> str:
        profile = f"type=temperature temperature={number}"
        status, _, form = await self.ask("POST", "/profiles", profile=profile, **query)
        assert status == 200, form
        return str(form["id"])


async def events(reply: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, str, Any]]:
    """Kind, id and data of each event."""
    fields: dict[str, str] = {}
    async for raw in reply.content:
        line = raw.decode().rstrip("\n")
        if line.startswith(":"):
            yield "keep-alive", "", None
        elif line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield fields["event"], fields.get("id", ""), json.loads(fields.get("data") or "null")
            fields = {}


async def take(stream: AsyncIterator[Any], count: int) -> list[Any]:
    found = []
    async with asyncio.timeout(20):
        async for one in stream:
            if one[0] != "keep-alive":
                found.append(one)
            if len(found) == count:
                return found
    raise AssertionError(f"the stream ended after {found}")
