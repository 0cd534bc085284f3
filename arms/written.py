"""A profile as its author wrote it: elements with values whose kind the space has yet to decide.

Law of this file: plain immutable values; `==` compares what was written.  `20-30`, `110` or
`256MB` stay text until `arms.declarations` reads them against a keyword space.  A scalar keeps
its quotes only where they make a difference (report section 2.1.1; SPEC section 2).
"""

from __future__ import annotations

import re
from dataclasses import field

from squid import dataclass, replace

GROUP = "_"
"""The name of an anonymous group: tests on the element around it."""

NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
QUANTITY = NUMBER + r"(?:(?:[^\W\d_]|[%°])[^\W_]*(?:/[^\W\d_]+)?)?"
IS_NUMBER = re.compile(NUMBER, re.ASCII)
IS_QUANTITY = re.compile(QUANTITY)
IS_TIME = re.compile(r"\d{4}-\d\d-\d\d.*", re.ASCII | re.DOTALL)
IS_NAME = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+)*")
HYPHEN_RANGE = re.compile(rf"(?P<low>{QUANTITY}|\*)-(?P<high>{QUANTITY}|\*)")


@dataclass(frozen=True, slots=True)
class Nothing:
    """No value at all: the element is there or not."""


@dataclass(frozen=True, slots=True)
class Anything:
    """`*`: any value, but a value."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number, word or time.  `quoted` says that it is a keyword whatever it looks like."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Partial:
    """`Fa*`: every keyword that begins with `stem`; an empty stem is any keyword."""

    stem: str


@dataclass(frozen=True, slots=True)
class Span:
    """A range; None is an open end, `above` and `below` leave the end itself out."""

    low: Scalar | None
    high: Scalar | None
    above: bool = False
    below: bool = False


@dataclass(frozen=True, slots=True)
class Hyphen:
    """`20-30`, `10Mbps-*`: a range on a declared number, the text itself on a declared word."""

    text: str


Written = Nothing | Anything | Scalar | Partial | Span | Hyphen

NOTHING = Nothing()
ANY = Anything()


@dataclass(frozen=True, slots=True)
class Element:
    """A named element, its value, and what lies below it (`/`, or `//` where `descendant`)."""

    name: str
    value: Written = NOTHING
    children: tuple[Element, ...] = ()
    any_of: bool = False
    """Whether one child is enough (`or`) or all are asked for (`and`)."""
    descendant: bool = False
    position: int = field(default=-1, compare=False)
    """Where the element begins in its text; -1 when it was not read from a text."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a profile may cost, whatever its form."""

    text_bytes: int = 4096
    depth: int = 16
    elements: int = 64


LIMITS = Limits()


def size_below(element: Element) -> tuple[int, int]:
    """How many elements, and how many levels of them, lie under this element."""
    count = depth = 0
    for child in element.children:
        below, levels = size_below(child) if child.children else (0, 0)
        count += below + 1
        depth = max(depth, levels + 1)
    return count, depth


def count_attributes(element: Element) -> int:
    """How many attributes lie under this element: elements with a value, or without children."""
    count = 0
    for child in element.children:
        if not child.children:
            count += 1
        else:
            count += count_attributes(child) + (child.value != NOTHING)
    return count


def canonical(root: Element) -> Element:
    """The same profile in the shape that its text has: one child alone has no connective, and
    comparisons that the text form would merge stand apart, in a group of their own, which means
    the same."""
    children = tuple(canonical(child) for child in root.children)
    any_of = root.any_of and len(children) > 1
    seen: set[tuple[str, bool]] = set()
    apart: list[Element] = []
    for child in children:
        key = (child.name, child.descendant)
        compares = is_comparison(child)
        alone = compares and (key in seen or (any_of and _has_both_ends(child.value)))
        if compares and not any_of:
            seen.add(key)
        apart.append(Element(GROUP, NOTHING, (child,)) if alone else child)
    return replace(root, children=tuple(apart), any_of=any_of)


def is_comparison(element: Element) -> bool:
    """Whether the text form writes it with `>` or `<`."""
    value = element.value
    return isinstance(value, Span) and (value.above or value.below) and not element.children


def _has_both_ends(value: Written) -> bool:
    return isinstance(value, Span) and value.low is not None and value.high is not None


def is_name(text: str) -> bool:
    """Whether the text may name an element; `_` alone is the anonymous group."""
    return text != GROUP and IS_NAME.fullmatch(text) is not None


def scalar(text: str, quoted: bool = False) -> Scalar:
    """A scalar in its one form: quotes are kept only on what would else read as a quantity or a
    time."""
    return Scalar(text, quoted and could_be_measured(text))


def could_be_measured(text: str) -> bool:
    """Whether a declared number or time might take this text."""
    return bool(IS_QUANTITY.fullmatch(text) or IS_TIME.fullmatch(text))


def is_number(value: Scalar) -> bool:
    """Whether the scalar is a number by its form."""
    return not value.quoted and IS_NUMBER.fullmatch(value.text) is not None


def hyphen_ends(text: str) -> tuple[str | None, str | None] | None:
    """The two ends of `20-30`, `10-*`, `*-10` (None is open), or None for any other text.  A
    number with an exponent (`1e-3`) is a number, not a range."""
    found = HYPHEN_RANGE.fullmatch(text)
    if found is None or IS_NUMBER.fullmatch(text):
        return None
    low, high = found["low"], found["high"]
    if low == high == "*":
        return None
    return (None if low == "*" else low, None if high == "*" else high)
