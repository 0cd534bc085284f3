"""Typing: what a written value means on the dimension that declares it, or by its form.

Law of this file: the space decides.  A declared word takes the text as written; a declared
number or time refuses what does not parse or is quoted; a choice is compared by rank.  What no
dimension declares goes by its form (SPEC section 2; rules 10-16).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Protocol

from arms.values import ANY_VALUE, NO_VALUE, TOP, Value, numbers, partial, words
from arms.written import (
    NUMBER,
    Anything,
    Hyphen,
    Nothing,
    Partial,
    Scalar,
    Span,
    Written,
    hyphen_ends,
    is_number,
)
from squid import Choice, Dimension, Number, Time, TypeMismatch, Word, normal_form


class Space(Protocol):
    """What arms asks of a keyword space (`squid.KeywordSpace`)."""

    @property
    def names(self) -> Sequence[str]:
        """The dimensions' names, in order."""

    @property
    def max_attributes(self) -> int:
        """How many attributes a profile may have."""

    @property
    def extra(self) -> str:
        """What becomes of undeclared attributes: "allow" or "refuse"."""

    @property
    def digest(self) -> bytes:
        """Tells this space from every other."""

    def dimension(self, name: str) -> Dimension | None:
        """The dimension of this name (`wind/direction` for a nested one), if it is declared."""


class Unreadable(Exception):
    """A value that has no meaning where it stands; becomes the caller's error."""

    def __init__(self, reason: str, cure: str) -> None:
        super().__init__(reason, cure)
        self.reason, self.cure = reason, cure


def meaning(value: Written, name: str, dimension: Dimension | None) -> Value:
    """The value that `value` stands for at the element `name`.

    Raises `TypeMismatch` against a declared dimension, `Unreadable` else.
    """
    if type(value) is not Scalar:  # most are, and isinstance of a struct is slow to say no
        if isinstance(value, Nothing):
            return NO_VALUE
        if isinstance(value, Anything):
            return ANY_VALUE
    if dimension is None:
        return _by_form(value)
    if isinstance(dimension, Word):
        return _word(value, name)
    return _measured(value, name, dimension)


def keyword(text: str) -> str:
    """A keyword in the normal form by which it is compared and routed."""
    if TOP in text:
        raise Unreadable("the character U+10FFFF is reserved", "leave it out")
    return normal_form(text)


def keyword_stem(text: str) -> str:
    """The beginning of keywords in normal form; a blank at its end counts."""
    return keyword(text + "x")[:-1]


# -- undeclared: by its form


def _by_form(value: Scalar | Partial | Span | Hyphen) -> Value:
    match value:
        case Scalar():
            if is_number(value):
                return numbers(_finite(value.text), _finite(value.text))
            word = keyword(value.text)
            return words(word, word)
        case Partial(stem):
            return partial(keyword_stem(stem))
        case Hyphen(text):
            raise Unreadable(f"{text!r} may be a range or a keyword", "write 20..30, or quote it")
        case Span():
            return _span_by_form(value)


def _span_by_form(span: Span) -> Value:
    ends = [end for end in (span.low, span.high) if end is not None]
    if all(is_number(end) for end in ends):
        low = -math.inf if span.low is None else _finite(span.low.text)
        high = math.inf if span.high is None else _finite(span.high.text)
        return _strict(span, low, high, math.nextafter)
    if any(is_number(end) for end in ends):
        raise Unreadable("a range from a number to a keyword", "quote both ends or none")
    return _words_between(span)


def _words_between(span: Span) -> Value:
    if span.above or span.below:
        raise Unreadable("'>' or '<' on a keyword", "use '>=' or '<='")
    low = "" if span.low is None else keyword(span.low.text)
    high = TOP if span.high is None else keyword(span.high.text)
    if low > high:
        raise Unreadable("a reversed range is empty", "write the smaller end first")
    return words(low, high)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Unreadable(f"{text} is beyond every number", "write a finite number")
    return number


def _strict(span: Span, low: float, high: float, beside: Callable[[float, float], float]) -> Value:
    """The closed interval of a span: an end that is left out moves to its neighbour."""
    if span.above:
        low = beside(low, math.inf)
    if span.below:
        high = beside(high, -math.inf)
    if low > high:
        raise Unreadable("a reversed range is empty", "write the smaller end first")
    return numbers(low, high)


# -- declared words


def _word(value: Scalar | Partial | Span | Hyphen, name: str) -> Value:
    match value:
        case Scalar(text):
            word = keyword(text)
            return words(word, word)
        case Partial(stem):
            return partial(keyword_stem(stem))
        case Hyphen(text):
            if text.startswith("*"):
                raise TypeMismatch(name, text, "a word (a star stands only at its end)")
            if text.endswith("*"):
                return partial(keyword_stem(text[:-1]))
            return words(keyword(text), keyword(text))
        case Span():
            return _words_between(value)


# -- declared numbers, times and choices

Measured = Number | Time | Choice


def _measured(value: Scalar | Partial | Span | Hyphen, name: str, dimension: Measured) -> Value:
    match value:
        case Scalar():
            point = _point(dimension, value, name)
            return numbers(point, point)
        case Partial(stem):
            raise TypeMismatch(name, f"{stem}*", f"a {dimension.kind} (only words have beginnings)")
        case Hyphen(text) if isinstance(dimension, Choice):
            point = _point(dimension, Scalar(text), name)
            return numbers(point, point)
        case Hyphen(text):
            ends = hyphen_ends(text)
            assert ends is not None
            low, high = (None if end is None else Scalar(end) for end in ends)
            return _measured_span(Span(low, high), name, dimension)
        case Span():
            return _measured_span(value, name, dimension)


def _measured_span(span: Span, name: str, dimension: Measured) -> Value:
    first, last = span.low, span.high
    if isinstance(dimension, Number) and first and last:
        first = _with_unit_of(first, last)
    low = -math.inf if first is None else _point(dimension, first, name)
    high = math.inf if last is None else _point(dimension, last, name)
    if isinstance(dimension, Number):
        return _strict(span, low, high, math.nextafter)
    return _strict(span, low, high, lambda x, to: x + math.copysign(1.0, to))


def _with_unit_of(low: Scalar, high: Scalar) -> Scalar:
    """`256` of `256-512MB` is 256MB."""
    unit = re.sub(rf"^{NUMBER}", "", high.text, flags=re.ASCII)
    return Scalar(low.text + unit) if is_number(low) and not high.quoted else low


def _point(dimension: Measured, value: Scalar, name: str) -> float:
    """Where a scalar lies on the dimension's axis: its number, milliseconds or rank."""
    if isinstance(dimension, Choice):
        return float(dimension.rank(value.text))
    if value.quoted:
        raise TypeMismatch(name, value.text, f"a {dimension.kind} (what is quoted is a word)")
    if isinstance(dimension, Time):
        return float(dimension.milliseconds(value.text))
    return float(dimension.quantity(value.text))
