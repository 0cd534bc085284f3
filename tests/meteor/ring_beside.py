"""A ring on a loop of its own thread, for tests of commands, which run loops of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

import meteor
from tests.meteor.building import SPACE

ResultT = TypeVar("ResultT")
WAIT_S = 60.0


class RingBeside:
    """`with RingBeside(3) as ring:`, then `ring.addresses` and `ring.do(coroutine)`."""

    def __init__(self, peers: int = 1, **options: Any) -> None:
        self._count, self._options = peers, options
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.peers: list[meteor.Peer] = []

    @property
    def addresses(self) -> list[str]:
        return [peer.address for peer in self.peers if peer.serving]

    def do(self, conversation: Coroutine[Any, Any, ResultT]) -> ResultT:
        return asyncio.run_coroutine_threadsafe(conversation, self._loop).result(WAIT_S)

    def add(self, **options: Any) -> meteor.Peer:
        return self.do(self._add(options))

    async def _add(self, options: dict[str, Any]) -> meteor.Peer:
        join = {"join": self.addresses[:1]} if self.addresses else {"space": SPACE}
        peer = meteor.Peer(**{**join, **self._options, **options})
        await peer.start()
        self.peers.append(peer)
        return peer

    def __enter__(self) -> Self:
        self._thread.start()
        for _ in range(self._count):
            self.add()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        self._loop.close()

    async def _close(self) -> None:
        for peer in self.peers:
            await peer.close(hand_over=False)
