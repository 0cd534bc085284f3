"""Profiles of members of enumerations, or numpy's numbers and texts, are those of plain values.

Such values are equal to plain ones and write themselves otherwise: a reading was kept under the
text `np.float64(21.5)`, where nobody who asked for a number found it.
"""

from __future__ import annotations

from enum import Enum, IntEnum, StrEnum

import numpy as np
import pytest

from arms import Profile, between, prefix, profile
from squid import Choice, KeywordSpace, Number, Word


class Kind(str, Enum):  # noqa: UP042 - as many programs have them
    LAMP = "lamp"


class Place(StrEnum):
    HALL = "hall"


class Level(IntEnum):
    LOW = 1
    HIGH = 3


SPACE = KeywordSpace("some", [Word("type"), Number("heat", -40, 125)])


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(21.5), 21.5),
        (Level.HIGH, 3),
        (between(np.float64(0.5), Level.HIGH), between(0.5, 3)),
        (Kind.LAMP, "lamp"),
        (Place.HALL, "hall"),
        (np.str_("hall"), "hall"),
        (prefix(Kind.LAMP), prefix("lamp")),
        (between(Place.HALL, Kind.LAMP), between("hall", "lamp")),
    ],
)
def test_what_is_built_is_what_the_plain_value_says(value: object, plain: object) -> None:
    built, wanted = profile({"x": value}), profile({"x": plain})
    assert str(built) == str(wanted)
    assert built.tree == wanted.tree
    assert Profile.parse(str(built)).tree == built.tree


def test_a_number_of_numpy_is_found_by_its_number() -> None:
    subject = profile({"type": Kind.LAMP, "heat": np.float64(21.5), "weight": np.float64(2.0)})
    for text in ("type=lamp", "heat=20..22", "weight=1..3"):
        assert Profile.parse(text, SPACE).matches(subject.typed(SPACE)), text


def test_a_name_may_be_a_member_of_an_enumeration() -> None:
    space = KeywordSpace("some", [Choice("lamp", ("on", "off"))])
    built = profile({Kind.LAMP: "off"}).typed(space)
    assert built.tree == profile({"lamp": "off"}).typed(space).tree
