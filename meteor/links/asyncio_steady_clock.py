"""A clock that nobody sets, and that goes on while the machine sleeps, where the system has one.

Law of this file: one reading, no state.  What is kept runs out by it (`keeping/expiry_clock.py`),
and authors number their posts by it (`client/authors_counter.py`): an event loop's own clock stands
still while a machine sleeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


steady_clock: Final[Callable[[], float]] = partial(time.clock_gettime, _CLOCK)
"""Its seconds; they count from some moment before this process.  No function of Python's: it is
read some twenty times a store."""
