"""How often one peer hands on one attempt of one lookup: a bound on what copies can do.

Law of this file: pure; bounded memory.  A forwarded frame that is not acknowledged in time is
handed to the next candidate, so that a slow link makes two copies of a lookup, and each copy more
of them on the next slow link.  Without a bound a lookup whose key has no owner at the moment, as it
circles up to its limit of hops, becomes a storm that slows every link down.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

HAND_ONS_MAX: Final = 4
"""Once to go on, once more round the ring or past a dead candidate, and as often again; the origin
asks anew before a lookup needs more."""
REMEMBERED_MAX: Final = 4096
"""Attempts remembered; the oldest are forgotten."""


class HandOnLimit:
    """Counts the hand-ons of each attempt, named by its origin, token and number."""

    def __init__(
        self, hand_ons_max: int = HAND_ONS_MAX, remembered_max: int = REMEMBERED_MAX
    ) -> None:
        self._hand_ons_max = hand_ons_max
        self._remembered_max = remembered_max
        self._counts: OrderedDict[tuple[int, int, int], int] = OrderedDict()

    def permits(self, origin_id: int, token: int, attempt: int) -> bool:
        """Count one more hand-on; whether it may be done."""
        name = (origin_id, token, attempt)
        count = self._counts.get(name, 0)
        if count >= self._hand_ons_max:
            return False
        self._counts[name] = count + 1
        if len(self._counts) > self._remembered_max:
            self._counts.popitem(last=False)
        return True
