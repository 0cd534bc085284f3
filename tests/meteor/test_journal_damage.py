"""Real journal files, damaged: cut, flipped, exchanged, gone.

A damaged journal never stops its peer, never gives back what nobody wrote, names what it can name
and says so when it may have lost more; what is not damaged comes back.  The default suite draws a
sample of every kind, the long one goes through all.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from meteor.journal import files as journal_files
from meteor.journal.commit_number import CommitNumber
from meteor.journal.journal import Entry, JournalFailed, Scan
from meteor.journal.sqlite_file import open_file
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.journal.write_ahead_log import FRAME_BYTES, PAGE_BYTES, read_log
from tests.meteor.damaged_journal import (
    COMMITS,
    DATABASE,
    LOG,
    NAME,
    Files,
    History,
    flipped,
    frame_starts,
    judge,
    killed,
    lay,
    pages,
    reopened,
)

SEED = 11
ROWS_OF_A_PAGE = 60
"""What one damaged page can cost at most: the smallest row takes some 70 bytes."""
BOUND_S = 20.0


@pytest.fixture(scope="module")
def in_log(tmp_path_factory: pytest.TempPathFactory) -> tuple[History, Files]:
    """Killed with 30 transactions in the log and more in the database."""
    print(f"seed {SEED}")
    return asyncio.run(killed(tmp_path_factory.mktemp("log"), seed=SEED, kept=30, in_log=30))


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory: pytest.TempPathFactory) -> tuple[History, Files]:
    """Closed in order: all is in the database."""
    return asyncio.run(killed(tmp_path_factory.mktemp("rest"), seed=SEED, kept=30, in_log=0))


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """A fresh folder a case."""

    def fresh() -> Iterator[Path]:
        for number in range(1_000_000):
            yield tmp_path / str(number)
            shutil.rmtree(tmp_path / str(number), ignore_errors=True)

    return fresh()


def numbered(folder: Path, number: int) -> bytes:
    """The file that says: so many transactions were acknowledged."""
    path = folder.with_suffix(".number")
    commits = CommitNumber(path)
    commits.write(number)
    commits.close()
    return path.read_bytes()


def ends(log: bytes) -> list[int]:
    """Where the transactions of a log end."""
    frames = read_log(log).frames
    return [end for end, frame in zip(frame_starts(log)[1:], frames, strict=True) if frame.commit]


async def read(folder: Path, files: Files) -> Scan:
    return await asyncio.wait_for(reopened(folder, files), BOUND_S)


def some(cases: range, count: int | None) -> list[int]:
    """All of them, or a drawn sample with the first and the last."""
    if count is None or count >= len(cases):
        return list(cases)
    return sorted({cases[0], cases[-1], *random.Random(SEED).sample(cases, count)})


SAMPLE = pytest.mark.parametrize(
    "count", [5, pytest.param(None, marks=pytest.mark.long)], ids=["sample", "all"]
)


@SAMPLE
async def test_a_cut_log_is_told_and_costs_only_what_was_cut(
    in_log: tuple[History, Files], folders: Iterator[Path], count: int | None
) -> None:
    history, files = in_log
    log, drawn = files[LOG], random.Random(SEED)
    cuts = some(frame_starts(log)[:-1], count)
    cuts += [drawn.randrange(len(log)) for _ in cuts]
    bounds = ends(log)
    for cut in cuts:
        scan = await read(next(folders), {**files, LOG: log[:cut]})
        found = {entry.key: entry.value for entry in scan.entries}
        verdict = judge(history, scan)
        assert scan.incomplete, cut
        assert not verdict.foreign, cut
        before = history.states[sum(end <= cut for end in bounds)]
        untouched = {key for key, value in history.now.items() if before.get(key) == value}
        assert {key for key in untouched if found.get(key) != history.now[key]} == set(), cut
        assert found.keys() <= before.keys() | history.now.keys(), cut


@SAMPLE
async def test_a_torn_tail_that_nobody_was_told_of_is_no_damage(
    in_log: tuple[History, Files], folders: Iterator[Path], count: int | None
) -> None:
    """The last transaction was being written when the power went: all of it or nothing."""
    history, files = in_log
    log, drawn = files[LOG], random.Random(SEED)
    bounds = [frame_starts(log)[0], *ends(log)]
    total = len(bounds) - 1
    last_number = int(files[COMMITS].split()[0])
    for acknowledged in some(range(total), count):
        folder = next(folders)
        number = numbered(folder, last_number - total + acknowledged)
        start, end = bounds[acknowledged], bounds[acknowledged + 1]
        cut = drawn.randint(start, end)
        scan = await read(folder, {**files, LOG: log[:cut], COMMITS: number})
        reached = acknowledged + (cut == end)
        assert not scan.incomplete, acknowledged
        assert {e.key: e.value for e in scan.entries} == history.states[reached], acknowledged
        assert scan.damaged == ()
    spoilt = flipped(log[: bounds[-1]], 8 * bounds[-2] + 300)  # its first frame is broken
    number = numbered(next(folders), last_number - 1)
    scan = await read(next(folders), {**files, LOG: spoilt, COMMITS: number})
    assert (scan.incomplete, {e.key: e.value for e in scan.entries}) == (False, history.states[-2])


@SAMPLE
async def test_a_bit_flipped_in_a_frame_of_the_log_costs_one_page_at_most(
    in_log: tuple[History, Files], folders: Iterator[Path], count: int | None
) -> None:
    history, files = in_log
    drawn = random.Random(SEED)
    for start in [0, *some(frame_starts(files[LOG])[:-1], count)]:
        length = FRAME_BYTES if start else frame_starts(files[LOG])[0]
        bit = drawn.randrange(8 * start, 8 * (start + length))
        scan = await read(next(folders), {**files, LOG: flipped(files[LOG], bit)})
        verdict = judge(history, scan)
        assert (verdict.silent, verdict.foreign, verdict.reported) == (False, 0, True), bit
        assert verdict.lost <= ROWS_OF_A_PAGE, bit


@SAMPLE
async def test_a_bit_flipped_in_a_page_of_the_database_costs_one_page_at_most(
    at_rest: tuple[History, Files], folders: Iterator[Path], count: int | None
) -> None:
    """In the page's head, and anywhere; only where a page says nothing may it pass unseen."""
    history, files = at_rest
    content, drawn = files[DATABASE], random.Random(SEED)
    for start in some(pages(content), count):
        for length in (12, PAGE_BYTES):
            bit = drawn.randrange(8 * start, 8 * (start + length))
            scan = await read(next(folders), {**files, DATABASE: flipped(content, bit)})
            verdict = judge(history, scan)
            assert (verdict.silent, verdict.foreign) == (False, 0), bit
            assert verdict.lost <= (ROWS_OF_A_PAGE if verdict.reported else 0), bit


@SAMPLE
async def test_a_bit_flipped_in_the_header_of_the_database_costs_nothing(
    at_rest: tuple[History, Files], folders: Iterator[Path], count: int | None
) -> None:
    history, files = at_rest
    for bit in some(range(800), count):
        scan = await read(next(folders), {**files, DATABASE: flipped(files[DATABASE], bit)})
        verdict = judge(history, scan)
        assert (verdict.silent, verdict.foreign, verdict.lost) == (False, 0, 0), bit


@SAMPLE
async def test_a_page_whose_last_write_was_lost_is_told(
    tmp_path: Path, folders: Iterator[Path], count: int | None
) -> None:
    """The disk said "written" and kept the page as it was at an earlier close."""
    history = History(SEED)
    versions = []
    for _ in range(2):
        journal = await SqliteJournal.open(tmp_path / NAME)
        for _ in range(15):
            await history.append(journal, history.batch(20, 300))
        await journal.close()
        versions.append({name: (tmp_path / name).read_bytes() for name in (DATABASE, COMMITS)})
    old, new = (version[DATABASE] for version in versions)
    for start in some(pages(old), count):
        page = old[start : start + PAGE_BYTES]
        mixed = new[:start] + page + new[start + PAGE_BYTES :]
        verdict = judge(history, await read(next(folders), {**versions[1], DATABASE: mixed}))
        assert (verdict.silent, verdict.foreign) == (False, 0), start
        assert verdict.lost <= ROWS_OF_A_PAGE, start
        assert verdict.reported or not verdict.lost, start  # a page given back says nothing


@SAMPLE
async def test_noise_over_any_part_is_never_a_crash_and_never_silent(
    in_log: tuple[History, Files], at_rest: tuple[History, Files],
    folders: Iterator[Path], count: int | None,
) -> None:  # fmt: skip
    drawn = random.Random(SEED)
    for _ in range(2 * count if count else 300):
        history, files = drawn.choice([in_log, at_rest])
        name = drawn.choice([name for name, content in files.items() if content])
        content = bytearray(files[name])
        for _ in range(drawn.randint(1, 4)):
            start, length = drawn.randrange(len(content)), drawn.choice([1, 16, 512, 4096, 20_000])
            noise = bytes(length) if drawn.random() < 0.5 else drawn.randbytes(length)
            content[start : start + length] = noise[: len(content) - start]
        scan = await read(next(folders), {**files, name: bytes(content)})
        verdict = judge(history, scan)
        assert (verdict.silent, verdict.foreign) == (False, 0)


async def test_a_broken_number_is_told_and_costs_nothing(
    at_rest: tuple[History, Files], folders: Iterator[Path]
) -> None:
    history, files = at_rest
    for spoilt in (b"", flipped(files[COMMITS], 70), files[COMMITS] + b"x", b"no number"):
        scan = await read(next(folders), {**files, COMMITS: spoilt})
        assert scan.incomplete
        assert {entry.key: entry.value for entry in scan.entries} == history.now


@pytest.mark.parametrize("gone", [(DATABASE,), (LOG,), (DATABASE, LOG)])
async def test_files_that_are_gone_are_told(
    in_log: tuple[History, Files], tmp_path: Path, gone: tuple[str, ...]
) -> None:
    history, files = in_log
    scan = await read(tmp_path / "x", {**files, **dict.fromkeys(gone, b"")})
    verdict = judge(history, scan)
    assert scan.incomplete
    assert (verdict.foreign, verdict.silent) == (0, False)


async def test_another_file_is_set_aside_and_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE book (title TEXT)")
    connection.close()
    for number, content in enumerate((b"this is no database" * 100, foreign.read_bytes()), 1):
        folder = tmp_path / str(number)
        journal = await SqliteJournal.open(lay(folder, {NAME: content}))
        assert await journal.scan() == Scan((), (), incomplete=True)
        assert journal.set_aside == (folder / f"{NAME}.damaged-1",)
        assert journal.set_aside[0].read_bytes() == content
        await journal.close()
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(warnings) == 2
    assert f"{NAME}.damaged-1" in warnings[0]


async def test_what_is_no_fault_of_the_content_sets_nothing_aside(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(JournalFailed, match="not a usable journal"):
        await SqliteJournal.open(tmp_path / NAME)
    assert (tmp_path / NAME).is_dir()


async def test_it_stays_incomplete_until_it_is_written_anew(
    in_log: tuple[History, Files], tmp_path: Path
) -> None:
    _, files = in_log
    path = lay(tmp_path / "x", {**files, LOG: files[LOG][: len(files[LOG]) // 2]})
    for _ in range(2):
        journal, other = await SqliteJournal.open(path), await SqliteJournal.open(path, "other")
        assert (await journal.scan()).incomplete
        assert (await other.scan()).incomplete, "nobody knows what another journal held"
        await journal.append([Entry(b"more", b"1")])
        await journal.close()
        await other.close()
    journal = await SqliteJournal.open(path)
    await journal.replace((await journal.scan()).entries)
    assert not (await journal.scan()).incomplete
    await journal.close()
    journal, other = await SqliteJournal.open(path), await SqliteJournal.open(path, "other")
    assert not (await journal.scan()).incomplete
    assert (await other.scan()).incomplete
    assert len(journal.set_aside) == 1
    await journal.close()
    await other.close()
    path.write_bytes(b"again")
    journal = await SqliteJournal.open(path)
    assert (await journal.scan()).incomplete, "damaged once more"
    assert len(journal.set_aside) == 2
    await journal.close()


async def test_a_lost_record_is_named_until_it_is_written_or_removed(
    at_rest: tuple[History, Files], tmp_path: Path
) -> None:
    history, files = at_rest
    content = files[DATABASE]
    first, second = sorted(history.now)[:2]
    for key in (first, second):
        at = content.index(history.now[key][:16])
        content = flipped(content, 8 * at)
    # and in another row the key, so that SQLite's own check finds its trees to differ
    broken = max(history.now)
    at = content.index(broken + history.now[broken][:8])
    path = lay(tmp_path / "x", {**files, DATABASE: flipped(content, 8 * at)})
    journal = await SqliteJournal.open(path)
    scan = await journal.scan()
    assert set(scan.damaged) == {first, second, broken}
    await journal.append([Entry(first, b"new"), Entry(second, None)])
    assert (await journal.scan()).damaged == (broken,)
    await journal.close()


@pytest.mark.parametrize("calls", range(4))
async def test_a_salvage_that_is_broken_off_is_finished_at_the_next_start(
    in_log: tuple[History, Files], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """The process dies before the first, second, third or fourth renaming."""
    history, files = in_log
    spoilt = {**files, LOG: flipped(files[LOG], 8 * len(files[LOG]) // 2)}
    expected = await read(tmp_path / "expected", spoilt)
    path, left = lay(tmp_path / "x", spoilt), [calls]

    def dying(source: Path, target: Path) -> None:
        if not left[0]:
            raise OSError("the process died here")
        left[0] -= 1
        os.rename(source, target)

    monkeypatch.setattr(journal_files.os, "replace", dying)
    with pytest.raises(JournalFailed, match="died here"):
        await SqliteJournal.open(path)
    monkeypatch.undo()
    journal = await SqliteJournal.open(path)
    assert await journal.scan() == expected
    assert not judge(history, expected).foreign
    await journal.close()


async def test_a_journal_larger_than_the_page_cache_is_salvaged_whole(tmp_path: Path) -> None:
    """6 MiB, and the root of its tree gone: every record stands in the leaves."""
    drawn = random.Random(SEED)
    entries = [Entry(b"r:%05d" % at, drawn.randbytes(1000 + at % 6000)) for at in range(1500)]
    journal = await SqliteJournal.open(tmp_path / NAME)
    await journal.replace(entries)
    assert (await journal.scan()).entries == tuple(entries)
    await journal.close()
    with (tmp_path / NAME).open("r+b") as file:
        file.seek(PAGE_BYTES)
        file.write(bytes(PAGE_BYTES))
    began_s = time.monotonic()
    journal = await SqliteJournal.open(tmp_path / NAME)
    print(f"salvaged in {time.monotonic() - began_s:.2f} s")
    scan = await journal.scan()
    assert (scan.entries, scan.damaged, scan.incomplete) == (tuple(entries), (), True)
    await journal.close()


async def test_a_commit_is_on_the_disk_before_anybody_is_told_of_it(tmp_path: Path) -> None:
    """Only a cut of the power would show that it is not: so what SQLite is told is looked at."""
    file = await open_file(tmp_path / NAME)
    try:
        for setting, value in (("synchronous", 2), ("journal_mode", "wal")):
            (found,) = await file.connection.execute_fetchall(f"PRAGMA {setting}")
            assert found[0] == value, setting
    finally:
        await file.close()


async def test_a_large_file_is_announced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO", "meteor.journal")
    for limit_mb, said in ((1000, 0), (0, 1)):
        monkeypatch.setattr("meteor.journal.sqlite_file._WORTH_A_WORD_MB", limit_mb)
        for _ in range(2):
            journal = await SqliteJournal.open(tmp_path / "journal.sqlite")
            await journal.append([Entry(b"a", b"1")])
            await journal.close()
        assert caplog.text.count("are checked and read") == said * 2
