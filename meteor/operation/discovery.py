"""Finding peers whose addresses nobody wrote down: a file of them, or the local network.

Law of this file: what is found is a hint, no more: whoever is dialled proves by TLS that it is a
peer of the ring, and by its greeting that it is the same ring.  Multicast is an extra and off by
default: on many networks it is blocked, and it then costs `BROWSE_S` and finds nobody.
"""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Final, Self

from meteor.errors import MeteorError
from meteor.links.address import checked_address, host_of

SERVICE: Final = "_meteor._tcp.local."
BROWSE_S: Final = 2.0
"""How long answers of the local network are waited for."""
ADDRESSES_MAX: Final = 256
"""More peers than this nobody needs to join a ring."""
_INFO_MS: Final = 1_000


def addresses_in(text: str) -> list[str]:
    """The addresses of a file, one a line; what follows a # is a comment.

    Raises `ValueError` that names the line."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        address = line.partition("#")[0].strip()
        if address:
            found.append(checked_address(f"line {number}", address))
    return found[:ADDRESSES_MAX]


class LocalNetwork:
    """Peers of one name on the local network, by multicast DNS: `async with LocalNetwork(name)`.

    One instance a process.  Needs the extra `zeroconf`, and raises `MeteorError` without it."""

    def __init__(self, ring: str, *, interfaces: list[str] | None = None) -> None:
        self.ring = ring
        self._interfaces = interfaces
        self._zeroconf: Any = None

    async def __aenter__(self) -> Self:
        try:
            from zeroconf import InterfaceChoice, IPVersion  # noqa: PLC0415 - an extra
            from zeroconf.asyncio import AsyncZeroconf  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MeteorError(
                "zeroconf is not installed: pip install 'meteor-rendezvous[zeroconf]', or name "
                "peers by join"
            ) from error
        interfaces = self._interfaces or InterfaceChoice.All
        self._zeroconf = AsyncZeroconf(interfaces=interfaces, ip_version=IPVersion.V4Only)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._zeroconf.async_close()

    async def find(self, wait_s: float = BROWSE_S) -> list[str]:
        """The addresses of peers that say they belong to a ring of this name, sorted.

        Raises `MeteorError` when the network cannot be asked."""
        from zeroconf import Error  # noqa: PLC0415 - an extra

        try:
            return await self._find(wait_s)
        except Error as error:
            raise MeteorError(f"the local network cannot be asked: {error}") from error

    async def _find(self, wait_s: float) -> list[str]:
        from zeroconf import ServiceStateChange  # noqa: PLC0415 - an extra
        from zeroconf.asyncio import AsyncServiceBrowser  # noqa: PLC0415 - an extra

        names: dict[str, None] = {}

        def changed(*, name: str, state_change: Any, **_: Any) -> None:
            if state_change is ServiceStateChange.Added and len(names) < ADDRESSES_MAX:
                names[name] = None

        browser = AsyncServiceBrowser(self._zeroconf.zeroconf, SERVICE, handlers=[changed])
        try:
            await asyncio.sleep(wait_s)
        finally:
            await browser.async_cancel()
        found = await asyncio.gather(*(self._addresses_of(name) for name in names))
        return sorted({address for addresses in found for address in addresses})

    async def _addresses_of(self, name: str) -> list[str]:
        info = await self._zeroconf.async_get_service_info(SERVICE, name, _INFO_MS)
        if info is None or (info.properties or {}).get(b"ring") != self.ring.encode():
            return []
        return [f"{host}:{info.port}" for host in info.parsed_addresses()]

    async def announce(self, address: str, id: int) -> None:
        """Let others on the network find this peer, until the end of the `async with`.

        Raises `MeteorError` for an address that is no number: a name is for its own DNS."""
        from zeroconf.asyncio import AsyncServiceInfo  # noqa: PLC0415 - an extra

        host, port = host_of(address), int(address.rpartition(":")[2])
        try:
            packed = ip_address(host).packed
        except ValueError:
            raise MeteorError(
                f"{address} cannot be announced: give advertise as an IP address"
            ) from None
        info = AsyncServiceInfo(
            SERVICE, f"{id:x}.{SERVICE}", addresses=[packed], port=port,
            properties={"ring": self.ring},
        )  # fmt: skip
        await self._zeroconf.async_register_service(info)
