"""Sections against a plain filter, and which of two states counts."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from meteor.keeping.fingerprints import (
    EXPIRED_MAX,
    EXPIRING_MS,
    SECTION_IDLE,
    Fingerprints,
    order_of,
)
from meteor.keeping.key_tree import Digest
from meteor.keeping.placement import GONE, MOVED, Placed
from meteor.keeping.standing import Standing, fingerprint_of, standing_of, supersedes
from squid import Box, merge
from tests.meteor.entropy_world import CURVE, EVERYTHING, placed_of, point, record

SIDE = CURVE.side


def drawn_box(drawn: random.Random) -> Box:
    if drawn.random() < 0.5:
        return point(drawn.randrange(CURVE.size))
    ranges = [sorted((drawn.randrange(SIDE), drawn.randrange(SIDE))) for _ in range(2)]
    return Box((ranges[0][0], ranges[1][0]), (ranges[0][1], ranges[1][1]))


INTERVALS = st.lists(
    st.tuples(st.integers(0, CURVE.size - 1), st.integers(0, CURVE.size // 3)), max_size=3
).map(lambda some: merge((first, min(first + more, CURVE.size - 1)) for first, more in some))


SMALL = st.integers(0, 2) | st.integers(2**63, 2**63 + 1)
POSITIONS = st.integers(1, 3).flatmap(
    lambda words: st.lists(st.tuples(SMALL, st.lists(SMALL, min_size=words, max_size=words)))
)


@given(POSITIONS)
def test_many_positions_are_sorted_as_by_pairs_and_the_same_stay_in_order(
    positions: list[tuple[int, list[int]]],
) -> None:
    words = len(positions[0][1]) if positions else 1
    fingerprints = np.array([one for one, _ in positions], np.uint64)
    indexes = np.array([index for _, index in positions], np.uint64).reshape(-1, words)
    dumb = sorted(range(len(positions)), key=lambda at: (positions[at][1], positions[at][0]))
    assert order_of(fingerprints, indexes).tolist() == dumb


@settings(max_examples=60)
@given(st.integers(0, 2**32), INTERVALS, st.integers(0, 120))
def test_a_section_sums_up_what_lives_in_it_whenever_that_came(
    seed: int, intervals: tuple[tuple[int, int], ...], count: int
) -> None:
    drawn = random.Random(seed)
    prints = Fingerprints(CURVE)
    kept: list[Placed] = []
    asked_at, learned_at = sorted(drawn.randrange(count + 1) for _ in range(2))
    for step in range(count + 1):
        if step == asked_at:
            prints.section(intervals).learn(3)
        if step == learned_at:
            while not prints.section(intervals).learn(5):
                pass
        if kept and drawn.random() < 0.3:
            prints.remove(kept.pop(drawn.randrange(len(kept))), 0)
        else:
            kept.append(placed_of(record(f"r{step}", drawn_box(drawn))))
            prints.add(kept[-1])
    section = prints.section(intervals)
    while not section.learn(50):
        pass
    here = [
        placed
        for placed in kept
        if any(CURVE.has_match(placed.box, first, last) for first, last in intervals)
    ]
    assert all(section.holds(placed.box) is (placed in here) for placed in kept)
    total = sum(fingerprint_of(placed.carried) for placed in here) % 2**64
    assert section.whole == Digest(len(here), total)
    listed = [one for span in section.spans for one, _ in section.entries(span)]
    assert sorted(listed) == sorted(fingerprint_of(placed.carried) for placed in here)
    for span in section.spans:
        pieces = section.split(span, 4)
        assert sum((piece.digest for piece in pieces), Digest()) == section.digest(span)
        assert all(section.contains((piece.first, piece.end)) for piece in pieces)


def test_spans_beyond_a_section_are_not_part_of_it() -> None:
    section = Fingerprints(CURVE).section(((10, 19), (30, 39)))
    (first, end), (second, _), (wide, last) = section.spans
    assert section.contains((first, end))
    assert section.contains((wide + 5, last))
    assert not section.contains((first - 1, end))
    assert not section.contains((first, second + 1))
    assert not section.contains((end, second))
    assert not section.contains((first, first))
    assert not section.contains((wide, last + 1))


def test_sections_that_nobody_asks_for_are_forgotten_and_learned_again() -> None:
    prints = Fingerprints(CURVE)
    wide = placed_of(record("wide", Box((0, 0), (SIDE - 1, SIDE - 1))))
    prints.add(wide)
    for first in range(40):
        section = prints.section(((first, first),))
        assert section.learn(1)
        assert section.whole.records == 1
    prints.remove(wide, 0)
    assert prints.section(((0, 0),)).learn(0)
    assert prints.section(((0, 0),)).whole == prints.section(((39, 39),)).whole == Digest()


def test_a_section_that_is_not_asked_for_any_more_costs_nothing() -> None:
    prints = Fingerprints(CURVE)
    idle, busy = prints.section(((10, 19),)), prints.section(((30, 39),))
    for _ in range(SECTION_IDLE):
        assert prints.section(((30, 39),)) is busy
    assert prints.section(((10, 19),)) is not idle


def test_what_expires_is_remembered_and_what_is_lost_otherwise_is_not() -> None:
    prints = Fingerprints(CURVE)
    some = [placed_of(record(f"{n}", point(n), ttl_ms=100_000 + n)) for n in range(2)]
    for placed in some:
        prints.add(placed)
    prints.remove(some[0], 100_000 - EXPIRING_MS)
    prints.remove(some[1], 50_000)
    assert prints.has_expired(fingerprint_of(some[0].carried))
    assert not prints.has_expired(fingerprint_of(some[1].carried))
    prints.add(some[0])
    assert not prints.has_expired(fingerprint_of(some[0].carried)), "it was posted once more"


def test_the_memory_of_what_expired_is_bounded() -> None:
    prints = Fingerprints(CURVE)
    some = [placed_of(record(f"{n}", point(0))) for n in range(EXPIRED_MAX + 10)]
    for placed in some:
        prints.add(placed)
        prints.remove(placed, placed.carried.ttl_ms)
    kept = [prints.has_expired(fingerprint_of(placed.carried)) for placed in some]
    assert kept.count(True) == EXPIRED_MAX
    assert kept[-1]


# -- states

STANDINGS = [
    Standing(kind, version, renewed)
    for kind in ("data", "interest")
    for version in (1, 2)
    for renewed in (0, 7, 8)
] + [Standing(GONE, 0, 0)]


def test_of_all_orders_in_which_states_come_one_stays() -> None:
    for some in permutations(STANDINGS[:6] + STANDINGS[-1:], 4):
        known: Standing | None = None
        for state in some:
            if supersedes(state, known):
                known = state
        best = max(some, key=lambda one: (one.kind == GONE, one.version, one.renewed))
        assert known == best


def test_no_state_counts_more_than_itself() -> None:
    assert not any(supersedes(state, state) for state in STANDINGS)


def test_a_fingerprint_tells_states_apart_and_nothing_else() -> None:
    one = record("x", point(5), owner="o", version=3, renewed=9)
    same = replace(one, ttl_ms=7, number=99, acknowledged=5, blob=b"y", operation=b"z")
    assert fingerprint_of(one) == fingerprint_of(same)
    others = [
        replace(one, owner="p"),
        replace(one, id=record("y", point(5)).id),
        replace(one, id=record("x", point(6)).id),
        replace(one, kind="interest"),
        replace(one, kind=GONE),
        replace(one, kind=MOVED),
        replace(one, version=4),
        replace(one, renewed=10),
    ]
    assert len({fingerprint_of(other) for other in [one, *others]}) == len(others) + 1


def test_all_deletes_of_one_record_are_one_state() -> None:
    stone = record("x", point(5), kind=GONE, version=3)
    assert fingerprint_of(stone) == fingerprint_of(replace(stone, version=4, renewed=2))
    assert standing_of(stone) == Standing(GONE, 0, 0)


def test_everything_is_one_section() -> None:
    assert Fingerprints(CURVE).section(EVERYTHING).spans[0] == (0, CURVE.size << 64)
