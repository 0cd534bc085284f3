"""A mistyped dimension is told of; a name that is meant is not."""

from __future__ import annotations

import pytest

import meteor
from arms import Profile
from meteor.slips import ALIKE, slip_in

SPACE = meteor.KeywordSpace(
    "building",
    [
        meteor.Word("type"),
        meteor.Number("temperature", 0, 1),
        meteor.Number("wind/speed", 0, 9),
        meteor.Number("window/n", 0, 9),
    ],
)


@pytest.mark.parametrize(
    ("text", "slip"),
    [
        ("type=a temperatre>=1", ("temperatre", "temperature")),
        ("tempreture=1..2", ("tempreture", "temperature")),
        ("type=temperature", None),
        ("type=a (temperatur=1 | type=b)", ("temperatur", "temperature")),
        ("wind/sped>1", ("wind/sped", "wind/speed")),
        ("wind/speed>1", None),
        ("wind(sped>1 speed<3)", ("wind/sped", "wind/speed")),
        ("window(n=1)", None),
        ("type=a temperature_max=3", None),
        ("type=a room=temperatur", None),
        ("//temperature=1", None),
    ],
)
def test_the_first_name_that_is_nearly_a_dimension(text: str, slip: tuple[str, str] | None) -> None:
    assert slip_in(Profile.parse(text, SPACE), SPACE) == slip


def test_a_name_that_fits_nowhere_is_compared_more_loosely() -> None:
    loose = Profile.parse("temper=1", SPACE)
    assert slip_in(loose, SPACE) is None
    assert slip_in(loose, SPACE, ALIKE) == ("temper", "temperature")
