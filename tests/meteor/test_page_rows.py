"""Rows read from the pages of a table: those that SQLite reads, each of them whole, or none."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor.journal.files import JournalFiles
from meteor.journal.first_look import FirstLook
from meteor.journal.journal import Entry, Scan
from meteor.journal.page_images import SPARE_BYTES, BulkPages
from meteor.journal.page_rows import PageRows, read_rows
from meteor.journal.rows import StoredRows, whole
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.journal.sqlite_pages import TABLE_INTERIOR, TABLE_LEAF, Unreadable
from meteor.journal.sqlite_reading import Preview
from meteor.journal.stretches import Stretches
from meteor.journal.write_ahead_log import PAGE_BYTES
from tests.meteor.damaged_journal import (
    DATABASE,
    LOG,
    NAME,
    flipped,
    killed,
    lay,
    pages,
)

SEED = 11
JOURNAL = "peer"
MANY = 40


def same(scan: Scan) -> Scan:
    return scan


def by_pages(path: Path, journal: str = JOURNAL) -> tuple[PageRows, dict[int, bytes]] | None:
    log = JournalFiles(path).examine().log
    newest = {frame.page: frame.image for frame in log.frames[: log.committed]}
    with path.open("rb") as file:
        return read_rows(BulkPages(file, newest), journal)


def by_sqlite(path: Path) -> StoredRows | None:
    """The rows, and nothing where SQLite cannot read them."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA cell_size_check = ON")
        rows = Preview(JOURNAL, FirstLook(same)).read(connection)
    connection.close()
    return rows.of_the_journal if rows is not None and rows.are_all else None  # type: ignore[return-value]


async def written(path: Path, entries: list[Entry]) -> None:
    journal = await SqliteJournal.open(path)
    for first in range(0, len(entries), 50):
        await journal.append(entries[first : first + 50])
    await journal.close()


def drawn(count: int, most_bytes: int, long_ones: int = 0) -> list[Entry]:
    """Entries of many sizes, of which some do not fit a page."""
    source = random.Random(SEED)
    sizes = [source.randrange(most_bytes) for _ in range(count - long_ones)]
    sizes += [source.randrange(4000, 20_000) for _ in range(long_ones)]
    source.shuffle(sizes)
    return [
        Entry(b"r:" + b"k" * source.randrange(80) + b"\0%d" % at, source.randbytes(size))
        for at, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("count", "most_bytes", "long_ones"), [(1, 10, 0), (700, 900, 0), (900, 200, 40), (9000, 60, 0)]
)
def test_they_are_those_of_sqlite(
    tmp_path: Path, count: int, most_bytes: int, long_ones: int
) -> None:
    path, entries = tmp_path / NAME, drawn(count, most_bytes, long_ones)
    asyncio.run(written(path, entries))
    found = by_pages(path)
    assert found is not None
    rows, others = found
    theirs = by_sqlite(path)
    assert theirs is not None
    assert [*rows.keys] == theirs.keys == [entry.key for entry in entries]
    assert [*rows.values] == theirs.values == [entry.value for entry in entries]
    assert rows.sequences.tolist() == [*theirs.sequences]
    assert [*others.values()] == [b"commit"]


@pytest.mark.parametrize("at_once", [1, 3, 7])
def test_pages_that_are_read_ahead_are_all_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("meteor.journal.page_images.IN_ONE_GO", at_once)
    asyncio.run(written(tmp_path / NAME, drawn(400, 500)))
    found, theirs = by_pages(tmp_path / NAME), by_sqlite(tmp_path / NAME)
    assert found is not None
    assert theirs is not None
    assert len(found[0].values.parts) > 400 * 250 // 4096 // at_once
    assert [*found[0].values] == theirs.values


@given(
    wanted=st.lists(st.integers(1, 40), min_size=1, max_size=60),
    newest=st.dictionaries(st.integers(1, 40), st.binary(min_size=1, max_size=1)),
    most_parts=st.sampled_from([2, 3, 1024]),
)
def test_many_images_are_those_of_each_page(
    wanted: list[int], newest: dict[int, bytes], most_parts: int
) -> None:
    """Whatever lies in between, in which order they come and which of them the log has."""
    images = {page: image * PAGE_BYTES for page, image in newest.items()}
    with TemporaryFile() as file, pytest.MonkeyPatch.context() as patched:
        patched.setattr("meteor.journal.page_images._MOST_PARTS", most_parts)
        file.write(random.Random(SEED).randbytes(30 * PAGE_BYTES))
        file.flush()
        pages = BulkPages(file, images)
        try:
            each = b"".join(map(pages.image, wanted))
        except Unreadable:
            with pytest.raises(Unreadable):
                pages.images(np.array(wanted))
        else:
            assert pages.images(np.array(wanted)).tobytes() == each + bytes(SPARE_BYTES)


async def test_pages_of_the_log_come_before_those_of_the_file(tmp_path: Path) -> None:
    _, files = await killed(tmp_path / "history", seed=SEED, kept=20, in_log=60)
    assert files[LOG], "there is a log"
    path = lay(tmp_path / "again", files)
    found, theirs = by_pages(path), by_sqlite(path)
    assert found is not None
    assert theirs is not None
    assert [*found[0].values] == theirs.values


async def test_many_long_rows_or_many_of_others_are_left_to_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "long" / NAME
    await written(path, drawn(200, 100, long_ones=100))
    assert by_pages(path) is None
    path = tmp_path / "others" / NAME
    await written(path, drawn(20, 100))
    other = await SqliteJournal.open(path, "other")
    await other.append([Entry(b"k%d" % at, b"v") for at in range(100)])
    await other.close()
    assert by_pages(path) is None
    found = by_pages(path, "nobody's")
    assert found is None, "of more than a few others nothing is said"


@pytest.mark.parametrize(
    "bits", [600, pytest.param(5_000, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_of_damaged_pages_only_whole_rows_come(tmp_path: Path, bits: int) -> None:
    """Whatever bit is turned: no error, and every row that is handed out is as it was written."""
    asyncio.run(written(tmp_path / NAME, drawn(600, 300, long_ones=9)))
    content = (tmp_path / NAME).read_bytes()
    known = by_pages(tmp_path / NAME)
    assert known is not None
    rows = known[0]
    was = {
        sequence: (key, value)
        for sequence, key, value in zip(
            rows.sequences.tolist(), rows.keys, rows.values, strict=True
        )
    }
    print(f"seed {SEED}")
    source, refused = random.Random(SEED), 0
    starts = [at for at in pages(content) if content[at] in (TABLE_LEAF, TABLE_INTERIOR)]
    path = tmp_path / DATABASE
    for _ in range(bits):
        low, high = source.choice([(0, 40), (40, 4096), (40, 4096)])
        bit = 8 * source.choice(starts) + source.randrange(8 * low, 8 * high)
        path.write_bytes(flipped(content, bit))
        found = by_pages(path)
        if found is None:
            refused += 1
            continue
        rows = found[0]
        for sequence, key, value in zip(
            rows.sequences.tolist(), rows.keys, rows.values, strict=True
        ):
            assert was[sequence] == (key, value), bit
    assert refused > bits // 2, "most of these bits belong to a row"


async def test_what_was_read_is_handed_out_only_with_its_sums(tmp_path: Path) -> None:
    path = tmp_path / NAME
    await written(path, drawn(100, 100))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE record SET checksum = checksum + 1 WHERE sequence = 50")
    connection.close()
    assert by_pages(path) is None
    theirs = by_sqlite(path)
    assert theirs is not None
    assert len(whole(JOURNAL, theirs)[2]) == 1


def test_a_stretch_makes_room_for_what_nobody_needs(tmp_path: Path) -> None:
    entries = drawn(MANY * 10, 500)
    asyncio.run(written(tmp_path / NAME, entries))
    found = by_pages(tmp_path / NAME)
    assert found is not None
    values = found[0].values
    assert isinstance(values, Stretches)
    before = sum(part.buffer.nbytes for part in values.parts)
    source = random.Random(SEED)
    gone = set(source.sample(range(len(entries)), 9 * MANY))
    for at in gone:
        values.forget(at)
        values.forget(at)
    for at in set(range(len(entries))) - gone:
        assert values[at] == entries[at].value
    left = sum(len(entry.value or b"") for at, entry in enumerate(entries) if at not in gone)
    assert sum(part.buffer.nbytes for part in values.parts) <= 2 * left + 4096 < before // 2
    with pytest.raises(IndexError):
        values[len(entries)]
