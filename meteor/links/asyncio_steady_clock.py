"""A clock that nobody sets, and that goes on while the machine sleeps, where the system has one.

Law of this file: one reading, no state.  What is kept runs out by it (`keeping/expiry_clock.py`),
and authors number their posts by it (`client/authors_counter.py`): an event loop's own clock stands
still while a machine sleeps.
"""

from __future__ import annotations

import time
from typing import Final

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def steady_clock() -> float:
    """Its seconds; they count from some moment before this process."""
    return time.clock_gettime(_CLOCK)
