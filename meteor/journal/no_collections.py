"""Python's collector of cycles rests while a journal is read back.

Law of this file: whatever happens, it works again when the last one is done that let it rest.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

WORTH_AGEING: Final = 50_000
"""New objects from which on it pays that the next short collection leaves them out.  What becomes
old so is not counted by the collector: where a hundred small journals are read a minute, as in a
simulation, it would never look at old objects again, and nothing of a cycle would be freed."""


class _Collector:
    """Python's collector of cycles, and how many want it to rest: each that says so alone would
    leave it off for ever, where two peers of one process read their journals at the same time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._resting = 0
        self._was_enabled = False

    def rest(self) -> None:
        """Until `go_on`, which is to be called whatever happens."""
        with self._lock:
            if not self._resting:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._resting += 1

    def go_on(self) -> None:
        """The last one that does lets it work again."""
        with self._lock:
            self._resting -= 1
            if self._resting:
                return
            many = gc.get_count()[0] >= WORTH_AGEING
            if many and not gc.get_freeze_count():  # else it is somebody's wish that these stay so
                gc.freeze()
                gc.unfreeze()
            if self._was_enabled:
                gc.enable()


_collector = _Collector()


@contextmanager
def no_collections() -> Iterator[None]:
    """Let Python's collector of cycles rest: what is read back from a journal has none and stays,
    and to look through it again and again would take as long as to make it.  Afterwards it counts
    as old, so that the next short collection does not look through it either.

    Not around what a simulation may never go on with."""
    _collector.rest()
    try:
        yield
    finally:
        _collector.go_on()
