"""A peer that was alone in its ring, and is started again with addresses where nobody is up yet:
as when a whole ring is taken down in order and brought back in any."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import meteor
from meteor.links.transport import MemoryHub, MemoryTransport
from meteor.rendezvous import company
from tests.meteor.building import SPACE

WITHIN_S = 60.0
ALL = "type=probe"
ADDRESSES = ["memory:1000", "memory:1001"]


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(company, "ALONE_S", 0.1)


def made(
    hub: MemoryHub, number: int, *join: str, data_dir: Path, found_if_alone: bool = False
) -> meteor.Peer:
    return meteor.Peer(
        space=SPACE, join=join, transport=MemoryTransport(hub, ADDRESSES[number]),
        data_dir=data_dir / str(number), seed=number, found_if_alone=found_if_alone,
    )  # fmt: skip


async def has(peer: meteor.Peer, stored: set[str]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while {match.id for match in await peer.retrieve(ALL, allow_partial=True)} != stored:
            continue


async def test_who_was_alone_and_is_told_to_found_becomes_one_ring_with_whoever_comes_later(
    tmp_path: Path,
) -> None:
    """Of rings that had not seen each other at their start, as one was cut off, none looked for the
    other again."""
    hub, stored = MemoryHub(), set[str]()
    for number in (0, 1):
        async with made(hub, number, data_dir=tmp_path) as peer:
            stored.add((await peer.store(f"type=probe temperature={number}")).id)
    alone = made(hub, 0, ADDRESSES[1], data_dir=tmp_path, found_if_alone=True)
    first = await alone.start()
    assert len(await first.retrieve(ALL)) == 1
    other = await made(hub, 1, data_dir=tmp_path).start()  # it knows of nobody
    for peer in (first, other):
        await has(peer, stored)
    assert len((await first.ring()).peers) == 2
    for peer in (first, other):
        await peer.crash()


async def test_who_was_alone_waits_for_the_others_unless_it_is_told_to_found(
    tmp_path: Path,
) -> None:
    """They may have gone on without it: of what it alone would answer for, nobody knows that it is
    the last word."""
    hub = MemoryHub()
    async with made(hub, 0, data_dir=tmp_path):
        pass
    with pytest.raises(meteor.JoinFailed, match="no ring to join"):
        await made(hub, 0, ADDRESSES[1], data_dir=tmp_path).start()


async def test_a_new_peer_still_fails_where_nobody_is(tmp_path: Path) -> None:
    with pytest.raises(meteor.JoinFailed, match="no ring to join"):
        await made(MemoryHub(), 0, ADDRESSES[1], data_dir=tmp_path).start()


async def test_a_peer_told_to_join_itself_is_told_so(tmp_path: Path) -> None:
    """It asked itself, heard that it was no member of a ring yet, and was told to start itself
    first."""
    hub = MemoryHub()
    with pytest.raises(meteor.JoinFailed, match="which is this peer itself") as failed:
        await made(hub, 0, ADDRESSES[0], data_dir=tmp_path).start()
    assert failed.value.tried == (f"{ADDRESSES[0]}: it is this peer itself",)


async def test_a_list_of_all_peers_may_name_the_peer_itself(tmp_path: Path) -> None:
    hub = MemoryHub()
    async with (
        made(hub, 0, data_dir=tmp_path),
        made(hub, 1, *reversed(ADDRESSES), data_dir=tmp_path) as other,
    ):
        assert len((await other.ring()).peers) == 2
    alone = meteor.Peer(
        space=SPACE, join=ADDRESSES[:1], found_if_alone=True,
        transport=MemoryTransport(hub, ADDRESSES[0]),
    )  # fmt: skip
    async with alone:
        assert len((await alone.ring()).peers) == 1


async def test_a_founder_that_leaves_as_soon_as_somebody_has_joined_goes_back(
    tmp_path: Path,
) -> None:
    """What it had written down of its ring was a second old, and said that it was alone: it began
    another one, and as it had said good-bye, nobody looked for it."""
    hub = MemoryHub()
    first = await made(hub, 0, data_dir=tmp_path).start()
    async with made(hub, 1, ADDRESSES[0], data_dir=tmp_path):
        await first.store("type=probe temperature=1")
        await first.close()
        async with made(hub, 0, data_dir=tmp_path) as again:
            assert len((await again.ring()).peers) == 2
            assert len(await again.retrieve(ALL)) == 1
