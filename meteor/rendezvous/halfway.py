"""What was replaced here by the first half of a replace, whose second half has not come.

Law of this file: pure, looks at the shelf and changes nothing there.  The new content goes to its
whole region first, then the old one leaves.  A peer that has both, as a holder or a copy of
either, keeps one of them: where the rest of the new region cannot be reached it has lost the old
content, and the new one is told by whoever holds its first cell, that never had it.  So the old
place is missing in whatever asks for it and is not told of the new content here, until word of the
move comes.  Remembered in memory only: who was started again since, or got the place from another
peer, does not know of it.
"""

from __future__ import annotations

from typing import Final

from chord import dataclass
from meteor.keeping.holdings import Intervals
from meteor.keeping.placement import GONE, MOVED, Key, Placed, key_of
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.task import Task
from meteor.wire.operations import Carried
from meteor.wire.record_id import place_of
from squid import Box, HilbertCurve, covers, intersect, merge

HALFWAY_MAX: Final = 1024
"""So many are remembered; the oldest are forgotten first.  Most are over in milliseconds."""
RUNS: Final = 16
"""In so many intervals an old place is named."""
LEFT_ALONE_S: Final = 5.0
"""For so long a replace is its client's and its peer's."""


@dataclass(frozen=True, slots=True)
class Half:
    """A record that took the place of its former version from another region."""

    key: Key
    old_id: str


class Halfway:
    """The replaces that one peer has seen the first half of."""

    def __init__(self, shelf: Shelf, curve: HilbertCurve) -> None:
        self._shelf, self._curve = shelf, curve
        self._halves: dict[Half, float] = {}
        """Since when each of them is."""

    def __len__(self) -> int:
        return len(self._halves)

    def note(self, old: Carried, now: float) -> None:
        """Something takes the place here of this one, that lives in another region."""
        if len(self._halves) >= HALFWAY_MAX:
            self._forget_over()
        if len(self._halves) >= HALFWAY_MAX:
            del self._halves[next(iter(self._halves))]
        self._halves.setdefault(Half(key_of(old), old.id), now)

    def due(self, held: Intervals, now: float) -> list[tuple[Half, Placed]]:
        """What whoever holds its old place is to finish, and what took that."""
        found = []
        for half, since_s in list(self._halves.items()):
            new = self._shelf.find(half.key)
            if new is None or self._is_over(half):
                del self._halves[half]
            elif now - since_s >= LEFT_ALONE_S and self._is_held(half, held):
                found.append((half, new))
        return found

    def untold(self, task: Task, part: Intervals) -> Intervals:
        """The places in `part`, of what is asked for and its sender may see, where it is no more
        and of which nobody may tell elsewhere."""
        if task.operation.verb != "retrieve":
            return ()
        self._forget_over()
        box = task.box
        missing: Intervals = ()
        for half in self._halves:
            new = self._shelf.find(half.key)
            if new is not None and self._shelf.sees(task.operation.owner, new.carried):
                lowest = self._shelf.lowest_in(box, new)
                if lowest is not None and not covers(part, lowest):
                    missing = merge(missing, self._old_place(half, box, part))
        return missing

    def _old_place(self, half: Half, box: Box, part: Intervals) -> Intervals:
        asked = place_of(half.old_id, self._curve)[1].intersection(box)
        return () if asked is None else intersect(part, self._curve.clusters(asked, RUNS))

    def _is_held(self, half: Half, held: Intervals) -> bool:
        _, box, _ = place_of(half.old_id, self._curve)
        return any(self._curve.has_match(box, *interval) for interval in held)

    def _forget_over(self) -> None:
        for half in [one for one in self._halves if self._is_over(one)]:
            del self._halves[half]

    def _is_over(self, half: Half) -> bool:
        """Word of the move came, or what took the place is gone."""
        new, (owner, _) = self._shelf.find(half.key), half.key
        return self._shelf.find((owner, half.old_id)) is not None or not self._lives(new, half)

    def _lives(self, new: Placed | None, half: Half) -> bool:
        if new is None or new.carried.kind in {GONE, MOVED} or new.carried.id == half.old_id:
            return False
        return new.carried.ttl_ms > self._shelf.wall_ms()
