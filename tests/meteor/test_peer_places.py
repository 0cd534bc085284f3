"""Where peers on an event loop go: placed by load, kept over restarts, moved by their owner."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import meteor
from chord import ChordConfig, RelocationConfig, identifier
from tests.meteor.building import SPACE

BITS = 160
RECORDS = 60


async def fill(peer: meteor.Peer) -> None:
    for number in range(RECORDS):
        await peer.store(f"type=lamp temperature={number}", b"")


async def test_joiners_halve_the_heaviest_arc() -> None:
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        await fill(overlay.peers[0])
        await asyncio.sleep(0)
        for _ in range(3):
            await overlay.add_peer()
        loads = [peer.core.state().data for peer in overlay.peers]
        assert sum(loads) == RECORDS
        assert max(loads) <= RECORDS / 2
        assert len(await overlay.peers[3].retrieve("type=lamp").all()) == RECORDS


async def test_by_hash_the_address_says_the_place() -> None:
    config = ChordConfig(placement="hash")
    async with meteor.LocalOverlay(peers=3, space=SPACE, config=config) as overlay:
        assert all(peer.id == identifier(peer.address, BITS) for peer in overlay.peers)


async def test_a_given_and_a_kept_id_win(tmp_path: Path) -> None:
    async with meteor.Peer(space=SPACE) as founder:
        first = meteor.Peer(join=[founder.address], data_dir=tmp_path)
        async with first:
            placed = first.id
            assert placed != identifier(first.address, BITS)
        async with meteor.Peer(join=[founder.address], data_dir=tmp_path) as again:
            assert again.id == placed
        async with meteor.Peer(join=[founder.address], id=77) as third:
            assert third.id == 77


async def test_where_nobody_answers_it_is_said_as_before() -> None:
    with pytest.raises(meteor.JoinFailed, match=r"no ring to join|no ring to take"):
        await meteor.Peer(space=SPACE, join=["127.0.0.1:1"]).start()


async def test_a_light_peer_is_called_elsewhere_and_comes_back_there(tmp_path: Path) -> None:
    """All records lie at one of four peers; another one moves to them with its data directory."""
    moves = RelocationConfig(load_min=10, looks=1, interval_s=1.5)
    async with meteor.Peer(space=SPACE, id=(1 << BITS) - 1) as heavy:
        light = [
            meteor.Peer(join=[heavy.address], id=place, moves=moves if place == 2 else None,
                        data_dir=tmp_path if place == 2 else None)
            for place in (1, 2, 3)
        ]  # fmt: skip
        for peer in light:
            await peer.start()
        try:
            await fill(heavy)
            mover = light[1]
            address = mover.address
            async with asyncio.timeout(30):
                place = await mover.wait_place()
            assert place is not None
            moved = mover.relocated(place)
            await mover.close()
            assert await mover.wait_place() is None
            async with moved:
                assert (moved.id, moved.address) == (place, address)
                share = moved.core.state().data
                assert 0.3 * RECORDS <= share <= 0.7 * RECORDS
                assert len(await moved.retrieve("type=lamp").all()) == RECORDS
        finally:
            for peer in light:
                await peer.close()


async def test_a_transport_that_was_given_cannot_listen_again() -> None:
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        with pytest.raises(ValueError, match="listen again"):
            overlay.peers[0].relocated(5)


async def test_what_nobody_took_goes_on_under_the_identifier_that_it_had(tmp_path: Path) -> None:
    """Views name it by that: elsewhere nobody could tell any more that it is the last word."""
    other = await meteor.Peer(space=SPACE, data_dir=tmp_path / "other").start()
    mover = await meteor.Peer(
        join=[other.address], id=1 << 159, data_dir=tmp_path / "mover", found_if_alone=True
    ).start()
    stored = await mover.store("type=lamp temperature=1", b"")
    moved, back = mover.relocated(5), mover.relocated(mover.id)
    await other.crash()
    await mover.close()
    with pytest.raises(meteor.JoinFailed, match="handed over"):
        await moved.start()
    async with back as peer:
        assert peer.id == 1 << 159
        async with meteor.Peer(
            listen=other.address, join=[peer.address], data_dir=tmp_path / "other"
        ):
            found: list[meteor.Match] = []
            async with asyncio.timeout(30):
                while not found:  # each of them finds out first what the other one has
                    answer = peer.retrieve("type=lamp", allow_partial=True)
                    found = await answer.all()
            assert [one.id for one in found] == [stored.id]
