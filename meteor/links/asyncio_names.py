"""The addresses of hosts that are dialled by name, asked for in threads of their own.

Law of this file: the edge.  Whoever asks the system for a name waits in a thread for as long as the
resolver pleases, and nothing ends that.  In the event loop's own threads, of which there are few,
handlers and files would wait behind him.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from aiohttp.abc import AbstractResolver, ResolveResult

NAMES_AT_ONCE: Final = 8
_NUMERIC: Final = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV
_FLAGS: Final = 0 if sys.platform == "win32" else socket.AI_ADDRCONFIG
"""As aiohttp asks, which leaves out the families that the host does not speak."""


class NameThreads(AbstractResolver):
    """Asks the system for names, a few at once."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(NAMES_AT_ONCE, thread_name_prefix="names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Where that host is; raises `OSError`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _resolved, host, port, family)

    async def close(self) -> None:
        """Ask no more; who is being asked for is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _resolved(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
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
