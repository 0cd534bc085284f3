"""Python's collector of cycles in a process that is a peer's, or a large overlay's.

Law of this file: only who owns the process asks for it: the command line for good, an overlay of
many peers until it is closed; a peer by itself never does (DESIGN section 6).  One full collection
looks at all that all peers keep while everything stands still, and a peer that is silent for long
looks dead.
"""

from __future__ import annotations

import gc
from threading import Lock
from typing import Final

THRESHOLDS: Final = (700, 2, 3_700)
"""New objects until a look at the youngest, and such looks until one at the older and the oldest.
The second: what a peer keeps outlives the first look, so with Python's ten there were up to 27,000
objects to look at once more, all together, and the loop was held for 15 ms.  The last: at 4,000
links a full collection stops the loop for 350 ms (DESIGN section 6)."""


def collect_rarely() -> None:
    """For good: what there is now is never looked at again, what will be rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


class _Wishes:
    """How many want it at the same time: the last one puts back what the first one found."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._found: tuple[int, int, int] = THRESHOLDS
        self._froze = False

    def wish(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._found = gc.get_threshold()
                self._froze = not gc.get_freeze_count()  # else that is somebody's wish
                gc.collect()
                gc.set_threshold(*THRESHOLDS)
            if self._froze:
                gc.freeze()

    def withdraw(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count:
                return
            if gc.get_threshold() == THRESHOLDS:  # else somebody set others since
                gc.set_threshold(*self._found)
            if self._froze:
                gc.unfreeze()


_wishes = _Wishes()


class RareCollections:
    """One overlay's wish for rare collections, off at first; both verbs may be called again."""

    def __init__(self) -> None:
        self._wished = False

    def begin(self) -> None:
        """From now on, and what there is now is not looked at at all."""
        if not self._wished:
            self._wished = True
            _wishes.wish()

    def end(self) -> None:
        """As it was before, once nobody wishes it any more."""
        if self._wished:
            self._wished = False
            _wishes.withdraw()
