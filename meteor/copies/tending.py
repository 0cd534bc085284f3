"""Tending: keeping as many whole copies as there should be, of what and where the ring says.

Law of this file: a slow loop beside the peer's work; it asks, fills and lets go, one step at a
time, and decides by `meteor.keeping.views`.  A recruit hears every change from the moment in which
it begins to learn; then it is given all that was there before; only then is it a copy (DESIGN
section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from chord import Contact, Runtime
from meteor.copies.config import CopiesConfig
from meteor.copies.entropy import AntiEntropy
from meteor.copies.replication import Replication
from meteor.copies.turns import Bell
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Instated, Keep, Kept, Learn, Watermarks
from meteor.wire.view import View
from squid import Intervals

MARKS_EVERY_S: Final = 2.0
MARKS_PAUSE_S: Final = 0.005
"""Between two parts of many: somebody else's turn comes first."""

Part = tuple[list[tuple[str, str, int]], bool]
"""Watermarks by owner and stem, and whether more are to be asked for."""


class Tending:
    """What one peer does so that others have copies."""

    def __init__(
        self,
        runtime: Runtime,
        views: Views,
        shelf: Shelf,
        replication: Replication,
        entropy: AntiEntropy,
        watermarks: Callable[[], Iterator[Part]],
        config: CopiesConfig,
    ) -> None:
        self._runtime, self._config, self._views, self._shelf = runtime, config, views, shelf
        self._replication, self._entropy = replication, entropy
        self._watermarks = watermarks
        self._bell = Bell(runtime, "tending")
        self._shunned: dict[int, float] = {}
        self._marked_s = runtime.now()
        self._is_marking = False
        replication.on_changed = self.wake

    def wake(self) -> None:
        """Look now."""
        self._bell.ring()

    async def go_on(self) -> None:
        """Tend for ever."""
        while True:
            await self._look()
            pause_s = 0.05 if self._is_pressing() else self._config.tend_s
            await self._bell.wait(pause_s)

    def _is_pressing(self) -> bool:
        return any(self._replication.is_pressing(view) for view in self._views.own.values())

    async def _look(self) -> None:
        await self._replication.gifts.begun(self._is_pressing)
        await self._recruit()
        await self._replication.settling.look()
        self._resync()
        await self._unify()
        self._mark()

    # -- recruiting

    async def _recruit(self) -> None:
        """Fill who lacks, then let go who is not wanted any more."""
        now = self._runtime.now()
        wanted = [one for one in self._replication.wanted() if self._may_ask(one, now)]
        for number in list(self._views.own):
            for contact in wanted:
                view = self._views.own.get(number)
                if view is not None and not view.counts_on(contact):
                    await self._fill(view, contact)
            await self._dismiss(number, wanted)

    def _may_ask(self, contact: Contact, now: float) -> bool:
        return now >= self._shunned.get(contact.id, 0.0)

    async def _dismiss(self, number: int, wanted: list[Contact]) -> None:
        view = self._views.own.get(number)
        if view is None:
            return
        ids = {one.id for one in wanted}
        surplus = [copy for copy in view.copies if copy.id not in ids]
        if len(view.copies) - len(surplus) < self._config.copies - 1:
            # Who said that it leaves gives nothing any more.  Who is silent may be back with all
            # that it had: it is evicted by what it misses, and not before.
            surplus = [copy for copy in surplus if self._replication.has_left(copy)]
        if surplus:
            await self._replication.change(number, without=surplus, patient=True)

    async def _fill(self, view: View, contact: Contact) -> bool:
        """Make a recruit a copy; whether it is one now."""
        reply = await self._replication.ask(contact, Learn(view))
        if not isinstance(reply, Instated) or reply.newer or not reply.known:
            if isinstance(reply, Instated):
                self._replication.passed_over(reply.newer)
            self._shunned[contact.id] = self._runtime.now() + self._config.shun_s
            return False
        learners = self._replication.learners
        learners[contact.id] = (contact, view.number)
        try:
            # What is under way was perhaps sent to all copies before this one began to learn, and
            # does not show yet.  Not waited for: it may itself be waiting for a copy.
            under_way = self._shelf.under_way(view.intervals)
            taken_in = self._views.taken_in.within(view.intervals)
            if not await self._push(contact, view.intervals) or contact.id not in learners:
                return False
            last = Keep(view.intervals, under_way, taken_in)
            if (under_way or taken_in) and not await self._give(contact, last):
                return False
            return await self._add(view.number, contact)
        finally:
            learners.pop(contact.id, None)

    async def _add(self, number: int, contact: Contact) -> bool:
        """Where a view has no copy at all it does not wait for what was given; else it does, also
        for what is given while it waits for its turn."""
        change, gifts = self._replication.change, self._replication.gifts
        while True:
            await gifts.begun(self._is_pressing)
            patient = not self._is_pressing()
            if await change(number, add=contact, patient=patient):
                return True
            if not patient or not gifts.are_open() or contact.id not in self._replication.learners:
                return False

    async def _push(self, contact: Contact, intervals: Intervals) -> bool:
        """Send a copy everything; whether it has it now."""
        for interval, carried in self._shelf.pages(intervals):
            if not await self._give(contact, Keep((interval,), carried)):
                return False
        return True

    async def _give(self, contact: Contact, message: Keep) -> bool:
        reply = await self._replication.ask(contact, message)
        return isinstance(reply, Kept) and reply.known and not reply.newer

    def _resync(self) -> None:
        """What came from a former life goes to the copies as well: compared at once, and so that
        the epoch of the last comparison does not hide it."""
        if self._replication.resync:
            self._replication.resync.clear()
            self._entropy.stir()

    async def _unify(self) -> None:
        """Views with the same copies become one, where both know all: of a past that one of them
        does not know, its number tells since when it goes on without it."""
        views = sorted(self._views.own.values(), key=lambda view: view.number)
        for one, other in pairwise(views):
            same = one.copies and one.holder_ids == other.holder_ids
            unsure = one.unknown or other.unknown or one.is_brief or other.is_brief
            if same and not unsure:
                await self._replication.unify(one, other)

    def _mark(self) -> None:
        """Tell the copies how far the clients are; of many interests some now, and others while
        this peer goes on tending."""
        early = self._runtime.now() - self._marked_s < MARKS_EVERY_S
        if self._is_marking or early or self._replication.changing.is_busy:
            return  # a copy forgets what it was told when it hears of a gain: nothing in between
        self._marked_s = self._runtime.now()
        parts = self._watermarks()
        if self._mark_next(parts):
            self._is_marking = True
            self._runtime.spawn(self._mark_on(parts))

    async def _mark_on(self, parts: Iterator[Part]) -> None:
        try:
            await self._runtime.sleep(MARKS_PAUSE_S)
            while self._replication.changing.is_busy or self._mark_next(parts):
                await self._runtime.sleep(MARKS_PAUSE_S)
        finally:
            self._is_marking = False

    def _mark_next(self, parts: Iterator[Part]) -> bool:
        """Tell of one part; whether there are others."""
        marks, more = next(parts)
        copies = {copy.id: copy for view in self._views.own.values() for copy in view.copies}
        for one in sorted(copies) if marks else ():
            self._runtime.send(copies[one], Watermarks(tuple(marks)))
        return more
