"""Sentences on the text of selectors that stand nowhere else."""

from __future__ import annotations

import pytest

from arms import LimitExceeded, Profile, TypeMismatch
from squid import KeywordSpace, Number, Time, Word

SPACE = KeywordSpace(
    "derived",
    [Word("word"), Number("number", -100, 100), Time("since", "2000-01-01", "2040-01-01")],
)


def selects(selector: str, subject: str) -> bool:
    return Profile.parse(selector, SPACE).matches(Profile.parse(subject, SPACE))


def test_names_are_case_sensitive_and_values_are_not() -> None:
    assert selects("word=Lamp", "word=LAMP")
    assert selects("note=Lamp", "word=x note=lAMP")
    assert not selects("Note=lamp", "word=x note=lamp")


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("a b c", 3), ("a(b=1)", 1), ("a=1(b=1)", 2), ("a(b c)", 2), ("(a=1 b=1)", 2), ("a//b/c", 1)
    ],
)  # fmt: skip
def test_an_attribute_is_an_element_with_a_value_or_without_children(
    text: str, attributes: int
) -> None:
    one_less = KeywordSpace("few", [Word("word")], max_attributes=attributes)
    Profile.parse(text, one_less)
    with pytest.raises(LimitExceeded) as refused:
        Profile.parse(f"{text} one_more", one_less)
    assert (refused.value.name, refused.value.value) == ("max_attributes", attributes + 1)


@pytest.mark.parametrize(
    "text",
    ["number=hot", 'number="5"', "number=1*", "since=yesterday", 'since="2004-04-01"', "since=20*"],
)
def test_what_does_not_fit_its_declaration_is_a_type_mismatch(text: str) -> None:
    with pytest.raises(TypeMismatch):
        Profile.parse(text, SPACE)


@pytest.mark.parametrize(
    ("text", "subject", "met"),
    [
        ("number=-5--3", "number=-4", True),
        ("number=-5--3", "number=-2", False),
        ("number=1e-3", "number=0.001", True),
        ("number=10-*", "number=10", True),
        ("number=10-*", "number=9", False),
        ("word=10-*", "word=10-b", True),
        ("word=10-*", "word=11", False),
        ("note=1*", "word=x note=1b", True),
        ("number=*..80", "number=80", True),
        ("number=*..80", "number=80.5", False),
        ("d=2004-04-01", "word=x d=2004-04-01", True),
        ("u=http://h:1/x", "word=x u=http://h:1/x", True),
        ("a=1 | b=2", "word=x b=2", True),
        ("a (b=1)", "word=x a b=1", True),
        ("a(b=1)", "word=x a b=1", False),
        ("a(b=1)", "word=x a(b=1)", True),
    ],
)
def test_the_derived_examples_as_they_are_listed(text: str, subject: str, met: bool) -> None:
    assert selects(text, subject) is met
