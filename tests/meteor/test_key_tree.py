"""The tree of fingerprints against a sorted list."""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meteor.keeping.key_tree import LEAF_MAX, Digest, InOrder, KeyTree, position_of
from meteor.keeping.placement import Placed
from squid import Box
from tests.meteor.entropy_world import record

BITS = 16
TOP = 1 << BITS + 64


def placed_at(index: int) -> Placed:
    return Placed(Box((0,), (0,)), index, 0, record("x", Box((0, 0), (0, 0))))


class Twin:
    """The tree and a dictionary of position to fingerprint."""

    def __init__(self) -> None:
        self.tree = KeyTree()
        self.entries: dict[int, tuple[int, Placed]] = {}

    def add(self, index: int, fingerprint: int) -> None:
        placed = placed_at(index)
        position = position_of(fingerprint, placed)
        assert self.tree.add(fingerprint, placed) is (position not in self.entries)
        self.entries.setdefault(position, (fingerprint, placed))

    def remove(self, index: int, fingerprint: int) -> None:
        placed = placed_at(index)
        known = self.entries.pop(position_of(fingerprint, placed), None)
        assert self.tree.remove(fingerprint, placed) is (known is not None)

    def digest(self, first: int, end: int) -> Digest:
        inside = [one for at, (one, _) in self.entries.items() if first <= at < end]
        return Digest(len(inside), sum(inside) % 2**64)

    def check(self, first: int, end: int) -> None:
        assert self.tree.digest(first, end) == self.digest(first, end)
        inside = [self.entries[at] for at in sorted(self.entries) if first <= at < end]
        assert list(self.tree.entries(first, end)) == inside
        pieces = self.tree.split(first, end, 16)
        assert 1 <= len(pieces) <= 16
        assert (pieces[0].first, pieces[-1].end) == (first, end)
        assert all(left.end == right.first for left, right in pairwise(pieces))
        assert all(piece.first < piece.end for piece in pieces)
        assert all(piece.digest == self.digest(piece.first, piece.end) for piece in pieces)
        if len(inside) > LEAF_MAX:
            assert len(pieces) > 1


INDEXES = st.one_of(
    st.integers(0, 2**BITS - 1), st.sampled_from([0, 1, 2**BITS - 1, 777]), st.integers(512, 520)
)
POSITIONS = st.one_of(
    st.integers(0, TOP), INDEXES.map(lambda index: index << 64), st.sampled_from([0, TOP])
)


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.integers(0, 700), st.tuples(POSITIONS, POSITIONS))
def test_what_comes_and_goes_leaves_the_sums_of_what_is_there(
    drawn: random.Random, count: int, span: tuple[int, int]
) -> None:
    twin = Twin()
    few = drawn.randrange(1, 40)
    known: list[tuple[int, int]] = []
    for _ in range(count):
        if known and drawn.random() < 0.4:
            twin.remove(*known.pop(drawn.randrange(len(known))))
        else:
            index = drawn.choice([drawn.randrange(2**BITS), drawn.randrange(few), 999])
            known.append((index, drawn.randrange(2**64)))
            twin.add(*known[-1])
    first, end = sorted(span)
    if first < end:
        twin.check(first, end)
    twin.check(0, TOP)


@settings(max_examples=25)
@given(st.integers(1, 400), st.integers(0, 2**32))
def test_a_tree_that_is_emptied_is_as_new(count: int, seed: int) -> None:
    twin, drawn = Twin(), random.Random(seed)
    entries = [(drawn.randrange(2**BITS), drawn.randrange(2**64)) for _ in range(count)]
    for entry in entries:
        twin.add(*entry)
    drawn.shuffle(entries)
    for entry in entries:
        twin.remove(*entry)
    assert len(twin.tree) == 0
    assert twin.tree.digest(0, TOP) == Digest()
    assert len(twin.tree.split(0, TOP, 16)) == 1


def test_what_is_there_twice_counts_once() -> None:
    twin = Twin()
    twin.add(5, 6)
    twin.add(5, 6)
    twin.remove(5, 6)
    twin.remove(5, 6)
    assert twin.tree.digest(0, TOP) == Digest()


@pytest.mark.parametrize("spread", ["even", "one index", "powers of two"])
def test_pieces_are_few_and_deep_trees_end(spread: str) -> None:
    """However the indexes lie, some descents of 16 pieces lead to at most 64 records."""
    drawn, tree = random.Random(1), KeyTree()
    draw: Callable[[], int] = {
        "even": lambda: drawn.randrange(2**96),
        "one index": lambda: 12345,
        "powers of two": lambda: 1 << drawn.randrange(96),
    }[spread]
    for _ in range(5_000):
        tree.add(drawn.randrange(2**64), placed_at(draw()))
    spans, depth = [(0, 1 << 160)], 0
    while spans:
        depth += 1
        full = [span for span in spans if tree.digest(*span).records > LEAF_MAX]
        spans = [(p.first, p.end) for span in full for p in tree.split(*span, 16)]
    assert depth <= 12


def test_memory_of_a_record() -> None:
    """Beside what the shelf keeps anyway: the index and the record itself."""
    drawn, tree, count = random.Random(1), KeyTree(), 5_000
    entries = [(drawn.randrange(2**64), placed_at(drawn.randrange(2**96))) for _ in range(count)]
    tracemalloc.start()
    for entry in entries:
        tree.add(*entry)
    used = tracemalloc.get_traced_memory()[0] / count
    tracemalloc.stop()
    print(f"{used:.1f} bytes a record, {sys.getsizeof(tree)} of the tree itself")
    assert used < 60


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(0, 700), st.integers(1, TOP - 1))
def test_records_loaded_at_once_are_records_added(
    drawn: random.Random, count: int, between: int
) -> None:
    twin = Twin()
    for _ in range(count):
        twin.add(drawn.choice([drawn.getrandbits(BITS), 777]), drawn.getrandbits(64))
    loaded = KeyTree()
    there = [twin.entries[at] for at in sorted(twin.entries)]
    loaded.load(
        InOrder(
            np.array([fingerprint for fingerprint, _ in there], np.uint64),
            np.arange(len(there)),
            [placed.lowest for _, placed in there],
            lambda number: there[number][1],
        )
    )
    twin.tree = loaded
    twin.check(0, TOP)
    twin.check(0, between)
    for at in drawn.sample(sorted(twin.entries), len(there) // 2):
        twin.remove(at >> 64, at % 2**64)
    for _ in range(70):
        twin.add(drawn.getrandbits(BITS), drawn.getrandbits(64))
    twin.check(between, TOP)
