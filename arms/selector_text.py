"""Profiles as text again: the one spelling that `str(profile)` gives.

Law of this file: `parse_selector(selector_text(root)) == root` for every root that the text form
or XML can give; two profiles are equal exactly when their texts are.
"""

from __future__ import annotations

import re

from arms.written import (
    GROUP,
    Anything,
    Element,
    Hyphen,
    Nothing,
    Partial,
    Scalar,
    Span,
    Written,
    could_be_measured,
)

_PLAIN = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+)*")
_PLAIN_STEM = re.compile(r"[^\W_][\w]*")
_SPECIAL = re.compile(r"""[\s"'()|&=<>,*\\]|\.(?=\.)|^\.|\.\Z""")


def selector_text(root: Element) -> str:
    """The canonical text of a profile's elements."""
    return _level(root)


def scalar_text(value: Scalar) -> str:
    """A scalar as it is written behind an operator."""
    if value.quoted:
        return quoted(value.text)
    if _PLAIN.fullmatch(value.text):
        return value.text
    if could_be_measured(value.text):
        return _SPECIAL.sub(r"\\\g<0>", value.text)
    return quoted(value.text)


def quoted(text: str, star: str = "") -> str:
    """The text in double quotes, with what needs it escaped."""
    return '"' + re.sub(r'[\\"*]', r"\\\g<0>", text) + star + '"'


def _level(parent: Element) -> str:
    return (" | " if parent.any_of else " ").join(_term(child) for child in parent.children)


def _term(element: Element) -> str:
    below = f"({_level(element)})" if element.children else ""
    if element.name == GROUP:
        return below
    name = f"//{element.name}" if element.descendant else element.name
    value = element.value
    if isinstance(value, Span) and value.low and value.high and (value.above or value.below):
        low, high = scalar_text(value.low), scalar_text(value.high)
        more, less = (">" if value.above else ">="), ("<" if value.below else "<=")
        return f"{name}{more}{low} {name}{less}{high}"
    return name + _test(value) + below


def _test(value: Written) -> str:
    match value:
        case Nothing():
            return ""
        case Anything():
            return "=*"
        case Scalar():
            return f"={scalar_text(value)}"
        case Partial(stem):
            return f"={stem}*" if _PLAIN_STEM.fullmatch(stem) else f"={quoted(stem, '*')}"
        case Hyphen(text):
            return f"={text}"
        case Span(low, high, above, below):
            if above and low:
                return f">{scalar_text(low)}"
            if below and high:
                return f"<{scalar_text(high)}"
            return f"={_end_text(low)}..{_end_text(high)}"


def _end_text(end: Scalar | None) -> str:
    return "" if end is None else scalar_text(end)
