"""A client of the overlay: linked to one peer of its list, with every verb.

Law of this file: no asyncio here; the runtime is given, so that the same client runs on sockets
and in virtual time.  `meteor.connect` makes one on sockets, `meteor.LocalOverlay.connect` one in
the same process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from chord import Contact, Runtime
from meteor.client.callbacks import Callback, Callbacks
from meteor.client.config import ClientConfig
from meteor.client.session import Session
from meteor.client.verbs import Verbs
from meteor.described import inner, names_for_users
from meteor.errors import Closed
from meteor.lifetimes import checked_timeout_s
from meteor.security.credentials import Signer
from squid import KeywordSpace


class Client(Verbs):
    """Posts, retrieves and is notified by way of one peer, and of the next when that one dies."""

    __dir__ = names_for_users

    def __init__(
        self,
        runtime: Runtime,
        peers: Sequence[Contact],
        *,
        space: KeywordSpace | None = None,
        config: ClientConfig | None = None,
        first_version: int = 1,
        identity: Signer | None = None,
        wall_clock: Callable[[], float] | None = None,
        steady_clock: Callable[[], float] | None = None,
        on_disconnected: Callback | None = None,
        on_reconnected: Callback | None = None,
        on_error: Callback | None = None,
        release: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._runtime, self._release = runtime, release
        self._callbacks = Callbacks(on_disconnected, on_reconnected, on_error)
        self._own_session = Session(
            runtime,
            peers,
            space=space,
            config=config,
            callbacks=self._callbacks,
            first_version=first_version,
            signer=identity,
            wall_clock=wall_clock,
            steady_clock=steady_clock,
        )

    @property
    def _session(self) -> Session:
        return self._own_session

    def __repr__(self) -> str:
        uplink = self._session.uplink
        state = "closed" if uplink.closed else "seeking a peer"
        return f"<Client at {uplink.peer.address}>" if uplink.peer else f"<Client {state}>"

    @property
    def space(self) -> KeywordSpace:
        """The keyword space of the ring."""
        return self._session.space

    @property
    def peer_address(self) -> str:
        """The peer that serves this client now; raises `Closed` while there is none."""
        peer = self._session.uplink.peer
        if self._session.uplink.closed:
            raise Closed("peer_address: this client was closed; connect again")
        if peer is None:
            raise Closed("peer_address: this client is linked to no peer; wait for on_reconnected")
        return peer.address

    @property
    def connected(self) -> bool:
        """Whether a peer serves this client now."""
        return self._session.uplink.peer is not None

    @property
    def callbacks(self) -> Callbacks:
        """`on_disconnected`, `on_reconnected` and `on_error`, to be set at any time."""
        return self._callbacks

    async def open(self, timeout: float = 10.0) -> Self:
        """Find a peer that serves; raises `NotConnected` with what was tried, `SpaceMismatch`."""
        timeout_s = checked_timeout_s(timeout)
        self._runtime.serve(self._handle, self._session.link_closed)
        await self._session.open(timeout_s)
        return self

    async def close(self) -> None:
        """End every iteration and conversation; what the overlay keeps lives on by its ttl.

        Harmless when repeated."""
        self._session.close()
        if self._release is None:
            self._runtime.close()
        else:
            await self._release()

    @inner
    def abandon(self) -> None:
        """Close without waiting until sockets are released."""
        self._session.close()
        self._runtime.close()

    async def __aenter__(self) -> Self:
        return self if self.connected else await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _handle(self, sender: Contact, message: object, remaining_s: float) -> object:
        """Everything that peers say to a client; what it does not know it does not mind."""
        handler = self._session.handlers.get(type(message))
        return None if handler is None else handler(sender, message, remaining_s)
