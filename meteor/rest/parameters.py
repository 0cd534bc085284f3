"""The parameters of a request: declared once, so that what is read is what is documented.

Law of this file: pure.  Unknown, repeated and unfit parameters are refused with their value, and so
is percent-encoding that is none: a sensor's owner is to see a typing slip, not a silent default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, Literal
from urllib.parse import unquote_to_bytes

from meteor.errors import LimitExceeded

Kind = Literal["text", "number", "integer", "flag", "choice"]

PARAMETERS_MAX: Final = 32
_BROKEN_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_INTEGER: Final = re.compile(r"[0-9]{1,18}", re.ASCII)


class ParameterError(ValueError):
    """A parameter that cannot be read: `.name`, `.value`, and `.position` where it is known."""

    def __init__(self, message: str, name: str, value: str = "", position: int = -1) -> None:
        super().__init__(message)
        self.name, self.value = name, value
        if position >= 0:
            self.position = position


class OutOfBounds(LimitExceeded):
    """A parameter below or above its bounds; `limit` is the bound that it misses."""

    def __init__(self, name: str, value: str, limit: float, wanted: str) -> None:
        super().__init__(name, value, limit)
        self.args = (name, value, limit, wanted)
        self.wanted = wanted

    def __str__(self) -> str:
        return f"{self.name}={self.value} is out of bounds; give {self.wanted}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter of a query."""

    name: str
    kind: Kind
    meaning: str
    required: bool = False
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    exclusive_low: bool = False
    """Whether `low` itself is refused."""
    example: str = ""
    form: str = ""
    """What language a text is in, for the description: `meteor-selector`, `meteor-id`."""
    pattern: str = ""
    """A regular expression of what a text may be, for the description."""

    def read(self, text: str) -> Any:
        """The value of a text; raises `ParameterError`, and `LimitExceeded` out of bounds."""
        if self.kind == "text":
            return text
        if self.kind == "choice":
            if text not in self.choices:
                wanted = ", ".join(self.choices)
                raise ParameterError(f"{self.name}={text!r} is none of {wanted}", self.name, text)
            return text
        if self.kind == "flag":
            if text not in ("true", "false", "1", "0"):
                raise ParameterError(
                    f"{self.name}={text!r} is neither true nor false", self.name, text
                )
            return text in ("true", "1")
        return self._number(text)

    def _number(self, text: str) -> float | int:
        whole = self.kind == "integer"
        if (_INTEGER if whole else _NUMBER).fullmatch(text) is None:
            kind = "a whole number" if whole else "a number"
            raise ParameterError(f"{self.name}={text!r} is not {kind}", self.name, text)
        value = int(text) if whole else float(text)
        if self.high is not None and not (isfinite(value) and value <= self.high):
            raise OutOfBounds(self.name, text, self.high, f"at most {self.high:.15g}")
        if self.low is not None:
            too_low = value <= self.low if self.exclusive_low else value < self.low
            if too_low:
                least = "more than" if self.exclusive_low else "at least"
                raise OutOfBounds(self.name, text, self.low, f"{least} {self.low:.15g}")
        return value


class Parameters:
    """The parameters of one request, read as declared."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """A text that must be there."""
        return str(self._values[name])

    def optional(self, name: str) -> str | None:
        """A text, or None."""
        return self._values.get(name)

    def number(self, name: str) -> float | None:
        """A number, or None."""
        return self._values.get(name)

    def integer(self, name: str, default: int) -> int:
        """A whole number."""
        return int(self._values.get(name, default))

    def flag(self, name: str) -> bool:
        """Whether a flag is set."""
        return bool(self._values.get(name, False))


def read_parameters(raw_query: str, declared: Sequence[Parameter]) -> Parameters:
    """The parameters of the text behind the question mark; raises `ParameterError` and
    `LimitExceeded`."""
    known = {parameter.name: parameter for parameter in declared}
    values: dict[str, Any] = {}
    for name, text in _pairs(raw_query):
        parameter = known.get(name)
        if parameter is None:
            names = ", ".join(sorted(known)) or "none"
            raise ParameterError(f"unknown parameter {name!r}; this route takes {names}", name)
        if name in values:
            raise ParameterError(f"the parameter {name!r} is given twice", name, text)
        values[name] = parameter.read(text)
    for parameter in declared:
        if parameter.required and parameter.name not in values:
            name, example = parameter.name, parameter.example
            hint = f": ?{name}={example}" if example else ""
            raise ParameterError(f"the parameter {name!r} is missing{hint}", name)
    return Parameters(values)


def _pairs(raw_query: str) -> list[tuple[str, str]]:
    if not raw_query:
        return []
    parts = raw_query.split("&")
    if len(parts) > PARAMETERS_MAX:
        raise LimitExceeded("parameters", len(parts), PARAMETERS_MAX)
    pairs, position = [], 0
    for part in parts:
        name, _, value = part.partition("=")
        if part:
            begins = position + len(name) + 1
            pairs.append((_decoded(name, name, position), _decoded(value, name, begins)))
        position += len(part) + 1
    return pairs


def _decoded(raw: str, name: str, position: int) -> str:
    """The text of a percent-encoded one; a plus is a blank, as forms and curl write it."""
    broken = _BROKEN_ESCAPE.search(raw)
    if broken is not None:
        raise ParameterError(
            f"{raw[broken.start() : broken.start() + 3]!r} is no percent-encoding: write %25 for a "
            "percent sign",
            name, raw, position + broken.start(),
        )  # fmt: skip
    octets = unquote_to_bytes(raw.replace("+", " "))
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise ParameterError(
            f"{raw[:60]!r} is not UTF-8 under its percent-encoding", name, raw[:200], position
        ) from None
