"""When the life of an interest is renewed, tried again and looked at.

Law of this file: pure; durations in seconds, and why each is what it is.
"""

from __future__ import annotations

from typing import Final

RENEWALS_A_LIFE: Final = 3
"""A record is renewed at this fraction of its ttl: two renewals may fail before it runs out."""
RENEWAL_S_MIN: Final = 0.1
"""However short a ttl is, it is not renewed more often."""

REATTACH_S: Final = 1.0
REATTACH_S_MAX: Final = 30.0
"""The first and the longest pause before what could not be re-attached is tried again; never longer
than between two renewals."""

SLOW_S: Final = 0.5
"""Of a renewal that took longer the overlay may have read so late that the record outlives this."""

LOOKS_S: Final = 30.0
"""How often it is looked whether the time of what is not kept alive is over: a loop's own clock, by
which it waits, stands still while the machine sleeps."""
TAKEN_BACK_AFTER_S: Final = 0.5
"""How long what was cancelled as it was posted is left: what is deleted cannot be posted again, and
who tries once more under the same name does so at once."""


def renewed_every_s(ttl_s: float) -> float:
    """How often a record that is to live for so long is renewed."""
    return max(ttl_s / RENEWALS_A_LIFE, RENEWAL_S_MIN)
