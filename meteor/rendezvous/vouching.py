"""Vouching: what a peer tells its clients of owners, so that they may go there straight.

Law of this file: who is named has answered what it was asked since the client asked.  An owner that
has not may be on the other side of a cut; what it acknowledges there nobody on this side knows of
(`meteor.client.shortcuts`, `CopiesConfig.vouches_s`).  That it is heard is not enough: its word may
have lain here while this peer was held, or come through where nothing gets to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from chord import CallError, Contact, Fault, KnownArc, Ping, Runtime, replace
from meteor.security.gatekeeper import Gatekeeper
from meteor.wire.messages import Post, PostReply, Vouched
from squid import Box, HilbertCurve

VOUCHED_MAX: Final = 64
"""Points in one question: as many as a client keeps straight links."""
PATIENCE: Final = 4
"""Owners are waited for for so large a part of the time for which one vouches: whoever is silent
for longer holds up all others that the same question is about."""


class Vouching:
    """What one peer says of owners."""

    def __init__(
        self,
        runtime: Runtime,
        curve: HilbertCurve,
        gatekeeper: Gatekeeper,
        owner_of: Callable[[int], KnownArc | None],
        vouches_s: float,
        realm: bytes,
    ) -> None:
        """`owner_of` says of a curve index what is known without asking; `vouches_s`: how long
        clients may go straight to an owner that this peer has heard, a member of the ring of that
        `realm`."""
        self._runtime, self._curve, self._gatekeeper = runtime, curve, gatekeeper
        self._owner_of, self._vouches_s, self._realm = owner_of, vouches_s, realm

    def with_owner(
        self, post: Post, reply: PostReply, box: Box, answered: Sequence[Contact]
    ) -> PostReply:
        """Name the owner of a point to who asks, or came here for it in vain, so that the next one
        goes there straight; not where this peer has a policy, as what clients post passes here
        then, nor an owner that is not among those that `answered`."""
        is_astray = post.straight and reply.hops > 0
        if not box.is_point or not (post.asks_owner or is_astray) or not self._gatekeeper.is_open:
            return reply
        known = self._owner_of(self._curve.encode(box.low))
        if known is None or known.owner.id not in [one.id for one in answered]:
            return reply
        return replace(reply, owner=_named(known), owner_for_s=self._vouches_s)

    async def vouch(self, points: Sequence[int]) -> Vouched:
        """Ask the owners of some points for a sign of life, all at once.

        Raises `Fault` for too many."""
        if len(points) > VOUCHED_MAX:
            raise Fault(
                "LimitExceeded", f"{len(points)} points to vouch for; at most {VOUCHED_MAX}"
            )
        if not self._gatekeeper.is_open:
            return Vouched()
        known = [self._owner_of(point) for point in points if 0 <= point < self._curve.size]
        owners = {one.owner.id: one for one in known if one is not None}
        patience_s, ask = self._vouches_s / PATIENCE, self._runtime.ask
        here = owners.pop(self._runtime.contact.id, None)
        asked = [(one, ask(one.owner, Ping(self._realm), patience_s)) for one in owners.values()]
        heard = [] if here is None else [_named(here)]
        for one, answer in asked:
            with suppress(CallError):
                await answer
                heard.append(_named(one))
        return Vouched(tuple(heard), self._vouches_s)


def _named(known: KnownArc) -> KnownArc:
    """An owner as clients are told of it: without its heirs."""
    return KnownArc(known.owner, known.arc)
