"""Few holders: what does not count, where an operator wants more of them (`copies_min`).

Law of this file: it looks at this peer's views and its clock, and sends nothing.  One survivor is
enough by itself (DESIGN section 5), so that what the last one acknowledged may be unknown to those
that come back before it.  Who would rather wait than that says how many holders there have to be:
under a view with fewer nothing is acknowledged, and no answer is complete.  For as long as a ring
that falls takes to fall a question waits for more of them; then it names the part at once.  Nothing
of it is shown: what went elsewhere would be in an answer that others make complete.  Nor does a
copy answer in its primary's stead unless as many copies say the same (`Lease`).
"""

from __future__ import annotations

from chord import Runtime
from meteor.copies.config import CopiesConfig
from meteor.keeping.views import Views
from meteor.wire.view import View
from squid import Intervals, merge, subtract


class FewHolders:
    """Which of the views that one peer knows have too few holders to count."""

    def __init__(self, runtime: Runtime, views: Views, config: CopiesConfig) -> None:
        self._runtime, self._views, self._config = runtime, views, config
        self._since_s: dict[int, float] = {}
        """Since when an own view has had too few, by its number."""

    def lately_and_long(self) -> tuple[Intervals, Intervals]:
        """Of what is held here, what has had too few holders for a short time only, and what has
        for longer."""
        small, until_s = self.look(), self._runtime.now() - self._config.falling_s
        long = merge(*(one.intervals for one in small if self._since_s[one.number] <= until_s))
        return subtract(merge(*(one.intervals for one in small)), long), long

    def look(self) -> list[View]:
        """The own views that have too few; whoever keeps time looks as well: asked in questions
        alone, one that has enough for a while and too few again would have had so all the time."""
        now, small = self._runtime.now(), [*filter(self._config.is_small, self._views.own.values())]
        self._since_s = {one.number: self._since_s.get(one.number, now) for one in small}
        return small
