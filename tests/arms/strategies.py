"""Drawn profiles: few names and values, so that they meet; odd characters, so that they hurt."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from arms.written import (
    ANY,
    GROUP,
    NOTHING,
    Element,
    Hyphen,
    Partial,
    Scalar,
    Span,
    Written,
    canonical,
    count_attributes,
    scalar,
)
from squid import Choice, KeywordSpace, Number, Time, Word

SPACE = KeywordSpace(
    "drawn",
    [
        Word("word"),
        Number("number", -10, 10),
        Choice("level", ("low", "middle", "high")),
        Word("wind/name", alphabet="abcxyz"),
        Number("wind/speed", 1, 64, scale="log"),
        Time("when", "2000-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
    ],
    bits=6,
    max_attributes=16,
)

WORDS = (
    "", "a", "ab", "abc", "b", "ba", "z", "-", "\u00e9", "e\u0301a", "z\u00fc", "\u4e2d", "a b",
)  # fmt: skip
NUMBERS = ("-11", "-10", "-1.5", "0", "-0", "0.5", "1", "1e0", "2", "10", "1e3")
TIMES = ("1999-12-31T00:00:00Z", "2000-01-01T00:00:00Z", "2000-07-01T12:00:00.5Z", "950000000")
ODD = (
    "832", "20-30", "2004-04-01", "a*", "a\\", '"', "..", ".a", "a.", "x=y", "(", "|", " a ", "\n",
    "1e999", "10MB", "5%", "not", "*", "'", "\u00df", "a,b",
)  # fmt: skip

words = st.sampled_from(WORDS)
plain = st.builds(scalar, st.sampled_from((*WORDS, *NUMBERS, *ODD)), st.booleans())
SURE_NAMES = ("a", "b", "c-d", "e.f", "number", "word", "\u00e9t\u00e9", "not", "x_1")


def _scalars(texts: tuple[str, ...], quoted: bool) -> st.SearchStrategy[Scalar]:
    return st.sampled_from(texts).map(lambda text: scalar(text, quoted))


def _spans(
    texts: tuple[str, ...], quoted: bool, order: tuple[str, ...], strict: bool
) -> st.SearchStrategy[Span]:
    """Ranges of these texts, which are given in order."""
    places = st.integers(0, len(order) - 1)

    def span(one: int, other: int, open_end: int, above: bool, below: bool) -> Span:
        low, high = scalar(order[min(one, other)], quoted), scalar(order[max(one, other)], quoted)
        if open_end == 1:
            return Span(low, None, above=above and strict)
        if open_end == 2:
            return Span(None, high, below=below and strict)
        return Span(low, high)

    assert set(order) <= set(texts)
    return st.builds(span, places, places, st.integers(0, 2), st.booleans(), st.booleans())


ORDERED_WORDS = ("a", "ab", "abc", "b", "ba", "z", "\u00e9", "\u4e2d")
ORDERED_NUMBERS = ("-11", "-10", "-1.5", "0", "0.5", "1", "2", "10", "1e3")

word_values: st.SearchStrategy[Written] = st.one_of(
    _scalars(WORDS, True),
    st.builds(Partial, words),
    _spans(WORDS, True, ORDERED_WORDS, False),
    st.just(ANY),
    st.just(NOTHING),
)
number_values: st.SearchStrategy[Written] = st.one_of(
    _scalars(NUMBERS, False),
    _spans(NUMBERS, False, ORDERED_NUMBERS, True),
    st.sampled_from((Hyphen("-10-2"), Hyphen("0-*"), Hyphen("*--1"))),
    st.just(ANY),
    st.just(NOTHING),
)
level_values: st.SearchStrategy[Written] = st.one_of(
    _scalars(("low", "middle", "high"), False),
    _spans(("low", "middle", "high"), False, ("low", "middle", "high"), False),
    st.just(ANY),
    st.just(NOTHING),
)
time_values: st.SearchStrategy[Written] = st.one_of(
    _scalars(TIMES, False), _spans(TIMES, False, TIMES[:3], True), st.just(ANY), st.just(NOTHING)
)
free_values = st.one_of(word_values, number_values.filter(lambda v: not isinstance(v, Hyphen)))
VALUES = {
    "word": word_values,
    "number": number_values,
    "level": level_values,
    "name": word_values,
    "speed": number_values,
    "when": time_values,
    "x": free_values,
}


@st.composite
def typed_roots(draw: st.DrawFn, selector: bool = True) -> Element:
    """A profile that `SPACE` can type: dimensions, a nested one, repeated siblings, groups, and
    for selectors descendants and alternatives."""
    children = tuple(draw(_levels(selector, 2)))
    root = canonical(Element("", NOTHING, children, selector and draw(st.booleans())))
    assume(count_attributes(root) <= SPACE.max_attributes)
    return root


@st.composite
def _levels(draw: st.DrawFn, selector: bool, depth: int) -> list[Element]:
    return draw(st.lists(_typed_elements(selector, depth), min_size=1, max_size=3))


@st.composite
def _typed_elements(draw: st.DrawFn, selector: bool, depth: int) -> Element:
    kind = draw(st.integers(0, 9 if depth else 6))
    if kind <= 5:
        name = draw(st.sampled_from(("word", "number", "number", "level", "when", "x")))
        return Element(name, draw(VALUES[name]))
    if kind == 6 and selector:
        name = draw(st.sampled_from(("word", "number", "name", "speed", "x")))
        return Element(name, draw(VALUES[name]), descendant=True)
    if kind <= 8:
        inside = draw(st.lists(_wind_parts(), max_size=3))
        return Element(
            "wind", NOTHING, tuple(inside), selector and len(inside) > 1 and draw(st.booleans())
        )
    children = tuple(draw(_levels(selector, depth - 1)))
    return Element(GROUP, NOTHING, children, len(children) > 1 and draw(st.booleans()))


@st.composite
def _wind_parts(draw: st.DrawFn) -> Element:
    name = draw(st.sampled_from(("name", "speed", "x")))
    return Element(name, draw(VALUES[name]))


@st.composite
def written_roots(draw: st.DrawFn, depth: int = 2) -> Element:
    """Any profile that the text form can say, typed or not."""
    children = tuple(draw(st.lists(_written_elements(depth), min_size=1, max_size=4)))
    return canonical(Element("", NOTHING, children, draw(st.booleans())))


@st.composite
def _written_elements(draw: st.DrawFn, depth: int) -> Element:
    inside = draw(st.integers(0, 3)) if depth else 0
    children = tuple(draw(_written_elements(depth - 1)) for _ in range(inside))
    any_of = len(children) > 1 and draw(st.booleans())
    if children and draw(st.booleans()):
        return Element(GROUP, NOTHING, children, any_of)
    value = draw(
        st.one_of(
            plain,
            st.builds(Partial, st.sampled_from((*WORDS, *ODD))),
            number_values,
            word_values,
            st.just(NOTHING),
        )
    )
    name = draw(st.sampled_from(SURE_NAMES))
    if name == "not" and (value == NOTHING):
        name = "nothing"
    return Element(name, value, children, any_of, draw(st.booleans()))
