"""One profile held against many selectors: the answers of each one alone, for a bounded number of
steps in all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import OverBudget, Profile, SelectorList, Weighing
from arms.tree import Node
from arms.values import NUMBERS, Value
from tests.arms.strategies import SPACE, typed_roots

MANY_STEPS = 1_000_000


def typed(root: object) -> Profile:
    return Profile.from_element(root, SPACE)  # type: ignore[arg-type]


selector_lists = st.lists(typed_roots().map(typed), min_size=1, max_size=6)


def weighed(profile: Profile, selectors: list[Profile], is_subject: bool) -> Weighing:
    listed = SelectorList(selectors)
    return Weighing(profile, listed, is_subject=is_subject, most_steps=MANY_STEPS)


@given(selector_lists, typed_roots().map(typed))
def test_of_an_interest_it_says_what_each_selector_says(
    selectors: list[Profile], interest: Profile
) -> None:
    weighing = weighed(interest, [*selectors, interest], is_subject=False)
    for at, selector in enumerate([*selectors, interest]):
        is_within = selector.contains_profile(interest, as_selector=True)
        assert weighing.lies_within(at) == is_within
        assert weighing.is_contained_in(selector) == is_within
        assert weighing.is_met_by(at) == selector.may_meet(interest)
        assert at in weighing.that_may_hold or not is_within


@given(selector_lists, typed_roots(selector=False).map(typed))
def test_of_content_it_says_what_each_selector_says(
    selectors: list[Profile], content: Profile
) -> None:
    weighing = weighed(content, [*selectors, content], is_subject=True)
    for at, selector in enumerate([*selectors, content]):
        is_within, is_selected = content.keeps_to(selector), selector.matches(content)
        assert selector.contains_profile(content) or not is_within
        assert weighing.lies_within(at) == is_within
        assert weighing.is_contained_in(selector) == is_within
        assert weighing.is_met_by(at) == is_selected
        assert at in weighing.that_may_hold or not (is_within or is_selected)


@pytest.mark.parametrize(
    ("selector", "content", "keeps_to"),
    [
        ("word=a", "word=a", True),
        ("word=a", "word=a word=b", False),
        ("word=a", "(word=a) (word=b)", False),
        ("word=a", "word=a (x=1 | word=b)", False),
        ("word=a", "word=a x=1 part(word=b)", True),
        ("//word=a", "word=a part(word=b)", False),
        ("//word=a", "part(word=a) word=a", True),
        ("number=0..30", "number=10 number=90", False),
        ("number=0..30", "number=10 number=20..30", True),
        ("word=a word=b", "word=a word=b", True),
        ("word=a word=b", "word=a word=b word=c", False),
        ("word=a | word=b", "word=a word=b", True),
        ("word=a | word=b", "word=a word=c", False),
        ("word=a | x=3", "word=a x=9", True),
        ("word=a | x=3", "x=3 x=9", False),
        ("(word=a x=3) | (word=b x=4)", "word=a word=b x=3", False),
        ("(word=a | word=b) x=3", "word=b x=3", True),
        ("s(word=a) s(word=b)", "s(word=a) s(word=b)", True),
        ("s(word=a) s(word=b)", "s(word=a) s(word=b) s(word=c)", False),
        ("s/word=a", "s(word=a) s(x=1)", False),
        ("word", "word=a word=b", True),
        ("word=*", "word=a word=b", True),
    ],
)
def test_content_keeps_to_what_it_may_say(selector: str, content: str, keeps_to: bool) -> None:
    """Found by one selector and by another too: allowed is only what the one finds, and no more."""
    one, other = Profile.parse(selector, SPACE), Profile.parse(content, SPACE)
    weighing = weighed(other, [one], is_subject=True)
    assert other.keeps_to(one) == keeps_to
    assert weighing.lies_within(0) == keeps_to
    assert weighing.is_contained_in(one) == keeps_to


@given(typed_roots().map(typed), typed_roots().map(typed))
def test_two_selectors_exclude_each_other_alike(one: Profile, other: Profile) -> None:
    assert one.may_meet(other) == other.may_meet(one)


def test_a_range_that_holds_nothing_lies_within_a_single_value() -> None:
    """No text says it, bytes may: what is empty lies within everything around it."""
    tree = Node("", children=(Node("number", Value(NUMBERS, 3.0, 2.0)),))
    empty, single = Profile("", tree=tree), Profile.parse("number=2.5", SPACE)
    weighing = weighed(empty, [single], is_subject=False)
    assert single.contains_profile(empty, as_selector=True)
    assert weighing.lies_within(0)
    assert weighing.that_may_hold == {0}


def test_without_a_selector_everything_lies_within() -> None:
    word = Profile.parse("word=a", SPACE)
    weighing = Weighing(word, SelectorList([None]), is_subject=True, most_steps=1)
    assert weighing.that_may_hold == {0}
    assert weighing.lies_within(0)
    assert weighing.is_met_by(0)


def test_only_what_names_a_value_of_a_profile_is_looked_at() -> None:
    selectors = [Profile.parse(f"word=a x={at}", SPACE) for at in range(1000)]
    weighing = weighed(Profile.parse("word=a x=7 y=1", SPACE), selectors, is_subject=True)
    assert weighing.that_may_hold == {7}
    weighing = weighed(Profile.parse("word=a x=7..8", SPACE), selectors, is_subject=True)
    assert len(weighing.that_may_hold) == 1000


def test_what_was_told_of_one_selector_counts_for_all() -> None:
    """A thousand times the same takes little more than once."""
    pairs = " ".join(f"(x={at}..{at + 5} | y={at}..{at + 5})" for at in range(4))
    wider = " ".join(f"(x={at}..{at + 9} | y={at}..{at + 5})" for at in range(4))
    interest, selector = Profile.parse(wider, SPACE), Profile.parse(pairs, SPACE)
    spent = []
    for count in (1, 100):
        weighing = weighed(interest, [selector] * count, is_subject=False)
        assert not any(weighing.lies_within(at) for at in range(count))
        spent.append(MANY_STEPS - weighing.budget.left)
    once, often = spent
    assert often < once + 100 * 16


@pytest.mark.parametrize("is_subject", [True, False])
def test_more_steps_than_there_are_tell_nothing(is_subject: bool) -> None:
    selectors = [Profile.parse(f"x={at}..{at + 2}", SPACE) for at in range(100)]
    interest = Profile.parse("x=200..201", SPACE)
    weighing = Weighing(interest, SelectorList(selectors), is_subject=is_subject, most_steps=50)

    def ask_all() -> None:
        for at in range(100):
            weighing.lies_within(at)

    with pytest.raises(OverBudget, match="more than 50 steps"):
        ask_all()
    with pytest.raises(OverBudget):  # and nothing is told after that
        weighing.lies_within(99)


def test_of_one_selector_alone_it_takes_as_long_as_without_a_list() -> None:
    """A delegate was refused what was allowed when nobody counted what is asked again."""
    rooms = [f"room={at}" for at in range(62)]
    selector = Profile.parse(f"type=lamp ({' | '.join(rooms)})")
    interest = Profile.parse(f"type=lamp ({' | '.join(reversed(rooms))})")
    weighing = Weighing(interest, SelectorList([]), is_subject=False, most_steps=7_000)
    assert selector.contains_profile(interest, as_selector=True)
    assert weighing.is_contained_in(selector)


def test_what_two_selectors_have_in_common_is_compared_once() -> None:
    alike = " ".join(f"k{at}=v" for at in range(8))
    selectors = [Profile.parse(f"{alike} room={at}") for at in range(100)]
    interest = Profile.parse(f"{alike} room=other")
    weighing = Weighing(interest, SelectorList(selectors), is_subject=False, most_steps=1_100)
    assert not any(weighing.is_met_by(at) for at in range(100))
