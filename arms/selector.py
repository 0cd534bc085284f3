"""The text form of a profile: one line that people type and read.

Law of this file: a recursive descent over the grammar of SPEC section 2, one connective a level.
In an `and` level comparisons on one path merge into a range and `/` prefixes into one element;
what stands in parentheses is never merged.  Recursion is bounded by the depth limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from arms.errors import SelectorError
from arms.selector_lexer import REFUSED, Cursor
from arms.selector_tuple import tuple_elements, tuple_entries
from arms.selector_values import (
    is_reversed,
    merged,
    read_comparison,
    read_value,
    would_take_unit,
)
from arms.written import (
    GROUP,
    LIMITS,
    NOTHING,
    Element,
    Limits,
    Span,
    Written,
    size_below,
)
from squid import LimitExceeded

TERMS_AN_ELEMENT = 4

CONNECTIVE_WORDS = {
    "and": "a blank between two terms is 'and'",
    "or": "write | between two terms for 'or'",
    "not": "a selector says what is wanted; there is no complement",
}


@dataclass(slots=True)
class _Draft:
    """An element under construction."""

    name: str
    position: int
    descendant: bool = False
    value: Written = NOTHING
    children: list[_Draft] = field(default_factory=list)
    any_of: bool = False
    step: bool = False
    """A `/` prefix: it may take further paths."""
    compares: bool = False
    """A bare comparison: it may take another one."""
    stands_apart: bool = False
    """A group around a comparison, which would say something else as one range with another."""


def parse_selector(
    text: str, limits: Limits = LIMITS, dimensions: Sequence[str] | None = None
) -> Element:
    """The elements that a selector text stands for, under a nameless root.

    `dimensions` are the names of the space, in order, for Squid's tuple form `(comp*, *)`.
    Raises `SelectorError`, and `LimitExceeded` above the limits (bytes, depth, elements).
    """
    check_size(text, limits)
    cursor = Cursor(text)
    cursor.skip_blanks()
    if not cursor.peek():
        raise cursor.refuse("an empty selector selects nothing in particular", "name an attribute")
    entries = tuple_entries(text)
    if entries is None:
        drafts, any_of = _Reader(cursor, limits).level(closing=False)
    else:
        return tuple_elements(text, entries, dimensions)
    root = Element("", NOTHING, _frozen(drafts), any_of and len(drafts) > 1)
    check_shape(root, limits)
    return root


def check_size(text: str, limits: Limits) -> None:
    """Raise `LimitExceeded` for a text above the byte limit, `SelectorError` for one that is no
    text (lone surrogates)."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise SelectorError(
            ascii(text), error.start, "half of a surrogate pair", "send whole characters"
        ) from None
    if size > limits.text_bytes:
        raise LimitExceeded("selector bytes", size, limits.text_bytes)


def check_shape(root: Element, limits: Limits) -> None:
    """Raise `LimitExceeded` for too many elements or levels."""
    count, depth = size_below(root)
    if count > limits.elements:
        raise LimitExceeded("profile elements", count, limits.elements)
    if depth > limits.depth:
        raise LimitExceeded("profile depth", depth, limits.depth)


class _Reader:
    """Reads levels and terms."""

    def __init__(self, cursor: Cursor, limits: Limits) -> None:
        self._cursor = cursor
        self._limits = limits
        self._depth = self._terms = 0

    def level(self, *, closing: bool) -> tuple[list[_Draft], bool]:
        """The terms up to the end, or up to a closing parenthesis, and whether one is enough."""
        cursor = self._cursor
        self._depth += 1
        if self._depth > self._limits.depth + 1:
            raise LimitExceeded("profile depth", self._depth - 1, self._limits.depth)
        terms: list[_Draft] = []
        any_of: bool | None = None
        cursor.skip_blanks()
        while True:
            self._count_term()
            terms.append(self._term())
            blank = cursor.skip_blanks()
            if not cursor.peek() or cursor.peek() == ")":
                break
            bar = cursor.peek() == "|"
            if not (bar or blank):
                raise self._unexpected()
            if any_of is not None and any_of != bar:
                raise cursor.refuse("'and' and 'or' in one level", "use parentheses")
            any_of = bar
            if bar:
                cursor.take("|")
                cursor.skip_blanks()
        self._close(closing)
        self._depth -= 1
        return (terms, True) if any_of else (self._merged(terms), False)

    def _count_term(self) -> None:
        """Refuse what cannot come within the limit of elements, before it is looked at: terms may
        merge, but nobody needs more than a few on one path."""
        self._terms += 1
        most = TERMS_AN_ELEMENT * self._limits.elements
        if self._terms > most:
            raise LimitExceeded("selector terms", self._terms, most)

    def _close(self, closing: bool) -> None:
        cursor = self._cursor
        if closing and not cursor.take(")"):
            raise cursor.refuse("a parenthesis is not closed", "close it with )")
        if not closing and cursor.peek():
            raise cursor.refuse("a parenthesis closes nothing", "leave it out")

    def _unexpected(self) -> SelectorError:
        cursor = self._cursor
        char = cursor.peek()
        if char == "(":
            return cursor.refuse("a parenthesis here", "write a blank before a group")
        reason, cure = REFUSED.get(
            char, (f"{char!r} here", "write a blank between terms, or quote the value")
        )
        return cursor.refuse(reason, cure)

    def _term(self) -> _Draft:
        cursor = self._cursor
        start = cursor.position
        if cursor.take("("):
            children, any_of = self.level(closing=True)
            return _Draft(GROUP, start, children=children, any_of=any_of)
        steps = self._path()
        last = steps[-1]
        self._test(last)
        if cursor.take("("):
            last.children, last.any_of = self.level(closing=True)
            last.compares = False
        elif len(steps) == 1 and last.value == NOTHING and last.name.lower() in CONNECTIVE_WORDS:
            self._refuse_connective(last)
        for outer, inner in pairwise(steps):
            outer.children.append(inner)
            outer.step = True
        return steps[0]

    def _path(self) -> list[_Draft]:
        cursor = self._cursor
        start = cursor.position
        descendant = cursor.take("//")
        if not descendant and cursor.peek() == "/":
            raise cursor.refuse("a path begins with a name", "leave out the /, or write //")
        steps = [self._step(descendant, start)]
        while cursor.peek() == "/":
            start = cursor.position
            descendant = cursor.take("//")
            if not descendant:
                cursor.take("/")
            if len(steps) == self._limits.depth:
                raise LimitExceeded("profile depth", len(steps) + 1, self._limits.depth)
            steps.append(self._step(descendant, start))
        return steps

    def _step(self, descendant: bool, start: int) -> _Draft:
        name = self._cursor.name()
        if name == GROUP:
            raise self._cursor.refuse(
                "'_' alone is not a name", "write parentheses for a group", start
            )
        if name.lower() == "not" and self._cursor.peek() == "(":
            self._refuse_connective(_Draft(name, start))
        return _Draft(name, start, descendant)

    def _refuse_connective(self, draft: _Draft) -> None:
        raise self._cursor.refuse(
            f"a bare {draft.name!r}", CONNECTIVE_WORDS[draft.name.lower()], draft.position
        )

    def _test(self, draft: _Draft) -> None:
        cursor = self._cursor
        operator = cursor.operator()
        if not operator:
            return
        if operator == "=":
            draft.value = read_value(cursor)
        else:
            draft.value = read_comparison(cursor, operator)
            draft.compares = True

    def _merged(self, terms: list[_Draft]) -> list[_Draft]:
        level: list[_Draft] = []
        for term in terms:
            self._merge(level, term)
        return level

    def _merge(self, level: list[_Draft], term: _Draft) -> None:
        """Put a term of an `and` level where it belongs."""
        if term.compares:
            self._compare(level, term)
            return
        for other in level:
            if term.step and other.step and _is_one_path(other, term):
                for child in term.children:
                    self._merge(other.children, child)
                return
        level.append(term)

    def _compare(self, level: list[_Draft], term: _Draft) -> None:
        """Put a comparison where it belongs: first of all with one of its own side, be it one that
        stands apart, so that it is the same in whatever order they are written."""
        every = [draft.children[0] if draft.stands_apart else draft for draft in level]
        others = [one for one in every if one.compares and _is_one_path(one, term)]
        other = min(others, key=lambda one: not _are_on_one_side(one, term), default=None)
        if other is None:
            level.append(term)
        elif _stand_apart(other, term):
            level.append(_Draft(GROUP, term.position, children=[term], stands_apart=True))
        else:
            other.value = self._both(other, term)

    def _both(self, one: _Draft, other: _Draft) -> Span:
        assert isinstance(one.value, Span)
        assert isinstance(other.value, Span)
        both = merged(one.value, other.value)
        if both is None:
            raise self._cursor.refuse(
                f"two bounds on one side of {one.name!r}", "write one", other.position
            )
        if is_reversed(both):
            raise self._cursor.refuse(
                f"the bounds on {one.name!r} leave nothing", "write the smaller bound first",
                other.position,
            )  # fmt: skip
        return both


def _is_one_path(one: _Draft, other: _Draft) -> bool:
    return (one.name, one.descendant) == (other.name, other.descendant)


def _are_on_one_side(one: _Draft, other: _Draft) -> bool:
    """Whether both are bounds below, or above."""
    assert isinstance(one.value, Span)
    assert isinstance(other.value, Span)
    pairs = (one.value.low, other.value.low), (one.value.high, other.value.high)
    return any(None not in pair for pair in pairs)


def _stand_apart(one: _Draft, other: _Draft) -> bool:
    """Whether two comparisons as one range would say something else."""
    assert isinstance(one.value, Span)
    assert isinstance(other.value, Span)
    return would_take_unit(one.value, other.value)


def _frozen(drafts: Sequence[_Draft]) -> tuple[Element, ...]:
    return tuple(
        Element(
            draft.name,
            draft.value,
            _frozen(draft.children),
            draft.any_of and len(draft.children) > 1,
            draft.descendant,
            draft.position,
        )
        for draft in drafts
    )
