"""What came of one run of a scenario.

Law of this file: plain values and their text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sim.kernel import Kernel

VIOLATIONS_MAX: Final = 20
"""More are counted, not listed."""


@dataclass(slots=True)
class Report:
    """What came of one run."""

    scenario: str
    seed: int
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

    @property
    def replay(self) -> str:
        """The command that repeats this run."""
        return f"meteor-sim scenario {self.scenario} --seed {self.seed}"

    def text(self) -> str:
        """For people: how to replay it and what was wrong."""
        shown = self.violations[:VIOLATIONS_MAX]
        more = len(self.violations) - len(shown)
        lines = [self.replay, *(f"  {line}" for line in shown)]
        return "\n".join([*lines, f"  and {more} more; --json has all"] if more else lines)

    def finish(self, kernel: Kernel) -> None:
        """Note how far the run got."""
        self.virtual_s, self.messages = kernel.now(), len(kernel.trace)
        self.digest = kernel.trace.digest()
