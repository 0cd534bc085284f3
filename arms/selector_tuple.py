"""Squid's tuple form of a selector: `(comp*, *)`, one value a dimension in the space's order.

Law of this file: the whole text is one parenthesis with a comma on its top level; each entry is
what stands behind `=` in the ordinary form, blanks around a hyphen allowed as the report writes
them: `(256 - 512MB, *, 10Mbps - *)` (report section 3.2).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arms.errors import SelectorError
from arms.selector_lexer import Cursor
from arms.selector_values import read_comparison, read_value
from arms.written import QUANTITY, Element, Written

Entry = tuple[int, str]
"""Where an entry begins, and its text without blanks around."""

_SPACED_HYPHEN = re.compile(rf"({QUANTITY}|\*)\s*-\s*({QUANTITY}|\*)")


def tuple_entries(text: str) -> list[Entry] | None:
    """The entries of a tuple, or None for a text in the ordinary form."""
    stripped = text.rstrip()
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] != "(":
        return None
    entries: list[Entry] = []
    depth, begin, at, quoted = 0, start + 1, start, False
    while at < len(stripped):
        char = stripped[at]
        if char == "\\":
            at += 1
        elif char == '"':
            quoted = not quoted
        elif not quoted and char == "(":
            depth += 1
        elif not quoted and char == ")":
            depth -= 1
            if depth == 0:
                break
        elif not quoted and char == "," and depth == 1:
            entries.append(_entry(text, begin, at))
            begin = at + 1
        at += 1
    if at != len(stripped) - 1 or not entries:
        return None
    last = _entry(text, begin, at)
    return [*entries, last] if last[1] else entries


def tuple_elements(
    text: str, entries: Sequence[Entry], dimensions: Sequence[str] | None
) -> Element:
    """The elements of a tuple, named by the space; raises `SelectorError`."""
    if dimensions is None:
        raise SelectorError(
            text, 0, "a tuple names no attributes", "give the keyword space, or write name=value"
        )
    if len(entries) != len(dimensions):
        raise SelectorError(
            text, entries[min(len(entries), len(dimensions)) - 1][0],
            f"{len(entries)} values for {len(dimensions)} dimensions",
            f"give one for each of {', '.join(dimensions)}; * for any",
        )  # fmt: skip
    root = Element("")
    for name, entry in zip(dimensions, entries, strict=True):
        root = _with(root, name.split("/"), entry, text)
    return root


def _with(parent: Element, path: Sequence[str], entry: Entry, text: str) -> Element:
    """`parent` with the entry's value at `path`; dimensions below one element share it."""
    children = list(parent.children)
    position, raw = entry
    if len(path) == 1:
        children.append(Element(path[0], _value(text, position, raw), position=position))
    else:
        at = next((i for i, c in enumerate(children) if c.name == path[0]), len(children))
        if at == len(children):
            children.append(Element(path[0], position=position))
        children[at] = _with(children[at], path[1:], entry, text)
    return Element(parent.name, parent.value, tuple(children), position=parent.position)


def _value(text: str, position: int, raw: str) -> Written:
    cursor = Cursor(_SPACED_HYPHEN.sub(r"\1-\2", raw) if _SPACED_HYPHEN.fullmatch(raw) else raw)
    try:
        operator = next((o for o in (">=", "<=", ">", "<") if cursor.take(o)), None)
        cursor.skip_blanks()
        value = read_value(cursor) if operator is None else read_comparison(cursor, operator)
        cursor.skip_blanks()
        if cursor.peek():
            raise cursor.refuse("more than one value between two commas", "quote the blank")
    except SelectorError as error:
        raise SelectorError(text, position + error.position, error.reason, error.cure) from None
    return value


def _entry(text: str, begin: int, end: int) -> Entry:
    raw = text[begin:end]
    return begin + len(raw) - len(raw.lstrip()), raw.strip()
