"""A peer that moved on the ring, and fell before it was a member at its new place."""

from __future__ import annotations

from pathlib import Path

import pytest

import meteor
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.links.transport import MemoryHub, MemoryTransport
from meteor.peer_start import keep_note, read_note
from meteor.wire.operations import PeerNote
from tests.meteor.building import SPACE

ELSEWHERE = 77


async def note_the_move(data_dir: Path) -> None:
    """What a relocated peer writes down before it joins."""
    journal = await SqliteJournal.open(data_dir / "meteor.sqlite")
    note = await read_note(journal)
    assert note is not None
    moved = PeerNote(ELSEWHERE, note.incarnation + 1, note.space, note.born)
    await keep_note(journal, moved)
    await journal.close()


@pytest.mark.parametrize("join", [(), ("memory:9999",)])
async def test_it_goes_back_into_the_ring_that_it_left(
    tmp_path: Path, join: tuple[str, ...]
) -> None:
    """Where nobody to join is named, or is there, it founded a ring of its own, and neither that
    nor the one that it had left looked for the other."""
    hub = MemoryHub()

    def founder(*join: str) -> meteor.Peer:
        return meteor.Peer(
            space=SPACE, join=join, found_if_alone=True, data_dir=tmp_path, seed=1,
            transport=MemoryTransport(hub, "memory:1000"),
        )  # fmt: skip

    first = await founder().start()
    async with meteor.Peer(join=[first.address], transport=MemoryTransport(hub), seed=2):
        await first.store("type=lamp temperature=1", b"")
        first_id = first.id
        await first.close()
        await note_the_move(tmp_path)
        async with founder(*join) as again:
            assert again.id == first_id
            assert len((await again.ring()).peers) == 2
            assert len(await again.retrieve("type=lamp")) == 1


async def test_it_goes_back_though_its_new_place_is_another_peers_by_now(tmp_path: Path) -> None:
    """It was told for ever that its identifier is that other one's."""
    hub = MemoryHub()

    def founder() -> meteor.Peer:
        transport = MemoryTransport(hub, "memory:1000")
        return meteor.Peer(space=SPACE, data_dir=tmp_path, seed=1, transport=transport)

    first = await founder().start()
    join = [first.address]
    async with (
        meteor.Peer(join=join, transport=MemoryTransport(hub), seed=2),
        meteor.Peer(join=join, transport=MemoryTransport(hub), seed=3, id=ELSEWHERE),
    ):
        await first.store("type=lamp temperature=1", b"")
        former = first.id
        await first.close()
        await note_the_move(tmp_path)
        async with founder() as again:
            assert again.id == former
            assert len((await again.ring()).peers) == 3
            assert len(await again.retrieve("type=lamp")) == 1
