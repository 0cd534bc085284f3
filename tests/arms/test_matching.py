"""Selection and containment as relations, and their cost on hostile profiles."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arms import Profile, matching
from arms.tree import Node, fits
from arms.values import ANY_VALUE, NO_VALUE, NONE, Value, covers, meets, numbers, partial, words
from arms.written import Element
from tests.arms.strategies import SPACE, typed_roots

ends = st.sampled_from((-1.0, 0.0, 0.5, 1.0))
values = st.one_of(
    st.just(NO_VALUE),
    st.just(ANY_VALUE),
    st.builds(lambda a, b: numbers(min(a, b), max(a, b)), ends, ends),
    st.sampled_from(("", "a", "ab", "b")).map(partial),
    st.sampled_from(("", "a", "ab", "abz", "b")).map(lambda word: words(word, word)),
)


@given(values, values)
def test_meeting_is_symmetric(one: Value, other: Value) -> None:
    assert meets(one, other) == meets(other, one)


@given(values, values, values)
def test_what_is_covered_meets_no_more_than_its_cover(a: Value, b: Value, c: Value) -> None:
    if covers(a, b):
        assert meets(a, b)
        if meets(b, c):
            assert meets(a, c)
        if covers(b, c):
            assert covers(a, c)
    assert covers(a, a) == (a.axis != NONE)


@settings(max_examples=300)
@given(typed_roots(), typed_roots(), typed_roots(selector=False))
def test_a_contained_interest_selects_nothing_else(
    outer: Element, inner: Element, subject: Element
) -> None:
    delete, interest, data = (
        Profile.from_element(root, SPACE) for root in (outer, inner, subject)
    )  # fmt: skip
    if delete.contains_profile(interest, as_selector=True) and interest.matches(data):
        assert delete.matches(data)


@given(typed_roots(), typed_roots(selector=False))
def test_what_is_contained_overlaps(outer: Element, subject: Element) -> None:
    delete, data = Profile.from_element(outer, SPACE), Profile.from_element(subject, SPACE)
    if delete.contains_profile(data):
        assert delete.matches(data)


@given(typed_roots(selector=False))
def test_a_profile_with_values_contains_itself(root: Element) -> None:
    profile = Profile.from_element(root, SPACE)
    assert profile.contains_profile(profile)


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("/a", "/a", True),
        ("/a", "//a", True),
        ("/b/a", "//a", True),
        ("/b/a", "/a", False),
        ("/a/b", "//a", False),
        ("/a/x/b", "/a//b", True),
        ("/a/b", "/a//b", True),
        ("/a/b/c", "/a//b", False),
        ("/a/b/a/b", "//a/b", True),
        ("/a/a", "//a//a", True),
        ("/a", "//a//a", False),
        ("/a/x/b/y/c", "//b//c", True),
        ("/a/x/b/y/c", "/a/b//c", False),
    ],
)
def test_paths_fit_patterns(path: str, pattern: str, expected: bool) -> None:
    assert fits(path, pattern) is expected


def nested(levels: int, descendant: bool, last: str) -> Node:
    node = Node(last, descendant=descendant)
    for _ in range(levels):
        node = Node("a", NO_VALUE, (node,), False, descendant)
    return Node("", NO_VALUE, (node,))


def calls_of(function: str, selector: Node, subject: Node) -> int:
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_name == function

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        assert not getattr(matching, "selects" if function == "_found" else "contains")(
            selector, subject
        )
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("function", ["_found", "_found_contained"])
def test_a_hostile_pair_costs_no_more_than_its_sizes_multiplied(function: str) -> None:
    """16 nested `//a` on 16 nested `a` have 12,870 ways to fail, bushier ones millions."""
    assert calls_of(function, nested(15, True, "b"), nested(15, False, "c")) <= 17 * 17
