"""Two comparisons, of which only the upper one has a unit: each says what it says alone.

As a range they read `20..30MB`, where the low end takes the unit of the high one: who asked for
what is above 20 kB got, as a complete answer, what is above 20 MB.  And in whatever order they are
written it is the same: of two on one side, which only a declaration could compare, none is taken.
"""

from __future__ import annotations

from itertools import permutations

import pytest

from arms import Profile, SelectorError
from squid import KeywordSpace, Number, Word

SPACE = KeywordSpace("files", [Number("size", 0, 1e9, unit="kB"), Word("name")])


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("size>=20 size<=30MB", (20, 5000, 30_000), (19, 30_001)),
        ("size<=30MB size>=20", (20, 5000, 30_000), (19, 30_001)),
        ("size>20 size<30MB", (21, 29_999), (20, 30_000)),
        ("size>=500 size<=2MB", (500, 2000), (499, 2001)),
        ("size>=20MB size<=30000", (20_000, 30_000), (19_999, 30_001)),
        ("size>=20 size<=30MB size>=25", (25, 30_000), (24, 30_001)),
        ("size=20..30MB", (20_000, 30_000), (19_999, 30_001)),
    ],
)
def test_a_bare_bound_is_in_the_unit_of_the_space(
    text: str, inside: tuple[int, ...], outside: tuple[int, ...]
) -> None:
    selector = Profile.parse(text, SPACE)
    assert Profile.parse(str(selector), SPACE) == selector
    for form in (selector, Profile.parse(str(selector), SPACE)):
        found = [
            size
            for size in (*inside, *outside)
            if form.matches(Profile.parse(f"size={size}", SPACE))
        ]
        assert found == list(inside)


def test_bounds_of_words_that_look_like_quantities_are_no_others() -> None:
    selector = Profile.parse("name>=2 name<=3MB", SPACE)
    assert selector.matches(Profile.parse("name=2x", SPACE))
    assert not selector.matches(Profile.parse("name=4", SPACE))


def test_two_bounds_on_one_side_are_refused_as_before() -> None:
    with pytest.raises(SelectorError, match="two bounds on one side"):
        Profile.parse("size>=20kB size<=30MB size<=40kB", SPACE)


@pytest.mark.parametrize(
    "bounds",
    [
        ("size>=20", "size<=25", "size<=30MB"),
        ("size>=25", "size>=20kB", "size<=30MB"),
        ("size>=20", "size>25", "size<=30MB", "size<40MB"),
    ],
)
def test_two_bounds_on_one_side_are_refused_in_every_order(bounds: tuple[str, ...]) -> None:
    for order in permutations(bounds):
        with pytest.raises(SelectorError, match="two bounds on one side"):
            Profile.parse(" ".join(order), SPACE)


def test_bounds_that_agree_are_one_selector_in_every_order() -> None:
    orders = permutations(("size>=20", "size<=30MB", "size>25"))
    found = {str(Profile.parse(" ".join(order), SPACE)) for order in orders}
    assert found == {"size>25 (size=..30MB)", "size=..30MB (size>25)"}
