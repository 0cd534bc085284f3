"""Footing: on what it was decided that a view begins, and whether that is so still.

Law of this file: pure.  Who takes an interval over asks around, waits for its turn and for the
copies.  The primary that seemed dead may come back meanwhile, let this peer be its copy in a next
epoch, and acknowledge something under that: it is here then, and not at whoever kept the earlier
epoch (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Mapping

from meteor.keeping.views import Views
from meteor.wire.view import Copy, View, ViewKey
from squid import intersect

Kept = Mapping[ViewKey, Copy] | None
"""What a peer kept for others as it decided something; None where it was not by that."""


class Footing:
    """Of one view that is to begin at one peer, or to go on."""

    def __init__(self, views: Views, view: View, kept: Kept) -> None:
        self._views, self._view, self._kept = views, view, kept
        self.touched = views.touching(view.intervals)
        """The own views of the same, until then."""

    def holds(self) -> bool:
        """Whether none of that was given up meanwhile, or went on, and just that is kept here for
        others by which it was decided."""
        kept, now = self._kept, self._views.copies
        if kept is not None and self._parts(kept) != self._parts(now):
            return False
        return self._views.touching(self._view.intervals) == self.touched

    def _parts(self, kept: Mapping[ViewKey, Copy]) -> set[tuple[object, ...]]:
        own_id, of = self._view.primary.id, self._view.intervals
        return {
            (key, copy.view.epoch, copy.whole, part)
            for key, copy in kept.items()
            if key[0] != own_id and (part := intersect(copy.view.intervals, of))
        }
