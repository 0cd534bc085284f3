"""The demo's judge: which readings a question asks for, by looking at each one.

Law of this file: it imports nothing of ours and knows no selectors, no profiles, no curve: a
question is a dictionary of plain conditions on plain rows.  That the overlay found the same is
worth something only because this file cannot be wrong in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Row = Mapping[str, str | float]
"""One reading: column -> value."""


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, both included; None leaves an end open."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Begins:
    """A word that begins with `start`."""

    start: str


@dataclass(frozen=True)
class Anything:
    """The column is there."""


Condition = Between | Begins | Anything | str | float
"""A plain value asks for exactly that value."""


def holds(condition: Condition, value: str | float) -> bool:
    """Whether one value meets one condition."""
    if isinstance(condition, Between):
        if isinstance(value, str):
            return False
        above = condition.low is None or value >= condition.low
        return above and (condition.high is None or value <= condition.high)
    if isinstance(condition, Begins):
        return isinstance(value, str) and value.startswith(condition.start)
    return isinstance(condition, Anything) or value == condition


def wanted(rows: Mapping[str, Row], question: Mapping[str, Condition]) -> set[str]:
    """The names of the rows that meet every condition."""
    return {
        name
        for name, row in rows.items()
        if all(column in row and holds(test, row[column]) for column, test in question.items())
    }


@dataclass(frozen=True)
class Difference:
    """How an answer differs from what was wanted; false when it does not."""

    missing: tuple[str, ...]
    unwanted: tuple[str, ...]
    repeated: tuple[str, ...]
    changed: tuple[str, ...]
    """Found, but with other data than was posted."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.unwanted or self.repeated or self.changed)

    def __str__(self) -> str:
        parts = [
            f"{len(names)} {word} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
            for word, names in (
                ("missing", self.missing),
                ("unwanted", self.unwanted),
                ("more than once", self.repeated),
                ("with other data", self.changed),
            )
            if names
        ]
        return "; ".join(parts) or "exact"


def difference(
    answer: Iterable[tuple[str, bytes]], names: set[str], posted: Mapping[str, bytes]
) -> Difference:
    """Compare an answer, as a set and by counts, with the rows that were wanted."""
    answer = list(answer)
    counts = Counter(name for name, _ in answer)
    return Difference(
        missing=tuple(sorted(names - counts.keys())),
        unwanted=tuple(sorted(counts.keys() - names)),
        repeated=tuple(sorted(name for name, count in counts.items() if count > 1)),
        changed=tuple(sorted({name for name, data in answer if posted.get(name, data) != data})),
    )
