"""Many profiles at once are kept as one by one."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arms import Profile, ProfileError, ProfileIndex, index_bulk
from arms.profile_index import Role
from tests.arms.strategies import SPACE, typed_roots

selectors = typed_roots().map(lambda root: Profile.from_element(root, SPACE))
subjects = typed_roots(selector=False).map(lambda root: Profile.from_element(root, SPACE))
drawn = st.one_of(
    selectors,
    subjects,
    st.builds(
        "word={} number={}..5 x=*".format, st.sampled_from(["a", "ab*", "z"]), st.integers(-9, 5)
    ).map(lambda text: Profile.parse(text, SPACE)),
)


def resting(profile: Profile) -> Profile:
    return Profile.resting(msgspec.msgpack.encode(profile.pack()))


@pytest.mark.parametrize("role", ["subjects", "selectors"])
@given(before=st.lists(drawn, max_size=4), many=st.lists(drawn, max_size=24), asked=drawn)
@settings(max_examples=80)
def test_many_at_once_are_many_one_by_one(
    role: Role, before: list[Profile], many: list[Profile], asked: Profile
) -> None:
    index = ProfileIndex[int](role, scan_above=0)
    twin = ProfileIndex[int](role, scan_above=0)
    for id, profile in enumerate(before):
        index.add(-id - 1, profile)
        twin.add(-id - 1, profile)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("arms.index_store._FILLED_AT_ONCE", 3)
        patched.setattr("arms.index_bulk._OBJECTS_AT_ONCE", 2)
        index.add_many([(id, resting(profile)) for id, profile in enumerate(many)])
    for id, profile in enumerate(many):
        twin.add(id, profile)
    for question in (asked, *many[:3]):
        assert sorted(index.match(question)) == sorted(twin.match(question))
        assert sorted(index.match_subject(question)) == sorted(twin.match_subject(question))
    for id in range(0, len(many), 2):
        assert index.remove(id)
        twin.remove(id)
    assert sorted(index.match(asked)) == sorted(twin.match(asked))
    assert sorted(index.match_subject(asked)) == sorted(twin.match_subject(asked))


@pytest.mark.parametrize("one_in", [1, 5], ids=["many", "few"])
def test_of_columns_of_several_shapes_the_rows_are_in_order(
    one_in: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than one word of the bitmaps has: those are filled in the order of the rows, and the
    rows of one in several goes."""
    random = Random(one_in)
    texts = [
        random.choice((f"y={at}", f"y={at} z=1")) if at % one_in else
        random.choice((f"x={at}", f"x={at} z=1", f"x={at}..{at + 1}"))
        for at in range(400)
    ]  # fmt: skip
    profiles = [Profile.parse(text) for text in texts]
    index, twin = (ProfileIndex[int]("subjects", scan_above=0) for _ in range(2))
    with monkeypatch.context() as patched:
        patched.setattr("arms.index_column._ROWS_AT_ONCE", 90)  # no whole words
        index.add_many([(id, resting(profile)) for id, profile in enumerate(profiles)])
    for id, profile in enumerate(profiles):
        twin.add(id, profile)
    for text in ("x=*", "x=100..220", "x>=0 z=1", "y=50..60", "z=1"):
        question = Profile.parse(text)
        assert sorted(index.match(question)) == sorted(twin.match(question))


def test_words_without_room_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arms.index_vocabulary._GAP", 2.0)
    index = ProfileIndex[int]("subjects", scan_above=0)
    index.add_many([(at, resting(Profile.parse(f"w={word}"))) for at, word in enumerate("az")])
    words = [f"b{at:03}" for at in range(200)]
    index.add_many([(9 + at, resting(Profile.parse(f"w={word}"))) for at, word in enumerate(words)])
    assert index.match(Profile.parse("w=b150")) == [159]
    assert index.match(Profile.parse("w=a")) == [0]
    assert sorted(index.match(Profile.parse("w>=b199"))) == [1, 208]


def test_more_paths_than_columns_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_bulk, "MOST_COLUMNS", 70)
    index = ProfileIndex[int]("subjects", scan_above=0)
    index.add_many([(at, resting(Profile.parse(f"name{at}=1"))) for at in range(40)])
    assert index.match(Profile.parse("name7=1")) == [7]
    assert len(index) == 40


@given(drawn)
def test_a_resting_profile_is_the_profile(profile: Profile) -> None:
    rests = resting(profile)
    assert rests == profile
    assert rests.at_rest() is rests
    assert rests.tree == profile.tree
    assert rests.tree == profile.tree, "and the second time"
    assert rests.pack() == profile.pack()


@pytest.mark.parametrize("packed", [b"", b"\xc0", b"\x93\xa1a\xc4\x00", b"\x93\x01\x01\x01"])
def test_what_is_no_profile_does_not_rest(packed: bytes) -> None:
    with pytest.raises(ProfileError):
        Profile.resting(packed)


@pytest.mark.parametrize("tree", [3, ["", 0], ["", 0, [["a", 2, 5.0, 1.0]]], ["", 0, [["a", 99]]]])
def test_a_tree_that_is_none_is_found_when_it_is_asked_for(tree: object) -> None:
    rests = Profile.resting(msgspec.msgpack.encode(["a=1", b"", tree]))
    with pytest.raises(ProfileError):
        _ = rests.tree
