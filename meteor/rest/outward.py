"""Where the name of a reply address may lead: never to the peer's own machine or its network card.

Law of this file: the resolver asks, `is_outward` decides.  A policy names `*.example.org`, and who
keeps that domain says where its names lead: to 127.0.0.1 they would reach what listens there
for this machine alone, to 169.254.169.254 what a cloud tells it in confidence.  An operator who
means such an address writes its numbers, or `localhost`.
"""

from __future__ import annotations

import socket
from ipaddress import IPv6Address, ip_address
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

LOCAL: Final = "localhost"


class OutwardResolver(AbstractResolver):
    """Looks names up as the system does, and forgets what no name may lead to."""

    def __init__(self) -> None:
        self._system = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name that it may be contacted by; raises `OSError` for none."""
        found = await self._system.resolve(host, port, family)
        allowed = [one for one in found if host.lower() == LOCAL or is_outward(one["host"])]
        if not allowed:
            raise OSError(f"{host[:80]} leads to nothing but this machine's own addresses")
        return allowed

    async def close(self) -> None:
        """Nothing is kept open."""
        await self._system.close()


def is_outward(text: str) -> bool:
    """Whether a name may lead to this IP address."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address.sixtofour or address
    return not (
        address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or address.is_multicast
    )
