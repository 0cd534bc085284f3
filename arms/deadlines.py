"""When what is kept runs out: the earliest deadline first.

Law of this file: no step looks at more than a few.  A renewal leaves its former deadline behind,
stale; who asks knows which count.  Deadlines that came at once, after a restart, lie in order as
they are: no object is made of one before its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

import numpy as np

from arms.index_bits import Slots
from arms.index_vocabulary import Floats
from arms.record import Key

_LOOKED_AT: Final = 4
"""Stale or not: deadlines that are looked at with every new one."""

Deadline = tuple[float, Key]


class Deadlines:
    """Keys by the time at which they run out; a key may have several, of which the latest noted
    counts."""

    def __init__(self) -> None:
        self._heap: list[Deadline] = []
        self._former: list[Deadline] = []
        """A heap that is looked through for those that still count, a few with every change."""
        self._times: Floats = np.empty(0)
        """Those that came at once: in order from `_next` on ..."""
        self._keys: Sequence[Key] = ()
        self._of_keys: Slots = np.zeros(0, np.intp)
        """... each of one of the keys."""
        self._next = 0

    def __len__(self) -> int:
        return len(self._heap) + len(self._former) + len(self._times) - self._next

    def load(self, times: Floats, keys: Sequence[Key]) -> None:
        """Note many at once, before any other."""
        assert not len(self), "loaded before anything else comes"
        order = np.argsort(times, kind="stable")
        self._times, self._keys, self._of_keys = times[order], keys, order
        self._next = 0

    def add_all(self, deadlines: Sequence[Deadline]) -> None:
        """Note some more."""
        self._heap += deadlines
        heapify(self._heap)

    def put_off(self, by_s: float) -> None:
        """Those that came at once run out later: their clock was another."""
        self._times = self._times + by_s

    def note(self, at: float, key: Key, deadline_of: Callable[[Key], float | None]) -> None:
        """A key has a new deadline; `deadline_of` says which counts."""
        heappush(self._heap, (at, key))
        for _ in range(_LOOKED_AT):
            if not self._former:
                break
            former = self._former.pop()
            if former[0] == deadline_of(former[1]):
                heappush(self._heap, former)

    def thin_out(self, living: int) -> None:
        """When most are stale, so many more are they than the `living` keys, those that count go
        into a new heap, a few at a time: a heap made anew at once would hold the peer up."""
        if not self._former and len(self._heap) > 4 * living + 64:
            self._former, self._heap = self._heap, []

    def pop_until(self, now: float) -> Key | None:
        """A key of which a deadline has come, earliest first; each is given once."""
        heap = self._heap
        if self._former and (not heap or self._former[0] < heap[0]):
            heap = self._former
        rests = self._next < len(self._times)
        if rests and (not heap or self._times[self._next] < heap[0][0]):
            return self._pop_resting(now)
        return heappop(heap)[1] if heap and heap[0][0] <= now else None

    def _pop_resting(self, now: float) -> Key | None:
        if self._times[self._next] > now:
            return None
        key: Key = self._keys[self._of_keys[self._next]]
        self._next += 1
        if self._next == len(self._times):
            self._times, self._keys, self._next = np.empty(0), (), 0
        return key
