"""What a profile costs to read, keep and match: the index beside the dense scan and beside one SQL
row an attribute, in the same run.  One JSON line each; nothing is asserted about time.

Questions go to the opponents in turn, and medians of processor time are compared: the machine is
shared, and what others take of it counts for neither.
`METEOR_BENCH_PROFILES=1000000` sets the largest number of stored profiles.
"""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from statistics import median
from time import perf_counter, thread_time

import pytest

from arms import DATA, Profile, ProfileIndex, Record, Store
from squid import KeywordSpace, Number, Word
from tests.arms.dense_scan import DenseScan
from tests.benchmarks import measuring
from tests.benchmarks.matching_workload import five_tests, interest, reading
from tests.benchmarks.sql_matcher import SqlMatcher

pytestmark = pytest.mark.benchmark

report = partial(measuring.report, "matching")
SEED = 1
MOST = int(os.environ.get("METEOR_BENCH_PROFILES", "100000"))
SIZES = [size for size in (10_000, 100_000, 1_000_000) if size <= MOST]
SHARES = (0.00001, 0.001, 0.01, 0.09, 0.3, 1.0)
SPACE = KeywordSpace(
    "building", [Word("type"), Number("temperature", -40, 125), Number("humidity", 0, 100)]
)
TEXT = "type=temperature temperature=21.5 humidity=40 room=832 wind(speed=3 direction=north)"


@pytest.fixture(autouse=True)
def _no_collections() -> Iterator[None]:
    """As `meteor peer` does: what is kept is not looked through again and again."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def microseconds(work: Callable[[], object], runs: int, repeats: int = 7) -> float:
    """One run's time in the quickest of a few series: a shared machine only ever adds."""
    taken = []
    for _ in range(repeats):
        start = perf_counter()
        for _ in range(runs):
            work()
        taken.append(perf_counter() - start)
    return round(min(taken) / runs * 1e6, 2)


def in_turn(
    opponents: dict[str, Callable[[Profile], list[int]]], asked: list[Profile], rounds: int
) -> tuple[dict[str, float], float]:
    """The median time of a question in us by opponent, all questions in turn, and how many
    profiles matched on average.  A first round only compares the answers."""
    taken: dict[str, list[float]] = {name: [] for name in opponents}
    answers: dict[str, list[list[int]]] = {}
    for turn in range(rounds + 1):
        for name, ask in opponents.items():
            answers[name] = []
            for profile in asked:
                start = thread_time()
                answer = ask(profile)
                if turn:
                    taken[name].append((thread_time() - start) * 1e6)
                else:
                    answers[name].append(sorted(answer))
        if not turn:
            found = [len(answer) for answer in answers["ours"]]
            assert all(each == answers["ours"] for each in answers.values())
    return {name: round(median(times), 1) for name, times in taken.items()}, sum(found) / len(found)


def test_one_profile():
    subject = Profile.parse(TEXT, SPACE)
    packed, document = subject.pack(), subject.to_xml()
    resting = subject.at_rest()
    selector = Profile.parse("type=temp* temperature=20..30", SPACE)
    report(
        what="one profile of 7 elements, in us",
        parse=microseconds(lambda: Profile.parse(TEXT, SPACE), 500),
        pack=microseconds(subject.pack, 2000),
        unpack=microseconds(lambda: Profile.unpack(packed), 2000),
        at_rest=microseconds(subject.at_rest, 2000),
        tree_of_resting=microseconds(lambda: resting.tree, 2000),
        from_xml=microseconds(lambda: Profile.from_xml(document, SPACE), 300),
        to_xml=microseconds(subject.to_xml, 300),
        terms=microseconds(lambda: subject.subject_terms(SPACE), 2000),
        match_by_tree=microseconds(lambda: selector.matches(subject), 5000),
    )


@pytest.mark.parametrize("stored", SIZES)
def test_interests_over_stored_data(stored: int):
    random = Random(SEED)
    index, dense = ProfileIndex[int]("subjects"), DenseScan("subjects")
    for id in range(stored):
        profile = reading(random).at_rest()
        index.add(id, profile)
        dense.add(id, profile)
    for share in SHARES:
        asked = [interest(random, share) for _ in range(30)]
        compare("interest arrives", stored, share, index.match, dense.match, asked)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("stored", SIZES)
def test_data_under_stored_interests(stored: int, share: float):
    random = Random(SEED)
    index, dense = ProfileIndex[int]("selectors"), DenseScan("selectors")
    for id in range(stored):
        profile = interest(random, share).at_rest()
        index.add(id, profile)
        dense.add(id, profile)
    asked = [reading(random) for _ in range(30)]
    compare("data arrives", stored, share, index.match_subject, dense.match_subject, asked)


def compare(
    what: str,
    stored: int,
    share: float,
    ours: Callable[[Profile], list[int]],
    dense: Callable[[Profile], list[int]],
    asked: list[Profile],
) -> None:
    rounds = max(2, 600_000 // stored)
    taken, found = in_turn({"ours": ours, "dense": dense}, asked, min(rounds, 15))
    report(
        what=what, stored=stored, share=share, matched=round(found, 1), ours_us=taken["ours"],
        dense_us=taken["dense"], ours_to_dense=round(taken["ours"] / taken["dense"], 2),
    )  # fmt: skip


@pytest.mark.parametrize("covering", [False, True])
@pytest.mark.parametrize("stored", [size for size in SIZES if size <= 100_000])
def test_beside_sql(stored: int, covering: bool):
    random = Random(SEED)
    readings = [reading(random) for _ in range(stored)]
    interests = [interest(random, 0.001) for _ in range(stored)]
    index = ProfileIndex[int]()
    for id in range(stored):
        index.add(id, readings[id])
    sql, kind = SqlMatcher(readings, covering=covering), "covering" if covering else "plain"
    beside_sql(
        f"interest arrives, beside SQL with {kind} indexes",
        stored,
        index.match,
        sql.match,
        interests[:30],
    )
    index = ProfileIndex[int]()
    for id in range(stored):
        index.add(id, interests[id])
    sql = SqlMatcher(interests, covering=covering)
    beside_sql(
        f"data arrives, beside SQL with {kind} indexes",
        stored,
        index.match_subject,
        sql.match_subject,
        readings[:30],
    )


def beside_sql(
    what: str,
    stored: int,
    ours: Callable[[Profile], list[int]],
    sql: Callable[[Profile], list[int]],
    asked: list[Profile],
) -> None:
    taken, found = in_turn({"ours": ours, "sql": sql}, asked, 3)
    report(
        what=what, stored=stored, matched=round(found, 1), ours_us=taken["ours"],
        sql_us=taken["sql"], sql_to_ours=round(taken["sql"] / taken["ours"]),
    )  # fmt: skip


@pytest.mark.parametrize("role", ["subjects", "selectors"])
def test_changes(role: str):
    """Inserts and removals of profiles of five attributes, and the longest that one took, in
    processor time."""
    random = Random(SEED)
    make = reading if role == "subjects" else five_tests
    profiles = [make(random) for _ in range(MOST)]
    index = ProfileIndex[int](role)
    added = [_timed(lambda id=id: index.add(id, profiles[id])) for id in range(MOST)]
    order = random.sample(range(MOST), MOST // 2)
    removed = [_timed(lambda id=id: index.remove(id)) for id in order]
    replaced = [_timed(lambda id=id: index.add(id, profiles[id])) for id in order]
    report(
        what=f"changes of {role}", stored=MOST,
        insert_us=_mean_us(added), remove_us=_mean_us(removed), into_gaps_us=_mean_us(replaced),
        median_insert_us=round(median(added) * 1e6, 1),
        median_remove_us=round(median(removed) * 1e6, 1),
        longest_insert_ms=round(max(added) * 1e3, 2),
        longest_remove_ms=round(max(removed) * 1e3, 2),
    )  # fmt: skip


def _timed(work: Callable[[], object]) -> float:
    start = thread_time()
    work()
    return thread_time() - start


def _mean_us(times: list[float]) -> float:
    """Of all: what now and then takes long, for many of them at once, is a part of each."""
    return round(sum(times) / len(times) * 1e6, 1)


@pytest.mark.parametrize("role", ["subjects", "selectors"])
def test_memory(role: str):
    """Bytes a profile of five attributes, none flagged; 'in all' is the index with the profiles."""
    random, make = Random(SEED), reading if role == "subjects" else five_tests
    stored = min(MOST, 100_000)
    ids = list(range(stored))
    index = ProfileIndex[int](role)
    tracemalloc.start()
    for id in ids:
        index.add(id, make(random))
    gc.collect()
    in_all = tracemalloc.get_traced_memory()[0] / stored
    tracemalloc.stop()
    sample = [make(random).at_rest() for _ in range(1000)]
    resting = sum(_size(profile) for profile in sample) / len(sample)
    report(
        what=f"memory of {role}", stored=stored, index_bytes=round(in_all - resting),
        profile_at_rest_bytes=round(resting), in_all_bytes=round(in_all),
    )  # fmt: skip


def _size(profile: Profile) -> int:
    header = 16  # of the collector, before every object that it may visit
    return header + sum(sys.getsizeof(part) for part in (profile, profile._text, profile._rest))


def record(random: Random, number: int) -> Record:
    stem = f"{random.getrandbits(128):026x}"
    return Record(
        DATA, stem, "", 1, f"{stem}.aaaaaaaaaaaaaa", "store", reading(random), b"", number * 1e-3
    )


def test_the_store():
    """A peer's store: what a record costs beside its document, and how long a sweep takes."""
    random, stored = Random(SEED), min(MOST, 100_000)
    store = Store()
    tracemalloc.start()
    for number in range(stored):
        store.put(record(random, number + 1), 0.0)
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0] / stored
    tracemalloc.stop()
    everything = interest(random, 1.0)
    all_s = min(_timed(lambda: store.selected(DATA, everything, 0.0)) for _ in range(5))
    sweeps = []
    while len(store) > stored // 2:
        sweeps.append(_timed(lambda: store.expire(stored * 1e-3 / 2)))
    report(
        what="the store", stored=stored, bytes_a_record=round(kept),
        all_selected_ms=round(all_s * 1e3, 2), sweep_of_1000_ms=round(median(sweeps) * 1e3, 2),
        longest_sweep_ms=round(max(sweeps) * 1e3, 2),
    )  # fmt: skip
