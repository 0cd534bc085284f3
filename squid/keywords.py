"""The dimensions of a keyword space, as they are declared: words, numbers, choices, times.

Law of this file: plain frozen declarations that know how to read a value's text; how a value
becomes a cell is in `squid.coders`.  A value that does not fit its declaration is a TypeMismatch;
one out of its bounds is legal, and shares the end cell (report section 3.2; Squid section 3.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import ClassVar, Final

from squid import moments
from squid.axes import Axis, NumberAxis, WordAxis
from squid.coders import NumberCoder, RankCoder, Scale
from squid.errors import SpaceError, TypeMismatch
from squid.normal_form import normal_form
from squid.plain import plain_number, plain_text
from squid.units import convert

__all__ = ["DEFAULT_ALPHABET", "Choice", "Dimension", "Number", "Time", "Word", "normal_form"]

DEFAULT_ALPHABET: Final = "-.0123456789_abcdefghijklmnopqrstuvwxyz"
MOST_INTEGER_BITS: Final = 1023
"""Of a whole number: what any float is larger than, and few enough digits for Python to write."""
_QUANTITY: Final = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*(.*)", re.DOTALL)


def _check_name(dimension: Dimension) -> None:
    """A dimension is named by an element's path: names joined by "/"."""
    name = dimension.name
    for part in name.split("/") if isinstance(name, str) else ("",):
        legal = all(
            character.isalpha() or character.isdecimal() or character in "_-." for character in part
        )
        starts = part[:1].isalpha() or part[:1] == "_"
        if not (legal and starts) or part.endswith(".") or ".." in part:
            raise SpaceError(
                f'dimension {name!r}: a name is letters, digits, "_", "-" and ".", begins with a '
                'letter or "_"; nested ones are joined by "/"'
            )
    object.__setattr__(dimension, "name", plain_text(name))


@dataclass(frozen=True, slots=True)
class Word:
    """A dimension of keywords, in lexical order of their normal form.

    `name`: the attribute's.  `alphabet`: the characters that get cells of their own, in normal
    form; other characters are legal, and share a cell with their neighbours.  Raises SpaceError."""

    name: str
    alphabet: str = DEFAULT_ALPHABET
    kind: ClassVar[str] = "word"

    def __post_init__(self) -> None:
        _check_name(self)
        ordered = "".join(sorted(set(self.alphabet))) if isinstance(self.alphabet, str) else ""
        if not ordered or len(ordered) != len(self.alphabet):
            raise SpaceError(f"{self.name}: an alphabet names each of its characters once")
        strange = [each for each in ordered if each != " " and normal_form(each) != each]
        if strange:
            raise SpaceError(
                f"{self.name}: {strange[0]!r} never occurs in a keyword's normal form, "
                f"which has {normal_form(strange[0])!r}"
            )
        object.__setattr__(self, "alphabet", ordered)

    def axis(self, bits: int) -> Axis:
        """The dimension's axis on a curve of so many bits."""
        return WordAxis(self.name, bits, self.alphabet)


@dataclass(frozen=True, slots=True)
class Number:
    """A dimension of numbers from `low` to `high`, both finite, in `unit`.

    `name`: the attribute's.  `scale`: "linear", or "log" (equal cells an octave; `low` above 0).
    Raises SpaceError."""

    name: str
    low: float
    high: float
    scale: Scale = "linear"
    unit: str | None = None
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        _check_name(self)
        _check_size(self.name, self.low, self.high)
        if not all(_is_number(end) and isfinite(end) for end in (self.low, self.high)):
            raise SpaceError(f"{self.name}: bounds are finite numbers, not {self.low}, {self.high}")
        if not self.low < self.high:
            raise SpaceError(f"{self.name}: low {self.low} is not below high {self.high}")
        if self.scale not in ("linear", "log"):
            raise SpaceError(f'{self.name}: scale is "linear" or "log", not {self.scale!r}')
        if self.scale == "log" and self.low <= 0:
            raise SpaceError(f"{self.name}: a log scale begins above 0, not at {self.low}")
        if self.unit is not None and not _is_unit(self.unit):
            raise SpaceError(f"{self.name}: {self.unit!r} is no unit")
        object.__setattr__(self, "scale", plain_text(self.scale))
        object.__setattr__(self, "low", plain_number(self.low))
        object.__setattr__(self, "high", plain_number(self.high))
        if self.unit is not None:
            object.__setattr__(self, "unit", plain_text(self.unit))

    def axis(self, bits: int) -> Axis:
        """The dimension's axis on a curve of so many bits."""
        return NumberAxis(self.name, bits, NumberCoder(self.low, self.high, bits, self.scale))

    def quantity(self, text: str) -> float:
        """A number's text in the declared unit: bare, or converted from a unit of the same
        quantity, `256MB`.  Raises TypeMismatch when it is no number, not finite, or in a unit that
        does not convert."""
        match = _QUANTITY.fullmatch(text.strip())
        if match is not None:
            value, unit = float(match[1]), match[2]
            if isfinite(value):
                converted = self._in_unit(value, unit) if unit else value
                if converted is not None:
                    return converted
        unit = "" if self.unit is None else f", bare or with a unit like {self.unit}"
        raise TypeMismatch(self.name, text, f"a finite number{unit}")

    def _in_unit(self, value: float, unit: str) -> float | None:
        if self.unit is None:
            return None
        try:
            return convert(value, unit, self.unit)
        except OverflowError:
            return None


@dataclass(frozen=True, slots=True)
class Choice:
    """A dimension of a few declared values, ordered as declared, compared by rank.

    `name`: the attribute's.  `values`: in their order.  Raises SpaceError for no values, or two of
    one normal form."""

    name: str
    values: tuple[str, ...]
    kind: ClassVar[str] = "choice"

    def __post_init__(self) -> None:
        _check_name(self)
        declared = tuple(self.values) if isinstance(self.values, (tuple, list)) else ()
        if not declared or not all(isinstance(value, str) for value in declared):
            raise SpaceError(f"{self.name}: a choice lists its values, one text at least")
        object.__setattr__(self, "values", tuple(map(plain_text, declared)))
        if len({normal_form(value) for value in self.values}) < len(self.values):
            raise SpaceError(f"{self.name}: two of {list(self.values)} are the same keyword")

    def axis(self, bits: int) -> Axis:
        """The dimension's axis on a curve of so many bits."""
        return NumberAxis(self.name, bits, RankCoder(len(self.values), bits))

    def rank(self, text: str) -> int:
        """The place of a value in the declared order, from 0.  Raises TypeMismatch for a value
        that is not declared."""
        rank = _ranks(self.values).get(normal_form(text))
        if rank is None:
            raise TypeMismatch(self.name, text, f"one of {', '.join(self.values)}")
        return rank


@dataclass(frozen=True, slots=True)
class Time:
    """A dimension of moments from `low` to `high`: RFC 3339 text, or Unix seconds; kept as RFC 3339
    text in UTC.  `name`: the attribute's.  Raises SpaceError."""

    name: str
    low: str | float
    high: str | float
    kind: ClassVar[str] = "time"

    def __post_init__(self) -> None:
        _check_name(self)
        _check_size(self.name, self.low, self.high)
        for end in ("low", "high"):
            given = getattr(self, end)
            legal = isinstance(given, str) or _is_number(given)
            moment = moments.milliseconds(given) if legal else None
            text = None if moment is None else moments.rfc3339(moment)
            if text is None:
                raise SpaceError(f"{self.name}: {given!r} is no RFC 3339 time, nor Unix seconds")
            object.__setattr__(self, end, text)
        if not self.low_ms < self.high_ms:
            raise SpaceError(f"{self.name}: low {self.low} is not before high {self.high}")

    @property
    def low_ms(self) -> int:
        """The lower bound in milliseconds since the epoch."""
        return self.milliseconds(self.low)

    @property
    def high_ms(self) -> int:
        """The upper bound in milliseconds since the epoch."""
        return self.milliseconds(self.high)

    def axis(self, bits: int) -> Axis:
        """The dimension's axis on a curve of so many bits."""
        return NumberAxis(self.name, bits, NumberCoder(self.low_ms, self.high_ms, bits))

    def milliseconds(self, moment: str | float) -> int:
        """RFC 3339 text, or Unix seconds as text or number, in milliseconds since the epoch,
        rounded down.  Raises TypeMismatch for anything else."""
        since_epoch_ms = moments.milliseconds(moment)
        if since_epoch_ms is None:
            raise TypeMismatch(self.name, moment, "an RFC 3339 time or Unix seconds")
        return since_epoch_ms


Dimension = Word | Number | Choice | Time


@lru_cache(maxsize=64)
def _ranks(values: tuple[str, ...]) -> dict[str, int]:
    """The rank of each value by its normal form."""
    return {normal_form(value): rank for rank, value in enumerate(values)}


def _is_unit(value: object) -> bool:
    """A unit is text that a number's digits end at: `MB`, `°C`, `%`."""
    if not isinstance(value, str) or not value:
        return False
    return value == value.strip() and not value[0].isdigit()


def _check_size(name: str, *bounds: object) -> None:
    for bound in bounds:
        if isinstance(bound, int) and bound.bit_length() > MOST_INTEGER_BITS:
            raise SpaceError(f"{name}: a bound of {bound.bit_length()} bits is beyond any float")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
