"""What anti-entropy is told of this peer: its shelf, its views, and how it takes records in.

Law of this file: an adapter, no decisions of its own.  What is answered for here is taken in like a
post, at every copy; what is kept for another peer like what that one writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any

from chord import Contact, Fault
from meteor.copies.copying import Superseded
from meteor.copies.entropy_source import MOVED_FAULT, Target
from meteor.keeping.fingerprints import Fingerprints
from meteor.keeping.placement import Admission, Key, Placed
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.entropy_messages import RecordState
from meteor.wire.operations import Carried
from squid import Intervals, subtract


class HoldingsSource:
    """The source of one peer's comparisons."""

    def __init__(
        self,
        shelf: Shelf,
        views: Views,
        merge: Callable[[Sequence[Carried]], Coroutine[Any, Any, int]],
        evict: Callable[[Contact], Coroutine[Any, Any, None]],
    ) -> None:
        self._shelf, self._views = shelf, views
        self._merge, self._evict = merge, evict
        self.on_outlived: Callable[[RecordState, Carried], object] = lambda _, __: None
        """Hears of an earlier version that another holder has at another place, and the later."""

    @property
    def fingerprints(self) -> Fingerprints:
        """Of everything that shows on the shelf."""
        return self._shelf.table.fingerprints

    def find(self, key: Key) -> Placed | None:
        """The record or tombstone of an identity."""
        return self._shelf.find(key)

    def is_begun(self, keys: Collection[Key]) -> bool:
        """Whether a change of one of these is under way."""
        return self._shelf.is_begun(keys)

    def wall_ms(self) -> int:
        """The wall clock in milliseconds."""
        return self._shelf.wall_ms()

    def outgoing(self, carried: Carried) -> Carried:
        """A record as it travels."""
        return self._shelf.outgoing(carried)

    def outlived(self, state: RecordState, by: Carried) -> None:
        """What is earlier has not left its place."""
        self.on_outlived(state, by)

    async def admit(self, carried: Sequence[Carried]) -> int:
        """Take in what is news; how many were."""
        held = self._views.held()
        mine = [one for one in carried if self._shelf.meets(one, held)]
        others = [one for one in carried if not self._shelf.meets(one, held)]
        news = len(self._shelf.news(others))
        await self._shelf.admit(others, Admission())
        try:
            return news + await self._merge(mine)
        except Superseded as error:
            raise Fault(MOVED_FAULT, str(error)) from error

    def targets(self) -> Sequence[Target]:
        """Every copy of every own view."""
        return [
            Target(copy, view.intervals, view.epoch)
            for view in self._views.own.values()
            for copy in view.copies
        ]

    async def disowned(self, target: Target) -> None:
        """Evict it, unless the view is another one meanwhile."""
        if target in self.targets():
            await self._evict(target.copy)

    def check(self, primary: Contact, intervals: Intervals) -> None:
        """Raises `Fault` unless this peer keeps all these intervals for `primary`."""
        if subtract(intervals, self._views.kept_for(primary.id, whole=False)):
            raise Fault(MOVED_FAULT, "this is not kept here for you")
