"""How long a request was on its way beyond what is usual for its link.

Law of this file: arithmetic over durations; nobody's clock is believed.  Each request says how old
its sender's end of the link was as it left.  By how much that lags behind the receiver's clock
means nothing; that it lags by more than it did just before means that the request lay: with the
hosts over a cut, say, which deliver in the end what its sender gave up long ago (runtime contract,
rule 7).  Both ends count from when the link opened, so that its first request shows it as well;
what cannot be known is said to be 0: what lay behind another cut that followed at once.

    transit.came(age_s, now)
    transit.late_s
"""

from __future__ import annotations

from typing import Final

USUAL_FOR_S: Final = 2.0
"""What is usual is looked for in so long a time, and in as long before: a sender that was held
together with its clock, as a suspended machine is, counts as late for no longer than both."""
DRIFT: Final = 0.02
"""Clocks differ by no more than this share of the time between two looks, a hundredth each, ..."""
DRIFT_S_MAX: Final = 0.5
"""... and what is allowed for that ends here: such clocks are a simulator's, ..."""
DRIFT_FOR_EVER: Final = 0.0002
"""... and a machine's own differ by this at most, so that an idle link shows a cut as well."""


class Transit:
    """What the requests that came over one end of a link have shown; times in seconds."""

    __slots__ = ("_before_s", "_before_since_s", "_least_s", "_since_s", "late_s")

    def __init__(self, opened_s: float) -> None:
        self._least_s = self._before_s = opened_s
        """The least lag of this stretch of time, and of the one before."""
        self._since_s = self._before_since_s = opened_s
        self.late_s = 0.0
        """How much longer than usual the last one took."""

    def unknown(self) -> None:
        """A request comes in that does not say when it left."""
        self.late_s = 0.0

    def came(self, age_s: float, now_s: float) -> None:
        """A request comes in at `now_s` that left when its sender's end was open for `age_s`."""
        lag_s = now_s - age_s
        if now_s - self._since_s > USUAL_FOR_S:
            self._before_s, self._before_since_s = self._least_s, self._since_s
            self._least_s, self._since_s = lag_s, now_s
        elif lag_s < self._least_s:
            self._least_s = lag_s
        idle_s = now_s - self._before_since_s
        before_s = self._before_s + min(DRIFT * idle_s, DRIFT_S_MAX) + DRIFT_FOR_EVER * idle_s
        self.late_s = max(0.0, lag_s - min(before_s, self._least_s))
