"""The number of acknowledged transactions is gone from beside its journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from meteor.journal import sqlite_file
from meteor.journal.journal import JournalFailed
from meteor.journal.sqlite_journal import SqliteJournal
from tests.meteor.damaged_journal import COMMITS, LOG, NAME, killed, lay


async def test_a_start_that_fails_does_not_hide_that_the_number_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had a new number put there, which said that nothing was acknowledged: at the next start a
    log that was cut counted as whole."""
    _, files = await killed(tmp_path, seed=1, kept=3, in_log=10)
    cut = files[LOG][: len(files[LOG]) // 2]
    path = lay(tmp_path / "x", {**files, LOG: cut, COMMITS: b""})

    async def fails(*_: object) -> None:
        raise OSError("no memory")

    monkeypatch.setattr(sqlite_file, "_as_it_is", fails)
    with pytest.raises(JournalFailed, match="no memory"):
        await SqliteJournal.open(path)
    monkeypatch.undo()
    journal = await SqliteJournal.open(path)
    assert (await journal.scan()).incomplete
    await journal.close()


async def test_a_first_start_that_fails_leaves_a_new_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise OSError("no memory")

    monkeypatch.setattr(sqlite_file, "_as_it_is", fails)
    with pytest.raises(JournalFailed, match="no memory"):
        await SqliteJournal.open(tmp_path / NAME)
    monkeypatch.undo()
    journal = await SqliteJournal.open(tmp_path / NAME)
    assert not (await journal.scan()).incomplete
    await journal.close()
