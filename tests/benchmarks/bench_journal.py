"""The SQLite journal: one append at a time, and many in flight (group commit).

With one in flight a store takes what the disk does: the bare sync of a file of the same size is
timed in turns with it.  Processor time a store is given as well, as the machines are shared."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from statistics import median

import pytest

from meteor import Entry
from meteor.journal.sqlite_journal import SqliteJournal
from tests.benchmarks.measuring import in_flight, report

pytestmark = pytest.mark.benchmark

APPENDS = 400
STORES = 20_000
VALUE = b"x" * 700
"""About what a profile of five attributes with a reading takes."""


def _sync_s(descriptor: int) -> float:
    """What the disk takes for as much as one commit writes: two pages of the log."""
    began_s = time.perf_counter()
    os.pwrite(descriptor, VALUE * 12, 0)
    os.fdatasync(descriptor)
    return time.perf_counter() - began_s


async def test_appends_become_durable(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.sqlite")
    alone = os.open(tmp_path / "alone", os.O_RDWR | os.O_CREAT)
    durations_s, syncs_s = [], []
    for at in range(APPENDS):
        began_s = time.perf_counter()
        await journal.append([Entry(b"one-%d" % at, VALUE)])
        durations_s.append(time.perf_counter() - began_s)
        syncs_s.append(_sync_s(alone))
    os.close(alone)
    await journal.close()
    report(
        "journal", what="one in flight", p50_ms=1000 * median(durations_s),
        best_tenth_ms=1000 * sorted(durations_s)[APPENDS // 10],
        sync_alone_p50_ms=1000 * median(syncs_s),
    )  # fmt: skip


@pytest.mark.parametrize("callers", [16, 64, 256])
async def test_stores_a_second(tmp_path: Path, callers: int) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.sqlite")

    async def store(at: int) -> None:
        await journal.append([Entry(b"r:%d" % at, VALUE)])

    used_s = time.process_time()
    durations_s, per_s = await in_flight(store, range(STORES), callers)
    used_s = time.process_time() - used_s
    await asyncio.sleep(0)
    await journal.close()
    report(
        "journal", what=f"{callers} in flight", stores_per_s=round(per_s),
        p50_ms=1000 * median(durations_s), processor_us_a_store=1e6 * used_s / STORES,
    )  # fmt: skip
