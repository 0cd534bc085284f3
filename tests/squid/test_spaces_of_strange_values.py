"""A space that is declared of what nobody should give is refused as a space, in words that can be
shown: never by what comes of the value further inside, or when the space is first sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from squid import KeywordSpace, Number, SpaceError, Time, Word

HUGE: Final = [10**400, -(10**400), 10**5000]


@pytest.mark.parametrize("kind", [Number, Time])
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("bound", HUGE, ids=["large", "small", "of many digits"])
def test_a_bound_that_no_float_holds_is_refused(kind: Any, end: str, bound: int) -> None:
    with pytest.raises(SpaceError, match=r"x: a bound of .* bits"):
        kind("x", **{"low": 0, "high": 1, end: bound})


@pytest.mark.parametrize("read", [5, None, b'name = "a"', ["a"], "\ud800"])
def test_what_is_no_text_is_no_space(read: Any) -> None:
    with pytest.raises(SpaceError, match="keyword space"):
        KeywordSpace.from_toml(read)


@pytest.mark.parametrize(
    "make",
    [lambda: KeywordSpace("\ud800", [Word("type")]), lambda: KeywordSpace("a\udc80", [Word("b")])],
)
def test_a_name_that_cannot_be_sent_is_refused(make: Callable[[], KeywordSpace]) -> None:
    with pytest.raises(SpaceError, match="half characters"):
        make()
