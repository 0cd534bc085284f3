"""Reading SQLite's files without SQLite says what SQLite says, and bounds what noise can do."""

from __future__ import annotations

import asyncio
import io
import random
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor.journal.salvage import newest_number, salvage
from meteor.journal.sqlite_pages import Pages, Unreadable, index_cell, pointers, table_cell
from meteor.journal.write_ahead_log import FRAME_BYTES, LOG_HEADER_BYTES, PAGE_BYTES, Log, read_log
from tests.meteor.damaged_journal import COMMITS, DATABASE, LOG, Files, History, flipped, killed


@pytest.fixture(scope="module", params=[(1, 1, 5), (2, 25, 0), (3, 25, 25), (4, 3, 160)])
def left(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[History, Files]:
    """What processes left: little, all in the database, in both, a log that began anew."""
    seed, kept, in_log = request.param
    print(f"seed {seed}")
    folder = tmp_path_factory.mktemp("left")
    return asyncio.run(killed(folder, seed=seed, kept=kept, in_log=in_log))


def test_undamaged_files_say_what_was_written(left: tuple[History, Files]) -> None:
    history, files = left
    log, file = read_log(files[LOG]), io.BytesIO(files[DATABASE])
    assert log.committed == len(log.frames)
    number = int(files[COMMITS].split()[0])
    assert newest_number(file, log) == number
    found = salvage(file, log, unfinished=False)
    assert {row.key: row.value for row in found.rows} == history.now
    assert (found.lost, found.number) == ((), number)


def naive_sums(log: bytes) -> list[bool]:
    """Which frames fit: the checksum as the format's description has it, word by word."""
    words, first, second = ("<" if sys.byteorder == "little" else ">"), 0, 0

    def add(content: bytes) -> None:
        nonlocal first, second
        for one, two in struct.iter_unpack(words + "II", content):
            first = (first + one + second) & 0xFFFFFFFF
            second = (second + two + first) & 0xFFFFFFFF

    add(log[:24])
    fits = [struct.unpack(">II", log[24:32]) == (first, second)]
    for at in range(LOG_HEADER_BYTES, len(log) - FRAME_BYTES + 1, FRAME_BYTES):
        add(log[at : at + 8])
        add(log[at + 24 : at + FRAME_BYTES])
        same = log[at + 8 : at + 16] == log[16:24]
        fits.append(same and struct.unpack(">II", log[at + 16 : at + 24]) == (first, second))
    return fits


def test_frames_are_judged_as_the_format_has_it(left: tuple[History, Files]) -> None:
    log = left[1][LOG][: LOG_HEADER_BYTES + 12 * FRAME_BYTES]
    if not log:
        return
    count = [*naive_sums(log), False].index(False) - 1  # behind: frames of an earlier generation
    read = read_log(log)
    assert len(read.frames) == count > 0
    for number in range(len(read.frames)):
        start = LOG_HEADER_BYTES + number * FRAME_BYTES
        spoilt = flipped(log, 8 * (start + FRAME_BYTES - 100))
        assert naive_sums(spoilt)[: number + 2].count(False) == 1
        others = read.frames[:number] + read.frames[number + 1 :]
        assert read_log(spoilt).frames == others, "one broken frame is one frame less"
        page = read.frames[number].page
        later = page in [frame.page for frame in read.frames[number + 1 :]]
        assert read_log(spoilt).doubtful == (() if later else (page,))
    assert len(read_log(flipped(log, 5)).frames) == len(read.frames), "nor does a broken header"
    assert read_log(flipped(log, 5)).committed == 0, "which SQLite would not accept"


@given(content=st.binary(max_size=300), seed=st.integers(0, 1 << 30))
def test_noise_is_unreadable_and_nothing_else(content: bytes, seed: int) -> None:
    image = bytearray(random.Random(seed).randbytes(PAGE_BYTES))
    image[: len(content)] = content
    image[0] = random.Random(seed).choice([2, 5, 10, 13])
    file = io.BytesIO(bytes(2 * PAGE_BYTES) + bytes(image) * 2)
    pages = Pages(file, {})
    for read in (table_cell, index_cell):
        for at in range(0, PAGE_BYTES, 401):
            try:
                read(pages, bytes(image), at)
                pointers(bytes(image))
            except Unreadable:
                continue
    assert salvage(file, Log(), unfinished=True).rows == ()
    assert read_log(bytes(image) * 4).frames == ()


def test_an_empty_folder_has_nothing(tmp_path: Path) -> None:
    assert newest_number(None, Log()) is None
    assert salvage(None, read_log(b""), unfinished=True).rows == ()
