"""The author's counter: in which order an author made what he posted.

Law of this file: pure; the clock is given, and need not agree with anybody else's.
"""

from __future__ import annotations

from collections.abc import Callable


class AuthorsCounter:
    """The author's counter.  It runs with the clock, in microseconds from `first` on, so that posts
    of one named id by several processes are ordered as they were made: so that clock must go on
    while the machine sleeps, which an event loop's does not."""

    def __init__(self, first: int, now: Callable[[], float]) -> None:
        self._first, self._last, self._now = first, 0, now
        self._began_s = now()

    def next(self) -> int:
        """A higher number than any before."""
        elapsed_us = int((self._now() - self._began_s) * 1e6)
        self._last = max(self._last + 1, self._first + elapsed_us)
        return self._last

    def guessed_wall_s(self) -> float:
        """The wall clock in seconds, as far as whoever has none can tell: the counter began with
        it."""
        return self._first / 1e6 + self._now() - self._began_s
