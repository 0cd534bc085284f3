"""Every arc has at most one owner an epoch, over the whole run (DESIGN section 5).

Law of this file: pure bookkeeping over what was observed; a claim counts for ever, whether its
peer still makes it or not: whoever owns an index later does so in a later epoch.  A peer that
comes back under its journal is the same owner; two claims of different epochs never collide.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from squid import Intervals


@dataclass(frozen=True, slots=True)
class Claim:
    """One peer says that it is the owner of these closed intervals in that epoch."""

    peer: str
    epoch: int
    intervals: Intervals
    at_s: float
    """When it was seen to say so."""


def violations(claims: Iterable[Claim]) -> list[str]:
    """Every index that two peers ever owned in one epoch, in the order of the claims."""
    ledger = OwnerLedger()
    return [text for claim in claims for text in ledger.add(claim)]


class OwnerLedger:
    """The claims of a run so far, for who looks on while it goes."""

    def __init__(self) -> None:
        self._claimed: dict[int, dict[tuple[int, int, str], float]] = {}

    def add(self, claim: Claim) -> list[str]:
        """Take a claim in; what it collides with, each once."""
        of_epoch = self._claimed.setdefault(claim.epoch, {})
        found = []
        for first, last in claim.intervals:
            if (first, last, claim.peer) in of_epoch:
                continue
            found += [
                f"epoch {claim.epoch}: {other} since {since_s:.3f} s and {claim.peer} since "
                f"{claim.at_s:.3f} s both own [{max(first, low):x}, {min(last, high):x}]"
                for (low, high, other), since_s in of_epoch.items()
                if other != claim.peer and low <= last and first <= high
            ]
            of_epoch[first, last, claim.peer] = claim.at_s
        return found
