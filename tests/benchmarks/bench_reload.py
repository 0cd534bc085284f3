"""How long a restarted peer takes to have its records back from the journal, and what part of it
is which.  Processor time beside the clock's, as the machines are shared and two threads share the
work; one JSON line each; nothing is asserted."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from random import Random
from shutil import copytree, ignore_patterns

import pytest

from arms import Profile, ProfileIndex, Store, plain_form
from arms.plain_columns import columns_of
from meteor.journal.first_look import FirstLook
from meteor.journal.journal import Entry, MemoryJournal
from meteor.journal.no_collections import no_collections
from meteor.journal.sqlite_journal import SqliteJournal
from meteor.keeping.shelf import Shelf
from meteor.keeping.shelf_journal import entry_of, read
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document
from meteor.wire.operations import Carried
from meteor.wire.record_id import make_id
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


async def test_a_peer_back_from_its_file(tmp_path: Path):
    """All that a restart does with the file of a peer that was killed: look at the files, let
    SQLite check its trees while the rows are read and their checksums tried, and fill the
    shelf."""
    random = Random(1)
    path, copy = tmp_path / "meteor.sqlite", tmp_path / "copy" / "meteor.sqlite"
    journal = await SqliteJournal.open(path)
    for first in range(0, STORED, 5000):
        some = min(5000, STORED - first)
        await journal.append([entry(random, first + at + 1) for at in range(some)])
    copytree(tmp_path, copy.parent, ignore=ignore_patterns("copy", "*.lock"))
    await journal.close()
    gc.collect()
    start_s, wall_s = time.process_time(), time.perf_counter()
    look = FirstLook(lambda scan: read(scan, SPACE.curve, int(time.time() * 1000)))
    with no_collections():
        again = await SqliteJournal.open(copy, first_look=look)
    opened_s, opened_wall_s = time.process_time(), time.perf_counter()
    shelf = Shelf(Store(), again, SPACE.curve, time.monotonic, time.time)
    assert look.made is not None
    restored = await shelf.restore(look.made)
    filled_s, filled_wall_s = time.process_time(), time.perf_counter()
    assert (restored.records, restored.damaged) == (STORED, ())
    await again.close()
    report(
        "reload", what="a killed peer's file", stored=STORED, wall_s=filled_wall_s - wall_s,
        open_check_and_read_wall_s=opened_wall_s - wall_s, processor_s=filled_s - start_s,
        open_check_and_read_s=opened_s - start_s, fill_the_shelf_s=filled_s - opened_s,
        processor_us_a_record=(filled_s - start_s) / STORED * 1e6,
    )  # fmt: skip


async def test_the_index_in_bulk():
    """The index alone: many plain profiles by column, beside one by one."""
    random = Random(1)
    packed = [pack_profile(reading(random)) for _ in range(STORED)]
    forms = [form for form in map(plain_form, packed) if form is not None]
    profiles = [Profile.resting(each) for each in packed]
    gc.collect()
    gc.disable()
    columns = columns_of(forms)
    start_s = time.thread_time()
    index = ProfileIndex[int]("subjects", profile_of=profiles.__getitem__)
    index.add_plain(range(STORED), columns)
    bulk_s = time.thread_time() - start_s
    some = profiles[:5000]
    start_s = time.thread_time()
    one_by_one = ProfileIndex[int]("subjects")
    for number, profile in enumerate(some):
        one_by_one.add(number, profile)
    twin_s = time.thread_time() - start_s
    gc.enable()
    assert len(index) == STORED
    report(
        "reload", what="the index", stored=STORED, us_a_record=bulk_s / STORED * 1e6,
        one_by_one_us=twin_s / len(some) * 1e6,
    )  # fmt: skip


async def test_records_back_from_the_journal():
    """The whole shelf, without a file: records, places, fingerprints, the store and its index."""
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
