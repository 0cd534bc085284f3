"""Packed profiles: there and back, and nothing but what packing gives is taken."""

from __future__ import annotations

import copy
import math
import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import LimitExceeded, Profile, ProfileError, TypeMismatch
from arms.tree import Node
from arms.written import Element
from tests.arms.strategies import SPACE, typed_roots


@given(typed_roots())
def test_packing_keeps_text_kinds_and_meaning(root: Element) -> None:
    profile = Profile.from_element(root, SPACE)
    wire = msgspec.msgpack.encode(profile.pack())
    again = Profile.unpack(msgspec.msgpack.decode(wire))
    assert (str(again), again.tree, again.element) == (str(profile), profile.tree, root)
    assert again.typed(SPACE) is again
    assert pickle.loads(pickle.dumps(profile)).tree == profile.tree
    assert copy.copy(profile) == profile


def test_an_untyped_profile_travels_untyped() -> None:
    profile = Profile.unpack(Profile.parse("number=5").pack())
    assert not profile.is_typed
    assert profile.typed(SPACE).is_typed


GOOD = ["a=1", b"", ["", 0, [["a", 2, 1.0, 1.0]]]]


def deep(levels: int) -> object:
    node: list[object] = ["a", 0]
    for _ in range(levels):
        node = ["a", 0, [node]]
    return node


@pytest.mark.parametrize(
    "tree",
    [
        None,
        [],
        ["", 0],
        ["", 0, []],
        ["", 0, None],
        ["", 0, [None]],
        ["", 0, [[]]],
        ["", 0, [["a"]]],
        ["", 0, [["a", 16]]],
        ["", 0, [["a", -1]]],
        ["", 0, [["a", True]]],
        ["", 0, [["a", 2.0, 1.0, 1.0]]],
        ["", 0, [[1, 0]]],
        ["", 0, [["a" * 300, 0]]],
        ["", 0, [["a", 2]]],
        ["", 0, [["a", 2, 1.0]]],
        ["", 0, [["a", 2, 2.0, 1.0]]],
        ["", 0, [["a", 2, math.nan, 1.0]]],
        ["", 0, [["a", 2, 1.0, math.nan]]],
        ["", 0, [["a", 2, 1, 2]]],
        ["", 0, [["a", 2, "1", "2"]]],
        ["", 0, [["a", 3, "b", "a"]]],
        ["", 0, [["a", 3, 1.0, 2.0]]],
        ["", 0, [["a", 3, "a", "b" * 20000]]],
        ["", 0, [["a", 0, 1.0, 1.0]]],
        ["", 0, [["a", 1, 1.0, 1.0, [["b", 0]]]]],
        ["", 0, [["a", 2, 1.0, 1.0, []]]],
        ["", 0, [["a", 2, 1.0, 1.0, [["b", 0]], 7]]],
        ["", 0, [["_", 0]]],
        ["", 0, [["a", 4]]],
        ["", 0, [["a", 6, 1.0, 1.0]]],
        ["", 0, [["_", 1, [["a", 0]]]]],
        ["", 0, [["a", 0]] * 65],
        ["", 0, [deep(16)]],
        ["", 0, [deep(900)]],
        {"": 0},
        "text",
    ],
)
def test_hostile_trees_are_refused(tree: object) -> None:
    with pytest.raises(ProfileError):
        Profile.unpack(["a=1", b"", tree])


@pytest.mark.parametrize(
    "packed",
    [
        None,
        7,
        GOOD[:2],
        [*GOOD, 1],
        tuple(GOOD),
        [b"a=1", *GOOD[1:]],
        ["a" * 9000, *GOOD[1:]],
        ["a=1", "", GOOD[2]],
        ["a=1", b"x" * 65, GOOD[2]],
    ],
)
def test_hostile_envelopes_are_refused(packed: object) -> None:
    with pytest.raises(ProfileError):
        Profile.unpack(packed)


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3),
              st.binary(max_size=3)),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@given(junk)
def test_anything_is_unpacked_or_refused(packed: object) -> None:
    for candidate in (packed, ["a=1", b"", packed], ["a=1", b"", ["", 0, [packed]]]):
        try:
            profile = Profile.unpack(candidate)
        except ProfileError:
            continue
        assert isinstance(profile.tree, Node)


def test_at_the_limits() -> None:
    assert Profile.unpack(["a", b"", ["", 0, [["a", 0]] * 64]]).tree.children[63].name == "a"
    Profile.unpack(["a", b"", ["", 0, [deep(15)]]])


def test_a_profile_that_waits_for_its_space_pickles_too() -> None:
    waiting = Profile.parse("number=1-2")
    assert pickle.loads(pickle.dumps(waiting)).typed(SPACE).tree == waiting.typed(SPACE).tree


@pytest.mark.parametrize(
    "children",
    [
        [["number", 3, "a", "b"]],
        [["word", 2, 1.0, 2.0]],
        [["level", 3, "a", "b"]],
        [["when", 3, "a", "b"]],
        [["wind", 0, [["speed", 3, "a", "b"]]]],
        [["a", 0]] * 17,
    ],
)
def test_a_tree_that_lies_about_its_space_has_no_place_in_it(children: list[object]) -> None:
    """Whoever packs a profile can name any digest; the space is asked again where it counts."""
    liar = Profile.unpack(["a=1", SPACE.digest, ["", 0, children]])
    for terms in (liar.selector_terms, liar.subject_terms):
        with pytest.raises((TypeMismatch, LimitExceeded)):
            terms(SPACE)
