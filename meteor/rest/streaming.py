"""Writing Server-Sent Events to one client: batches, keep-alives, and noticing that it is gone.

Law of this file: a client that reads slowly costs one bounded write; one that is gone is noticed at
once where the kernel tells, and at the next keep-alive where it does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from aiohttp import web

from meteor.rest.config import RestConfig
from meteor.rest.feed import Event
from meteor.rest.negotiation import EVENTS

BATCH: Final = 64
"""Events in one write: few enough that a stalled client holds little."""
RETRY_MS: Final = 1000
"""How long a browser waits before it comes back."""
LOOK_S: Final = 1.0
"""How often it is looked whether the client is still there while nothing is written."""
KEEP_ALIVE: Final = b": keep-alive\n\n"


class StreamWriter:
    """The response of one event stream."""

    batch = BATCH

    def __init__(self, request: web.Request, config: RestConfig) -> None:
        self._request, self._config = request, config
        self.is_broken = False
        """Whether the client is gone."""
        self.response = web.StreamResponse(
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        )
        self.response.content_type = EVENTS
        self.response.charset = "utf-8"

    async def head(self) -> web.StreamResponse:
        """The answer to HEAD: no interest is posted for it."""
        await self.response.prepare(self._request)
        return self.response

    async def open(self) -> None:
        """Send the headers, and how soon to come back."""
        await self.response.prepare(self._request)
        await self._send(f"retry: {RETRY_MS}\n\n".encode())

    async def write(self, events: Sequence[Event]) -> None:
        """Write events; a client that is gone or does not read shows as `is_broken`."""
        await self._send(b"".join(event.encode() for event in events))

    async def wait(self, news: asyncio.Event) -> None:
        """Return when there is news, when the client is gone, or after a keep-alive."""
        left_s = self._config.keep_alive_s
        while left_s > 0:
            transport = self._request.transport
            if transport is None or transport.is_closing():
                self.is_broken = True
                return
            look_s = min(LOOK_S, left_s)
            try:
                async with asyncio.timeout(look_s):
                    await news.wait()
            except TimeoutError:
                left_s -= look_s
            else:
                return
        await self._send(KEEP_ALIVE)

    async def _send(self, raw: bytes) -> None:
        try:
            async with asyncio.timeout(self._config.write_timeout_s):
                await self.response.write(raw)
        except (TimeoutError, ConnectionError):
            self.is_broken = True
            if self._request.transport is not None:
                self._request.transport.abort()
