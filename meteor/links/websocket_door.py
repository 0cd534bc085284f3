"""Connections that ask for nothing, or read nothing: closed after a while.

Law of this file: who has sent one whole request is nobody's concern here; aiohttp closes him when
he falls silent.  Who has not, costs a descriptor that others need: aiohttp waits for him for ever.
So it does for who reads no answer, and a large one is kept for him meanwhile.
"""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from meteor.links.websocket_taken import taken

FIRST_REQUEST_S: Final = 15.0
"""How long a connection may take until the headers of its first request are there."""
SILENT_MAX: Final = 768
"""Connections without a request; the oldest goes for one more.  More than may be taken in one turn
of the loop (`BACKLOG` of the transport), so that dials that come at one moment are no attack."""
KEEP_ALIVE_S: Final = 75.0
"""How long a connection may be silent between two requests, or send headers of the next."""
LARGE_BYTES: Final = 256 * 1024
"""Answers above this are looked after; smaller ones are mostly the kernel's."""
READING_S: Final = 30.0
"""In so long some of a large answer must be read; who does not is cut off."""
READ_BYTES_MIN: Final = 64 * 1024
"""How much of it."""


class Door:
    """What makes protocols for connections, and looks after those that say nothing."""

    def __init__(self, server: web.Server) -> None:
        self._server = server
        self._silent: dict[object, asyncio.TimerHandle] = {}
        self._shaking: dict[object, asyncio.TimerHandle] = {}
        """Those that gave way to others before they could be closed: under TLS a connection has no
        transport until it has shaken hands, for which its time is short."""
        self._answers: dict[object, asyncio.TimerHandle] = {}
        self.closed = 0
        """Connections that were closed because they said, or read, nothing."""

    def __call__(self) -> asyncio.Protocol:
        """The protocol of one connection."""
        protocol = self._server()
        if len(self._silent) >= SILENT_MAX:
            self._give_way(next(iter(self._silent)))
        loop = asyncio.get_running_loop()
        self._silent[protocol] = loop.call_later(FIRST_REQUEST_S, self._close, protocol)
        return protocol

    def __len__(self) -> int:
        return len(self._silent)

    def asked(self, protocol: object) -> None:
        """A request came whole by this connection."""
        for timers in (self._silent, self._shaking, self._answers):
            timer = timers.pop(protocol, None)
            if timer is not None:
                timer.cancel()

    def answers(self, protocol: object, size: int) -> None:
        """An answer of so many bytes is about to be written, or this is left of it."""
        if size > LARGE_BYTES or protocol in self._answers:
            loop = asyncio.get_running_loop()
            transport = getattr(protocol, "transport", None)
            before = None if transport is None else taken(transport)
            look = loop.call_later(READING_S, self._look, protocol, size, before)
            self._answers[protocol] = look

    def _look(self, protocol: object, size: int, before: int | None) -> None:
        transport = getattr(protocol, "transport", None)
        left = 0 if transport is None else transport.get_write_buffer_size()
        now = None if transport is None else taken(transport)
        if now is not None and before is not None:  # under TLS nothing is left that shows
            left = max(size - (now - before), 0)
        if not left:
            self.asked(protocol)
        elif left > size - READ_BYTES_MIN:
            self._close(protocol)
        else:
            self.answers(protocol, left)

    def stop(self) -> None:
        """No more is looked after: the server closes its connections itself."""
        for timers in (self._silent, self._shaking, self._answers):
            for timer in timers.values():
                timer.cancel()
            timers.clear()

    def _give_way(self, protocol: object) -> None:
        if getattr(protocol, "transport", None) is None:
            self._shaking[protocol] = self._silent.pop(protocol)
        else:
            self._close(protocol)

    def _close(self, protocol: object) -> None:
        self.asked(protocol)
        transport = getattr(protocol, "transport", None)
        if transport is not None and not transport.is_closing():
            self.closed += 1
            transport.abort()


def told_to(door: list[Door]) -> Middleware:
    """Tells the door of every request; there is none before the application listens."""

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        for one in door:
            one.asked(request.protocol)
        response = await handler(request)
        has_none = response.prepared or request.method == "HEAD"
        for one in door:
            one.answers(request.protocol, 0 if has_none else response.content_length or 0)
        return response

    return note
