"""What the study is made of: draws, words, profiles, queries, rings, verdict; without Spark."""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile
from chord import Arc, identifier, placement, split_id
from sim.load_model import LoadModel
from sim.spark import attributes, papers, verdict
from sim.spark.draws import below, uniform, words
from sim.spark.figure import half_interval
from sim.spark.growth import Growing, hashed_ring, load_aware_ring
from sim.spark.questions import KINDS, Questions
from sim.spark.rings import Rings
from sim.spark.seating import Seating
from sim.spark.systems import Overlay, systems_of
from sim.spark.tally import Tally
from sim.spark.workload import Workload
from squid import NumberInterval, Term, WordInterval


@pytest.fixture(scope="module")
def workload() -> Workload:
    return Workload.of("study", "zipf", 1)


# -- draws


def test_a_draw_is_a_function_of_seed_stream_and_number() -> None:
    numbers = np.arange(10_000)
    every = words(numbers, 1, 2)
    assert words(numbers[7000:7003], 1, 2).tolist() == every[7000:7003].tolist()
    assert every[:2].tolist() == [5769665752527765292, 18107481136802472779]  # on any machine
    assert len(np.unique(every)) == len(numbers)
    assert not set(every.tolist()) & set(words(numbers, 2, 1).tolist())
    shares = uniform(numbers, 3, 4)
    assert ((shares >= 0) & (shares < 1)).all()
    assert abs(shares.mean() - 0.5) < 0.02
    assert abs(np.corrcoef(shares, uniform(numbers, 3, 5))[0, 1]) < 0.03
    counts = np.bincount(below(numbers, 1, 1, 7).astype(int), minlength=7)
    assert counts.min() > 10_000 / 7 * 0.9


# -- words and profiles


def test_real_words_come_with_their_frequencies() -> None:
    attribute = attributes.word_attribute("word", "real", 20, size=2000)
    assert list(attribute.values) == sorted(set(attribute.values))
    assert len(attribute.values) == 2000
    rank = attribute.values.index("the")
    assert attribute.shares[rank] == attribute.shares.max()
    assert (np.diff(attribute.cells.astype(int)) >= 0).all()  # a coder is monotone
    assert attribute.shares.sum() == pytest.approx(1)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40).filter(any))
def test_an_urn_holds_each_value_as_often_as_its_share(weights: list[int]) -> None:
    shares = np.array(weights) / sum(weights)
    urn = attributes.Urn.of(shares)
    held = np.bincount(np.arange(len(shares)), urn.cut, len(shares))
    held += np.bincount(urn.other, 1 - urn.cut, len(shares))
    assert held / len(shares) == pytest.approx(shares, abs=1e-12)
    spread = (np.arange(5000) + 0.5) / 5000
    assert shares[urn.drawn(spread)].min() > 0
    assert urn.drawn(np.array([1 - 2**-53]))[0] < len(shares)


def test_without_the_package_of_words_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(ImportError, match=r"meteor-rendezvous\[words\]"):
        attributes.word_attribute("word", "real", 20)


def test_profiles_are_those_of_the_space(workload: Workload) -> None:
    ranks = workload.ranks(np.arange(50))
    indexes = workload.indexes(ranks)
    for number in range(50):
        values = [
            attribute.values[rank[number]]
            for attribute, rank in zip(workload.attributes, ranks, strict=True)
        ]
        terms: dict[str, Term] = {
            name: NumberInterval(value, value)
            if isinstance(value, int)
            else WordInterval(value, value)
            for name, value in zip(workload.space.names, values, strict=True)
        }
        box = workload.space.box(terms)
        assert box.is_point
        assert workload.space.curve.encode(box.low) == indexes[number]


@pytest.mark.parametrize("space", ["study", "words2", "words3"])
@pytest.mark.parametrize("unique", [100, 50_000])
def test_the_draws_foreseen_give_as_many_different_profiles(space: Any, unique: int) -> None:
    workload = Workload.of(space, "zipf", 3)
    draws = workload.draws_for(unique)
    found = len(np.unique(workload.codes(workload.ranks(np.arange(draws)))))
    assert unique <= found <= 1.1 * unique + 300


def test_more_profiles_than_there_are_tuples_are_refused() -> None:
    with pytest.raises(ValueError, match="possible tuples"):
        Workload.of("words2", "zipf", 1).draws_for(2_000_000_000)


@pytest.mark.parametrize("stored", [1, 700, 70_000])
def test_a_sample_of_all_is_the_first_profiles(stored: int) -> None:
    workload = Workload.of("words2", "zipf", 4)
    ranks = workload.ranks(np.arange(workload.draws_for(stored)))
    seen: dict[int, int] = {}
    for number, code in enumerate(workload.codes(ranks).tolist()):
        seen.setdefault(code, number)
    first = sorted(seen.values())[:stored]
    wanted = workload.indexes([rank[first] for rank in ranks])
    assert workload.sampled_indexes(stored, 1).tolist() == sorted(wanted.tolist())


def test_a_sample_lies_as_densely_as_all_profiles() -> None:
    workload = Workload.of("words2", "zipf", 4)
    every, some = (workload.sampled_indexes(200_000, one_in) for one_in in (1, 10))
    assert (len(every), len(some)) == (200_000, 20_000)
    assert np.isin(some, every).mean() > 0.98  # some of the last were drawn a little later
    tenths = every[20_000::20_000]
    shares = np.diff(np.searchsorted(some, tenths)) / len(some)
    assert np.abs(shares - 0.1).max() < 0.01


# -- queries


@pytest.mark.parametrize("space", ["study", "words3"])
def test_a_query_finds_the_profile_that_it_is_made_on(space: Any) -> None:
    workload = Workload.of(space, "zipf", 2)
    questions = Questions(workload, 5000)
    ranks = workload.ranks(np.arange(5000))
    for number in range(40):
        question = questions[number]
        assert question.kind == KINDS[number % 4]
        Profile.parse(question.selector, workload.space)
        matches, inside = np.ones(5000, bool), np.ones(5000, bool)
        columns = zip(ranks, question.given, workload.attributes, strict=True)
        for place, (rank, asked, attribute) in enumerate(columns):
            matches &= (rank >= asked.ranks[0]) & (rank <= asked.ranks[1])
            cells = attribute.cells[rank]
            inside &= (cells >= question.low[place]) & (cells <= question.high[place])
        assert matches.any()
        assert not (matches & ~inside).any()  # what matches lies in the box


def test_kinds_are_what_they_are_called(workload: Workload) -> None:
    questions = Questions(workload, 5000)
    for number in range(80):
        question = questions[number]
        stars, ranges = question.selector.count("*"), question.selector.count("..")
        named = sum(bool(one.text) for one in question.given)
        if question.kind == "Q1":
            assert (named, ranges) == (1, 0)
        elif question.kind == "Q2":
            assert (named, ranges) == (2, 0)
        elif question.kind == "Q3":
            assert (named, ranges, stars) == (2, 2, 0)
        else:
            assert (named, ranges, stars) == (3, 3, 0)


# -- systems and rings


def test_smaller_systems_keep_as_many_profiles_a_peer() -> None:
    found = systems_of([200, 100, 100], 1000, fixed_profiles=False)
    assert [(one.number, one.peers, one.profiles) for one in found] == [
        (0, 100, 500), (1, 100, 500), (2, 200, 1000), (3, 200, 1000),
    ]  # fmt: skip
    assert {one.profiles for one in systems_of([100, 200], 1000, fixed_profiles=True)} == {1000}
    with pytest.raises(ValueError, match="none for a ring"):
        systems_of([1, 1000], 10, fixed_profiles=False)
    with pytest.raises(ValueError, match="at least 1"):
        systems_of([], 10, fixed_profiles=False)


@given(st.lists(st.integers(0, 1023), max_size=80), st.integers(0, 99), st.integers(1, 60))
def test_a_growing_ring_is_that_of_the_model(keys: list[int], seed: int, joins: int) -> None:
    """Also where records lie so closely that an arc cannot be split, and the next one is taken."""
    model = LoadModel(keys, bits=10)
    growing = Growing(np.sort(np.array(keys, dtype=np.int64)), 10, founder=seed)
    model.join_at(seed)
    seeds = [seed * 1000 + number for number in range(joins)]
    assert list(growing.join(seeds)) == [model.join(one) for one in seeds]
    assert growing.last_indexes.tolist() == model.ids
    assert growing.loads.tolist() == model.loads


def test_a_joiner_finds_no_place_where_all_that_is_heavy_is_one_index() -> None:
    """It looks as often as the model does, and does not join."""
    model, growing = LoadModel([3], bits=3), Growing(np.array([3]), 3, founder=7)
    model.join_at(7)
    places = list(growing.join(range(9)))
    assert places == [model.join(seed) for seed in range(9)]
    assert places[-1] is None
    assert growing.last_indexes.tolist() == model.ids


@given(st.lists(st.integers(0, 10**6), unique=True, max_size=40), st.integers(1, 7))
def test_a_seating_is_a_sorted_list(ids: list[int], newest: int) -> None:
    seating, plain = Seating(newest), list[int]()
    for number, one in enumerate(ids):
        asked = np.array([one, 500_000])
        merged = seating.merged_before(asked)
        assert (merged + seating.newest_before(asked)).tolist() == [
            bisect_left(plain, each) for each in asked.tolist()
        ]
        seating.add(one, number)
        insort(plain, one)
        found, beside = seating.all()
        assert found.tolist() == plain
        assert [ids[place] for place in beside.tolist()] == plain
    assert len(seating) == len(ids)


def test_rings_of_the_study_are_those_of_peers(workload: Workload) -> None:
    """Beyond so many peers that the newest of them are merged once."""
    keys = np.sort(workload.indexes(workload.ranks(np.arange(3000))))
    model = LoadModel(keys.tolist(), bits=60)
    model.join_at(identifier("5/peer 0", 60))
    for number in range(1, 2200):
        model.join(identifier(f"5/peer {number}"))
    assert load_aware_ring(2200, 5, 60, keys).tolist() == model.ids
    hashed = hashed_ring(1000, 5, 60)
    assert len(np.unique(hashed)) == 1000
    with pytest.raises(ValueError, match="4 bits"):
        hashed_ring(1000, 5, 4)


@given(st.lists(st.integers(0, 255), max_size=30), st.integers(0, 255), st.integers(0, 255))
def test_a_split_of_sorted_records_is_the_split(keys: list[int], after: int, last: int) -> None:
    arc = Arc(after, last)
    inside = [key for key in keys if key in arc]
    offsets = sorted((key - after) % 256 or 256 for key in inside)
    assert placement.split_id_of_sorted(arc, offsets, 8, 1) == split_id(arc, inside, 8, 1)


@pytest.mark.parametrize("pieces", [1, 7])
def test_a_tally_is_what_a_plain_count_comes_to(workload: Workload, pieces: int) -> None:
    """Three rings that keep 100, 900 and again 100 of 1,000 profiles; what is added in pieces."""
    size = 1 << workload.space.curve.index_bits
    lasts = [[size // 3, size // 2], [size // 7, size // 5, size - 1], [size - 1]]
    overlay = Overlay(Rings.of(lasts, 60), np.array([100, 900, 100]))
    drawn = np.random.default_rng(1).permutation(1000)
    asked = [Questions(workload, 100)[number] for number in range(12)]
    tally = Tally(overlay, asked)
    for some in np.array_split(drawn, pieces):
        ranks = workload.ranks(some)
        tally.add(some, ranks, workload.indexes(ranks))
    ranks = workload.ranks(np.arange(1000))
    index = workload.indexes(ranks).tolist()
    loads, found = [[0] * len(ring) for ring in lasts], np.zeros((12, 3), dtype=int)
    for number in range(1000):
        for system, ring in enumerate(lasts):
            if number >= overlay.limits[system]:
                continue
            owner = next((at for at, last in enumerate(ring) if index[number] <= last), 0)
            loads[system][owner] += 1
            for query, question in enumerate(asked):
                found[query, system] += all(
                    one.ranks[0] <= rank[number] <= one.ranks[1]
                    for one, rank in zip(question.given, ranks, strict=True)
                )
    assert tally.loads.tolist() == [load for ring in loads for load in ring]
    assert tally.matches.tolist() == found.tolist()
    assert (found > 0).all()


# -- verdict, papers, figure


def results(**shares: float) -> pandas.DataFrame:
    """Results in which everything holds, but for what is said of wildcards at 200 peers."""
    rows = []
    for peers, processing, matching in [(100, 9.0, 5.0), (200, 7.0, 4.0)]:
        for name in ("wildcard", "range"):
            for routing in ("first_match", "fingers", "published", "floor"):
                cheaper = 0.5 if name == "range" else 1.0
                changed = shares.get(routing) if (peers, name) == (200, "wildcard") else None
                rows.append({
                    "placement": "load-aware", "routing": routing, "query_class": name,
                    "peers": peers, "profiles": 10 * peers, "seed": 1,
                    "processing_pct": (changed or processing) * cheaper,
                    "matching_pct": matching * cheaper, "missed_matches": 0,
                })  # fmt: skip
    return pandas.DataFrame(rows)


def test_a_verdict_is_a_pass_where_every_sentence_holds() -> None:
    sentences = verdict.judge(results())
    assert verdict.passes(sentences)
    assert verdict.as_text(sentences).endswith("verdict: PASS (11 of 11 hold)")


def test_a_sentence_that_does_not_hold_is_a_fail_and_says_so() -> None:
    sentences = verdict.judge(results(first_match=12.0))
    failed = [one for one in sentences if not one.holds]
    assert {one.routing for one in failed} == {"first_match"}
    assert len(failed) == 2  # not below 11 %, and not falling
    assert not verdict.passes(sentences)
    assert "published Squid" not in verdict.as_text(sentences)
    both = verdict.as_text(verdict.judge(results(first_match=12.0, published=12.0)))
    assert "published Squid fails it too on this workload" in both
    assert "verdict: FAIL (9 of 11 hold; 2 of the others" in both
    missed = results()
    missed.loc[0, "missed_matches"] = 1
    assert not verdict.passes(verdict.judge(missed))


def test_the_published_shares_are_those_of_the_papers() -> None:
    by_key = {(one.space, one.query_class): one for one in papers.PUBLISHED}
    two = by_key["words2", "Q2"].processing_pct
    assert (round(two[0], 2), round(two[-1], 2)) == (0.57, 0.30)
    three = by_key["words3", "Q2"].processing_pct
    assert (round(three[0], 1), round(three[-1], 2)) == (3.4, 1.35)
    assert papers.sizes("words3") == (1000, 2000, 3000, 4100, 5300)


def test_intervals_are_those_of_student() -> None:
    assert half_interval([5.0]) == 0
    assert half_interval([1.0, 2.0, 3.0]) == pytest.approx(4.30 / 3**0.5)
