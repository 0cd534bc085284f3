"""What is made of a journal while its file is checked: the same as of a scan, or nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from meteor import KeywordSpace, Number, Peer, Word
from meteor.journal import index_check, sqlite_reading
from meteor.journal.first_look import FirstLook
from meteor.journal.journal import Entries, Scan
from meteor.journal.page_images import BulkPages
from meteor.journal.page_rows import PageRows, read_rows
from meteor.journal.sqlite_journal import SqliteJournal
from tests.meteor.damaged_journal import COMMITS, DATABASE, Files, flipped, killed, lay, pages

SEED = 5
SPACE = KeywordSpace("rooms", [Word("type"), Number("temperature", -40, 125)])


def same(scan: Scan) -> Scan:
    return scan


async def looked_at(path: Path) -> tuple[Scan | None, Scan, tuple[Path, ...]]:
    """What the first look gave, what a scan does, and what was set aside."""
    look = FirstLook(same)
    journal = await SqliteJournal.open(path, first_look=look)
    scan, aside = await journal.scan(), journal.set_aside
    await journal.close()
    return look.made, scan, aside


@pytest.mark.parametrize("in_log", [0, 30])
async def test_the_first_look_sees_what_a_scan_does(tmp_path: Path, in_log: int) -> None:
    _, files = await killed(tmp_path / "history", seed=SEED, kept=10, in_log=in_log)
    made, scan, aside = await looked_at(lay(tmp_path / "again", files))
    assert not aside
    assert made == scan
    assert len(scan.entries)


async def test_a_new_file_holds_nothing_to_look_at(tmp_path: Path) -> None:
    made, scan, _ = await looked_at(tmp_path / DATABASE)
    assert made is None
    assert not scan.entries


async def test_of_a_file_without_its_number_a_scan_tells(tmp_path: Path) -> None:
    """It is incomplete from now on, which the look could not know."""
    _, files = await killed(tmp_path / "history", seed=SEED, kept=10, in_log=0)
    made, scan, _ = await looked_at(lay(tmp_path / "again", {**files, COMMITS: b""}))
    assert made is None
    assert scan.incomplete


async def test_what_was_seen_of_a_damaged_file_is_thrown_away(tmp_path: Path) -> None:
    _, files = await killed(tmp_path / "history", seed=SEED, kept=20, in_log=0)
    drawn, told = random.Random(SEED), 0
    starts = pages(files[DATABASE])
    for number, start in enumerate(drawn.sample(starts[1:], 20)):
        bit = 8 * start + drawn.randrange(8 * 12)  # the head of a page, and its first cells' places
        damaged: Files = {**files, DATABASE: flipped(files[DATABASE], bit)}
        made, scan, aside = await looked_at(lay(tmp_path / str(number), damaged))
        assert made is None if aside else made == scan, bit
        told += bool(aside)
    assert told, "some of these are damage that SQLite's check finds"


def of_places(rows: PageRows, places: list[int]) -> PageRows:
    """The rows at these places, each as it was written."""
    at = np.array(places, np.intp)
    return PageRows(rows.sequences[at], rows.keys.picked(at), [rows.values[one] for one in places])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param(lambda every: every[:7] + every[8:], id="a row less"),
        pytest.param(lambda every: every[:7] + every[6:], id="a row twice"),
        pytest.param(lambda every: [every[1], every[0], *every[2:]], id="another order"),
    ],
)
async def test_rows_that_do_not_fit_a_sound_file_are_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: Callable[[list[int]], list[int]]
) -> None:
    """Each of them is whole; SQLite, which read none of them, finds nothing wrong with the file."""
    _, files = await killed(tmp_path / "history", seed=SEED, kept=20, in_log=0)

    def misread(pages: BulkPages, journal: str) -> tuple[PageRows, dict[int, bytes]] | None:
        found = read_rows(pages, journal)
        assert found is not None
        return of_places(found[0], planted(list(range(len(found[0]))))), found[1]

    expected, scan, _ = await looked_at(lay(tmp_path / "read", files))
    assert expected == scan
    monkeypatch.setattr(sqlite_reading, "read_rows", misread)
    made, scan, aside = await looked_at(lay(tmp_path / "misread", files))
    assert made is None
    assert scan == expected
    assert not aside


async def test_what_cannot_be_compared_with_the_index_is_read_by_sqlite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, files = await killed(tmp_path / "history", seed=SEED, kept=20, in_log=0)
    monkeypatch.setattr(index_check, "MOST_ROWS", 10)
    made, scan, _ = await looked_at(lay(tmp_path / "again", files))
    assert made == scan
    assert isinstance(scan.entries, Entries)
    assert len(scan.entries) > 10


async def test_a_look_that_fails_leaves_no_file_open(tmp_path: Path) -> None:
    _, files = await killed(tmp_path / "history", seed=SEED, kept=10, in_log=0)
    path = lay(tmp_path / "again", files)

    def fail(_: Scan) -> None:
        raise ValueError("made of it")

    with pytest.raises(ValueError, match="made of it"):
        await SqliteJournal.open(path, first_look=FirstLook(fail))
    _, scan, aside = await looked_at(path)
    assert scan.entries
    assert not aside


async def test_a_restarted_peer_reads_its_journal_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans: list[SqliteJournal] = []
    scan = SqliteJournal.scan

    async def watched(journal: SqliteJournal) -> Scan:
        scans.append(journal)
        return await scan(journal)

    monkeypatch.setattr(SqliteJournal, "scan", watched)
    async with Peer(space=SPACE, data_dir=tmp_path) as peer:
        await peer.store("type=air temperature=21", b"kept")
    assert len(scans) == 1, "a new journal holds nothing"
    async with Peer(data_dir=tmp_path) as peer:  # the space is the one that it kept
        found = await peer.retrieve("type=air").all()
        assert [match.data for match in found] == [b"kept"]
    assert len(scans) == 1
