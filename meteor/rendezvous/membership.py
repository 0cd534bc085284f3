"""Membership: how a peer comes into a ring when it starts.

Law of this file: one conversation, once in a life.  Who was of a ring goes back into it, who is
told of one joins it, and who is alone founds one.  Only a founder holds all at once: whoever joins
is given its arc by those who have it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from chord import CallError, ChordNode, Contact, RingError, RingState, Runtime
from meteor.errors import JoinFailed, MeteorError
from meteor.rendezvous.company import find_ring
from squid import KeywordSpace


class Membership:
    """How one peer becomes a member."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        space: KeywordSpace,
        hold_everything: Callable[..., Awaitable[None]],
    ) -> None:
        self._node, self._runtime, self._space = node, runtime, space
        self._hold_everything = hold_everything

    async def begin(
        self, kept: RingState | None, join: Sequence[Contact], *, found_if_alone: bool
    ) -> None:
        """Go back into the ring that was `kept` from a former life under the same identifier, else
        `join` that of any of these peers, else go back into that of a former life under another
        one, else found one.  Who was alone in its ring as it stopped does not begin it anew by
        itself where others are named: they may have gone on without it, and what it has would
        count as the last word until it meets them.

        Raises `JoinFailed` when nobody answers, `SpaceMismatch` when the ring's space differs."""
        former = None if kept is None or kept.alone else kept
        moved = former is not None and former.contact.id != self._runtime.contact.id
        if former is not None and not moved:
            await self._resume(former, join)
        elif join and await find_ring(
            self._runtime, self._space, join, found_if_alone=found_if_alone
        ):
            await self._join(join)
        elif former is not None:  # it fell as it moved
            await self._resume(former, join)
        else:
            await self._node.found()
            await self._hold_everything(is_new=True)

    async def _resume(self, kept: RingState, join: Sequence[Contact]) -> None:
        """Go back into the ring of the former life; where nobody is there, begin it anew."""
        if join:
            await find_ring(self._runtime, self._space, join, found_if_alone=True)
        try:
            if await self._node.resume(kept, join):
                return
        except RingError as error:
            raise JoinFailed(f"resuming failed: {error}", ()) from error
        await self._hold_everything(is_new=False)

    async def _join(self, join: Sequence[Contact]) -> None:
        try:
            await self._node.join(join)
        except (CallError, MeteorError) as error:
            tried = tuple(contact.address for contact in join)
            raise JoinFailed(f"joining by {', '.join(tried)} failed: {error}", tried) from error
