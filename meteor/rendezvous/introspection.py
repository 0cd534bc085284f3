"""Introspection: what a peer says of itself and of the ring round it, to whoever asks.

Law of this file: it looks, and changes nothing.  Anybody may ask, before the peer is a member too:
a greeting says whether it is, and refuses whoever brings another space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chord import ChordNode, Contact, Deferred, Handler, Runtime
from meteor.errors import MeteorError, SpaceMismatch, to_fault
from meteor.rendezvous.census import Census
from meteor.rendezvous.link_report import ask_all, own_links
from meteor.rendezvous.ring_walk import walk_ring
from meteor.wire.link_messages import LinksQuestion
from meteor.wire.messages import Greet, Greeting, RingPicture, RingQuestion
from meteor.wire.operations import StateQuestion
from squid import KeywordSpace

RING_PICTURE_MAX = 8192
"""Peers in one picture of the ring: what fits into a frame, and an end where a ring has none."""


class Introspection:
    """How one peer answers for itself."""

    def __init__(
        self,
        runtime: Runtime,
        node: ChordNode,
        space: KeywordSpace,
        census: Census,
        id_bits: int,
        is_ready: Callable[[], bool],
    ) -> None:
        self._runtime, self._node, self._space = runtime, node, space
        self._census, self._id_bits, self._is_ready = census, id_bits, is_ready

    @property
    def handlers(self) -> dict[type, Handler]:
        """Message type to handler."""
        return {
            Greet: self._on_greet,
            RingQuestion: self._on_ring_question,
            StateQuestion: self._on_state_question,
            LinksQuestion: lambda *_: own_links(self._runtime, self._node),
        }

    def _on_greet(self, _: Contact, message: object, __: float) -> Greeting:
        assert isinstance(message, Greet)
        if message.digest and message.digest != self._space.digest:
            raise to_fault(SpaceMismatch(self._difference(message.space)))
        return Greeting(
            contact=self._runtime.contact,
            space=self._space.to_toml(),
            digest=self._space.digest,
            ready=self._is_ready() and self._node.joined,
            id_bits=self._id_bits,
        )

    def _difference(self, toml: str) -> str:
        """How the space that somebody brings differs from ours: "here" is where he reads it."""
        try:
            return KeywordSpace.from_toml(toml).difference(self._space)
        except MeteorError as error:
            return f"another space, which cannot be read: {error}" if toml else "another space"

    def _on_state_question(self, _: Contact, __: object, ___: float) -> Deferred:
        return Deferred(self._census.in_turns())

    def _on_ring_question(self, _: Contact, message: object, __: float) -> Deferred:
        assert isinstance(message, RingQuestion)
        return Deferred(self.picture(min(message.limit, RING_PICTURE_MAX)))

    async def picture(self, limit: int) -> RingPicture:
        """The ring in order, as walking along successors finds it."""
        own = await self._census.in_turns()
        return await walk_ring(self._runtime, self._node, own, limit, self._id_bits)

    async def links(self, limit: int) -> dict[str, Any]:
        """How good the links of at most `limit` peers are, as each of them measures its own."""
        peers = (await self.picture(limit)).peers
        return await ask_all(self._runtime, own_links(self._runtime, self._node), peers, limit)
