"""What a value means once its kind is known: nothing, anything, or one closed interval.

Law of this file: a keyword is the interval [w, w], `Fa*` is [fa, fa + top], `>=80` is
[80, +inf]; two values meet when they overlap on one axis.  `meets` is symmetric; numbers and
keywords never meet (rules 1, 3, 8-10 of the matching table; report section 2.1.2).
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

NONE: Final = 0
"""No value: meets nothing."""
WILDCARD: Final = 1
"""`*`: meets every value."""
NUMBERS: Final = 2
"""The axis of numbers; times are their milliseconds, choices their ranks."""
WORDS: Final = 3
"""The axis of keywords in normal form, in the order of their code points."""

TOP: Final = "\U0010ffff"
"""Sorts after every continuation of a prefix; no keyword may contain it."""


class Value(NamedTuple):
    """A closed interval [low, high] on `axis`; NONE and WILDCARD have empty bounds."""

    axis: int
    low: float | str = 0.0
    high: float | str = 0.0


NO_VALUE: Final = Value(NONE)
ANY_VALUE: Final = Value(WILDCARD)
ANY_KEYWORD: Final = Value(WORDS, "", TOP)


def numbers(low: float = -math.inf, high: float = math.inf) -> Value:
    """The numbers from `low` to `high`, both included."""
    return Value(NUMBERS, low, high)


def words(low: str = "", high: str = TOP) -> Value:
    """The keywords from `low` to `high` (normal form), both included."""
    return Value(WORDS, low, high)


def partial(stem: str) -> Value:
    """The keywords that begin with `stem` (normal form)."""
    return Value(WORDS, stem, stem + TOP)


def meets(one: Value, other: Value) -> bool:
    """Whether the two have a point in common."""
    axis = one[0]
    if axis <= WILDCARD or other[0] <= WILDCARD:
        return axis != NONE and other[0] != NONE
    if axis != other[0]:
        return False
    return one[1] <= other[2] and other[1] <= one[2]  # type: ignore[operator]  # one axis


def covers(outer: Value, inner: Value) -> bool:
    """Whether every point of `inner` lies in `outer`."""
    if outer[0] <= WILDCARD or inner[0] <= WILDCARD:
        return inner[0] != NONE and outer[0] == WILDCARD
    if outer[0] != inner[0]:
        return False
    return outer[1] <= inner[1] and inner[2] <= outer[2]  # type: ignore[operator]  # one axis
