"""A budget of steps: what a question that has no quick answer may cost.

Law of this file: one budget goes along with all that belongs to one question; whoever looks at
something takes of it, and what is left over never comes back.
"""

from __future__ import annotations

from arms.errors import ArmsError


class OverBudget(ArmsError):
    """A question takes more steps than it may: what was asked is not known."""

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self.steps = steps

    def __str__(self) -> str:
        return f"this takes more than {self.steps:,} steps to tell"


class Budget:
    """How many steps a question may still take."""

    __slots__ = ("left", "steps")

    def __init__(self, steps: int) -> None:
        self.steps = self.left = steps

    def take(self, steps: int) -> None:
        """Count some; raises `OverBudget`."""
        self.left -= steps
        if self.left < 0:
            raise OverBudget(self.steps)
