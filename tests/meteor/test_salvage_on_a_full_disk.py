"""A damaged journal on a disk that is nearly full: what can be read of it may have no room there.

A limit of the size of files stands in for the disk.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from meteor.journal import sqlite_file
from meteor.journal.journal import Entry, JournalFailed
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.journal.write_ahead_log import PAGE_BYTES
from tests.meteor.damaged_journal import NAME

SOME = [Entry(b"r:%d" % number, bytes(3000)) for number in range(100)]


async def test_a_new_file_takes_its_place_when_all_of_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its log had room, the file itself had not, and an empty one was put into the place."""
    path = tmp_path / NAME
    journal = await SqliteJournal.open(path)
    await journal.append(SOME)
    await journal.close()
    path.write_bytes(b"noise" + path.read_bytes()[5:])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    commit = sqlite_file._Connection.commit

    async def then_full(connection: sqlite_file._Connection) -> None:
        await commit(connection)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * PAGE_BYTES, before[1]))

    monkeypatch.setattr(sqlite_file._Connection, "commit", then_full)
    try:
        with pytest.raises(JournalFailed, match="make room"):
            await SqliteJournal.open(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    monkeypatch.undo()
    journal = await SqliteJournal.open(path)
    scan = await journal.scan()
    assert list(scan.entries) == SOME
    assert scan.incomplete
    await journal.close()
