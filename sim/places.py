"""Where what clients of a scenario store and ask for lies: points, and regions of many places.

Law of this file: pure.  What is stored may have a range of values and a part of a word for its
type: then it lies wherever any of these does, on several stretches of the curve, at several peers.
What meets it is told of it by one of them: by whoever holds the lowest index that both regions
share (DESIGN section 4), which is computed here from the two regions alone.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from meteor import KeywordSpace, Number, Profile, Word, between, prefix, profile
from squid import Box

SPACE: Final = KeywordSpace("scenario", [Word("type"), Number("value", 0, 1000)])
"""The space of the scenarios."""
TYPES: Final = ("temperature", "humidity", "light", "pressure")
PARTS: Final = ("te*", "h*", "light*", "p*", "*")
"""Parts of words, each of which some of the types begin with."""
LOW, HIGH = 0.0, 1000.0
"""The values there are."""
WIDEST: Final = 300.0
"""The longest range of values of what is stored."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Something to be stored, and where it lies."""

    profile: Profile
    value: float
    """Its value; of a range the lowest."""
    word: str
    """Its type, or a part of one, with a star behind it."""
    region: Box
    high: float | None = None
    """Of a range the highest value."""

    @property
    def index(self) -> int:
        """The first index of the curve at which it lies."""
        return first_index(self.region)


def drawn_point(word: str, value: float) -> Drawn:
    """Something at one place."""
    described = profile({"type": word, "value": value})
    return Drawn(described, value, word, region_of(described))


def draw_wide(stream: random.Random) -> Drawn:
    """Something with a range of values, of a type or of several."""
    low = round(stream.uniform(LOW, HIGH - WIDEST), 1)
    high = round(low + stream.uniform(5.0, WIDEST), 1)
    word = stream.choice(PARTS if stream.random() < 0.5 else TYPES)
    named = {"type": prefix(word[:-1]) if word.endswith("*") else word}
    described = profile({**named, "value": between(low, high)})
    return Drawn(described, low, word, region_of(described), high)


def draw_range(stream: random.Random) -> tuple[float, float]:
    """A range of values to ask for."""
    low = round(stream.uniform(LOW, HIGH * 0.8), 1)
    return low, round(low + stream.uniform(50, 400), 1)


def draw_part(stream: random.Random, share: float) -> str:
    """A part of a word, for so large a share of what is asked for; nothing is drawn for none."""
    return stream.choice(PARTS) if share and stream.random() < share else "*"


def words_meet(one: str, other: str) -> bool:
    """Whether two types, or parts of types, have a word in common."""
    stem, other_stem = one.removesuffix("*"), other.removesuffix("*")
    if one.endswith("*") and other_stem.startswith(stem):
        return True
    return one == other or (other.endswith("*") and stem.startswith(other_stem))


def selector_of(word: str, low: float, high: float) -> str:
    """What asks for a type, or part of one, and a range of values; `*` asks for any type."""
    named = "" if word == "*" else f"type={word} "
    return f"{named}value={low}..{high}"


def region_of(described: Profile) -> Box:
    """The box of a profile."""
    return SPACE.box(described.typed(SPACE).subject_terms(SPACE))


def region_asked(selector: str) -> Box:
    """The box of a selector."""
    return SPACE.box(Profile.parse(selector, SPACE).selector_terms(SPACE))


def first_index(region: Box) -> int:
    """Where a region begins on the curve."""
    found = SPACE.curve.next_match(region, 0)
    assert found is not None, "every box has a cell"
    return found


def first_common(one: Box, other: Box) -> int | None:
    """The lowest index that two regions share; None where they share none."""
    low = tuple(max(ends) for ends in zip(one.low, other.low, strict=True))
    high = tuple(min(ends) for ends in zip(one.high, other.high, strict=True))
    if any(first > last for first, last in zip(low, high, strict=True)):
        return None
    return first_index(Box(low, high))


def index_of(attributes: Mapping[str, str | float]) -> int:
    """Where a profile of one place lies on the curve."""
    return place_of(profile(attributes))


def place_of(described: Profile) -> int:
    """The same of a profile that is built already."""
    return SPACE.curve.encode(region_of(described).low)
