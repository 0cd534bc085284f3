"""A peer that is started again has a higher incarnation than in any life before, whatever its
journal has lost: the same number again would be taken for the same life, which remembers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import meteor
from meteor.peer_start import next_incarnation
from meteor.wire.operations import PeerNote
from tests.meteor.building import SPACE

NOW_S = 1_800_000_000.5


def note(incarnation: int) -> PeerNote:
    return PeerNote(1, incarnation, "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, 1_800_000_000_500),
        (note(0), 1_800_000_000_500),
        (note(7), 1_800_000_000_500),
        (note(1_800_000_000_500), 1_800_000_000_501),
        (note(1_900_000_000_000), 1_900_000_000_001),  # the clock was set back
    ],
)
def test_the_next_incarnation(before: PeerNote | None, after: int) -> None:
    assert next_incarnation(before, NOW_S) == after


async def test_a_backup_and_a_new_journal_bring_no_incarnation_again(tmp_path: Path) -> None:
    """Nothing is wrong with the files."""
    folder, backup = tmp_path / "peer", tmp_path / "backup"
    async with meteor.Peer(space=SPACE, data_dir=folder):
        pass
    shutil.copytree(folder, backup)
    async with meteor.Peer(space=SPACE, data_dir=folder) as peer:
        lived = peer.contact.incarnation
    for put_back in (backup, tmp_path / "new"):
        async with meteor.Peer(space=SPACE, data_dir=put_back) as peer:
            assert peer.contact.incarnation > lived


async def test_a_journal_that_is_a_life_behind_brings_no_incarnation_again(tmp_path: Path) -> None:
    """Its log is gone, and with it the note of the life that was killed."""
    folder, killed = tmp_path / "peer", tmp_path / "killed"
    async with meteor.Peer(space=SPACE, data_dir=folder) as peer:
        before = peer.contact.incarnation
    async with meteor.Peer(space=SPACE, data_dir=folder) as peer:
        lived = peer.contact.incarnation
        assert lived > before
        await peer.store("type=lamp temperature=1", b"x", ttl=600)
        shutil.copytree(folder, killed)
    (killed / "meteor.sqlite-wal").unlink()
    async with meteor.Peer(space=SPACE, data_dir=killed) as peer:
        assert peer.contact.incarnation > lived
        assert (killed / "meteor.sqlite.damaged-1").exists()
