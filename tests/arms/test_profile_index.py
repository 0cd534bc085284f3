"""The index against the tree: the same answers after any history of changes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arms import Profile, ProfileIndex, index_tables
from arms.index_columns import IntervalColumn, Vocabulary
from arms.profile_index import Role
from arms.values import NUMBERS, TOP, WORDS, Value, meets, numbers, words
from tests.arms.strategies import SPACE, typed_roots

selectors = typed_roots().map(lambda root: Profile.from_element(root, SPACE))
subjects = typed_roots(selector=False).map(lambda root: Profile.from_element(root, SPACE))


class Twin:
    """An index that asks every profile."""

    def __init__(self) -> None:
        self.profiles: dict[int, Profile] = {}

    def match(self, profile: Profile) -> set[int]:
        return {id for id, stored in self.profiles.items() if profile.matches(stored)}

    def match_subject(self, profile: Profile) -> set[int]:
        return {id for id, stored in self.profiles.items() if stored.matches(profile)}


def check(index: ProfileIndex[int], twin: Twin, asked: list[Profile]) -> None:
    assert len(index) == len(twin.profiles)
    for profile in asked:
        for found, expected in (
            (index.match(profile), twin.match(profile)),
            (index.match_subject(profile), twin.match_subject(profile)),
        ):
            assert set(found) == expected
            assert len(set(found)) == len(found)


changes = st.lists(
    st.tuples(st.integers(0, 11), st.one_of(st.none(), selectors, subjects)), max_size=30
)


@settings(max_examples=150)
@given(changes, st.lists(st.one_of(selectors, subjects), min_size=1, max_size=3), st.integers(0, 2))
def test_index_is_the_tree_oracle(
    history: list[tuple[int, Profile | None]], asked: list[Profile], asked_early: int
) -> None:
    index, twin = ProfileIndex[int](scan_above=0), Twin()
    for step, (id, profile) in enumerate(history):
        if profile is None:
            assert index.remove(id) == (twin.profiles.pop(id, None) is not None)
        else:
            index.add(id, profile)
            twin.profiles[id] = profile
        assert (id in index) == (id in twin.profiles)
        if step % 7 == asked_early:
            check(index, twin, asked[:1])
    check(index, twin, asked)


@settings(max_examples=30)
@given(changes, st.lists(st.one_of(selectors, subjects), min_size=1, max_size=3))
def test_few_columns_cost_exactness_nothing(
    history: list[tuple[int, Profile | None]], asked: list[Profile]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_tables, "MOST_INTERVAL_COLUMNS", 2)
        patch.setattr(index_tables, "MOST_PATHS", 3)
        index, twin = ProfileIndex[int](scan_above=0), Twin()
        check(index, twin, asked)
        for id, profile in history:
            if profile is None:
                index.remove(id)
                twin.profiles.pop(id, None)
            else:
                index.add(id, profile)
                twin.profiles[id] = profile
        check(index, twin, asked)


@pytest.mark.parametrize("role", [None, "subjects", "selectors"])
def test_a_role_says_which_table_grows_from_the_beginning(role: Role | None) -> None:
    index = ProfileIndex[int](role, scan_above=3)
    for i in range(10):
        index.add(i, Profile.parse(f"a={i} | b=x"))
    assert (index._subjects is not None) == (role == "subjects")
    assert (index._selectors is not None) == (role == "selectors")
    assert index.match(Profile.parse("a=4..5")) == [4, 5]
    assert len(index.match_subject(Profile.parse("b=x"))) == 10


def test_names_cannot_fill_the_memory() -> None:
    index = ProfileIndex[int](scan_above=0)
    index.add(0, Profile.parse("name0=1"))
    index.match(Profile.parse("a=1"))
    index.match_subject(Profile.parse("a=1"))
    for i in range(600):
        index.add(i, Profile.parse(f"name{i}=1"))
    assert index._subjects is not None
    assert len(index._subjects._columns) == index_tables.MOST_INTERVAL_COLUMNS
    assert len(index._subjects._marks) == index_tables.MOST_PATHS
    for i in (0, 63, 64, 255, 256, 599):
        assert index.match(Profile.parse(f"name{i}=1")) == [i]
        assert index.match(Profile.parse(f"name{i}=2")) == []
        assert index.match_subject(Profile.parse(f"name{i}=1")) == [i]
    for i in range(600):
        index.remove(i)
    assert not index._subjects._columns
    assert not index._subjects._marks
    assert index.match(Profile.parse("name1=1")) == []


def test_many_alternatives_and_growth() -> None:
    index = ProfileIndex[int](scan_above=0)
    for i in range(300):
        index.add(i, Profile.parse(f"n={i} | w=x{i} | a{i % 7}=1"))
    wide = " ".join(f"(n={i} | w=x{i})" for i in range(6))
    index.add(300, Profile.parse(wide))
    assert set(index.match_subject(Profile.parse("n=5"))) == {5}
    assert set(index.match_subject(Profile.parse("w=x17 n=5"))) == {5, 17}
    everything = " ".join(f"w=x{i}" for i in range(6))
    assert set(index.match_subject(Profile.parse(everything))) == {*range(6), 300}


words_drawn = st.text(alphabet="abc", max_size=4)


@given(st.lists(words_drawn, max_size=40), words_drawn)
def test_labels_keep_the_order_of_words(learned: list[str], asked: str) -> None:
    vocabulary = Vocabulary()
    for word in learned:
        if not vocabulary.learn(word):
            vocabulary.relabel()
            assert vocabulary.learn(word)
    known = {word: vocabulary.lowest_at(word) for word in learned if word}
    for word, label in known.items():
        assert vocabulary.highest_at(word) == label
        assert (label >= vocabulary.lowest_at(asked)) == (word >= asked)
        assert (label <= vocabulary.highest_at(asked)) == (word <= asked)


def test_words_that_crowd_between_two_are_relabelled() -> None:
    column = IntervalColumn(WORDS, 300)
    crowded = ["a" * i + "b" for i in range(120)]
    for slot, word in enumerate(crowded):
        column.put(slot, words(word, word))
    for word in ("b", "aab", "a" * 119 + "b", "ac", "a"):
        expected = [word == each for each in crowded]
        assert column.overlapping(words(word, word), 120).tolist() == expected
    assert column.overlapping(words("", "aab"), 120).tolist() == [w <= "aab" for w in crowded]
    assert column.overlapping(words("aab", TOP), 120).tolist() == [w >= "aab" for w in crowded]


def test_a_vocabulary_forgets_words_that_are_gone() -> None:
    column = IntervalColumn(WORDS, 2000)
    for slot in range(2000):
        column.put(slot, words(f"w{slot:04}", f"w{slot:04}z"))
    for slot in range(1990):
        column.clear(slot)
    assert column._vocabulary is not None
    assert len(column._vocabulary) < 400
    assert column.overlapping(words("w1995", "w1995"), 2000).nonzero()[0].tolist() == [1995]


ends = st.sampled_from((-2.0, -1.0, 0.0, 0.5, 1.0))


@given(st.lists(st.tuples(ends, ends), min_size=1, max_size=8), ends, ends)
def test_a_column_overlaps_as_values_meet(
    stored: list[tuple[float, float]], low: float, high: float
) -> None:
    column = IntervalColumn(NUMBERS, len(stored) + 1)
    values = [numbers(min(pair), max(pair)) for pair in stored]
    for slot, value in enumerate(values):
        column.put(slot, value)
    asked = Value(NUMBERS, min(low, high), max(low, high))
    found = column.overlapping(asked, len(stored) + 1).tolist()
    assert found == [*(meets(value, asked) for value in values), False]
