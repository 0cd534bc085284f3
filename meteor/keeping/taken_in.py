"""Taken in: of which ended views of others all content is among what is kept here.

Law of this file: pure.  A copy goes over to a later view without a word, and content is merged by
whoever keeps an interval; that a peer has records of an interval says nothing about whose.  What is
noted here is true while the interval stays kept without a break, restarts included (DESIGN
section 5).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from chord import replace
from meteor.wire.view import Ended, ended_within
from squid import Intervals, intersect, merge, subtract

NOTES_MAX: Final = 256
"""Ended views noted: older ones are long merged, or lost and named."""
LEARNED_MAX: Final = 128
"""Of these what others show at a time, the last ones; and of how many intervals each: bounds for
hostile input, far above what a ring has, so that one's own notes stay."""
PIECES_MAX: Final = 64


_Range = tuple[int, int, int]


class TakenIn:
    """The ended views of one peer's shelf."""

    def __init__(self) -> None:
        self._parts: OrderedDict[_Range, Ended] = OrderedDict()
        """By the primary's id, and its epochs: the last one first."""

    def __len__(self) -> int:
        return len(self._parts)

    def ended(self) -> tuple[Ended, ...]:
        """All that is noted, as it is written down."""
        return tuple(self._parts.values())

    def within(self, part: Intervals) -> tuple[Ended, ...]:
        """What of it lies in `part`."""
        part = merge(part)
        if not part:
            return ()
        first, last = part[0][0], part[-1][1]
        near = [
            one for one in self._parts.values()
            if one.intervals[0][0] <= last and first <= one.intervals[-1][1]
        ]  # fmt: skip
        return ended_within(near, part)

    def restore(self, ended: Iterable[Ended]) -> None:
        """What was written down, of records that are on the shelf again."""
        for one in ended:
            self.note(one.primary, one.epoch, one.intervals, one.since)

    def learn(self, ended: Iterable[Ended], part: Intervals) -> None:
        """All of `part` was taken from somebody who could show this of it."""
        for one in list(ended)[-LEARNED_MAX:]:
            if len(one.intervals) <= PIECES_MAX:
                had = intersect(merge(one.intervals), part)
                self.note(one.primary, one.epoch, had, one.since)

    def note(self, primary_id: int, epoch: int, part: Intervals, since: int = 0) -> None:
        """All that was acknowledged of `part` in an epoch of a primary is on the shelf; what was in
        an earlier one as well, as far as `since`."""
        if part:
            key = (primary_id, epoch, since)
            within = [
                one for one in self._parts
                if one[0] == primary_id and since <= one[2] and one[1] <= epoch and one != key
            ]  # fmt: skip
            self._keep({one: subtract(self._parts[one].intervals, part) for one in within})
            had = self._parts.get(key)
            both = merge(part if had is None else (*had.intervals, *part))
            self._parts[key] = Ended(primary_id, epoch, both, since)
            while len(self._parts) > NOTES_MAX:
                self._parts.popitem(last=False)

    def of(self, primary_id: int, epoch: int, since: int | None = None) -> Intervals:
        """Of what all is here that a primary had acknowledged when that epoch ended; or all since
        an earlier one began."""
        first = epoch if since is None else since
        return merge(
            *(
                one.intervals
                for (primary, last, earliest), one in self._parts.items()
                if primary == primary_id and earliest <= first and epoch <= last
            )
        )

    def forget(self, part: Intervals) -> None:
        """Records of `part` left the shelf."""
        self._keep({key: subtract(had.intervals, part) for key, had in self._parts.items()})

    def keep_only(self, kept: Intervals) -> None:
        """Records outside `kept` left the shelf."""
        self._keep({key: intersect(had.intervals, kept) for key, had in self._parts.items()})

    def _keep(self, parts: dict[_Range, Intervals]) -> None:
        for key, part in parts.items():
            if not part:
                del self._parts[key]
            elif part != self._parts[key].intervals:
                self._parts[key] = replace(self._parts[key], intervals=part)
