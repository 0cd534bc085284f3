"""The addresses of hosts that are dialled by name, asked for in threads of their own.

Law of this file: the edge.  Whoever asks the system for a name waits in a thread for as long as the
resolver pleases, and nothing ends that.  In the event loop's own threads, of which there are few,
handlers and files would wait behind him; and in those of a pool a program that is over.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from contextlib import suppress
from typing import Final

from aiohttp.abc import AbstractResolver, ResolveResult

NAMES_AT_ONCE: Final = 8
_NUMERIC: Final = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV
_FLAGS: Final = 0 if sys.platform == "win32" else socket.AI_ADDRCONFIG
"""As aiohttp asks, which leaves out the families that the host does not speak."""

_Found = list[ResolveResult]


class NameThreads(AbstractResolver):
    """Asks the system for names, a few at once."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(NAMES_AT_ONCE)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> _Found:
        """Where that host is; raises `OSError`."""
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Found] = loop.create_future()

        def ask() -> None:
            try:
                found: _Found | Exception = _resolved(host, port, family)
            except Exception as error:
                found = error
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._tell, answer, found)

        # Of a daemon's end nobody waits, as Python does for the threads of a pool.
        thread = threading.Thread(target=ask, name="meteor-names", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            self._room.release()
            raise OSError(f"{host} cannot be asked for: {error}") from error
        return await answer

    def _tell(self, answer: asyncio.Future[_Found], found: _Found | Exception) -> None:
        self._room.release()
        if answer.done():  # whoever waited was cancelled
            return
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    async def close(self) -> None:
        """There is nothing to release: who is being asked for is not waited for."""


def _resolved(host: str, port: int, family: socket.AddressFamily) -> _Found:
    found = []
    for kind, _, proto, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, family=family, flags=_FLAGS
    ):
        numeric, number = socket.getnameinfo(address, _NUMERIC)
        found.append(
            ResolveResult(
                hostname=host,
                host=numeric,
                port=int(number),
                family=kind,
                proto=proto,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
        )
    return found
