"""Two rings, founded apart: who is started with an address of the other one makes them one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import meteor
from meteor.links.transport import MemoryHub, MemoryTransport
from tests.meteor.building import SPACE

WITHIN_S = 60.0
ALL = "type=probe"


async def started(hub: MemoryHub, number: int, *join: str, data_dir: Path) -> meteor.Peer:
    """A peer at an address of its own, the same in every life."""
    peer = meteor.Peer(
        space=SPACE, join=join, transport=MemoryTransport(hub, f"memory:{1000 + number}"),
        data_dir=data_dir / str(number), seed=number,
    )  # fmt: skip
    return await peer.start()


async def test_a_peer_that_goes_back_into_its_ring_leads_it_to_the_one_it_is_told_of(
    tmp_path: Path,
) -> None:
    """As `meteor doctor` advises; it went back by what it remembered, and did not look there."""
    hub, peers, stored = MemoryHub(), list[meteor.Peer](), set[str]()
    for first in (0, 10):
        peers.append(await started(hub, first, data_dir=tmp_path))
        for more in (1, 2):
            join = peers[-1].address
            peers.append(await started(hub, first + more, join, data_dir=tmp_path))
        for number in range(10):
            receipt = await peers[-1].store(f"type=probe temperature={first + number}")
            stored.add(receipt.id)
    await peers[2].crash()
    peers[2] = await started(hub, 2, peers[3].address, data_dir=tmp_path)
    async with asyncio.timeout(WITHIN_S):
        for peer in peers:
            found = set[str]()
            while not found >= stored:
                found = {match.id for match in await peer.retrieve(ALL, allow_partial=True)}
    for peer in peers:
        await peer.crash()
