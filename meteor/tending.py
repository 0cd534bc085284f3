"""Tending: keeping as many whole copies as there should be, of what and where the ring says.

Law of this file: a slow loop beside the peer's work; it asks, fills and lets go, one step at a
time, and decides by `meteor.views`.  A recruit hears every change from the moment in which it
begins to learn; then it is given all that was there before; only then is it a copy (DESIGN section
5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Final

from chord import CallError, ChordNode, Contact, LookupFailed, NotJoined, Runtime
from meteor.copy_keeper import CopyKeeper
from meteor.copy_messages import Instated, Keep, Kept, Learn, Stands, Watermarks
from meteor.entropy import AntiEntropy
from meteor.handoff import Handoff
from meteor.holdings import Holdings
from meteor.lease import Lease
from meteor.operations import Inherit, Inherited
from meteor.placement import Admission
from meteor.replication import CopiesConfig, Replication
from meteor.shelf import Shelf
from meteor.turns import Bell
from meteor.views import View, Views
from squid import Interval, Intervals, intersect, of_arc, subtract

OUTSIDE_S: Final = 2.0
"""How long something is held outside the arc before it is offered: a joiner pulls it sooner."""
ORPHANED_S: Final = 30.0
"""A copy whose primary has been silent for so long is offered to whom the ring names."""
MARKS_EVERY_S: Final = 2.0
OFFER_S: Final = 10.0


class Tending:
    """What one peer does for its copies, and with what it keeps for others."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        views: Views,
        holdings: Holdings,
        shelf: Shelf,
        replication: Replication,
        keeper: CopyKeeper,
        handoff: Handoff,
        on_found: Callable[[Intervals, Admission], None],
        watermarks: Callable[[], Iterable[tuple[str, str, int]]],
        lease: Lease,
        entropy: AntiEntropy,
        config: CopiesConfig,
        *,
        index_bits: int,
        id_bits: int,
    ) -> None:
        self._node, self._runtime, self._config = node, runtime, config
        self._views, self._holdings, self._shelf = views, holdings, shelf
        self._replication, self._keeper, self._handoff = replication, keeper, handoff
        self._on_found, self._watermarks = on_found, watermarks
        self._lease, self._entropy = lease, entropy
        self._index_bits, self._id_bits = index_bits, id_bits
        self.damaged = False
        """Whether the journal has lost something since it was begun."""
        self._bell = Bell(runtime, "tending")
        self._shunned: dict[int, float] = {}
        self._outside_since: float | None = None
        self._alone_since: dict[tuple[int, int], float] = {}
        self._marked_s = runtime.now()
        replication.on_changed = self.wake

    def wake(self) -> None:
        """Look now."""
        self._bell.ring()

    async def go_on(self) -> None:
        """Tend for ever."""
        while True:
            await self._look()
            pressing = any(self._replication.lacks(view) for view in self._views.own.values())
            pause_s = 0.05 if pressing else self._config.tend_s
            await self._bell.wait(pause_s)

    async def _look(self) -> None:
        self._lease.pulse()
        await self._recruit()
        self._resync()
        await self._unify()
        if self._handoff.leaving:
            return
        await self._heal()
        await self._offer_outside()
        await self._offer_former()
        await self._make_whole()
        await self._let_go()
        self._mark()

    # -- recruiting

    async def _recruit(self) -> None:
        """Fill who lacks, then let go who is not wanted any more."""
        now = self._runtime.now()
        wanted = [one for one in self._replication.wanted() if self._may_ask(one, now)]
        for number in list(self._views.own):
            for contact in wanted:
                view = self._views.own.get(number)
                if view is not None and not view.has_copy(contact.id):
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
        enough = len(view.copies) - len(surplus) >= self._config.copies - 1
        for copy in surplus if enough else ():
            await self._replication.change(number, without=copy)

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
            await self._replication.barrier()
            if not await self._push(contact, view.intervals) or contact.id not in learners:
                return False
            return await self._replication.change(view.number, add=contact)
        finally:
            learners.pop(contact.id, None)

    async def _push(self, contact: Contact, intervals: Intervals) -> bool:
        """Send a copy everything; whether it has it now."""
        for interval in intervals:
            cursor, more = 0, True
            while more:
                page = self._shelf.page(interval, cursor)
                cursor, more = page.cursor, page.more
                if not page.carried:
                    continue
                reply = await self._replication.ask(contact, Keep((interval,), page.carried))
                if not isinstance(reply, Kept) or not reply.known or reply.newer:
                    return False
        return True

    def _resync(self) -> None:
        """What came from a former life goes to the copies as well: compared at once, and so that
        the epoch of the last comparison does not hide it."""
        if self._replication.resync:
            self._replication.resync.clear()
            self._entropy.stir()

    async def _unify(self) -> None:
        """Views with the same copies become one."""
        views = sorted(self._views.own.values(), key=lambda view: view.number)
        for one, other in pairwise(views):
            if one.copies and one.holder_ids == other.holder_ids:
                await self._replication.unify(one, other)

    # -- what was lost, and what is in the wrong place

    async def _heal(self) -> None:
        """Ask again for what was lost: a holder may have come back."""
        for interval in self._holdings.lost:
            found = await self._handoff.heirs.ask(interval, ())
            for step in self._handoff.heirs.heal(found):
                await self._find(step.piece, step.sources)

    async def _find(self, piece: Intervals, sources: tuple[Contact, ...]) -> None:
        here = any(one.id == self._runtime.contact.id for one in sources)
        if not here and not await self._handoff.reconciling.absorb(piece, sources[0]):
            return
        for view in self._views.touching(piece):
            part = intersect(view.lost, piece)
            if part and await self._replication.found(view.number, part):
                self._on_found(part, Admission())

    async def _offer_outside(self) -> None:
        """Offer what is held outside the arc: its owner holds it too, or does not know of it."""
        outside = subtract(self._holdings.held, self._handoff.owned())
        now = self._runtime.now()
        if not outside or self._node.arc is None:
            self._outside_since = None
            return
        if self._outside_since is None:
            self._outside_since = now
        if now - self._outside_since >= OUTSIDE_S:
            for interval in outside:
                await self._offer(interval)

    async def _offer_former(self) -> None:
        """What was had in a former life goes to whom the ring names, who has it all then."""
        for view in list(self._views.former):
            for interval in view.intervals:
                for taken in await self._offer(interval):
                    self._views.forget_former((taken,))
        await self._keeper.tidy_if_less()

    async def _make_whole(self) -> None:
        """All that the journal had lost is here again, or elsewhere: it begins anew."""
        if self.damaged and not self._views.former and not self._handoff.uncovered():
            self.damaged = False
            await self._shelf.rewrite(self._views)

    async def _offer(self, interval: Interval) -> list[Interval]:
        """Offer an interval to its owners, piece by piece; returns what they have now."""
        taken: list[Interval] = []
        first, last = interval
        shift = self._id_bits - self._index_bits
        while first <= last:
            try:
                owner = await self._node.lookup(first << shift, timeout_s=OFFER_S)
            except (LookupFailed, NotJoined):
                return taken
            arc = of_arc(owner.arc.after, owner.arc.last, self._index_bits, self._id_bits)
            mine = [piece for piece in intersect(arc, ((first, last),)) if piece[0] == first]
            if not mine:
                return taken
            piece = mine[0]
            if await self._is_taken(piece, owner.contact):
                taken.append(piece)
            first = piece[1] + 1
        return taken

    async def _is_taken(self, piece: Interval, owner: Contact) -> bool:
        if owner.id == self._runtime.contact.id:
            known = subtract(self._holdings.held, self._holdings.lost)
            return not subtract((piece,), known)
        try:
            reply = await self._runtime.call(owner, Inherit(piece), OFFER_S)
        except CallError:
            return False
        return isinstance(reply, Inherited)

    async def _let_go(self) -> None:
        """Copies whose primary does not count on them, or is silent for long, end."""
        now = self._runtime.now()
        for key, copy in list(self._views.copies.items()):
            heard_s = self._runtime.link(copy.view.primary).last_heard_s
            if now - heard_s < ORPHANED_S / 3:
                self._alone_since.pop(key, None)
                continue
            since_s = self._alone_since.setdefault(key, now)
            reply = await self._replication.ask(copy.view.primary, Stands(copy.view.number))
            if isinstance(reply, Instated) and not reply.known:
                self._views.drop(key)
            elif reply is None and now - since_s >= ORPHANED_S:
                self._views.retire(key)
        for key in [key for key in self._alone_since if key not in self._views.copies]:
            del self._alone_since[key]

    def _mark(self) -> None:
        """Tell the copies how far the clients are."""
        if self._runtime.now() - self._marked_s < MARKS_EVERY_S:
            return
        self._marked_s = self._runtime.now()
        marks = tuple(self._watermarks())
        copies = {copy.id: copy for view in self._views.own.values() for copy in view.copies}
        for one in sorted(copies) if marks else ():
            self._runtime.send(copies[one], Watermarks(marks))
