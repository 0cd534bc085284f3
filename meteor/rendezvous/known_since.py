"""Known since: from when on a peer knows what left its places, part by part of the curve.

Law of this file: pure, takes `now`.  What a peer was not there for, as it was not started yet or
another one answered for the part, it can tell nobody; nor what it has forgotten.  Who began to ask
before that is not answered by it (SPEC section 4).  That a part comes with the words of what left
it was not enough: what is a copy of its new place leaves the old one before there is a word.
"""

from __future__ import annotations

from typing import Final

from meteor.keeping.holdings import Intervals
from squid import intersect

APART_S: Final = 60.0
"""For so long a part that was gained has a time of its own: then all parts have that one, as hardly
any question is older, and every question looks at those that have theirs."""
PARTS_MAX: Final = 64
"""So many have at most: beyond that the oldest give theirs to all."""
LAIN_S: Final = 30.0
"""A share may have lain on a link for so long."""
AT_ONCE_S: Final = 1e-6
"""What happened at a time is before everything that began this much later."""


class KnownSince:
    """Since when one peer knows."""

    def __init__(self, started_s: float) -> None:
        self._all_s = started_s
        self._gains: list[tuple[float, Intervals]] = []

    def gained(self, part: Intervals, now: float) -> None:
        """What leaves that part leaves it here from now on."""
        if part:
            self._gains.append((now, part))
        self._join(now)

    def forgot(self, at_s: float) -> None:
        """Something that left then is known no more, and nobody knows from where."""
        self._all_s = max(self._all_s, at_s + AT_ONCE_S)

    def of(self, part: Intervals, now: float) -> float:
        """From when on all that left `part` is known."""
        self._join(now)
        return max((self._all_s, *(at_s for at_s, one in self._gains if intersect(one, part))))

    def is_new(self, part: Intervals, now: float) -> bool:
        """Whether something may have been done in `part` before it was gained, of which another
        share is under way still."""
        return now - self.of(part, now) < LAIN_S

    def _join(self, now: float) -> None:
        while self._gains and (
            len(self._gains) > PARTS_MAX or now - self._gains[0][0] > APART_S
        ):
            at_s, _ = self._gains.pop(0)
            self._all_s = max(self._all_s, at_s)
