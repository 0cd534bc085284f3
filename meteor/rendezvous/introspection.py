"""Introspection: what a peer says of itself and of the ring round it, to whoever asks.

Law of this file: it looks, and changes nothing.  Anybody may ask, before the peer is a member too:
a greeting says whether it is, and refuses whoever brings another space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from chord import Busy, ChordNode, Contact, Deferred, Handler, Runtime
from meteor.errors import MeteorError, SpaceMismatch, to_fault
from meteor.rendezvous.census import Census
from meteor.rendezvous.link_report import ask_all, own_links
from meteor.rendezvous.reading import reading
from meteor.rendezvous.ring_walk import walk_ring
from meteor.wire.link_messages import LinksQuestion
from meteor.wire.messages import Greet, Greeting, RingPicture, RingQuestion
from meteor.wire.operations import StateQuestion
from squid import KeywordSpace

RING_PICTURE_MAX = 8192
"""Peers in one picture of the ring: what fits into a frame, and an end where a ring has none."""

WALKS_MAX: Final = 32
"""Walks at once for who is not here himself: anybody may ask, one walk asks each peer of the ring
two things, and a thousand walks at once would leave the links to the next peers no room."""

COMPARED_BYTES_MAX: Final = 4096
COMPARED_DOTS_MAX: Final = 256
"""Of a space in a greeting, which anybody may send: what tomllib does about a dotted key grows with
the square of its parts, and a key of 64 KiB would hold the peer for twenty seconds."""


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
        self._walks = 0

    @property
    def handlers(self) -> dict[type, Handler]:
        """Message type to handler."""
        return {
            Greet: self._on_greet,
            RingQuestion: self._on_ring_question,
            StateQuestion: self._on_state_question,
            LinksQuestion: lambda *_: own_links(self._runtime, self._node),
        }

    def _on_greet(self, sender: Contact, message: object, __: float) -> Greeting:
        assert isinstance(message, Greet)
        if message.digest and message.digest != self._space.digest:
            with reading(sender):
                difference = self._difference(message.space)
            raise to_fault(SpaceMismatch(difference))
        return Greeting(
            contact=self._runtime.contact,
            space=self._space.to_toml(),
            digest=self._space.digest,
            ready=self._is_ready() and self._node.joined,
            id_bits=self._id_bits,
            vouches=True,
        )

    def _difference(self, toml: str) -> str:
        """How the space that somebody brings differs from ours: "here" is where he reads it."""
        if len(toml) > COMPARED_BYTES_MAX or toml.count(".") > COMPARED_DOTS_MAX:
            return "another space, too long to say how it differs"
        try:
            return KeywordSpace.from_toml(toml).difference(self._space)
        except MeteorError as error:
            return f"another space, which cannot be read: {error}" if toml else "another space"

    def _on_state_question(self, _: Contact, __: object, ___: float) -> Deferred:
        return Deferred(self._census.in_turns())

    def _on_ring_question(self, _: Contact, message: object, __: float) -> Deferred:
        assert isinstance(message, RingQuestion)
        if self._walks >= WALKS_MAX:
            raise to_fault(Busy(f"{WALKS_MAX} pictures of the ring are made here already"))
        self._walks += 1
        return Deferred(self._picture_for(min(message.limit, RING_PICTURE_MAX)))

    async def _picture_for(self, limit: int) -> RingPicture:
        try:
            return await self.picture(limit)
        finally:
            self._walks -= 1

    async def picture(self, limit: int) -> RingPicture:
        """The ring in order, as walking along successors finds it."""
        own = await self._census.in_turns()
        return await walk_ring(self._runtime, self._node, own, limit, self._id_bits)

    async def links(self, limit: int) -> dict[str, Any]:
        """How good the links of at most `limit` peers are, as each of them measures its own."""
        peers = (await self.picture(limit)).peers
        return await ask_all(self._runtime, own_links(self._runtime, self._node), peers, limit)
