"""How long a restarted peer takes to have its records back from the journal, and what part of it
is the index, the reading of documents and the rest.  One JSON line; nothing is asserted."""

from __future__ import annotations

import gc
import json
import os
import time
from random import Random

import pytest

from arms import ProfileIndex, Store
from meteor import codec
from meteor.document import decode_document, encode_document, pack_profile, unpack_profile
from meteor.journal import Entry, MemoryJournal
from meteor.messages import Document
from meteor.operations import Carried
from meteor.placement import journal_key, key_of
from meteor.record_id import make_id
from meteor.shelf import Shelf
from tests.benchmarks.matching_workload import SPACE, reading

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
    return Entry(journal_key(key_of(carried)), codec.encode(carried))


async def test_records_back_from_the_journal():
    random, journal = Random(1), MemoryJournal()
    await journal.append([entry(random, number) for number in range(1, STORED + 1)])
    scan = await journal.scan()
    shelf = Shelf(Store(), journal, SPACE.curve, time.monotonic, time.time)
    gc.collect()
    gc.disable()
    start = time.thread_time()
    notes = [codec.decode(each.value) for each in scan.entries if each.value]
    decoded = time.thread_time()
    packed = [decode_document(note.blob).profile for note in notes]
    profiles = [unpack_profile(each) for each in packed]
    unpacked = time.thread_time()
    index = ProfileIndex[int]("subjects")
    for number, profile in enumerate(profiles):
        index.add(number, profile)
    indexed = time.thread_time()
    restored = await shelf.restore()
    whole_s = time.thread_time() - indexed
    gc.enable()
    assert restored.records == STORED
    print(
        json.dumps(
            {
                "benchmark": "reload", "stored": STORED, "restore_s": round(whole_s, 2),
                "us_a_record": round(whole_s / STORED * 1e6, 1),
                "decode_records_us": round((decoded - start) / STORED * 1e6, 1),
                "decode_profiles_us": round((unpacked - decoded) / STORED * 1e6, 1),
                "index_us": round((indexed - unpacked) / STORED * 1e6, 1),
            }
        ),
        flush=True,
    )  # fmt: skip
