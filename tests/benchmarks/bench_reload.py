"""How long a restarted peer takes to have its records back from the journal, and what part of it
is the index, the reading of documents and the rest.  One JSON line each; nothing is asserted."""

from __future__ import annotations

import gc
import os
import sqlite3
import time
from pathlib import Path
from random import Random

import pytest

from arms import Profile, ProfileIndex, Store
from meteor import codec
from meteor.document import decode_document, encode_document, pack_profile
from meteor.journal import Entry, MemoryJournal
from meteor.messages import Document
from meteor.operations import Carried
from meteor.record_id import make_id
from meteor.shelf import Shelf
from meteor.shelf_journal import entry_of
from meteor.sqlite_journal import SqliteJournal
from tests.benchmarks.matching_workload import SPACE, reading
from tests.benchmarks.measuring import report

pytestmark = pytest.mark.benchmark
STORED = int(os.environ.get("METEOR_BENCH_PROFILES", "20000"))
LIFE_MS = 10**8


def entry(random: Random, number: int) -> Entry:
    profile = reading(random)
    box = SPACE.box(profile.subject_terms(SPACE))
    carried = Carried(
        kind="data", id=make_id(f"{random.getrandbits(128):026x}", box, SPACE.curve), owner="",
        version=1, action="store", ttl_ms=int(time.time() * 1000) + LIFE_MS,
        blob=encode_document(Document("store", pack_profile(profile), b"21.5")), number=number,
        acknowledged=0, route=None,
    )  # fmt: skip
    return entry_of(carried, SPACE.curve)


async def test_the_index_back_from_the_journal(tmp_path: Path):
    """The index alone: rows of SQLite, their records and documents, and the index of them."""
    random = Random(1)
    journal = await SqliteJournal.open(tmp_path / "journal.sqlite")
    for first in range(0, STORED, 5000):
        await journal.append([entry(random, first + at + 1) for at in range(5000)])
    await journal.close()
    gc.collect()
    gc.disable()
    connection = sqlite3.connect(tmp_path / "journal.sqlite")
    start = time.thread_time()
    query = "SELECT value FROM record WHERE journal = 'peer' ORDER BY sequence"
    rows = [value for (value,) in connection.execute(query)]
    fetched = time.thread_time()
    records = [codec.decode(row) for row in rows]
    decoded = time.thread_time()
    profiles = [Profile.resting(decode_document(record.blob).profile) for record in records]
    read = time.thread_time()
    index = ProfileIndex[int]("subjects")
    index.add_many(list(enumerate(profiles)))
    indexed = time.thread_time()
    one_by_one = ProfileIndex[int]("subjects")
    for number, profile in enumerate(profiles[:5000]):
        one_by_one.add(number, profile)
    twin_us = (time.thread_time() - indexed) / 5000 * 1e6
    connection.close()
    gc.enable()
    assert len(index) == len(rows)
    report(
        "reload", what="the index", stored=len(rows), whole_s=indexed - start,
        us_a_record=(indexed - start) / len(rows) * 1e6,
        fetch_us=(fetched - start) / len(rows) * 1e6,
        decode_records_us=(decoded - fetched) / len(rows) * 1e6,
        profiles_us=(read - decoded) / len(rows) * 1e6,
        index_us=(indexed - read) / len(rows) * 1e6, index_one_by_one_us=twin_us,
    )  # fmt: skip


async def test_records_back_from_the_journal():
    """The whole shelf: records, places, fingerprints, the store and its index."""
    random, journal = Random(1), MemoryJournal()
    await journal.append([entry(random, number) for number in range(1, STORED + 1)])
    shelf = Shelf(Store(), journal, SPACE.curve, time.monotonic, time.time)
    gc.collect()
    gc.disable()
    start = time.thread_time()
    restored = await shelf.restore()
    whole_s = time.thread_time() - start
    gc.enable()
    assert restored.records == STORED
    report(
        "reload", what="the whole shelf", stored=STORED, restore_s=whole_s,
        us_a_record=whole_s / STORED * 1e6,
    )  # fmt: skip
