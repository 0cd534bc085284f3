"""Values without quotes, as XML attributes hold them.

Law of this file: what `plain_attributes` writes `read_plain` reads as the same value.  Blanks are
literal, a backslash escapes, one last star is a partial keyword; `type="word"` stands for quotes
(SPEC section 3).
"""

from __future__ import annotations

import math
import re

from arms.errors import ProfileError
from arms.selector_lexer import DOTS, QUOTED, STAR, WORD, Cursor, Mark
from arms.selector_values import comparison, is_reversed, value_of
from arms.written import (
    IS_TIME,
    LIMITS,
    NOTHING,
    Anything,
    Hyphen,
    Nothing,
    Partial,
    Scalar,
    Span,
    Written,
    could_be_measured,
    hyphen_ends,
    is_number,
    scalar,
)
from squid import LimitExceeded

OPERATORS = {
    "=": "=", ">=": ">=", "<=": "<=", ">": ">", "<": "<",
    "eq": "=", "ge": ">=", "le": "<=", "gt": ">", "lt": "<",
}  # fmt: skip
TYPES = frozenset({"number", "word", "time"})


def read_plain(
    value: str | None, operator: str | None, low: str | None, high: str | None, type_: str | None
) -> Written:
    """The value that these attributes stand for; raises `SelectorError` and `ProfileError`."""
    if type_ is not None and type_ not in TYPES:
        raise ProfileError(f"type={type_!r}: known are number, time and word")
    if operator is not None and operator not in OPERATORS:
        raise ProfileError(f"operator={operator!r}: known are {' '.join(OPERATORS)}")
    if value is None and low is None and high is None:
        if operator is not None or type_ is not None:
            raise ProfileError("an operator or a type without a value")
        return NOTHING
    if low is not None or high is not None:
        if value is not None or operator is not None:
            raise ProfileError("value or operator beside min or max: write one or the other")
        found: Written = _between(low, high, type_)
    else:
        assert value is not None
        found = _read(value, OPERATORS[operator or "="], type_)
    _check_type(found, type_)
    return found


def plain_attributes(value: Written) -> dict[str, str]:
    """The attributes that say this value.

    A range that leaves both ends out moves them to the neighbouring numbers; raises
    `ProfileError` where they have none.
    """
    match value:
        case Nothing():
            return {}
        case Anything():
            return {"value": STAR}
        case Hyphen(text):
            return {"value": text}
        case Scalar(text):
            return _typed({"value": _escaped(text)}, _needs_type(value))
        case Partial(stem):
            raw = _escaped(stem) + STAR
            return _typed({"value": raw}, not stem or hyphen_ends(raw) is not None)
        case Span():
            return _span_attributes(value)


def _span_attributes(span: Span) -> dict[str, str]:
    low, high = span.low, span.high
    if low and high and (span.above or span.below):
        low, high = _inside(low, span.above, math.inf), _inside(high, span.below, -math.inf)
    elif low and span.above:
        return {"operator": ">", "value": _escaped(low.text)}
    elif high and span.below:
        return {"operator": "<", "value": _escaped(high.text)}
    quoted = False
    attributes = {}
    for name, end in (("min", low), ("max", high)):
        if end is not None:
            attributes[name] = _escaped(end.text)
            quoted = quoted or end.quoted
    return _typed(attributes, quoted)


def _inside(end: Scalar, left_out: bool, towards: float) -> Scalar:
    if not left_out:
        return end
    if not is_number(end):
        raise ProfileError(f"XML cannot leave out both ends of a range ({end.text}): use >= or <=")
    return Scalar(repr(math.nextafter(float(end.text), towards)))


def _typed(attributes: dict[str, str], word: bool) -> dict[str, str]:
    return {**attributes, "type": "word"} if word else attributes


def _needs_type(value: Scalar) -> bool:
    return value.quoted or hyphen_ends(value.text) is not None


def _escaped(text: str) -> str:
    """Stars, backslashes, dots side by side and outer blanks, each behind a backslash."""
    escaped = re.sub(r"[\\*]|\.(?=\.)", r"\\\g<0>", text)
    return re.sub(r"^\s|(?<!^)\s\Z", r"\\\g<0>", escaped)


# -- reading


def _read(text: str, operator: str, type_: str | None) -> Written:
    if len(text) > LIMITS.text_bytes:
        raise LimitExceeded("value characters", len(text), LIMITS.text_bytes)
    cursor = Cursor(text if type_ == "word" else _stripped(text))
    marks = [_whole(cursor)] if type_ == "word" else _marks(cursor)
    if operator == "=":
        return value_of(cursor, marks, "" if type_ == "word" else cursor.text)
    if len(marks) != 1 or marks[0].star or marks[0].kind in {STAR, DOTS}:
        raise cursor.refuse(f"{operator!r} takes one plain value", "leave out the star or range", 0)
    return comparison(cursor, operator, scalar(marks[0].text, marks[0].kind == QUOTED), 0)


def _between(low: str | None, high: str | None, type_: str | None) -> Span:
    ends = [None if end is None else _end(end, type_) for end in (low, high)]
    span = Span(ends[0], ends[1])
    if is_reversed(span):
        raise ProfileError(f"min={low!r} is above max={high!r}")
    return span


def _end(text: str, type_: str | None) -> Scalar:
    found = _read(text, "=", type_)
    if not isinstance(found, Scalar):
        raise ProfileError(f"min or max {text!r} is not one plain value")
    return found


def _stripped(text: str) -> str:
    """Without the blanks around; one behind a backslash stays."""
    text = text.lstrip()
    stripped = text.rstrip()
    escapes = len(stripped) - len(stripped.rstrip("\\"))
    return text[: len(stripped) + 1] if escapes % 2 else stripped


def _whole(cursor: Cursor) -> Mark:
    """The whole text as if it were quoted: only a backslash and a last star are special."""
    chars: list[str] = []
    star = -1
    while char := cursor.peek():
        if star >= 0:
            raise cursor.refuse("a star stands only at the end", r"escape a literal star: \*", star)
        if char == STAR:
            star = cursor.position
        else:
            chars.append(cursor.escaped() if char == "\\" else char)
        cursor.position += 1
    return Mark(QUOTED, "".join(chars), 0, star >= 0)


def _marks(cursor: Cursor) -> list[Mark]:
    """The words, stars and dots of a text in which blanks and quotes are plain characters."""
    marks: list[Mark] = []
    while char := cursor.peek():
        start = cursor.position
        if cursor.starts("..."):
            raise cursor.refuse("'...' is not a range", "write two dots: 20..30")
        if cursor.take(DOTS):
            marks.append(Mark(DOTS, DOTS, start))
        elif cursor.take(STAR):
            marks.append(Mark(STAR, STAR, start))
        else:
            plain = cursor.escaped() if char == "\\" else char
            cursor.position += 1
            if marks and marks[-1].kind == WORD:
                marks[-1] = Mark(WORD, marks[-1].text + plain, marks[-1].position)
            else:
                marks.append(Mark(WORD, plain, start))
    return marks or [Mark(WORD, "", 0)]


def _check_type(value: Written, type_: str | None) -> None:
    """A declared type is checked; `word` has been heeded already."""
    if type_ not in {"number", "time"}:
        return
    match value:
        case Scalar():
            ends = [value]
        case Span(low, high):
            ends = [end for end in (low, high) if end is not None]
        case Partial(stem):
            raise ProfileError(f"{stem}*: a {type_} has no beginnings")
        case _:
            return
    for end in ends:
        if not could_be_measured(end.text) or (type_ == "number" and IS_TIME.fullmatch(end.text)):
            raise ProfileError(f"{end.text!r} is not a {type_}")
