"""Ended: interests that went a moment ago, for watches whose place changes hands just then.

Law of this file: bounded, and in memory only.  That an interest is gone is told by who answers for
the place at which the two meet.  Should that one fall before its word has left, whoever comes after
it has a tombstone and nothing to derive the pair from; what it had kept as a copy, or at another of
the interest's places, it remembers here.  A watch that was told already knows the notice by its id
(DESIGN section 4).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Final

from arms import INTEREST, WATCH, Record, Rendezvous
from chord import Runtime
from meteor.keeping.holdings import Intervals
from meteor.keeping.placement import Key
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.reactions import Reactions

ENDED_S: Final = 30.0
"""How long an interest that went is remembered: longer than a place is without its primary."""
ENDED_MAX: Final = 1024
"""So many at most; the oldest are forgotten first, and their watches hear at their renewal."""
BEGUN_MAX: Final = 8192
"""So many watches of the same time at most; the oldest are forgotten first."""


class Ended:
    """The interests that went at one peer, whoever had to tell of it."""

    def __init__(
        self, runtime: Runtime, shelf: Shelf, rendezvous: Rendezvous, reactions: Reactions
    ) -> None:
        self._runtime, self._shelf = runtime, shelf
        self._rendezvous, self._reactions = rendezvous, reactions
        self._went: deque[tuple[float, Record]] = deque(maxlen=ENDED_MAX)
        self._begun: OrderedDict[Key, float] = OrderedDict()
        """When watches came here, or new versions of them: what went before is not theirs."""

    def came(self, kind: str, key: Key) -> None:
        """Something came here, or another version of it."""
        if kind != WATCH:
            return
        begun, now = self._begun, self._runtime.now()
        begun.pop(key, None)
        begun[key] = now
        while len(begun) > BEGUN_MAX or next(iter(begun.values())) < now - ENDED_S:
            begun.popitem(last=False)

    def note(self, record: Record) -> None:
        """It was deleted, or ran out, here."""
        if record.kind == INTEREST:
            self._went.append((self._runtime.now(), record))

    def tell(self, part: Intervals) -> None:
        """A part was gained: the watches that met something there hear that it is gone.  Not where
        the interest was posted again since."""
        now = self._runtime.now()
        while self._went and self._went[0][0] < now - ENDED_S:
            self._went.popleft()
        within = self._reactions.within(part)
        for at_s, record in list(self._went):

            def belongs(watch: Record, interest: Record, until_s: float = at_s) -> bool:
                return self._begun.get(watch.key, 0.0) <= until_s and within(watch, interest)

            if self._shelf.store.get(*record.key) is None:
                self._reactions.carry_out(self._rendezvous.left(record, now, belongs), record)
