"""The parts of the index against dumb twins: bits, labels of words, columns, and how they follow
what comes and goes by the thousand."""

from __future__ import annotations

from itertools import combinations_with_replacement
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile, ProfileIndex
from arms.index_bits import (
    Batch,
    Words,
    are_set,
    clear_bits,
    set_bits,
    slots_in,
    slots_up_to,
    sorted_once,
)
from arms.index_column import FEW, Column, is_exact
from arms.index_ends import Ends
from arms.index_vocabulary import Vocabulary
from arms.values import NUMBERS, TOP, WORDS, Value, meets, numbers, words
from tests.arms.dense_scan import DenseScan
from tests.benchmarks.matching_workload import five_tests, interest, reading

# -- bits


@given(st.sets(st.integers(0, 64 * 600 - 1)), st.sets(st.integers(0, 64 * 600 - 1)))
def test_bits_are_sets_of_slots(some: set[int], others: set[int]) -> None:
    bits = np.zeros(600, np.uint64)
    set_bits(bits, np.array(sorted(some), np.intp))
    assert slots_in(bits).tolist() == sorted(some)
    asked = np.array(sorted(others), np.intp)
    assert are_set(bits, asked).tolist() == [slot in some for slot in sorted(others)]
    clear_bits(bits, asked)
    assert slots_in(bits).tolist() == sorted(some - others)


@pytest.mark.parametrize("share", [0.0, 0.0002, 0.01, 0.07, 0.3, 1.0])
@pytest.mark.parametrize("count", [1, 100, 5000])
def test_bits_are_found_at_any_density(share: float, count: int) -> None:
    chosen = np.flatnonzero(np.random.default_rng(1).random(64 * count) < share)
    bits = np.zeros(count, np.uint64)
    set_bits(bits, chosen)
    slots = chosen.tolist()
    assert slots_in(bits).tolist() == slots
    for most in (0, 10, 100_000):
        found = slots_up_to(most, bits)
        assert found is None or found.tolist() == slots
        assert found is not None or len(slots) > most or len(slots) > count // 4


def test_a_batch_gathers_the_marks_of_each_word() -> None:
    batch = Batch.of(np.array([1, 3, 64, 200], np.intp))
    assert batch.words.tolist() == [0, 1, 3]
    assert batch.masks().tolist() == [0b1010, 1, 1 << 8]
    buckets = np.array([2, 0, 1, 2], np.intp)
    assert batch.up_to(buckets, 2).tolist() == [[1 << 3, 0, 0], [1 << 3, 1, 0]]
    assert batch.up_to(buckets, 3)[2].tolist() == batch.masks().tolist()


@given(st.sets(st.integers(0, 64 * 8 - 1), min_size=1), st.randoms(use_true_random=False))
def test_a_batch_says_who_lies_up_to_a_bucket(some: set[int], random: Random) -> None:
    slots = np.array(sorted(some), np.intp)
    buckets = np.array([random.randrange(4) for _ in some], np.intp)
    batch = Batch.of(slots)
    for bucket, line in enumerate(batch.up_to(buckets, 3)):
        words = np.zeros(8, np.uint64)
        words[batch.where()] = line
        assert slots_in(words).tolist() == slots[buckets <= bucket].tolist()


# -- labels

words_drawn = st.text(alphabet="abc", max_size=4)


@given(st.lists(words_drawn.filter(bool), max_size=40), words_drawn)
def test_labels_keep_the_order_of_words(learned: list[str], asked: str) -> None:
    vocabulary = Vocabulary()
    for word in learned:
        if vocabulary.learn(word) is None:
            vocabulary.relabel()
            assert vocabulary.learn(word) is not None
    assert len(vocabulary) == len(set(learned))
    for word in learned:
        label = vocabulary.lowest_at(word)
        assert vocabulary.highest_at(word) == vocabulary.learn(word) == label
        assert vocabulary.ends_of(word, word) == (label, label)
    lowest, highest = vocabulary.lowest_at(asked), vocabulary.highest_at(asked)
    assert vocabulary.ends_of(asked, asked) == (lowest, highest)
    for word in learned:
        label = vocabulary.lowest_at(word)
        assert (label >= vocabulary.lowest_at(asked)) == (word >= asked)
        assert (label <= vocabulary.highest_at(asked)) == (word <= asked)


def test_thousands_of_words_lie_in_blocks() -> None:
    vocabulary, random = Vocabulary(), Random(1)
    drawn = [f"{random.randrange(10**6):06}" for _ in range(6000)]
    for word in drawn:
        if vocabulary.learn(word) is None:
            vocabulary.relabel()
            assert vocabulary.learn(word) is not None
    labels = [vocabulary.lowest_at(word) for word in sorted(set(drawn))]
    assert labels == sorted(set(labels))
    old, new = vocabulary.relabel(np.array(labels[::3]))
    assert old.tolist() == labels[::3]
    assert len(vocabulary) == len(new)
    assert vocabulary.lowest_at("") == -np.inf
    assert vocabulary.highest_at(TOP) == np.inf


def test_words_that_crowd_between_two_are_relabelled() -> None:
    index = ProfileIndex[int]("subjects", scan_above=0)
    crowded = ["a" * place + "b" for place in range(120)]
    for id, word in enumerate(crowded):
        index.add(id, Profile.parse(f"w={word}"))
    for asked in ("b", "aab", "a" * 119 + "b", "ac", "a"):
        found = index.match(Profile.parse(f"w={asked}"))
        assert sorted(found) == [id for id, word in enumerate(crowded) if word == asked]
    found = index.match(Profile.parse("w<=aab"))
    assert sorted(found) == [id for id, word in enumerate(crowded) if word <= "aab"]


def test_a_vocabulary_forgets_words_that_are_gone() -> None:
    index = ProfileIndex[int]("subjects", scan_above=0)
    for id in range(3000):
        index.add(id, Profile.parse(f"w=w{id:04}..w{id:04}z"))
    for id in range(2990):
        index.remove(id)
    assert index._subjects is not None
    table = index._subjects._subjects[0]
    table.settle()
    assert index.match(Profile.parse("w=w2995")) == [2995]
    column = table.columns[1]
    assert column is not None
    assert column.vocabulary is not None
    assert len(column.vocabulary) < 400
    assert index.match(Profile.parse("w=w2995")) == [2995]


# -- a column

ENDS = (float("-inf"), -2.0, -1.0, 0.0, 0.5, 1.0, float("inf"))
EVERY_INTERVAL = list(combinations_with_replacement(ENDS, 2))
intervals = st.sampled_from(EVERY_INTERVAL)


@given(st.lists(intervals, min_size=1, max_size=12), st.booleans(), st.integers(0, 4))
def test_bitmaps_never_lie(drawn: list[tuple[float, float]], misses: bool, edges: int) -> None:
    stored = (drawn * 90)[:90]
    column = Column("/n", NUMBERS, marks_misses=misses)
    slots = np.arange(len(stored))
    low, high = np.array(stored).T
    half = 70
    assert half >= FEW
    column.rebuild(slots[:half], low[:half], high[:half], half, 2, edges)
    column.enter(slots[half:], low[half:], high[half:], 2)
    column.leave(slots[:10])
    here = set(range(10, len(stored)))
    for asked in EVERY_INTERVAL:
        cut, value = column.cut(*asked), Value(NUMBERS, *asked)
        truth = {slot for slot in here if meets(numbers(*stored[slot]), value)}
        may = _narrowed(column, column.bitmaps(*cut[:2], 2), misses)
        sure = _narrowed(column, column.bitmaps(*cut[2:], 2), misses)
        assert sure & here <= truth <= may, asked
        assert not is_exact(cut) or sure & here == truth == may & here, asked
        assert may & _narrowed(column, column.tighter(cut, 2), misses) == sure, asked


def _narrowed(column: Column, lines: list[Words] | None, misses: bool) -> set[int]:
    left = column.has[:2].copy()
    for line in [left.copy() if misses else left ^ left] if lines is None else lines:
        left &= ~line if misses else line
    return set(slots_in(left).tolist())


def test_stored_words_meet_as_words_do() -> None:
    column = Column("/w", WORDS, marks_misses=False)
    kept = [words("b", "c"), words("", "a"), words("c", TOP), words("", ""), words("a", "a" + TOP)]
    stored = []
    for value in kept:
        pair = column.stored(value)
        assert pair is not None
    stored = [column.stored(value) for value in kept]
    for asked in (*kept, words("bb", "bb"), words("0", "0"), words("d", TOP)):
        low, high = column.asked(asked)
        found = [pair is not None and pair[0] <= high and pair[1] >= low for pair in stored]
        assert found == [meets(value, asked) for value in kept]


# -- the intervals by slot


@given(
    st.dictionaries(st.integers(0, 255), intervals, min_size=1),
    st.lists(st.tuples(st.integers(0, 255), st.none() | intervals)),
    intervals,
)
def test_intervals_by_slot_are_a_dictionary(
    first: dict[int, tuple[float, float]],
    changes: list[tuple[int, tuple[float, float] | None]],
    asked: tuple[float, float],
) -> None:
    slots = np.array(sorted(first), np.intp)
    low, high = np.array([first[slot] for slot in slots.tolist()]).T
    kept, twin = Ends(slots, low, high, 4), dict(first)
    kept.reach(5)
    for slot, interval in changes:
        at = np.array([slot], np.intp)
        if interval is None:
            kept.forget(at)
            twin.pop(slot, None)
        else:
            kept.put(at, *(np.array([end]) for end in interval))
            twin[slot] = interval
    value, everywhere = Value(NUMBERS, *asked), np.arange(5 * 64)
    met = [slot for slot in sorted(twin) if meets(numbers(*twin[slot]), value)]
    assert kept.meeting(everywhere, *asked).tolist() == met
    missed = set(twin) - set(met)
    left = [slot for slot in everywhere.tolist() if slot not in missed]
    assert kept.without_misses(everywhere, *asked).tolist() == left


def test_points_are_kept_once() -> None:
    slots, points = np.arange(3), np.array([1.0, 2.0, 3.0])
    kept = Ends(slots, points, points, 1)
    assert kept.nbytes() == 8 * 64
    kept.put(slots[:1], points[:1], points[1:2])
    assert kept.nbytes() == 2 * 8 * 64
    assert kept.meeting(np.arange(64), 1.5, 1.5).tolist() == [0]


def test_rows_become_wider_when_one_needs_it() -> None:
    index = ProfileIndex[int]("subjects", scan_above=0)
    for id in range(300):
        index.add(id, Profile.parse(f"a={id} b={id % 7}"))
    assert index._subjects is not None
    store = index._subjects._subjects[0].store
    assert store.width == 4
    index.add(300, Profile.parse("a=1 b=1 c=1 d=1 e=1"))
    assert store.width == 8
    assert sorted(index.match(Profile.parse("a<=8 b=1"))) == [1, 8, 300]
    index.remove(300)
    index.add(301, Profile.parse("a=1 b=1"))
    assert sorted(index.match(Profile.parse("a<=8 b=1"))) == [1, 8, 301]
    assert sorted(index.match(Profile.parse("a=1 e=1"))) == []


# -- thousands


@pytest.mark.parametrize("role", ["subjects", "selectors"])
def test_thousands_come_and_go_as_in_the_dense_scan(role: str) -> None:
    random = Random(7)
    index, dense = ProfileIndex[int](role), DenseScan(role)  # type: ignore[arg-type]
    drawn = [reading(random) if role == "subjects" else _any_interest(random) for _ in range(600)]
    asked = [_any_interest(random) if role == "subjects" else reading(random) for _ in range(12)]
    for step in range(9000):
        id = random.randrange(6000)
        if random.random() < (0.1 if step < 5000 else 0.7):
            index.remove(id)
            dense.remove(id)
        else:
            profile = random.choice(drawn)
            index.add(id, profile)
            dense.add(id, profile)
        if step % 1500 == 1499:
            for each in asked:
                if role == "subjects":
                    found, expected = index.match(each), dense.match(each)
                else:
                    found, expected = index.match_subject(each), dense.match_subject(each)
                assert sorted(found) == sorted(expected)


def _any_interest(random: Random) -> Profile:
    if random.random() < 0.2:
        return five_tests(random)
    return interest(random, random.choice([0.001, 0.01, 0.1, 0.5, 1.0]))


def test_profiles_wider_than_a_row_are_found() -> None:
    index = ProfileIndex[int]("subjects", scan_above=0)
    for id, count in enumerate((8, 9, 16, 17, 60)):
        index.add(id, Profile.parse(" ".join(f"n{at}={at}" for at in range(count))))
    assert sorted(index.match(Profile.parse("n7=7"))) == [0, 1, 2, 3, 4]
    assert sorted(index.match(Profile.parse("n7=7 n15=15"))) == [2, 3, 4]
    assert index.match(Profile.parse("n59=59")) == [4]
    index.remove(4)
    assert index.match(Profile.parse("n59=59")) == []


def test_one_element_must_meet_what_is_asked_of_one() -> None:
    index = ProfileIndex[int]("selectors", scan_above=0)
    index.add(1, Profile.parse("sensor(x=1 y=1)"))
    index.add(2, Profile.parse("sensor/x=1"))
    assert index.match_subject(Profile.parse("sensor(x=1) sensor(y=1)")) == [2]
    assert sorted(index.match_subject(Profile.parse("sensor(x=1 y=1)"))) == [1, 2]


@given(
    st.lists(st.text("abc", min_size=1, max_size=4), max_size=60), st.randoms(use_true_random=False)
)
def test_labels_are_in_the_order_of_words_however_often_they_are_spaced_anew(
    drawn: list[str], random: Random
) -> None:
    vocabulary, known = Vocabulary(), dict[str, float]()
    for word in drawn:
        label = vocabulary.learn(word)
        assert label is not None, "so few words have room between them"
        assert known.setdefault(word, label) == label
        if random.random() < 0.1:
            kept = [each for each in known if random.random() < 0.5]
            old, new = vocabulary.relabel(np.array([known[each] for each in kept]))
            moved = dict(zip(old.tolist(), new.tolist(), strict=True))
            known = {each: moved[known[each]] for each in kept}
        assert len(vocabulary) == len(known)
        for each, label in known.items():
            assert vocabulary.lowest_at(each) == vocabulary.highest_at(each) == label
        ordered = [known[each] for each in sorted(known)]
        assert ordered == sorted(set(ordered))


@given(st.lists(st.lists(st.integers(0, 20)), min_size=1, max_size=4))
def test_numbers_in_order_each_once(some: list[list[int]]) -> None:
    found = sorted_once([np.array(each, np.intp) for each in some])
    assert found.tolist() == sorted({number for each in some for number in each})
