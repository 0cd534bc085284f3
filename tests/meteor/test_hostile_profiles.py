"""A profile made of what is no text, no mapping and no value is refused in words that say so, and
never read as something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

import meteor
from tests.meteor.hostile_values import VALUES, check, refused

TEXTS: Final = {"no text", "text", "two lines", "member", "numpy's text"}
NUMBERS: Final = {
    "minus one", "zero", "one", "larger than a float", "smaller than a float", "whole",
    "numpy's float",
}  # fmt: skip
OF_A_RANGE: Final = NUMBERS | {"numpy's short float", "numpy's integer", "decimal", "fraction"}


def test_what_is_no_selector_is_refused() -> None:
    check("text", {"text", "member", "numpy's text"}, meteor.Profile.parse)


def test_what_is_no_document_is_refused() -> None:
    check("document", set(), meteor.Profile.from_xml)


def test_what_is_no_mapping_is_refused() -> None:
    check("mapping", set(), meteor.profile)


@pytest.mark.parametrize("wrong", [bytearray(b"ab"), memoryview(b"ab")])
def test_bytes_are_no_numbers_side_by_side(wrong: Any) -> None:
    with pytest.raises(meteor.ProfileError, match="is no value"):
        meteor.profile({"type": wrong})


@pytest.mark.parametrize(
    "make", [lambda end: meteor.between(end, None), lambda end: meteor.between(None, end)]
)
def test_an_end_of_a_range_is_a_text_or_a_number(make: Callable[[Any], Any]) -> None:
    labels = set(VALUES) - TEXTS - {"half a character", "long text", "none"}
    for label in sorted(labels):
        is_refused = refused("between", lambda label=label: make(VALUES[label]))  # type: ignore[misc]
        assert is_refused is (label not in OF_A_RANGE), label


def test_a_number_that_python_does_not_write_is_refused() -> None:
    with pytest.raises(meteor.ProfileError, match="too many digits"):
        meteor.profile({"temperature": 10**5000})
