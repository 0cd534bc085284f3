"""Writing Server-Sent Events to one client: batches, keep-alives, and noticing that it is gone.

Law of this file: a client that reads slowly costs one bounded write, and is waited for as long as
it takes some of it; one that is gone is noticed at once where the kernel tells, and at the next
keep-alive where it does not.
"""

from __future__ import annotations

import asyncio
import socket as sockets
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from aiohttp import web

from meteor.links.websocket_taken import taken
from meteor.rest.config import RestConfig
from meteor.rest.feed import Event
from meteor.rest.negotiation import EVENTS

BATCH: Final = 64
"""Events in one write: few enough that a stalled client holds little ..."""
BATCH_BYTES: Final = 64 * 1024
"""... and so many bytes of them, or one event: 64 large ones would be 90 MB."""
RETRY_MS: Final = 1000
"""How long a browser waits before it comes back."""
LOOK_S: Final = 1.0
"""How often it is looked whether the client is still there while nothing is written."""
KEEP_ALIVE: Final = b": keep-alive\n\n"


class StreamWriter:
    """The response of one event stream."""

    batch, batch_bytes = BATCH, BATCH_BYTES

    def __init__(self, request: web.Request, config: RestConfig) -> None:
        self._request, self._config = request, config
        self.is_broken = False
        """Whether the client is gone."""
        self._look: asyncio.TimerHandle
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
        """Send the headers, and how soon to come back; a client that is gone by then shows as
        `is_broken`."""
        try:
            await self.response.prepare(self._request)
        except ConnectionError:
            self.is_broken = True
            return
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
        self._look = self._look_later()
        try:
            await self.response.write(raw)
        except ConnectionError:
            self.is_broken = True
        finally:
            self._look.cancel()

    def _look_later(self) -> asyncio.TimerHandle:
        transport = self._request.transport
        before = None if transport is None else taken(transport)
        loop = asyncio.get_running_loop()
        return loop.call_later(self._config.write_timeout_s, self._look_whether_it_reads, before)

    def _look_whether_it_reads(self, before: int | None) -> None:
        """A write takes long: cut the client off, unless it took some since it was looked at."""
        transport = self._request.transport
        now = None if transport is None else taken(transport)
        if before is not None and now is not None and now > before:
            self._look = self._look_later()
            return
        self.is_broken = True
        if transport is not None:
            _cut_off(transport)


def _cut_off(transport: asyncio.Transport) -> None:
    """Close it at once, and have the system forget what it still has for it: megabytes, which it
    would offer to who reads nothing for minutes more."""
    socket = transport.get_extra_info("socket")
    if socket is not None and sys.platform == "linux":
        with suppress(OSError):
            socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
