"""How blocking clients and peers begin and end.

Law of this file: whoever closes waits; whoever forgets does not, and is told nothing.  The
finalizers hold the asynchronous side, never the blocking one, so that forgetting works.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from meteor.client.callbacks import Callbacks
from meteor.client.client import Client as AsyncClient
from meteor.errors import Closed
from meteor.peer import Peer as AsyncPeer
from meteor.rendezvous.application_actions import ActionContext
from meteor.sync.blocking import Blocking
from meteor.sync.callback_thread import CallbackThread, check_plain
from meteor.sync.loop_thread import LoopThread
from meteor.values import Match

BlockingAction = Callable[[ActionContext, Match, Sequence[Match]], bytes | None]
"""A plain function; each run has a thread, and may block."""

ActionT = TypeVar("ActionT", bound=BlockingAction)


class ClientLife(Blocking):
    """A client from `connect` to `close`; of a local overlay, in that one's loop."""

    def __init__(
        self,
        thread: LoopThread,
        callbacks: CallbackThread,
        inner: AsyncClient,
        owner: object = None,
    ) -> None:
        super().__init__(thread, callbacks)
        self._client, self._owner = inner, owner
        self._end: Callable[[], object] = callbacks.stop
        if owner is None:
            self._end = weakref.finalize(self, _stop, thread, callbacks, inner.close)
        self._is_closed = False

    @property
    def _verbs(self) -> AsyncClient:
        return self._client

    def close(self) -> None:
        """End every iteration and conversation; what the overlay keeps lives on by its ttl.

        Harmless when repeated, and in a child process."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._owner is not None and self._thread.is_alive:
            with suppress(Closed):  # another thread closed the overlay meanwhile
                self._thread.wait(self._client.close)
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class PeerLife(Blocking):
    """A peer from `start` to `close`; of a local overlay, in that one's loop."""

    def __init__(
        self, inner: AsyncPeer, thread: LoopThread | None = None, owner: object = None
    ) -> None:
        callbacks = CallbackThread(Callbacks())
        super().__init__(LoopThread() if thread is None else thread, callbacks)
        self._peer, self._owner = inner, owner
        for name, callback in callbacks.options().items():
            setattr(inner.callbacks, name, callback)
        self._end: Callable[[], object] = callbacks.stop
        if owner is None:
            close = partial(inner.close, hand_over=False)
            self._end = weakref.finalize(self, _stop, self._thread, callbacks, close)

    @classmethod
    def of(cls, inner: AsyncPeer, thread: LoopThread | None = None, owner: object = None) -> Self:
        """The blocking twin of a peer that is there already."""
        peer = cls.__new__(cls)
        PeerLife.__init__(peer, inner, thread, owner)
        return peer

    @property
    def _verbs(self) -> AsyncPeer:
        return self._peer

    def action(self, name: str) -> Callable[[ActionT], ActionT]:
        """Let this peer run an application's action, `def (context, message, matches)`, over the
        matches that it reports, and send the bytes that it gives to whoever posted it.  Each run
        has a thread, which a run that takes too long keeps until it ends.

        For peers that all run the same program: one without the action counts as missing.  Raises
        `ValueError` for a name that is taken, or none that can be posted."""

        def register(handler: ActionT) -> ActionT:
            check_plain("action", handler)

            async def run(
                context: ActionContext, message: Match, matches: Sequence[Match]
            ) -> bytes | None:
                return await asyncio.to_thread(handler, context, message, matches)

            self._peer.action(name)(run)
            return handler

        return register

    def start(self) -> Self:
        """Listen, found or join, and return once the peer holds its arc."""
        self._thread.wait(self._peer.start)
        return self

    def relocated(self, id: int) -> Self:
        """A peer of the same address, options and data for another place on the ring: close this
        one, which hands over what it holds, then start that one."""
        return self.of(self._peer.relocated(id))

    def leave(self, timeout_s: float = 5.0) -> None:
        """Hand over what is held, say good-bye, and stop."""
        self.close(timeout_s=timeout_s)

    def close(self, *, hand_over: bool = True, timeout_s: float = 5.0) -> None:
        """Stop; with `hand_over` after the successor has what this peer holds.

        Harmless when repeated, and in a child process."""
        try:
            if self._thread.is_alive:
                with suppress(Closed):  # another thread closed it meanwhile
                    self._thread.wait(self._peer.close, hand_over=hand_over, timeout_s=timeout_s)
        finally:
            self._end()

    def crash(self) -> None:
        """Stop without a word, as if the process had died: for tests of what remains."""
        self.close(hand_over=False)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _stop(thread: LoopThread, callbacks: CallbackThread, farewell: Callable[[], Any]) -> None:
    """The end of whoever owns its loop."""
    thread.stop(farewell)
    callbacks.stop()
