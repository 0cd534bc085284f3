"""Selection and containment as relations, and their cost on hostile profiles."""

from __future__ import annotations

import sys
from itertools import pairwise, product
from types import FrameType

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arms import Profile, containment, matching
from arms.tree import Node, fits
from arms.values import ANY_VALUE, NO_VALUE, NONE, Value, covers, meets, numbers, partial, words
from arms.written import GROUP, Element
from tests.arms.strategies import SPACE, typed_roots

MORE = settings(max_examples=2 * settings().max_examples)
"""Much hangs on these."""

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


@MORE
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


def alternatives_of(node: Node) -> list[Node]:
    """All conjunctions of which a selector is the disjunction."""
    parts = [alternatives_of(child) for child in node.children]
    if node.any_of and node.children:
        chosen = [(choice,) for part in parts for choice in part]
    else:
        chosen = list(product(*parts))
    return [node._replace(children=children, any_of=False) for children in chosen]


def is_within(selector: Node, stored: Node) -> bool:
    """Containment of a conjunction, as one would say it."""

    def elements(parent: Node, test: Node) -> list[Node]:
        found: list[Node] = []
        for child in parent.children:
            if child.name == GROUP:
                found += elements(child, test)
                continue
            if child.name == test.name and (test.descendant or not child.descendant):
                found.append(child)
            if test.descendant:
                found += elements(child, test)
        return found

    def holds(test: Node) -> bool:
        if test.name == GROUP:
            return is_within(test, stored)
        return any(
            (test.value.axis == NONE or covers(test.value, element.value))
            and is_within(test, element)
            for element in elements(stored, test)
        )

    verdicts = [holds(test) for test in selector.children]
    return not verdicts or (any(verdicts) if selector.any_of else all(verdicts))


@MORE
@given(typed_roots(), typed_roots(), st.booleans())
def test_an_interest_is_contained_when_every_alternative_is(
    outer: Element, inner: Element, same: bool
) -> None:
    delete = Profile.from_element(outer, SPACE)
    interest = delete if same else Profile.from_element(inner, SPACE)
    alternatives = alternatives_of(interest.tree)
    assert len(alternatives) < 1000
    expected = all(is_within(delete.tree, alternative) for alternative in alternatives)
    assert delete.contains_profile(interest, as_selector=True) == expected


few_names = st.sampled_from("ab")
few_values = st.sampled_from([numbers(0, 0), numbers(1, 1), numbers(0, 1), ANY_VALUE])


def _of_children(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    below = st.lists(children, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Node, few_names, st.one_of(st.just(NO_VALUE), few_values), below, st.booleans(),
                  st.booleans()),
        st.builds(Node, st.just(GROUP), st.just(NO_VALUE), below, st.booleans()),
    )  # fmt: skip


few_nodes = st.recursive(
    st.builds(Node, few_names, few_values, st.just(()), st.just(False), st.booleans()),
    _of_children,
    max_leaves=6,
)
few_roots = st.builds(
    lambda below, any_of: Node("", NO_VALUE, tuple(below), any_of),
    st.lists(few_nodes, min_size=1, max_size=3),
    st.booleans(),
)


@MORE
@given(few_roots, few_roots)
def test_containment_is_exact_where_names_and_values_are_few(delete: Node, interest: Node) -> None:
    alternatives = alternatives_of(interest)
    assume(len(alternatives) <= 256)
    expected = all(is_within(delete, alternative) for alternative in alternatives)
    assert containment.contains(delete, interest, as_selector=True) == expected
    found = containment.contains(delete, interest)
    assert found == is_within(delete, interest)


@pytest.mark.parametrize(
    ("delete", "interest", "expected"),
    [
        ("a<100", " | ".join(f"a={at}" for at in range(60)), True),
        ("a<59", " | ".join(f"a={at}" for at in range(60)), False),
        (
            " | ".join(f"a={at}" for at in range(60)),
            " | ".join(f"a={at}" for at in range(59)),
            True,
        ),
        ("(a=1 | a=2) (b=1 | b=2) c", "(a=1|a=2) (b=1|b=2) c=1 (d=1|d=2|d=3) (e=1|e=2|e=3)", True),
        ("a0 | b0", " ".join(f"(a{at} | b{at})" for at in range(20)), True),
        ("a0 | b1", " ".join(f"(a{at} | b{at})" for at in range(20)), False),
        (
            "(a0 a1) | (b0 b1) | (a0 b1) | (b0 a1)",
            " ".join(f"(a{at}|b{at})" for at in range(20)),
            True,
        ),
    ],
)
def test_interests_of_many_alternatives_are_told_of(
    delete: str, interest: str, expected: bool
) -> None:
    selector, stored = Profile.parse(delete), Profile.parse(interest)
    assert selector.contains_profile(stored, as_selector=True) is expected


def tangled(pairs: int) -> tuple[Node, Node]:
    """A selector and an interest within it, of which one only knows when most of the choices are
    made: along a path through the pairs, some a must be followed by a b."""
    path = [*range(0, pairs, 2), *range(1, pairs, 2)]
    steps = [f"(a{one} b{other})" for one, other in pairwise(path)]
    selector = " | ".join([f"b{path[0]}", f"a{path[-1]}", *steps])
    interest = " ".join(f"(a{at} | b{at})" for at in range(pairs))
    return Profile.parse(selector).tree, Profile.parse(interest).tree


def test_what_takes_too_long_to_tell_of_is_not_contained() -> None:
    assert containment.contains(*tangled(10), as_selector=True)
    assert calls_of("_is_found", *tangled(20), as_selector=True) < containment.MOST_STEPS


def test_a_wide_level_costs_its_width_and_counts_so() -> None:
    """64 alternatives held against 45 elements, for each of 31 choices: 23,616 steps once."""
    selector = Profile.parse(" | ".join(f"//x={at}..{at + 1}" for at in range(64))).tree
    leaves = " ".join(f"x={300 + at}" for at in range(45))
    stored = Profile.parse(" ".join(["(x=101 | y=102)"] * 6) + " " + leaves).tree
    steps = calls_of("_is_within", selector, stored, as_selector=True)
    assert steps < containment.MOST_STEPS + 65 * 65  # the last tree that was begun is ended


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


def calls_of(function: str, selector: Node, subject: Node, *, as_selector: bool = False) -> int:
    """How often it is called to find that the one does not select, or contain, the other."""
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_name == function

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        if function == "_found":
            assert not matching.selects(selector, subject)
        else:
            assert not containment.contains(selector, subject, as_selector=as_selector)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("function", ["_found", "_is_found"])
def test_a_hostile_pair_costs_no_more_than_its_sizes_multiplied(function: str) -> None:
    """16 nested `//a` on 16 nested `a` have 12,870 ways to fail, bushier ones millions."""
    assert calls_of(function, nested(15, True, "b"), nested(15, False, "c")) <= 17 * 17
