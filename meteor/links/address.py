"""Addresses as people write them.

Law of this file: pure.  An address is `host:port`; what is none is refused before anybody dials.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final

from meteor.wrong_values import said

PORT_MAX: Final = 65_535
WILDCARD_HOSTS: Final = ("0.0.0.0", "::", "[::]", "*")  # noqa: S104 (only compared)
"""Hosts that a peer can listen on and that nobody can dial."""
_NO_HOST: Final = re.compile(r"[\s/@?#\\]")
"""What would make another URL of `host:port`."""
_BRACKETED: Final = re.compile(r"\[[^\[\]]+\]")
"""A host with colons of its own; `::`, which nobody dials, is understood without."""


def checked_address(operation: str, address: str, *, port_min: int = 1) -> str:
    """The address itself; raises `ValueError`, with the operation's name, if it is not `host:port`
    with a port from `port_min` to 65535."""
    host, _, port = address.rpartition(":") if isinstance(address, str) else ("", "", "")
    if (
        host
        and _NO_HOST.search(host) is None
        and (":" not in host or host == "::" or _BRACKETED.fullmatch(host))
        and port.isascii()
        and port.isdigit()
        and port_min <= int(port) <= PORT_MAX
    ):
        return address
    raise ValueError(
        f"{operation}: {said(address)} is no address; "
        "write host:port, as 127.0.0.1:7400 or [::1]:7400"
    )


def checked_listen(listen: str, advertise: str | None) -> None:
    """Refuse what a peer cannot be reached at; raises `ValueError`.  Port 0 takes any."""
    checked_address("listen", listen, port_min=0)
    if advertise is not None:
        checked_address("advertise", advertise)
    elif listen.rpartition(":")[0] in WILDCARD_HOSTS:
        raise ValueError(
            f"listen: nobody can dial {listen!r}; say by advertise= where this peer is reached"
        )


def host_of(address: str) -> str:
    """The host of `host:port`, without the brackets of an IPv6 one."""
    return address.rpartition(":")[0].strip("[]")


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches `host:port`: a loopback address, or `localhost` itself.

    Any other name counts as reachable: what it resolves to is for somebody else to decide."""
    host = host_of(address)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
