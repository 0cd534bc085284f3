"""When a primary compares with which of its copies.

Law of this file: pure.  A new target (a recruit, a copy that came back, a view that changed) at
once, one that was equal after a rest, one that was healed soon again, so that the next comparison
proves it.  Where there were differences and nothing moved (records that are just expiring, writes
under way, states that neither side takes) each rest is twice the last one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from random import Random
from typing import Literal

from meteor.copies.entropy_source import Target

Outcome = Literal["equal", "healed", "fruitless", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyConfig:
    """How a peer compares; all times in seconds."""

    rest_s: float = 15.0
    """Between two comparisons with a copy that was equal: about 20 B/s a copy at rest."""
    rest_s_max: float = 240.0
    """The longest rest after comparisons that changed nothing."""
    soon_s: float = 1.0
    """After one that changed something, and at most before the first with a new copy."""
    call_s: float = 5.0
    """For one request; a page of records is durable before it is answered."""
    compare_s: float = 120.0
    """For a whole comparison; what is left is for the next."""
    requests_max: int = 4096
    """For spans, in one comparison; a copy that leads on further than this talks nonsense."""
    look_s: float = 1.0
    """How often the targets are looked at when nobody says that they changed."""


class CompareSchedule:
    """The targets of one peer, each with the time of its next comparison."""

    def __init__(self, config: EntropyConfig, random: Random) -> None:
        self._config, self._random = config, random
        self._due_s: dict[Target, float] = {}
        self._rest_s: dict[Target, float] = {}

    def follow(self, targets: Collection[Target], now_s: float) -> None:
        """These are all there are now: new ones are due soon, others are forgotten."""
        for target in [known for known in self._due_s if known not in targets]:
            del self._due_s[target], self._rest_s[target]
        for target in targets:
            if target not in self._due_s:
                self._due_s[target] = now_s + self._config.soon_s * self._random.random()
                self._rest_s[target] = self._config.rest_s

    def first(self) -> tuple[Target, float] | None:
        """Who is compared with next, and when; None while there is nobody."""
        if not self._due_s:
            return None
        target = min(self._due_s, key=self._due_s.__getitem__)
        return target, self._due_s[target]

    def concluded(self, target: Target, outcome: Outcome, now_s: float) -> None:
        """A comparison ended; harmless for a target that is none any more."""
        if target not in self._due_s:
            return
        config = self._config
        if outcome in {"equal", "healed"}:
            self._rest_s[target] = config.rest_s
        else:
            self._rest_s[target] = min(2 * self._rest_s[target], config.rest_s_max)
        rest_s = config.soon_s if outcome == "healed" else self._rest_s[target]
        self._due_s[target] = now_s + rest_s * self._random.uniform(0.8, 1.2)
