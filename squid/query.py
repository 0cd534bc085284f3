"""Query terms: what a profile asks of, or offers on, one dimension of the keyword space.

Law of this file: terms are plain values, already in the dimension's normal form (see
`squid.keywords.normal_form`); they know nothing of cells.  `KeywordSpace.box` turns one term a
dimension into a box of the curve (paper: Squid, section 3.2; report section 3.2).
"""

from __future__ import annotations

from chord import dataclass


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole axis: the dimension is not named by a selector, or is `*`, a presence test, or
    may lie anywhere (`//`, alternatives that do not all name it)."""


@dataclass(frozen=True, slots=True)
class Absent:
    """The reserved cell 0: a subject that does not have the attribute, or has it without value."""


@dataclass(frozen=True, slots=True)
class WordInterval:
    """Words from `low` to `high`, both ends included, in normal form; None is an open end."""

    low: str | None
    high: str | None


@dataclass(frozen=True, slots=True)
class Prefix:
    """Every word that begins with `stem` (normal form, may be empty)."""

    stem: str


@dataclass(frozen=True, slots=True)
class NumberInterval:
    """Numbers from `low` to `high`, both ends included; None is an open end.  Times are integer
    milliseconds since the epoch, choices the ranks of the declared values."""

    low: float | int | None
    high: float | int | None


@dataclass(frozen=True, slots=True)
class Hull:
    """The smallest box range that covers every part: alternatives, repeated siblings."""

    parts: tuple[Term, ...]


Term = Whole | Absent | WordInterval | Prefix | NumberInterval | Hull
