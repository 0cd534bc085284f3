"""Rings of which some peers vanish: how they vanish, which ones, and what went with them.

Law of this file: a *closed* peer's host tells everybody at once (its sockets are closed); a
*silent* one's tells nobody: frames reach its socket and nothing comes back, dials are taken by the
operating system and never answered, nothing is reset.  A silent peer does no more work, as its
process would not.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from aiohttp import web

import meteor
from chord import ChordConfig
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.record_id import split_id

How = Literal["closed", "silent"]
PeerT = TypeVar("PeerT")

SPACE = meteor.KeywordSpace(
    "bench",
    [meteor.Word("type"), meteor.Number("temperature", 0, 100), meteor.Number("humidity", 0, 100)],
)


class SilencedTransport(WebSocketTransport):
    """Sockets that can go silent: open, and deaf and dumb."""

    def __init__(self, listen: str = "") -> None:
        super().__init__(listen)
        self._silent = False

    def silence(self) -> None:
        """From now on nothing is read, written, taken or closed, until `wake`."""
        self._silent = True
        if self._heart is not None:
            self._heart.cancel()
        for channel in self._channels:
            channel.write = _nothing  # type: ignore[method-assign]
            socket = channel._transport
            if socket is not None and not socket.is_closing():
                socket.pause_reading()

    async def wake(self) -> None:
        """Close everything after all."""
        self._silent = False
        await super().close()

    def stop(self) -> None:
        """Nothing, while it is silent."""
        if not self._silent:
            super().stop()

    async def close(self) -> None:
        """Nothing, while it is silent."""
        if not self._silent:
            await super().close()

    async def dial(self, address: str) -> Any:
        """Nobody hears it, while it is silent."""
        if self._silent:
            await self._stopping.wait()
        return await super().dial(address)

    async def _welcome(self, request: web.Request) -> web.StreamResponse:
        if self._silent:
            await self._stopping.wait()
        return await super()._welcome(request)


def _nothing(_: bytes) -> None:
    """A write that no other host will see."""


class VanishingOverlay(meteor.LocalOverlay):
    """An overlay whose peers can go silent."""

    def __init__(self, peers: int, copies: int, seed: int) -> None:
        config = replace(ChordConfig.local(), successor_count=max(8, 2 * copies))
        super().__init__(
            peers, space=SPACE, transport="websocket", copies=copies, seed=seed, config=config
        )
        self._silent: list[SilencedTransport] = []

    def _transport(self) -> SilencedTransport:
        return SilencedTransport("127.0.0.1:0")

    async def vanish(self, gone: Sequence[meteor.Peer], how: How) -> None:
        """All of them in one turn."""
        if how == "silent":
            for peer in gone:
                assert isinstance(peer._transport, SilencedTransport)
                peer._transport.silence()
                self._silent.append(peer._transport)
        await asyncio.gather(*(peer.crash() for peer in gone))

    async def close(self) -> None:
        """The silent ones last."""
        await super().close()
        for transport in self._silent:
            await transport.wake()


def in_ring_order(overlay: meteor.LocalOverlay) -> list[meteor.Peer]:
    """The living peers by identifier."""
    return sorted(overlay.living, key=lambda peer: peer.id)


def draw(
    ring: Sequence[PeerT], count: int, drawn: random.Random, *, spared_run: int = 0
) -> list[PeerT]:
    """Who is to go; with `spared_run` never so many neighbours."""
    while True:
        gone = set(drawn.sample(range(len(ring)), count))
        runs = (
            all((first + step) % len(ring) in gone for step in range(spared_run))
            for first in range(len(ring))
        )
        if not spared_run or not any(runs):
            return [ring[at] for at in sorted(gone)]


def draw_reading(drawn: random.Random) -> meteor.Profile:
    """An exact profile anywhere in the space."""
    word = "".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=6))
    temperature, humidity = drawn.uniform(0, 100), drawn.uniform(0, 100)
    return meteor.profile({"type": word, "temperature": temperature, "humidity": humidity})


def holders(ring: Sequence[meteor.Peer], index: int) -> list[int]:
    """The identifiers of all peers that have what lives at a curve index, its primary first."""
    for peer in ring:
        for view in peer.core.views.own.values():
            if any(first <= index <= last for first, last in view.intervals):
                return [peer.id, *(copy.id for copy in view.copies)]
    return []


def index_of(receipt: meteor.Receipt) -> int:
    """Where on the curve something exact was stored."""
    _, box = split_id(receipt.id, SPACE.curve)
    return SPACE.curve.encode(box.low)
