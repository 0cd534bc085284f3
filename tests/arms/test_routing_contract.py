"""The contract with routing: what matches shares a cell of the curve."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from arms import Profile
from arms.written import Element
from squid import Absent, Hull, NumberInterval, Prefix, Whole, WordInterval
from tests.arms.strategies import SPACE, typed_roots

MORE = settings(max_examples=2 * settings().max_examples)
"""Much hangs on these."""


def asked(text: str) -> dict[str, object]:
    return dict(Profile.parse(text).selector_terms(SPACE))


def offered(text: str) -> dict[str, object]:
    return dict(Profile.parse(text).subject_terms(SPACE))


@MORE
@given(typed_roots(), typed_roots(selector=False))
def test_a_match_implies_a_shared_cell(selector: Element, subject: Element) -> None:
    interest, data = (Profile.from_element(root, SPACE) for root in (selector, subject))
    there = SPACE.box(interest.selector_terms(SPACE))
    here = SPACE.box(data.subject_terms(SPACE))
    if interest.matches(data):
        assert there.intersection(here) is not None


@MORE
@given(typed_roots(selector=False), typed_roots(), st.booleans())
def test_a_drawn_subject_read_as_a_selector_finds_itself(
    subject: Element, other: Element, both: bool
) -> None:
    """Many draws do not match; these nearly always do, so that the implication is not hollow."""
    data = Profile.from_element(subject, SPACE)
    root = subject
    if both:
        root = Element("", subject.value, (*subject.children, *other.children), any_of=True)
    interest = Profile.from_element(root)
    if interest.attributes > SPACE.max_attributes:
        return
    if interest.typed(SPACE).matches(data):
        there = SPACE.box(interest.selector_terms(SPACE))
        assert there.intersection(SPACE.box(data.subject_terms(SPACE))) is not None


def test_terms_of_a_selector() -> None:
    assert asked("word=ab*") == {
        "word": Prefix("ab"), "number": Whole(), "level": Whole(), "wind/name": Whole(),
        "wind/speed": Whole(), "when": Whole(),
    }  # fmt: skip
    assert asked("number>=3")["number"] == NumberInterval(3.0, None)
    assert asked("level=middle..high")["level"] == NumberInterval(1, 2)
    assert asked("when=1..2")["when"] == NumberInterval(1000, 2000)
    assert asked("word=*")["word"] == Whole()
    assert asked("word")["word"] == Whole()
    assert asked("wind(speed=2 name=a..b)")["wind/speed"] == NumberInterval(2.0, 2.0)
    assert asked("wind(speed=2 name=a..b)")["wind/name"] == WordInterval("a", "b")
    assert asked("//word=ab")["word"] == Whole()
    assert asked("(number=1)")["number"] == NumberInterval(1.0, 1.0)


def test_alternatives_take_their_hull_where_all_name_the_dimension() -> None:
    both = Hull((NumberInterval(1.0, 1.0), NumberInterval(5.0, 5.0)))
    assert asked("number=1 | number=5")["number"] == both
    assert asked("number=1 | word=a")["number"] == Whole()
    assert asked("(number=1 word=a) | (number=5)")["number"] == both
    assert asked("number=1 | //number=5")["number"] == Whole()
    assert asked("(number=1 | word=a) number=7")["number"] == NumberInterval(7.0, 7.0)
    assert asked("wind(speed=1 | name=a)")["wind/speed"] == Whole()


def test_terms_of_a_subject() -> None:
    assert offered("word=ab x=1")["word"] == WordInterval("ab", "ab")
    assert offered("x=1") == dict.fromkeys(SPACE.names, Absent())
    assert offered("word")["word"] == Absent()
    assert offered("word=*")["word"] == Whole()
    assert offered("number=1 number=5")["number"] == Hull(
        (NumberInterval(1.0, 1.0), NumberInterval(5.0, 5.0))
    )
    assert offered("number=1 number")["number"] == Hull((NumberInterval(1.0, 1.0), Absent()))
    assert offered("number=1 | word=ab")["number"] == NumberInterval(1.0, 1.0)
    assert offered("(number=1)")["number"] == NumberInterval(1.0, 1.0)
