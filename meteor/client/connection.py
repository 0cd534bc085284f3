"""Connecting to an overlay over sockets: the client side's one door to asyncio.

Law of this file: nothing but wiring.  Here alone a client meets the event loop, the WebSocket
transport, the wall clock and true randomness; everything it does with them is
`meteor.client.client`'s.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from chord import Contact
from meteor.client.callbacks import Callback, Callbacks, log
from meteor.client.client import Client
from meteor.client.config import ClientConfig
from meteor.lifetimes import checked_timeout_s
from meteor.links.address import checked_address
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.asyncio_steady_clock import steady_clock
from meteor.links.transport import Transport
from meteor.links.websocket_transport import WebSocketTransport
from meteor.security.credentials import Signer, check_signer
from meteor.security.tls import TLS
from meteor.wrong_values import check_kind
from squid import KeywordSpace

CLIENT_ID_BITS: Final = 160
"""A client's id is drawn from as many bits as a peer's: two never meet by accident."""


def connect(
    *addresses: str,
    space: KeywordSpace | None = None,
    timeout: float = 10.0,
    config: ClientConfig | None = None,
    tls: TLS | None = None,
    identity: Signer | None = None,
    on_disconnected: Callback | None = None,
    on_reconnected: Callback | None = None,
    on_error: Callback | None = None,
) -> Connecting:
    """A client of the overlay that the peers at these addresses (`host:port`) belong to.

    Await it or enter it with `async with`.  The first peer that serves is taken; when it goes, the
    next.  A `space` is compared with the ring's; without one the client takes the ring's.  With
    `tls` only peers of its CA are taken, whose certificate names the host that was dialled.  An
    `identity` signs what is posted, and owns it.

    Raises, when carried out, `NotConnected` with what was tried, `SpaceMismatch`, and
    `CertificateError` for files that cannot be used; `ValueError` at once for an address that is
    none, and `LimitExceeded`, which is one, for such a `timeout`."""
    if not addresses:
        raise ValueError("connect: give the address of at least one peer, as host:port")
    check_kind("space", space, KeywordSpace)
    check_kind("config", config, ClientConfig)
    check_kind("tls", tls, TLS)
    check_signer(identity)
    Callbacks(on_disconnected, on_reconnected, on_error)  # raises for what is none
    return Connecting(
        [Contact.at(checked_address("connect", address)) for address in addresses],
        checked_timeout_s(timeout),
        space=space,
        config=config,
        tls=tls,
        identity=identity,
        on_disconnected=on_disconnected,
        on_reconnected=on_reconnected,
        on_error=on_error,
    )


class Connecting:
    """A connection to be: `client = await connecting`, or `async with connecting as client`."""

    def __init__(
        self, peers: list[Contact], timeout_s: float, *, tls: TLS | None, **options: Any
    ) -> None:
        self._peers, self._timeout_s, self._options = peers, timeout_s, options
        self._tls = tls
        self._client: Client | None = None

    def __repr__(self) -> str:
        return f"<Connecting to {', '.join(peer.address for peer in self._peers)}>"

    if not TYPE_CHECKING:  # a type checker knows that a verb is missing here

        def __getattr__(self, name: str) -> object:
            """Who forgot to connect is told so at the first verb."""
            if name.startswith("_") or not hasattr(Client, name):
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            raise AttributeError(
                f"{name}: not connected yet; write `async with meteor.connect(...) as client:` or "
                "`client = await meteor.connect(...)`; without asyncio take meteor.sync.connect"
            )

    def __await__(self) -> Generator[Any, Any, Client]:
        return self.open().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self.open()
        return self._client

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            await self._client.close()

    async def open(self) -> Client:
        """The client, once a peer serves it; raises as `connect` says."""
        client = make_client(WebSocketTransport(tls=self._tls), self._peers, **self._options)
        try:
            await client.open(self._timeout_s)
        except BaseException:
            await client.close()  # a loop that ends now would leave its sockets open
            raise
        return client


def make_client(transport: Transport, peers: list[Contact], **options: Any) -> Client:
    """A client on the running loop over any transport, not open yet."""
    clients: list[Client] = []

    def failed(error: BaseException) -> None:
        """A bug in a conversation: better closed, and said, than half alive."""
        log.error("a client failed and closes", exc_info=error)
        for client in clients:
            client.abandon()

    contact = Contact(secrets.randbits(CLIENT_ID_BITS), "")
    runtime = AsyncioRuntime(contact, transport, on_failure=failed)
    client = Client(
        runtime,
        peers,
        first_version=time.time_ns() // 1000,
        wall_clock=time.time,
        steady_clock=steady_clock,
        release=runtime.aclose,
        **options,
    )
    clients.append(client)
    return client
