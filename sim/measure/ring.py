"""One more peer in a ring of processes: the one from which is measured.

Law of this file: it joins, waits until the ring has settled, and leaves; measuring is done by
`lookups` and `routing`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from chord import ChordConfig
from meteor import Incomplete, KeywordSpace, MeteorError, Number, Peer, Word
from sim.measure.processes import PeerProcesses
from squid import RouterConfig

SIZES: Final = (2, 4, 8, 16, 32, 64)
"""Peers, the measuring one included: as in the report's figure 4.1."""
FINGERS_S: Final = 3.0
"""From a closed ring to settled fingers: refreshes follow a change after half a second, and each
brings one level."""
RING_S: Final = 60.0
"""Until all peers are in one closed ring."""

SPACE: Final = KeywordSpace(
    "services", [Word("what"), Word("where"), Number("size", 0, 1000, unit="MB")], bits=20
)
"""Three dimensions, as in the report's chapter 4."""

Progress = Callable[[str], None]


@asynccontextmanager
async def measuring_peer(
    ring: PeerProcesses,
    size: int,
    *,
    arc_cache_max: int = 0,
    routing: RouterConfig | None = None,
) -> AsyncIterator[Peer]:
    """A peer of this process as the last of `size`, in a ring that has settled.

    Raises `MeteorError` where the ring does not settle."""
    config = replace(ChordConfig.lan(), arc_cache_max=arc_cache_max, placement="hash")
    peer = Peer(space=SPACE, join=ring.addresses[:3], config=config, routing=routing)
    async with peer:
        await _settled(peer, size)
        yield peer


async def _settled(peer: Peer, size: int) -> None:
    deadline = time.monotonic() + RING_S
    while True:
        try:
            picture = await peer.ring()
        except (Incomplete, MeteorError):
            picture = None
        if picture is not None and picture.closed and len(picture.peers) == size:
            break
        if time.monotonic() > deadline:
            seen = "no ring" if picture is None else f"{len(picture.peers)} peers"
            raise MeteorError(f"the ring of {size} peers did not settle: {seen} after {RING_S:g} s")
        await asyncio.sleep(0.2)
    await asyncio.sleep(FINGERS_S)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of a sample lies."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
