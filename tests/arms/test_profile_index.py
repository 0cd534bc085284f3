"""The index against the tree: the same answers after any history of changes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arms import Profile, ProfileIndex, index_column, index_selectors, index_subjects, index_table
from arms.profile_index import Role
from tests.arms.dense_scan import DenseScan
from tests.arms.strategies import SPACE, typed_roots

selectors = typed_roots().map(lambda root: Profile.from_element(root, SPACE))
subjects = typed_roots(selector=False).map(lambda root: Profile.from_element(root, SPACE))


class Twins:
    """The two oracles: the dense scan, and asking every profile's tree."""

    def __init__(self) -> None:
        self.profiles: dict[int, Profile] = {}
        self.subjects, self.selectors = DenseScan("subjects"), DenseScan("selectors")

    def add(self, id: int, profile: Profile) -> None:
        self.profiles[id] = profile
        self.subjects.add(id, profile)
        self.selectors.add(id, profile)

    def remove(self, id: int) -> bool:
        self.subjects.remove(id)
        self.selectors.remove(id)
        return self.profiles.pop(id, None) is not None

    def match(self, profile: Profile) -> set[int]:
        found = {id for id, stored in self.profiles.items() if profile.matches(stored)}
        assert set(self.subjects.match(profile)) == found
        return found

    def match_subject(self, profile: Profile) -> set[int]:
        found = {id for id, stored in self.profiles.items() if stored.matches(profile)}
        assert set(self.selectors.match_subject(profile)) == found
        return found


def check(index: ProfileIndex[int], twins: Twins, asked: list[Profile]) -> None:
    assert len(index) == len(twins.profiles)
    for profile in asked:
        for found, expected in (
            (index.match(profile), twins.match(profile)),
            (index.match_subject(profile), twins.match_subject(profile)),
        ):
            assert set(found) == expected
            assert len(set(found)) == len(found)


def follow(index: ProfileIndex[int], twins: Twins, id: int, profile: Profile | None) -> None:
    if profile is None:
        assert index.remove(id) == twins.remove(id)
    else:
        index.add(id, profile)
        twins.add(id, profile)
    assert (id in index) == (id in twins.profiles)


@pytest.fixture(
    params=[
        "as it is",
        "in small steps",
        "with few columns",
        "without edges",
        "without intervals by slot",
    ]
)
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same index with its thresholds so low that few profiles take every way through it."""
    if request.param == "as it is":
        return
    monkeypatch.setattr(index_table, "MOST_WAITING", 2)
    monkeypatch.setattr(index_table, "WORTH_SETTLING", 1)
    monkeypatch.setattr(index_table, "QUESTIONS_WAITED", 1)
    monkeypatch.setattr(index_table, "QUESTIONS_WAITED_BY_FEW", 2)
    monkeypatch.setattr(index_column, "FEW", 1)
    monkeypatch.setattr(index_column, "RARE", 4)
    monkeypatch.setattr(index_subjects, "FEW_CANDIDATES", 1)
    monkeypatch.setattr(index_subjects, "ROWS_A_CANDIDATE", 1 << 30)
    monkeypatch.setattr(index_subjects, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(index_selectors, "ROWS_WORTH_SIFTING", 1)
    monkeypatch.setattr(index_column, "MOST", 1 << 20)
    if request.param == "with few columns":
        monkeypatch.setattr(index_table, "MOST_COLUMNS", 4)
    if request.param == "without edges":
        monkeypatch.setattr(index_table, "MOST_CUTS", 0)
    if request.param == "without intervals by slot":
        monkeypatch.setattr(index_column, "MOST", 0)


changes = st.lists(
    st.tuples(st.integers(0, 11), st.one_of(st.none(), selectors, subjects)), max_size=30
)
questions = st.lists(st.one_of(selectors, subjects), min_size=1, max_size=3)


@pytest.mark.usefixtures("limits")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes, questions, st.integers(0, 2))
def test_index_is_what_both_oracles_say(
    history: list[tuple[int, Profile | None]], asked: list[Profile], asked_early: int
) -> None:
    index, twins = ProfileIndex[int](scan_above=0), Twins()
    for step, (id, profile) in enumerate(history):
        follow(index, twins, id, profile)
        if step % 7 == asked_early:
            check(index, twins, asked[:1])
    check(index, twins, asked)


@pytest.mark.usefixtures("limits")
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(selectors, subjects), min_size=1, max_size=8), questions, st.integers())
def test_many_profiles_through_many_changes(
    drawn: list[Profile], asked: list[Profile], seed: int
) -> None:
    random = Random(seed)
    index, twins = ProfileIndex[int](scan_above=0), Twins()
    for step in range(400):
        gone = random.random() < (0.2 if step < 250 else 0.6)
        follow(index, twins, random.randrange(250), None if gone else random.choice(drawn))
        if step % 90 == 0:
            check(index, twins, asked[:1])
    check(index, twins, asked)


@pytest.mark.parametrize("role", [None, "subjects", "selectors"])
def test_a_role_says_which_table_grows_from_the_beginning(role: Role | None) -> None:
    index = ProfileIndex[int](role, scan_above=3)
    for i in range(10):
        index.add(i, Profile.parse(f"a={i} | b=x"))
    assert (index._subjects is not None) == (role == "subjects")
    assert (index._selectors is not None) == (role == "selectors")
    assert sorted(index.match(Profile.parse("a=4..5"))) == [4, 5]
    assert len(index.match_subject(Profile.parse("b=x"))) == 10


def test_names_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_table, "MOST_COLUMNS", 100)
    index = ProfileIndex[int](scan_above=0)
    index.add(0, Profile.parse("name0=1"))
    index.match(Profile.parse("a=1"))
    index.match_subject(Profile.parse("a=1"))
    for i in range(1, 600):
        index.add(i, Profile.parse(f"name{i}=1"))
    assert index._subjects is not None
    table = index._subjects._subjects[0]
    assert len(table.columns) == 101
    for i in (0, 63, 64, 255, 256, 599):
        assert index.match(Profile.parse(f"name{i}=1")) == [i]
        assert index.match(Profile.parse(f"name{i}=2")) == []
        assert index.match_subject(Profile.parse(f"name{i}=1")) == [i]
    for i in range(1, 600):
        index.remove(i)
    table.settle()
    assert index.match(Profile.parse("name1=1")) == []
    assert index.match(Profile.parse("name0=1")) == [0]
    assert len(table.paths) == 1


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
