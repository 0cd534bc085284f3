"""A peer that is started again has a higher incarnation than in any life before, whatever its
journal has lost: the same number again would be taken for the same life, which remembers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import meteor
from meteor.keeping.shelf_journal import Contents
from meteor.peer_start import next_incarnation
from meteor.wire.operations import PeerNote
from tests.meteor.building import SPACE

NOW_S = 1_800_000_000.5


def note(incarnation: int) -> PeerNote:
    return PeerNote(1, incarnation, "")


def contents(*, incomplete: bool = False, damaged: bool = False) -> Contents:
    found = Contents.__new__(Contents)
    object.__setattr__(found, "incomplete", incomplete)
    object.__setattr__(found, "damaged", [b"x"] if damaged else [])
    return found


@pytest.mark.parametrize(
    ("before", "found", "after"),
    [
        (None, None, 0),
        (None, contents(), 0),
        (note(0), contents(), 1),
        (note(7), None, 8),
        (None, contents(incomplete=True), 1_800_000_000),
        (note(7), contents(incomplete=True), 1_800_000_000),
        (note(7), contents(damaged=True), 1_800_000_000),
        (note(1_900_000_000), contents(damaged=True), 1_900_000_001),
    ],
)
def test_the_next_incarnation(before: PeerNote | None, found: Contents | None, after: int) -> None:
    assert next_incarnation(before, found, NOW_S) == after


async def test_a_journal_that_is_a_life_behind_brings_no_incarnation_again(tmp_path: Path) -> None:
    """Its log is gone, and with it the note of the life that was killed."""
    folder, killed = tmp_path / "peer", tmp_path / "killed"
    async with meteor.Peer(space=SPACE, data_dir=folder) as peer:
        assert peer.contact.incarnation == 0
    async with meteor.Peer(space=SPACE, data_dir=folder) as peer:
        lived = peer.contact.incarnation
        assert lived == 1
        await peer.store("type=lamp temperature=1", b"x", ttl=600)
        shutil.copytree(folder, killed)
    (killed / "meteor.sqlite-wal").unlink()
    async with meteor.Peer(space=SPACE, data_dir=killed) as peer:
        assert peer.contact.incarnation > lived
        assert (killed / "meteor.sqlite.damaged-1").exists()
