"""Profiles for benchmarks of matching: three kinds of sensors, 20 attributes in all, a third of
them keywords; data has five of its kind's eight, two of which all kinds share.  Interests are
drawn so that each selects a given share of the data, and each datum that share of the interests.

A million of them are wanted, so they are made of their values, not parsed from text.
"""

from __future__ import annotations

from math import sqrt
from random import Random

from arms import Profile
from arms.tree import Node
from arms.values import ANY_VALUE, TOP, WILDCARD, WORDS, Value, numbers, words
from squid import KeywordSpace, Number, Word

SPACE = KeywordSpace("sensors", [Word("type"), Number("level", 0, 1000)], max_attributes=8)
KINDS = 3
_OWN = 6
_HELD = 3
_PLACES = 1000


def reading(random: Random) -> Profile:
    """Data with five attributes, each a point."""
    return _five(random, 0.0)


def five_tests(random: Random) -> Profile:
    """An interest with five ranges."""
    return _five(random, 0.3)


def interest(random: Random, share: float) -> Profile:
    """An interest in about this share of the data: two ranges, or everything."""
    if share >= 1:
        return _profile({"level": ANY_VALUE})
    if share > 0.01:
        return _profile(
            {"type": _words(random, sqrt(share)), "level": _numbers(random, sqrt(share))}
        )
    width = sqrt(share * KINDS * _OWN / _HELD)
    name, place = _own(random.randrange(KINDS), random.randrange(_OWN))
    value = _words(random, width) if _is_word(place) else _numbers(random, width)
    return _profile({"level": _numbers(random, width), name: value})


def _five(random: Random, width: float) -> Profile:
    kind = random.randrange(KINDS)
    values = {"type": _words(random, width), "level": _numbers(random, width)}
    for place in sorted(random.sample(range(_OWN), _HELD)):
        name, _ = _own(kind, place)
        values[name] = _words(random, width) if _is_word(place) else _numbers(random, width)
    return _profile(values)


def _own(kind: int, place: int) -> tuple[str, int]:
    return f"{'room' if _is_word(place) else 'value'}-{kind}-{place}", place


def _is_word(place: int) -> bool:
    return place % 3 == 0


def _numbers(random: Random, width: float) -> Value:
    low = random.random() * (1 - width)
    return numbers(round(1000 * low, 4), round(1000 * (low + width), 4))


def _words(random: Random, width: float) -> Value:
    low = random.random() * (1 - width)
    return words(f"w{int(low * _PLACES):03}", f"w{int((low + width) * _PLACES):03}")


def _profile(values: dict[str, Value]) -> Profile:
    tree = Node("", children=tuple(Node(name, value) for name, value in values.items()))
    text = " ".join(f"{name}={_text(value)}" for name, value in values.items())
    return Profile(text, tree=tree, digest=SPACE.digest)


def _text(value: Value) -> str:
    if value.axis == WILDCARD:
        return "*"
    return str(value.low) if value.low == value.high else f"{value.low}..{value.high}"


def ends_of(value: Value) -> tuple[float | None, float | None, str | None, str | None]:
    """The ends of an interval, for tables of SQL: of numbers, then of words."""
    if value.axis == WILDCARD:
        return float("-inf"), float("inf"), "", TOP
    if value.axis == WORDS:
        return None, None, str(value.low), str(value.high)
    return float(value.low), float(value.high), None, None
