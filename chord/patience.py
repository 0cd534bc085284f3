"""How long the origin of a lookup waits before it asks through another first hop as well.

Law of this file: pure and bounded.  Hedging after the time that nearly all answers take costs a
hundredth more messages and cuts the tail (Dean and Barroso, "The tail at scale", 2013).  DESIGN
section 2: once, after max(5 × RTO, the origin's own p99).
"""

from __future__ import annotations

from collections import deque
from typing import Final

from chord.link import SILENCE_FLOOR_S

WINDOW: Final = 128
"""Answers that the p99 is taken of: the longest but one."""
RENEW_EVERY: Final = 8
"""Answers after which it is taken anew."""
ROUND_TRIPS: Final = 5
"""Retransmission time-outs of the first hop's link that an answer is given at least."""
GROWTH_MAX: Final = 4
"""The longest wait, as a multiple of the usual one: a slow time must not end hedging."""


class Patience:
    """The durations of one origin's lookups and what follows from them; `usual_s` stands in for
    what is not yet measured."""

    def __init__(self, usual_s: float) -> None:
        self._usual_s = usual_s
        self._took_s: deque[float] = deque(maxlen=WINDOW)
        self._count = 0
        self.p99_s = 0.0
        """The duration that one lookup in a hundred exceeds; 0 while unknown."""

    def answered(self, took_s: float) -> None:
        """Take into account how long an answer took."""
        self._took_s.append(took_s)
        self._count += 1
        if self._count % RENEW_EVERY == 0:
            self.p99_s = sorted(self._took_s)[-2]

    def wait_s(self, srtt_s: float, rttvar_s: float, attempt: int) -> float:
        """How long attempt number `attempt` (from 0) goes on alone; `srtt_s` is 0 for a link that
        is not measured."""
        if attempt > 0 or not srtt_s:
            measured_s = ROUND_TRIPS * (srtt_s + 4 * rttvar_s)
            usual_s = max(self._usual_s, measured_s)
            return usual_s * min(1 << attempt, GROWTH_MAX)
        round_trips_s = ROUND_TRIPS * max(SILENCE_FLOOR_S, srtt_s + 4 * rttvar_s)
        return max(round_trips_s, min(self.p99_s, self._usual_s * GROWTH_MAX))
