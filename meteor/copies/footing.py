"""Footing: on what it was decided that a view begins, and whether that is so still.

Law of this file: pure.  Who takes an interval over asks around, waits for its turn and for the
copies.  The primary that seemed dead may come back meanwhile, let this peer be its copy in a next
epoch, and acknowledge something under that: it is here then, and not at whoever kept the earlier
epoch (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Mapping

from chord import replace
from meteor.keeping.views import Views
from meteor.wire.view import RIVALS_MAX, Copy, Rival, View, ViewKey
from squid import intersect, merge, subtract

Kept = Mapping[ViewKey, Copy] | None
"""What a peer kept for others as it decided something; None where it was not by that."""


class Footing:
    """Of one view that is to begin at one peer, or to go on."""

    def __init__(self, views: Views, view: View, kept: Kept) -> None:
        self._views, self._view, self._kept = views, view, kept
        self.touched = views.touching(view.intervals)
        """The own views of the same, until then."""

    def holds(self) -> bool:
        """Whether none of that was given up meanwhile, or went on, nor anything later is known, nor
        what was kept here for others went on, or was let go of."""
        if self._kept is not None and self._went_on(self._kept):
            return False
        if any(copy.view.epoch > self._view.epoch for copy in self._new()):
            return False
        return self._views.touching(self._view.intervals) == self.touched

    def with_own(self) -> View:
        """The view, with what began here meanwhile as its rival: the copies of that are others.
        What was given cannot be left to its giver any more; more than it has room for is lost."""
        own = ((one, intersect(one.intervals, self._view.intervals)) for one in self.touched)
        rivals = [Rival(part, one.epoch, one.holders, intersect(one.lost, part), one.number)
                  for one, part in own if one.number != self._view.number]  # fmt: skip
        named = (*self._view.rivals, *rivals)
        over = merge(*(one.intervals for one in named[RIVALS_MAX:]))
        lost = merge(self._view.lost, over)
        return replace(self._view, rivals=named[:RIVALS_MAX], lost=lost) if rivals else self._view

    def beside(self) -> list[View]:
        """What took the place of what was kept, and this view passes over: another heir's, perhaps,
        who waits as this one does.  Were both to give way, nobody would go on."""
        parts = (copy.view.within(self._view.intervals) for copy in self._new() if copy.whole)
        return [one for one in parts if one is not None]

    def _went_on(self, kept: Mapping[ViewKey, Copy]) -> bool:
        whole = merge(*(one.view.intervals for one in self._views.copies.values() if one.whole))
        for key, copy in kept.items():
            part = intersect(copy.view.intervals, self._view.intervals)
            now = self._views.copies.get(key)
            if not part or not copy.whole:
                continue
            if now is not None and (now.view.epoch, now.whole) != (copy.view.epoch, True):
                return True
            if subtract(part, whole):
                return True
        return False

    def _new(self) -> list[Copy]:
        """What is kept of it for others now and was not."""
        kept = self._views.copies if self._kept is None else self._kept
        return [
            copy for key, copy in self._views.copies.items()
            if key not in kept and key[0] != self._view.primary.id
            and intersect(copy.view.intervals, self._view.intervals)
        ]  # fmt: skip
