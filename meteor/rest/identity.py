"""Who asks: the one place where a request's identity is read.

Law of this file: pure over headers and the socket's address.  Three questions are answered for
every route: does the request come from this machine, does it come from a page in a browser, and
does it show the token.  What a caller may do follows from that here and nowhere else.

A page is not a program: any page on the web can make a browser send requests to this port, so what
a page may change is narrower (same origin, a name that cannot be rebound, and loopback or the
token), while a program without a page around it may do what a link may.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal

from meteor.rest.config import RestConfig

Access = Literal["write", "write with token", "read"]
"""What a caller may do: change things; change things with a token that it has not shown; look."""

FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")
"""Headers of proxies: what they bring does not come from this machine, whatever the socket says."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as far as HTTP tells."""

    is_local: bool
    """Whether the request comes from this machine."""
    is_page: bool
    """Whether a browser sends it for a page, which may be anybody's."""
    origin: str = ""
    """The page's origin; empty where the browser does not say."""
    is_trusted_origin: bool = True
    """Whether that is this peer's own page, or one of the configured origins."""
    credential: Literal["none", "right", "wrong"] = "none"
    """Whether it shows the token."""

    @property
    def operates(self) -> bool:
        """Whether it is whoever runs the peer: from this machine, or with its token."""
        return self.credential == "right" or (self.is_local and self.is_trusted_origin)

    def access(self, config: RestConfig) -> Access:
        """What this caller may do."""
        if self.credential == "right":
            return "write"
        if self.is_page and not self.is_trusted_origin:
            return "read"
        if self.is_local:
            return "write"
        if config.token:
            return "write with token"
        return "read" if self.is_page else "write"


def read_caller(
    headers: Mapping[str, str], remote: str | None, own_hosts: Sequence[str], config: RestConfig
) -> Caller:
    """The caller of a request.  `own_hosts` are the names under which this peer is known besides
    addresses and `localhost`: a page that came here under any other name was rebound."""
    origin = headers.get("Origin", "")
    is_page = bool(origin) or "Sec-Fetch-Site" in headers
    return Caller(
        is_local=_is_loopback(remote) and not any(name in headers for name in FORWARDED),
        is_page=is_page,
        origin=origin,
        is_trusted_origin=not is_page or _is_trusted(headers, origin, own_hosts, config),
        credential=_credential(headers.get("Authorization", ""), config.token),
    )


def _credential(authorization: str, wanted: str) -> Literal["none", "right", "wrong"]:
    """Whether the token is shown; compared in constant time."""
    scheme, _, given = authorization.partition(" ")
    if not wanted or scheme.lower() != "bearer":
        return "none"
    octets = given.strip().encode(errors="surrogateescape")  # as they came, UTF-8 or not
    same = hmac.compare_digest(octets, wanted.encode())
    return "right" if same else "wrong"


def _is_loopback(remote: str | None) -> bool:
    try:
        address = ip_address((remote or "").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _is_trusted(
    headers: Mapping[str, str], origin: str, own_hosts: Sequence[str], config: RestConfig
) -> bool:
    if origin in config.cors_origins:
        return True
    host = headers.get("Host", "")
    if not _cannot_be_rebound(host, own_hosts):
        return False
    if origin:
        return origin.partition("://")[2] == host
    return headers.get("Sec-Fetch-Site", "") in ("same-origin", "none")


def _cannot_be_rebound(host: str, own_hosts: Sequence[str]) -> bool:
    """Whether a Host header names this peer in a way that no foreign DNS can give it."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if name in ("localhost", *own_hosts):
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
