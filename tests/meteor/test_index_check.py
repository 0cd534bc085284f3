"""Index and table compared at once: never more content with a file than SQLite's own check is."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor.journal import index_check
from meteor.journal.first_look import FirstLook
from meteor.journal.index_check import index_entries, index_fits
from meteor.journal.journal import Entry, Scan
from meteor.journal.rows import FILE
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.journal.sqlite_pages import INDEX_INTERIOR, INDEX_LEAF, TABLE_LEAF
from meteor.journal.sqlite_reading import Preview
from meteor.keeping.placement import journal_key
from tests.meteor.damaged_journal import DATABASE, NAME, flipped, pages
from tests.meteor.security.signers import ALICE

SEED = 3
JOURNAL = "peer"


def same(scan: Scan) -> Scan:
    return scan


def said(path: Path) -> tuple[bool, bool, bool]:
    """What the pages, the comparison and SQLite's full check say of a file."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA cell_size_check = ON")
        checks = []
        for check in ("quick_check", "integrity_check"):
            try:
                (verdict,) = connection.execute(f"PRAGMA {check}(1)").fetchall()
                checks.append(verdict[0] == "ok")
            except sqlite3.DatabaseError:
                checks.append(False)
        rows = Preview(JOURNAL, FirstLook(same)).read(connection)
        fits = False
        if rows is not None and rows.are_all:
            try:
                read = {JOURNAL: rows.of_the_journal, FILE: rows.of_the_file}
                fits = index_fits(index_entries(connection), read)
            except sqlite3.DatabaseError:
                fits = False
    connection.close()
    return checks[0], fits, checks[1]


numbers = st.integers(0, 12) | st.integers(0, 300) | st.integers(-(2**63), 2**63 - 1)


@given(rows=st.lists(numbers, max_size=12), drawn=st.randoms(), more=st.lists(numbers, max_size=2))
def test_the_order_is_that_of_a_search_for_each(
    rows: list[int], drawn: random.Random, more: list[int]
) -> None:
    """Near each other or not, in order or not, and whatever the index names instead."""
    if drawn.random() < 0.8:
        rows = sorted(set(rows))
    named = [*rows, *more]
    drawn.shuffle(named)
    named = named[: drawn.choice([len(rows), len(named)])]
    found = index_check._order(array("q", rows), b",".join(b"%d" % each for each in named))
    is_fit = rows and rows == sorted(set(rows)) == sorted(named)
    assert (None if found is None else found.tolist()) == (
        [rows.index(each) for each in named] if is_fit else None
    )


async def written(path: Path, keys: list[bytes]) -> None:
    """A journal of these keys, closed in order."""
    journal = await SqliteJournal.open(path)
    drawn = random.Random(SEED)
    for key in keys:
        await journal.append([Entry(key, drawn.randbytes(20))])
    await journal.close()


def some_keys(count: int) -> list[bytes]:
    drawn = random.Random(SEED)
    numbers = drawn.sample(range(10**6), count)
    return [b"r:" + b"k" * drawn.randrange(9) + b"\0%d" % number for number in numbers]


@pytest.mark.parametrize(("count", "at_once"), [(1, 9), (2, 9), (700, 9), (700, 1 << 13)])
async def test_of_a_whole_file_it_says_yes(
    tmp_path: Path, count: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_check, "TRIED_AT_ONCE", at_once)
    owned = journal_key((ALICE.key, "s" * 64))  # the longest there are
    await written(tmp_path / NAME, [*some_keys(count), b"views", owned])
    assert said(tmp_path / NAME) == (True, True, True)


@pytest.mark.parametrize(
    "bits", [400, pytest.param(20_000, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_it_says_yes_of_no_flipped_bit_that_the_full_check_finds(tmp_path: Path, bits: int) -> None:
    asyncio.run(written(tmp_path / NAME, some_keys(400)))
    content = (tmp_path / NAME).read_bytes()
    print(f"seed {SEED}")
    drawn, told_alone = random.Random(SEED), 0
    kinds = (INDEX_LEAF, INDEX_INTERIOR, TABLE_LEAF)
    starts = [start for start in pages(content) if content[start] in kinds]
    for _ in range(bits):
        start = drawn.choice(starts)
        used = content.index(b"r:", start + 100) - start  # the first cell, and what is before it
        low, high = drawn.choice([(0, 60), (max(0, used - 8), 4096), (3000, 4096)])
        bit = 8 * start + drawn.randrange(8 * low, 8 * high)
        path = tmp_path / DATABASE
        path.write_bytes(flipped(content, bit))
        pages_are_whole, fits, is_good = said(path)
        assert is_good or not (pages_are_whole and fits), bit
        told_alone += pages_are_whole and not is_good
    assert told_alone > bits // 20, "of many of these the pages alone say nothing"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("UPDATE record SET key = CAST(key AS TEXT) WHERE sequence = {one}", "a text"),
        ("DELETE FROM record WHERE sequence = {one}", "a row less"),
        ("UPDATE record SET sequence = 9999 WHERE sequence = {one}", "a place"),
        ("UPDATE record SET key = x'ff' WHERE sequence = {one}", "what stands between two"),
        ("UPDATE record SET key = zeroblob(65) WHERE sequence = {one}", "another key"),
        ("INSERT INTO record VALUES (9999, 'other', x'01', x'02', 3)", "another journal"),
        ("UPDATE record SET journal = 'other' WHERE sequence = {one}", "a moved row"),
    ],
)
async def test_what_it_was_not_told_of_is_left_to_the_full_check(
    tmp_path: Path, change: str, names: str
) -> None:
    """Rows as they were read, then the file another: both say it of themselves alone."""
    path = tmp_path / NAME
    await written(path, some_keys(50))
    connection = sqlite3.connect(path)
    before = Preview(JOURNAL, FirstLook(same)).read(connection)
    assert before is not None
    assert before.are_all
    read = {JOURNAL: before.of_the_journal, FILE: before.of_the_file}
    assert index_fits(index_entries(connection), read)
    changed = connection.execute(change.format(one=before.of_the_journal.sequences[5]))
    assert changed.rowcount == 1
    assert not index_fits(index_entries(connection), read), names
    connection.close()


@pytest.mark.parametrize("at_once", [1, 4, 1 << 13])
def test_an_index_out_of_order_is_found(
    tmp_path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two entries that changed places: each names its row, and a search finds neither, wherever
    those end that are compared at once."""
    monkeypatch.setattr(index_check, "TRIED_AT_ONCE", at_once)
    path = tmp_path / NAME
    asyncio.run(written(path, [b"r:%04d" % at for at in range(20)]))
    content = bytearray(path.read_bytes())
    start = next(at for at in pages(bytes(content)) if content[at] == INDEX_LEAF)
    one, other = start + 8 + 2 * 4, start + 8 + 2 * 5  # where the page says its cells begin
    content[one : one + 2], content[other : other + 2] = (
        content[other : other + 2], content[one : one + 2],
    )  # fmt: skip
    path.write_bytes(content)
    assert said(path) == (True, False, False)


def test_the_files_own_rows_are_not_compared_with_the_index_that_led_to_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / NAME
    asyncio.run(written(path, some_keys(20)))
    content = path.read_bytes()
    start = next(at for at in pages(content) if content[at] == INDEX_LEAF)
    at = content.index(b"commit", start)
    path.write_bytes(flipped(content, 8 * at))
    assert said(path) == (True, False, False)


async def test_a_file_of_several_peers_is_checked_by_sqlite(tmp_path: Path) -> None:
    path = tmp_path / NAME
    await written(path, some_keys(5))
    other = await SqliteJournal.open(path, "other")
    await other.append([Entry(b"k%d" % at, b"v") for at in range(100)])
    await other.close()
    assert said(path) == (True, False, True)
    look = FirstLook(same)
    journal = await SqliteJournal.open(path, first_look=look)
    assert look.made == await journal.scan()
    assert look.made is not None
    assert len(look.made.entries) == 5
    await journal.close()
