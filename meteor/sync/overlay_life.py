"""A whole overlay in one process, for programs that block.

Law of this file: one loop carries all of it: peers and clients in memory meet in one thread.
"""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Self

from meteor.client.callbacks import Callbacks
from meteor.client.client import Client as AsyncClient
from meteor.local import LocalOverlay as AsyncLocalOverlay
from meteor.peer import Peer as AsyncPeer
from meteor.sync.callback_thread import CallbackThread
from meteor.sync.client import Client
from meteor.sync.loop_thread import LoopThread
from meteor.sync.peer import Peer


class OverlayLife:
    """An overlay from `with` to its end."""

    def __init__(self, inner: AsyncLocalOverlay) -> None:
        self._thread, self._overlay = LoopThread(), inner
        self._end = weakref.finalize(self, self._thread.stop, inner.close)
        self._peers: dict[AsyncPeer, Peer] = {}

    @property
    def peers(self) -> list[Peer]:
        """All peers there were, in the order in which they came."""
        return [self._blocking_peer(peer) for peer in self._overlay.peers]

    @property
    def living(self) -> list[Peer]:
        """The peers that have not stopped."""
        return [self._blocking_peer(peer) for peer in self._overlay.living]

    def __repr__(self) -> str:
        return f"<meteor.sync.{repr(self._overlay)[1:]}"

    def close(self) -> None:
        """Stop everything at once, without handing over.  Harmless when repeated."""
        self._end()

    def __enter__(self) -> Self:
        try:
            self._thread.wait(self._overlay.__aenter__)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _blocking_client(self, inner: AsyncClient) -> Client:
        callbacks = CallbackThread(Callbacks())
        for name, callback in callbacks.options().items():
            setattr(inner.callbacks, name, callback)
        return Client(self._thread, callbacks, inner, owner=self)

    def _blocking_peer(self, inner: AsyncPeer) -> Peer:
        """The one blocking twin of a peer."""
        peer = self._peers.get(inner)
        if peer is None:
            peer = self._peers[inner] = Peer.of(inner, self._thread, self)
        return peer
