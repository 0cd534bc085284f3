"""The SQLite journal: one append, and sixteen in flight (group commit)."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from statistics import median

import pytest

from meteor import Entry
from meteor.sqlite_journal import SqliteJournal

pytestmark = pytest.mark.benchmark

APPENDS, IN_FLIGHT = 400, 16
VALUE = b"x" * 300


async def test_appends_become_durable(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.sqlite")
    durations_s = []
    for at in range(APPENDS):
        began_s = time.perf_counter()
        await journal.append([Entry(b"one-%d" % at, VALUE)])
        durations_s.append(time.perf_counter() - began_s)
    began_s = time.perf_counter()
    for at in range(APPENDS):
        await asyncio.gather(
            *(journal.append([Entry(b"%d-%d" % (at, one), VALUE)]) for one in range(IN_FLIGHT))
        )
    rate = APPENDS * IN_FLIGHT / (time.perf_counter() - began_s)
    await journal.close()
    numbers = {"p50_ms": round(median(durations_s) * 1e3, 3), f"per_s_{IN_FLIGHT}": round(rate)}
    print(json.dumps({"benchmark": "journal_append", **numbers}))
