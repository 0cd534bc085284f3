"""The garbage collector while a simulation runs.

Law of this file: it is the process owner who asks for this, the command line or a benchmark, never
the simulator by itself.  A simulated message makes some short-lived objects and no cycles, but each
look of the collector walks all of them: at a thousand peers a quarter of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (100_000, 20, 100)
"""New objects until a look at the young ones, and such looks until one at the older and the oldest:
some megabytes of garbage at most."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Within the block the collector looks rarely, and never at what was there before it."""
    before, froze = gc.get_threshold(), not gc.get_freeze_count()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if froze:  # else that is somebody else's wish, who owns more of the process
            gc.unfreeze()
