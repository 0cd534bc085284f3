"""Keyword tuples as plain values: the report's `(comp*, *)` without a profile around it.

Law of this file: pure.  One element a dimension, in the space's order: `"*"` any, `"comp*"` a
partial keyword, a word, a number, or a `(low, high)` pair, both ends included, None open (report
section 3.2).
"""

from __future__ import annotations

from squid.errors import SpaceError
from squid.keyword_space import KeywordSpace
from squid.keywords import Choice, Dimension, Number, Time, Word, normal_form
from squid.query import NumberInterval, Prefix, Term, Whole, WordInterval
from squid.region import Box

Element = str | int | float | tuple[str | int | float | None, str | int | float | None]
KeywordTuple = tuple[Element, ...]


def box_of(space: KeywordSpace, keyword_tuple: KeywordTuple) -> Box:
    """The box of a keyword tuple; raises `SpaceError` where an element does not fit."""
    if len(keyword_tuple) != len(space.dimensions):
        raise SpaceError(
            f"a tuple of {len(keyword_tuple)} keywords for the {len(space.dimensions)} "
            f"dimensions of {space.name!r}: give one an dimension, '*' for any"
        )
    terms = {
        dimension.name: _term(dimension, element)
        for dimension, element in zip(space.dimensions, keyword_tuple, strict=True)
    }
    return space.box(terms)


def _term(dimension: Dimension, element: Element) -> Term:
    if element == "*":
        return Whole()
    if isinstance(element, tuple):
        low, high = element
        return _interval(dimension, low, high)
    if isinstance(element, str) and element.endswith("*") and isinstance(dimension, Word):
        return Prefix(normal_form(element[:-1]))
    return _interval(dimension, element, element)


def _interval(
    dimension: Dimension, low: str | int | float | None, high: str | int | float | None
) -> Term:
    if isinstance(dimension, Word):
        return WordInterval(_word(dimension, low), _word(dimension, high))
    return NumberInterval(_number(dimension, low), _number(dimension, high))


def _word(dimension: Word, end: str | int | float | None) -> str | None:
    if end is None or isinstance(end, str):
        return None if end is None else normal_form(end)
    raise SpaceError(f"{end!r} is no word, as {dimension.name!r} asks for")


def _number(dimension: Number | Choice | Time, end: str | int | float | None) -> float | int | None:
    if end is None:
        return None
    if isinstance(dimension, Choice):
        return dimension.rank(str(end))
    if isinstance(dimension, Time):
        return dimension.milliseconds(end)
    return dimension.quantity(end) if isinstance(end, str) else end
