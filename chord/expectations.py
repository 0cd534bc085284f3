"""Who waits for a value that another peer than the one asked will bring.

Law of this file: plain bookkeeping.  Several may wait for one token; one delivery serves all who
are registered at that moment, and the token is forgotten with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from chord.world import Waiter

FORGET_ABOVE: Final = 64
"""Registered tokens from which on abandoned ones are looked for."""


@dataclass(slots=True, eq=False)
class Expectation:
    """One registration; `number` is that of its deadline, 0 without one."""

    token: object
    waiter: Waiter
    timeout_s: float | None
    number: int = 0


class Expectations:
    """The registered tokens of one peer."""

    __slots__ = ("_forget_above", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[object, list[Expectation]] = {}
        self._forget_above = FORGET_ABOVE

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, expectation: Expectation) -> None:
        """Register; now and then those are dropped whose every awaiter was cancelled, as one
        without a time-out would stay for ever."""
        if len(self._waiting) >= self._forget_above:
            self._forget_abandoned()
        self._waiting.setdefault(expectation.token, []).append(expectation)

    def take(self, token: object) -> list[Expectation]:
        """Remove and return all who wait for `token`, in the order of registering."""
        return self._waiting.pop(token, [])

    def drop(self, expectation: Expectation) -> None:
        """Remove one registration; the others for its token stay."""
        kept = [other for other in self.take(expectation.token) if other is not expectation]
        if kept:
            self._waiting[expectation.token] = kept

    def clear(self) -> None:
        """Remove all."""
        self._waiting.clear()

    def _forget_abandoned(self) -> None:
        for waiting in list(self._waiting.values()):
            for expectation in waiting:
                if expectation.waiter.abandoned:
                    self.drop(expectation)
        self._forget_above = FORGET_ABOVE + 2 * len(self._waiting)
