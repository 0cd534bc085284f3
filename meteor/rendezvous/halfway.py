"""What was replaced here by the first half of a replace, whose second half has not come.

Law of this file: pure, looks at the shelf and changes nothing there.  The new content goes to its
whole region first, then the old one leaves.  A peer that has both, as a holder or a copy of
either, keeps one of them: where the rest of the new region cannot be reached it has lost the old
content, and the new one is told by whoever holds its first cell, that never had it.  So the old
place is missing in whatever asks for it and is not told of the new content here, be it that it does
not ask for that, until word of the move comes; and the new content stays here for as long, though
others have taken it over from a copy.  Remembered in memory only: who was started again since, or
got the place from another peer, does not know of it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from typing import Final

from chord import dataclass, replace
from meteor.errors import ProfileError
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import GONE, MOVED, Key, Placed, key_of
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.box_rows import BoxRows
from meteor.rendezvous.task import Task
from meteor.wire.entropy_messages import RecordState
from meteor.wire.operations import Carried
from meteor.wire.record_id import place_of
from squid import Box, HilbertCurve, covers, intersect, merge

HALFWAY_MAX: Final = 1024
"""Of more than so many that lie where it asks no question looks at each: all of that is missing.
Most are over in milliseconds; what a cut leaves behind may be more, or who posts other contents
under the same names again and again."""
RUNS: Final = 16
"""In so many intervals an old place is named."""
NAMED_MAX: Final = 32
"""So many places are named to one question; where there are more, all that was asked for is."""
TAKES: Final = frozenset({"retrieve", "delete_data"})
"""What would miss what is at none of its places."""
LEFT_ALONE_S: Final = 1.0
"""For so long a replace is its client's and its peer's."""


VERSIONS_A_MS: Final = 1000
"""An author's counter runs with the clock (`meteor.client.authors_counter`)."""


def newest_of(word: Carried, now_ms: int) -> int:
    """A version that is later than any that what was deleted has come to elsewhere."""
    return max(word.version + 1, now_ms * VERSIONS_A_MS)


@dataclass(frozen=True, slots=True)
class Half:
    """A record that took the place of its former version from another region."""

    key: Key
    old_id: str


@dataclass(frozen=True, slots=True)
class Left:
    """What is remembered of the former version."""

    since_s: float
    box: Box
    old: Carried
    """Without its content: who might see it."""
    row: int
    is_elsewhere: bool = False
    """Whoever answers for its place has it still, and need not know of what took it here."""


class Halfway:
    """The replaces that one peer has seen the first half of."""

    def __init__(
        self,
        shelf: Shelf,
        holdings: Holdings,
        curve: HilbertCurve,
        present: Callable[[], Intervals],
    ) -> None:
        """`present` says what this peer holds, or is a copy of."""
        self._shelf, self._holdings, self._curve = shelf, holdings, curve
        self._present = present
        self._halves: dict[Half, Left] = {}
        self._of_key: dict[Key, set[Half]] = {}
        self._rows = BoxRows[Half](curve.dimensions)
        """The same by the old places."""
        self._room = HALFWAY_MAX
        """With so many those that are over are forgotten."""
        self.over: Callable[[Placed], object] = lambda _: None
        """Hears of what took the place of one that is halfway no more: it is needed no longer."""
        shelf.needed = self.needs

    def __len__(self) -> int:
        return len(self._halves)

    def note(self, old: Carried, now: float, *, is_elsewhere: bool = False) -> None:
        """Something takes the place here of this one, that lives in another region."""
        if len(self._halves) >= self._room:
            self._forget_over()
            self._room = max(HALFWAY_MAX, 2 * len(self._halves))
        box = place_of(old.id, self._curve)[1]
        half = Half(key_of(old), old.id)
        self._drop(half)  # of an earlier time that it left this place
        row = self._rows.put(half, box)
        old = replace(old, blob=b"", route=None)
        self._halves[half] = Left(now, box, old, row, is_elsewhere)
        self._of_key.setdefault(half.key, set()).add(half)

    def needs(self, key: Key) -> bool:
        """Whether all that is known of the old place here is what took the place of it, be that
        elsewhere by now."""
        if key not in self._of_key:
            return False
        left = [self._halves[half] for half in self._of_key[key]]
        present = self._present()
        return any(self._shelf.meets(one.old, present) for one in left)

    def found(self, state: RecordState, new: Carried, now: float) -> None:
        """Another holder has a former version at its place, of which nothing is known here, be it
        that this peer was started again since, or never had it."""
        old = replace(new, kind=state.kind, id=state.id, version=state.version)
        half = Half(key_of(old), old.id)
        left = self._halves.get(half)
        if left is None or not left.is_elsewhere:
            since_s = now if left is None else left.since_s
            with suppress(ProfileError):  # a hostile peer describes what is nowhere
                self.note(old, since_s, is_elsewhere=True)

    def due(self, now: float) -> list[tuple[Half, Placed]]:
        """What whoever holds its old place is to finish, and what took that; at once, and whoever
        knows of it, where that was deleted, and the former version is not."""
        found, held = [], self._holdings.held
        self._forget_over()
        for half, left in self._halves.items():
            new = self._shelf.find(half.key)
            is_mine = left.is_elsewhere or self._shelf.meets(left.old, held)
            is_due = now - left.since_s >= LEFT_ALONE_S and is_mine
            if new is not None and (is_due or new.carried.kind == GONE):
                found.append((half, new))
        return found

    def word_back(self, half: Half, stone: Carried) -> Carried | None:
        """Of what was deleted where it went: as if it had gone from there to its old place,
        which it is to leave.  None where that is over; asked for once, by who leaves it there."""
        left = self._drop(half)
        if left is None:
            return None
        return replace(stone, kind=MOVED, version=left.old.version, moved_to=half.old_id)

    def is_open(self, half: Half, new: Carried) -> bool:
        """Whether it is halfway still, to this state of it."""
        left, placed = self._halves.get(half), self._shelf.find(half.key)
        if left is None or placed is None or self._is_over(half, left):
            return False
        return (placed.carried.id, placed.carried.version) == (new.id, new.version)

    def deleted(self, was: Carried, stone: Carried) -> bool:
        """Whether a delete of the former version comes to what was halfway: others may have what
        took its place, and nothing else."""
        return self._drop(Half(key_of(was), stone.id)) is not None

    def put_off(self, half: Half) -> None:
        """It was tried in vain: the others are first now."""
        if half in self._halves:
            self._halves[half] = self._halves.pop(half)

    def untold(self, task: Task, part: Intervals, after_s: float = -inf) -> Intervals:
        """The places in `part`, of what is asked for and its sender may see, where it is no more
        and of which nobody may tell elsewhere; of those alone that are halfway since `after_s`.
        Who does not ask for the new place as well is not told of it."""
        if task.operation.verb not in TAKES:
            return ()
        if self._are_too_many(task.box):
            return () if after_s > -inf else part
        missing: Intervals = ()
        named = 0
        for half in self._rows.within(task.box):
            left = self._halves[half]
            asked = left.box.intersection(task.box)
            if asked is None or left.since_s < after_s:
                continue
            if not self._is_untold(half, left, task, part):
                continue
            missing = merge(missing, intersect(part, self._curve.clusters(asked, RUNS)))
            named += 1
            if named == NAMED_MAX:
                return part
        return missing

    def _are_too_many(self, box: Box) -> bool:
        if len(self._halves) <= HALFWAY_MAX or self._rows.count(box) <= HALFWAY_MAX:
            return False
        self._forget_over()
        return self._rows.count(box) > HALFWAY_MAX

    def _is_untold(self, half: Half, left: Left, task: Task, part: Intervals) -> bool:
        new, sees = self._shelf.find(half.key), partial(self._shelf.sees, task.operation.owner)
        if new is None or new.carried.kind == GONE or self._is_over(half, left):
            return False
        if not (sees(left.old) or sees(new.carried)):
            return False
        if new.is_point and covers(self._holdings.held, new.lowest):
            return False  # all of it is here, and whoever asks for it is told
        lowest = self._shelf.lowest_in(task.box, new)
        if lowest is None:  # a point has one holder, who has it all by now: ask there, and hear it
            return not new.is_point
        return not covers(part, lowest)

    def _forget_over(self) -> None:
        for half in [one for one, left in self._halves.items() if self._is_over(one, left)]:
            self._drop(half)

    def _drop(self, half: Half) -> Left | None:
        left = self._halves.pop(half, None)
        if left is None:
            return None
        self._rows.take(left.row)
        others = self._of_key[half.key]
        others.remove(half)
        if not others:
            del self._of_key[half.key]
        new = self._shelf.find(half.key)
        if new is not None:
            self.over(new)
        return left

    def _is_over(self, half: Half, left: Left) -> bool:
        """Word of the move came, not of an earlier one from there, or what took the place is
        gone."""
        new, (owner, _) = self._shelf.find(half.key), half.key
        word = self._shelf.find((owner, half.old_id))
        has_word = word is not None and word.carried.version > left.old.version
        return has_word or not self._lives(new, half)

    def _lives(self, new: Placed | None, half: Half) -> bool:
        if new is None or new.carried.kind == MOVED or new.carried.id == half.old_id:
            return False
        return new.carried.ttl_ms > self._shelf.wall_ms()
