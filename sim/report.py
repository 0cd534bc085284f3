"""What came of one run of a scenario.

Law of this file: plain values and their text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sim.kernel import Kernel

VIOLATIONS_MAX: Final = 20
"""More are counted, not listed."""
OTHER: Final = "others"


def kind_of(violation: str) -> str:
    """Which checker found it, as its text begins; `others` for what no checker of a name said."""
    kind, colon, _ = violation.partition(": ")
    return kind if colon and kind.replace(" ", "").isalpha() else OTHER


def first_of_each_kind(violations: Sequence[str], count_max: int) -> list[str]:
    """At most so many, in turn of every kind, and in their order: thousands of one kind do not hide
    the one of another."""
    turns: Counter[str] = Counter()
    in_turn: list[tuple[int, int]] = []
    for place, violation in enumerate(violations):
        kind = kind_of(violation)
        in_turn.append((turns[kind], place))
        turns[kind] += 1
    places = sorted(place for _, place in sorted(in_turn)[:count_max])
    return [violations[place] for place in places]


@dataclass(slots=True)
class Report:
    """What came of one run."""

    scenario: str
    seed: int
    replay: str
    """The command that repeats this run, or the call."""
    violations: list[str] = field(default_factory=list)
    """What was not true; empty when all is well."""
    counts: dict[str, int] = field(default_factory=dict)
    """How often what happened."""
    events: int = 0
    """Posts, churn and faults together."""
    virtual_s: float = 0.0
    messages: int = 0
    """Events of the trace."""
    digest: str = ""
    """Of the trace: the same for the same seed."""
    ideal_after_s: float | None = None
    """How long after healing the ring was ideal and every arc held."""

    def text(self) -> str:
        """For people: how to replay it and what was wrong, of each kind the first ones."""
        shown = first_of_each_kind(self.violations, VIOLATIONS_MAX)
        more = Counter(map(kind_of, self.violations)) - Counter(map(kind_of, shown))
        lines = [self.replay, *(f"  {line}" for line in shown)]
        if more:
            counts = ", ".join(f"{kind} {count}" for kind, count in more.items())
            lines.append(f"  and {more.total()} more ({counts}); --json has all")
        return "\n".join(lines)

    def finish(self, kernel: Kernel) -> None:
        """Note how far the run got."""
        self.virtual_s, self.messages = kernel.now(), len(kernel.trace)
        self.digest = kernel.trace.digest()
