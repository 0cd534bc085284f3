"""A peer that dies with the only copy of its arc, for tests of what is said of a lost one."""

from __future__ import annotations

import asyncio

import meteor


async def lose_arc(overlay: meteor.LocalOverlay, victim: meteor.Peer) -> None:
    """Crash `victim` once nobody else has its arc: who gave it away is a copy of it for a moment
    after the taker holds it, also where one copy is wanted, and could speak for all of it."""
    others = [peer for peer in overlay.living if peer is not victim]

    def is_alone() -> bool:
        kept = (primary for peer in others for primary, _ in peer.core.views.copies)
        return victim.id not in kept and not any(
            view.copies for view in victim.core.views.own.values()
        )

    async with asyncio.timeout(60):
        while not is_alone():  # noqa: ASYNC110 - what is looked at raises no event
            await asyncio.sleep(0)
    await victim.crash()
