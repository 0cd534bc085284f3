"""The parser against the grammar that is written down: it takes nothing else, and refuses what has
the form only for a reason of meaning."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arms import Profile, SelectorError
from tests.arms.selector_grammar import has_the_form

PIECES = (
    "a", "b", "wind", "t", "=", "=", "=", ">=", "<=", ">", "<", "1", "20", "30", "5MB", "-", "..",
    ".", "*", '"', '"x y"', '""', '"F*"', "(", ")", " ", " ", "|", "/", "//", "\\", r"\*", "1e3",
    "_", "é", "2004-04-01", "'", ",", "&",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join)
TERMS = st.sampled_from(
    ("a=1", "b", "t>=20", "t<30", "wind/speed=3..4", "//x=F*", "(a=1 b=2)", "a(b=1 | c=2)", "u=1-5")
)
WRITTEN = st.builds(
    lambda terms, gap: gap.join(terms),
    st.lists(TERMS, min_size=1, max_size=5),
    st.sampled_from((" ", "  ", "|", " | ", "")),
)
MEANING = (
    "reversed range", "empty", "on a keyword", "on two kinds", "one kind", "not an operator",
    "connective", "is no word here", "alone is not a name", "one plain value", "is not a range",
    "a plain value", "only at the end",
)  # fmt: skip
"""Why a text of the right form is refused all the same; each has its example in test_selector."""


def refused_for(text: str) -> str:
    """Why the parser refuses a text; empty where it does not."""
    try:
        Profile.parse(text)
    except SelectorError as error:
        return error.reason
    return ""


@given(st.one_of(TEXTS, WRITTEN))
@example("a=1 | b=2 c=3")
@example("a (b=1)")
@example("t>=20 t<=30 (u=1)")
@example("a=*..*")
def test_the_parser_takes_what_the_grammar_takes(text: str) -> None:
    form, reason = has_the_form(text), refused_for(text)
    if not reason:
        assert form, text
    elif form:
        assert any(meaning in reason for meaning in MEANING), reason


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a", True), ("a=1", True), ("a = 1", True), ("a(b)", True), ("a (b)", True), ("//a", True),
        ("a/b//c>=2", True), ("a=1..", True), ("a=..1", True), ("a=*..1", True), ("a=1-*", True),
        ("a=1|b=2", True), ("a=1 b=2 | c", False), ("a=", False), ("", False), ("a=*..*", False),
        ("a)", False), ("(a", False), ("a=x*y", False), ("a.b=1", True), ("a..b=1", False),
        ("a.=1", False), ("1a", False), ("a>=8*", False), ("a(b)c", False), ("a,b", False),
    ],
)  # fmt: skip
def test_the_twin_itself(text: str, form: bool) -> None:
    assert has_the_form(text) is form
