"""Values of the selector text: `*`, ranges, partial keywords, scalars, comparisons.

Law of this file: tried in this order: `*` · range · partial · scalar.  What depends on a
declaration is kept as written; only what no declaration can save is refused (SPEC section 2).
"""

from __future__ import annotations

from arms.errors import SelectorError
from arms.selector_lexer import DOTS, QUOTED, STAR, WORD, Cursor, Mark
from arms.written import (
    ANY,
    IS_QUANTITY,
    Hyphen,
    Partial,
    Scalar,
    Span,
    Written,
    could_be_measured,
    hyphen_ends,
    is_number,
    scalar,
)


def read_value(cursor: Cursor) -> Written:
    """Read what stands behind `=`; raises `SelectorError`."""
    start = cursor.position
    marks = cursor.marks()
    if not marks:
        raise cursor.refuse("a value is missing", 'write a value, or "" for the empty keyword')
    return value_of(cursor, marks, cursor.text[start : cursor.position])


def value_of(cursor: Cursor, marks: list[Mark], raw: str) -> Written:
    """The value of these marks, whose text is `raw`; raises `SelectorError`."""
    if raw == STAR:
        return ANY
    if hyphen_ends(raw) is not None:
        return Hyphen(raw)  # a range or a word: only a declaration can tell
    if any(mark.kind == DOTS for mark in marks):
        return _range(cursor, marks)
    return _partial_or_scalar(cursor, marks)


def read_comparison(cursor: Cursor, operator: str) -> Span:
    """Read the scalar behind `>=`, `<=`, `>` or `<`; raises `SelectorError`."""
    start = cursor.position
    marks = cursor.marks()
    if not marks:
        raise cursor.refuse("a value is missing", f"write a number or word after {operator!r}")
    for mark in marks:
        if mark.kind in {STAR, DOTS} or mark.star:
            raise cursor.refuse(
                f"{operator!r} takes one plain value", "leave out the star or the range",
                mark.position,
            )  # fmt: skip
    end = _end(cursor, marks)
    assert end is not None
    return comparison(cursor, operator, end, start)


def comparison(cursor: Cursor, operator: str, end: Scalar, position: int) -> Span:
    """The range that a comparison stands for; strict ones are for numbers and times."""
    if operator in {">", "<"} and (end.quoted or not could_be_measured(end.text)):
        raise cursor.refuse(
            f"{operator!r} on a keyword", f"use {operator + '='!r}: keywords have no next one",
            position,
        )  # fmt: skip
    if operator in {">", ">="}:
        return Span(end, None, above=operator == ">")
    return Span(None, end, below=operator == "<")


def merged(one: Span, other: Span) -> Span | None:
    """Both comparisons as one range, or None where only a declaration could tell; the result may
    be empty (see `is_reversed`)."""
    low = _tighter(one.low, one.above, other.low, other.above, upper=False)
    high = _tighter(one.high, one.below, other.high, other.below, upper=True)
    if low is None or high is None:
        return None
    return Span(low[0], high[0], low[1], high[1])


def would_take_unit(one: Span, other: Span) -> bool:
    """Whether a bare low bound would take the unit of the high one, as in `20..30MB`."""
    low, high = one.low or other.low, one.high or other.high
    if low is None or high is None or high.quoted or not is_number(low):
        return False
    return IS_QUANTITY.fullmatch(high.text) is not None and not is_number(high)


def is_reversed(span: Span) -> bool:
    """Whether a range of numbers is empty; other ends are compared where their kind is known."""
    low, high = span.low, span.high
    if low is None or high is None or not (is_number(low) and is_number(high)):
        return False
    first, last = float(low.text), float(high.text)
    return first > last or (first == last and (span.above or span.below))


def _tighter(
    one: Scalar | None, one_out: bool, other: Scalar | None, other_out: bool, *, upper: bool
) -> tuple[Scalar | None, bool] | None:
    if one is None or other is None:
        return (other, other_out) if one is None else (one, one_out)
    if one == other:
        return one, one_out or other_out
    if not (is_number(one) and is_number(other)):
        return None
    first, second = float(one.text), float(other.text)
    if first == second:
        return one, one_out or other_out
    return (one, one_out) if (first < second) == upper else (other, other_out)


def _range(cursor: Cursor, marks: list[Mark]) -> Span:
    at = next(i for i, mark in enumerate(marks) if mark.kind == DOTS)
    before, behind = marks[:at], marks[at + 1 :]
    for mark in behind:
        if mark.kind == DOTS:
            raise cursor.refuse("a range has two ends", "write low..high", mark.position)
    low, high = _end(cursor, before), _end(cursor, behind)
    position = marks[0].position
    if low is None and high is None:
        raise cursor.refuse("a range without ends", "write * for any value", position)
    if low is not None and high is not None:
        for one, other in ((low, high), (high, low)):
            if one.quoted and not other.quoted and could_be_measured(other.text):
                raise cursor.refuse(
                    "a range from a keyword to a number", "quote both ends or none", position
                )
    span = Span(low, high)
    if is_reversed(span):
        raise _reversed(cursor, position)
    return span


def _reversed(cursor: Cursor, position: int) -> SelectorError:
    return cursor.refuse("a reversed range is empty", "write the smaller end first", position)


def _end(cursor: Cursor, marks: list[Mark]) -> Scalar | None:
    """One end of a range; None is open."""
    if not marks or [mark.kind for mark in marks] == [STAR]:
        return None
    found = _partial_or_scalar(cursor, marks)
    if isinstance(found, Partial):
        raise cursor.refuse(
            "a range ends in a plain value", "leave out the star", marks[-1].position
        )
    return found


def _partial_or_scalar(cursor: Cursor, marks: list[Mark]) -> Scalar | Partial:
    first = marks[0]
    if len(marks) == 1 and first.kind in {WORD, QUOTED}:
        if first.star:
            return Partial(first.text)
        return scalar(first.text, first.kind == QUOTED)
    if [mark.kind for mark in marks] == [WORD, STAR]:
        return Partial(first.text)
    kinds = {mark.kind for mark in marks}
    if QUOTED in kinds and len(marks) == 2 and marks[1].kind == STAR:
        raise cursor.refuse(
            "a star behind a quote", f'write it inside: "{first.text}*"', marks[1].position
        )
    if QUOTED in kinds and len(kinds) > 1:
        at = next(
            i for i, mark in enumerate(marks) if (mark.kind == QUOTED) != (first.kind == QUOTED)
        )
        raise cursor.refuse(
            "a value is quoted as a whole or not at all", "quote all of it", marks[at].position
        )
    star = next((mark for mark in marks if mark.kind == STAR), marks[-1])
    raise cursor.refuse(
        "a star stands only at the end", r"escape a literal star: \*", star.position
    )
