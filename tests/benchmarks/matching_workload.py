"""Profiles for benchmarks of matching: three kinds of sensors, 20 attributes in all, a third of
them keywords; data has five of its kind's eight, two of which all kinds share.  Interests are
drawn so that each selects a given share of the data, and each datum that share of the interests.
"""

from __future__ import annotations

from math import sqrt
from random import Random

from arms import ANY, Profile, between, profile
from squid import KeywordSpace, Number, Word

SPACE = KeywordSpace("sensors", [Word("type"), Number("level", 0, 1000)], max_attributes=8)
KINDS = 3
_OWN = 6
_HELD = 3
_PLACES = 1000


def _name(kind: int, place: int) -> str:
    return f"{'room' if _is_word(place) else 'value'}-{kind}-{place}"


def _is_word(place: int) -> bool:
    return place % 3 == 0


def _word(at: float) -> str:
    return f"w{int(at * _PLACES):03}"


def reading(random: Random) -> Profile:
    """Data with five attributes, each a point."""
    kind = random.randrange(KINDS)
    values: dict[str, object] = {
        "type": _word(random.random()),
        "level": round(1000 * random.random(), 4),
    }
    for place in sorted(random.sample(range(_OWN), _HELD)):
        at = random.random()
        values[_name(kind, place)] = _word(at) if _is_word(place) else round(1000 * at, 4)
    return profile(values).typed(SPACE)  # type: ignore[arg-type]


def interest(random: Random, share: float) -> Profile:
    """An interest in about this share of the data: two ranges, or everything."""
    values: dict[str, object] = {}
    if share >= 1:
        values["level"] = ANY
    elif share > 0.01:
        values["type"] = _words(random, sqrt(share))
        values["level"] = _numbers(random, sqrt(share))
    else:
        own = sqrt(share * KINDS * _OWN / _HELD)
        place = random.randrange(_OWN)
        values["level"] = _numbers(random, own)
        name = _name(random.randrange(KINDS), place)
        values[name] = _words(random, own) if _is_word(place) else _numbers(random, own)
    return profile(values).typed(SPACE)  # type: ignore[arg-type]


def five_tests(random: Random) -> Profile:
    """An interest with five ranges, for what one costs."""
    kind = random.randrange(KINDS)
    values: dict[str, object] = {"type": _words(random, 0.3), "level": _numbers(random, 0.3)}
    for place in sorted(random.sample(range(_OWN), _HELD)):
        width = _words(random, 0.3) if _is_word(place) else _numbers(random, 0.3)
        values[_name(kind, place)] = width
    return profile(values).typed(SPACE)  # type: ignore[arg-type]


def _numbers(random: Random, width: float) -> object:
    low = random.random() * (1 - width)
    return between(round(1000 * low, 4), round(1000 * (low + width), 4))


def _words(random: Random, width: float) -> object:
    low = random.random() * (1 - width)
    return between(_word(low), _word(low + width))
