"""Profiles from plain values: never build a selector by pasting text together.

Law of this file: a plain value is literal; only what `between`, `prefix` and `ANY` make has a
meaning beyond itself (SPEC section 2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Final

from arms.errors import ProfileError
from arms.written import (
    IS_QUANTITY,
    LIMITS,
    NOTHING,
    Anything,
    Element,
    Partial,
    Scalar,
    Span,
    Written,
    is_name,
    scalar,
)
from squid import LimitExceeded

Leaf = str | int | float | Anything | Partial | Span | None
Plain = Leaf | Mapping[str, "Plain"] | Sequence["Plain"]
"""What a name may stand for: a value, a mapping for what lies below, several for siblings."""
_NO_SEVERAL: Final = (str, bytes, bytearray, memoryview)
"""Sequences that are one value, or none."""


def between(low: str | float | None, high: str | float | None) -> Span:
    """The range from `low` to `high`, both included; None is an open end.

    Raises `ProfileError` for what is no range, or no end of one."""
    _check_end(low)
    _check_end(high)
    if low is None and high is None:
        raise ProfileError("between(None, None) has no end: use ANY")
    if isinstance(low, str) != isinstance(high, str) and None not in {low, high}:
        raise ProfileError(f"between({low!r}, {high!r}): a keyword and a number")
    if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        raise ProfileError(f"between({low!r}, {high!r}) is empty: write the smaller end first")
    return Span(None if low is None else _scalar(low), None if high is None else _scalar(high))


def _check_end(end: object) -> None:
    is_one = end is None or isinstance(end, str | Real | Decimal)
    if not is_one or isinstance(end, bool):
        raise ProfileError(f"between: an end is a text or a number, not {end!r:.80}")


def prefix(stem: str) -> Partial:
    """Every keyword that begins with `stem`; raises `ProfileError` for what is no text."""
    if not isinstance(stem, str):
        raise ProfileError(f"prefix({stem!r}): only words have beginnings; give a text")
    return Partial(str.__str__(stem))


def root_of(attributes: Mapping[str, Plain]) -> Element:
    """The elements of a mapping; raises `ProfileError`."""
    if not isinstance(attributes, Mapping):
        raise ProfileError(
            f"a profile is made of a mapping of names to values, not {type(attributes).__name__}"
        )
    if not attributes:
        raise ProfileError("an empty profile selects nothing in particular: name an attribute")
    return Element("", NOTHING, _children(attributes, 1))


def _children(attributes: Mapping[str, Plain], depth: int) -> tuple[Element, ...]:
    if depth > LIMITS.depth:
        raise LimitExceeded("profile depth", depth, LIMITS.depth)
    elements: list[Element] = []
    for name, plain in attributes.items():
        if isinstance(plain, Sequence) and not isinstance(plain, _NO_SEVERAL):
            elements.extend(_element(name, one, depth) for one in plain)
        else:
            elements.append(_element(name, plain, depth))
    return tuple(elements)


def _element(name: str, plain: Plain, depth: int) -> Element:
    if not isinstance(name, str) or not is_name(name):
        raise ProfileError(f"{name!r} is not a name: letters, digits, '_', '-' and '.'")
    name = str.__str__(name)
    if isinstance(plain, Mapping):
        return Element(name, NOTHING, _children(plain, depth + 1))
    return Element(name, _value(name, plain))


def _value(name: str, plain: object) -> Written:
    if plain is None:
        return NOTHING
    if isinstance(plain, Anything | Partial | Span):
        return plain
    if isinstance(plain, bool) or not isinstance(plain, str | int | float):
        raise ProfileError(
            f"{name}: {plain!r} is no value: use a text, a number, None for presence alone, "
            "between(), prefix() or ANY"
        )
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ProfileError(f"{name}: {plain!r} is not a finite number; give one, or ANY")
    return _scalar(plain)


def _scalar(plain: str | float) -> Scalar:
    """A text is a keyword (or a time, where one is declared), a number a number; what the members
    of an enumeration, and numpy's floats, are equal to, not how they write themselves."""
    if isinstance(plain, str):
        text = str.__str__(plain)
        return scalar(text, IS_QUANTITY.fullmatch(text) is not None)
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ProfileError(f"{plain!r} is not a finite number")
    try:
        return Scalar(repr(int(plain) if isinstance(plain, int) else float(plain)))
    except (ValueError, OverflowError):  # a signalling decimal, or more digits than Python writes
        raise ProfileError("a number has too many digits, or is none; give a smaller one") from None
