"""Recall: since when one peer remembers what it carried out, part by part of the curve.

Law of this file: pure, takes the wall clock's milliseconds, as issue times do.  `repeats.py` knows
a repeat of what this peer did; what was done before it was started, by another peer that had the
part then, or before so much else that it was forgotten, it cannot know.  What was signed before
that may be a repeat, and does only what harms nobody if it is one: a delete takes no version later
than its own, a renewal older than what is there changes nothing, and what had run out does not come
back.
"""

from __future__ import annotations

from typing import Final

from meteor.keeping.holdings import Intervals
from meteor.security.verifying import WINDOW_S
from meteor.wire.operations import Operation
from squid import intersect, merge

GAINS_MAX: Final = 64
"""Parts with a time of their own; beyond that the two oldest count as one, from the later time."""
SKEW_MS: Final = int(WINDOW_S * 1000)
"""By how much a clock that signs may be ahead: what was carried out can say that it was signed so
much later."""


class Recall:
    """Since when one peer remembers."""

    def __init__(self, wall_ms: int) -> None:
        self._since_ms = wall_ms
        self._gains: list[tuple[int, Intervals]] = []

    def gained(self, part: Intervals, wall_ms: int) -> None:
        """What is done there is done here from now on."""
        if not part:
            return
        self._gains.append((wall_ms, part))
        if len(self._gains) > GAINS_MAX:
            (_, oldest), (then_ms, old) = self._gains[:2]
            self._gains[:2] = [(then_ms, merge(oldest, old))]

    def forgot(self, wall_ms: int) -> None:
        """Something that was done then is forgotten, and it is not known where."""
        self._since_ms = max(self._since_ms, wall_ms)

    def since_ms(self, part: Intervals) -> int:
        """From when on everything that was done in `part` is remembered."""
        gains = (when_ms for when_ms, gained in self._gains if intersect(gained, part))
        return max((self._since_ms, *gains))

    def may_be_repeat(self, operation: Operation, part: Intervals) -> bool:
        """Whether it may have been carried out without this peer's remembering, if the clock that
        signed it was ahead by what is allowed."""
        return 0 < operation.issued_ms < self.since_ms(part) + SKEW_MS

    def newest_taken(self, operation: Operation, part: Intervals) -> int | None:
        """The latest version that a delete may take; None where it takes all."""
        return operation.version if self.may_be_repeat(operation, part) else None

    def has_run_out(self, operation: Operation, part: Intervals, wall_ms: int) -> bool:
        """Whether what is to be kept may have been kept here before, and by its signer's clock was
        over by now."""
        return (
            0 < operation.issued_ms < self.since_ms(part)
            and operation.issued_ms + operation.ttl_ms <= wall_ms
        )
