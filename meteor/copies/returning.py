"""Returning: what came back from a former life, or lies in the wrong place, goes where it belongs.

Law of this file: a slow loop that asks and offers, and loses nothing: content is let go when whom
the ring names has it, evidence when nobody needs it any more (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from chord import CallError, ChordNode, Contact, LookupFailed, NotJoined, Runtime
from meteor.copies.config import CopiesConfig
from meteor.copies.copy_keeper import CopyKeeper
from meteor.copies.handoff import Handoff
from meteor.copies.replication import Replication
from meteor.keeping.holdings import Holdings
from meteor.keeping.placement import Admission
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Instated, Stands
from meteor.wire.operations import Inherit, Inherited
from meteor.wire.view import Rival, View, ViewKey
from squid import Interval, Intervals, intersect, of_arc, subtract

OUTSIDE_S: Final = 2.0
"""How long something is held outside the arc before it is offered: a joiner pulls it sooner."""
ORPHANED_S: Final = 30.0
"""A copy whose primary has been silent for so long is offered to whom the ring names."""
OFFER_S: Final = 10.0
STANDS_S: Final = 10.0
"""How often a copy asks whether its primary counts on it, though that is heard of."""


class Returning:
    """What one peer does with what is not its own any more, or was lost."""

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
        config: CopiesConfig,
        *,
        index_bits: int,
        id_bits: int,
    ) -> None:
        self._node, self._runtime, self._config = node, runtime, config
        self._views, self._holdings, self._shelf = views, holdings, shelf
        self._replication, self._keeper, self._handoff = replication, keeper, handoff
        self._on_found = on_found
        self._index_bits, self._id_bits = index_bits, id_bits
        self.damaged = False
        """Whether the journal has lost something since it was begun."""
        self._outside_since: float | None = None
        self._alone_since: dict[ViewKey, float] = {}
        self._asked: dict[ViewKey, tuple[float, int]] = {}
        """When it was asked last whether a copy still is one, and how late an epoch was known of by
        then."""

    async def go_on(self) -> None:
        """Look round for ever."""
        while not self._handoff.leaving:
            await self._go_past()
            await self._heal()
            await self._offer_outside()
            await self._offer_former()
            await self._make_whole()
            await self._let_go()
            await self._runtime.sleep(self._config.tend_s)

    async def _go_past(self) -> None:
        """Something began elsewhere of which this peer did not know when it took over: it goes on
        in a later epoch, as whoever remembers that one would not believe in an earlier."""
        for number, view in list(self._views.own.items()):
            if self._views.chronicle.after(view.intervals, view.epoch):
                await self._replication.change(number)

    async def _heal(self) -> None:
        """Ask again for what was lost: a holder may have come back."""
        for interval in self._holdings.lost:
            await self._take_in_own_since_lost((interval,))
            found = await self._handoff.heirs.ask(interval, ())
            for step in self._handoff.heirs.heal(found):
                if step.view is not None:
                    heirs = self._handoff.heirs
                    beside = [*heirs.beside(found, step), *heirs.since_lost(found, step)]
                    await self._find(step.piece, step.view, step.sources, beside)

    async def _take_in_own_since_lost(self, piece: Intervals) -> None:
        """What this peer acknowledged while the past of a piece was lost before, and laid aside as
        it was lost once more, is on the shelf again: it stands against no past any longer.  Who was
        alone for a moment, with nothing but lost, and was told of what the others know, would wait
        for itself."""
        own_id, taken_in = self._runtime.contact.id, self._views.taken_in
        for view in self._views.remembered():
            since = self._views.since_lost(view, piece) if view.primary.id == own_id else ()
            since = subtract(since, taken_in.of(own_id, view.epoch))
            if since:
                await self._handoff.reconciling.absorb_own(since, view.epoch, own_id)

    async def _find(
        self,
        piece: Intervals,
        found: View,
        sources: tuple[Contact, ...],
        beside: Sequence[Rival] = (),
    ) -> None:
        """The past of a piece is what these have of a view: known here once one of them could show
        that it has all of that still.  Asked a moment later, it may have moved on."""
        primary_id, reconciling = found.primary.id, self._handoff.reconciling
        for source in sources:
            if source.id == self._runtime.contact.id:
                taken_in = await reconciling.absorb_own(piece, found.epoch, primary_id)
            else:
                taken_in = await reconciling.absorb(piece, source, found.epoch, primary_id)
            if taken_in and self._views.has_all_of(piece, primary_id, found.epoch):
                break
        else:
            return
        # What was acknowledged here while that was lost, and laid aside as it was lost once more.
        for view in self._views.remembered():
            since = intersect(view.lost, piece)
            if since and not await reconciling.absorb_own(since, view.epoch, view.primary.id):
                return
        for rival in beside:  # else nobody would name it any more
            self._handoff.rivals.note(rival)
            await reconciling.doubt(rival)
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
        for view in self._views.remembered():
            for interval in view.intervals:
                # What it had until a moment ago, by the time of the answer, was not offered yet.
                had = [(one.key, one.epoch) for one in self._views.remembered()]
                for taken, owner in await self._offer(interval):
                    if not await self._counts_somewhere((taken,), owner):
                        self._views.forget_offered((taken,), had)
        await self._keeper.tidy_if_less()

    async def _counts_somewhere(self, part: Intervals, owner: Contact) -> bool:
        """Whether any view that was had of `part` is counted on: what is known of it goes at once,
        with an earlier view of the same the word that this peer has not moved on from the last."""
        had = [one for one in self._views.remembered() if intersect(one.intervals, part)]
        return any([await self._is_counted_on(one, owner) for one in had])

    async def _is_counted_on(self, view: View, owner: Contact) -> bool:
        """Whether the primary of what was had still names this peer, that was restarted, as a copy:
        it is about to fill it again, or to go on without it.  Should it fall before, this peer is
        to say that it has not moved on from there; so it is where the primary took the offer as
        the owner, and fell since."""
        own_id = self._runtime.contact.id
        filled = any(key == view.key and one.whole for key, one in self._views.copies.items())
        if filled or view.primary.id == own_id or not view.has_copy(own_id):
            return False
        reply = await self._replication.ask(view.primary, Stands(view.number))
        if reply is None:
            return owner.id == view.primary.id
        return isinstance(reply, Instated) and reply.known

    async def _make_whole(self) -> None:
        """All that the journal had lost is here again, or elsewhere: it begins anew.  Not while the
        past of something is lost: what the journal knew may have been just that."""
        if not self.damaged or self._views.remembered() or self._handoff.uncovered():
            return
        if not self._views.lost():
            self.damaged = False
            await self._shelf.rewrite(self._views)

    async def _offer(self, interval: Interval) -> list[tuple[Interval, Contact]]:
        """Offer an interval to its owners, piece by piece; returns what they have now."""
        taken: list[tuple[Interval, Contact]] = []
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
                taken.append((piece, owner.contact))
            first = piece[1] + 1
        return taken

    async def _is_taken(self, piece: Interval, owner: Contact) -> bool:
        if owner.id == self._runtime.contact.id:
            known = subtract(self._holdings.held, self._holdings.lost)
            return not subtract((piece,), known) and await self._is_merged(piece)
        request = Inherit(piece, self._views.taken_in.within((piece,)))
        try:
            reply = await self._runtime.call(owner, request, OFFER_S)
        except CallError:
            return False
        return isinstance(reply, Inherited)

    async def _is_merged(self, piece: Interval) -> bool:
        """Whether what lies in the attic here of what is held here is on the shelf as well now."""
        epochs = {one.view.epoch for one in self._views.stored}
        absorb = self._handoff.reconciling.absorb_own
        return all([await absorb((piece,), epoch) for epoch in sorted(epochs)])

    async def _let_go(self) -> None:
        """Copies whose primary does not count on them, or is silent for long, end."""
        now = self._runtime.now()
        for key, copy in list(self._views.copies.items()):
            heard_s = self._runtime.link(copy.view.primary).last_heard_s
            is_alone = now - heard_s >= ORPHANED_S / 3
            since_s = self._alone_since.setdefault(key, now) if is_alone else now
            if not is_alone:
                self._alone_since.pop(key, None)
                if not copy.whole or not self._is_to_ask(copy.view, now):
                    continue
            if key[0] == self._runtime.contact.id:  # content that was to be fetched here
                if now - since_s >= ORPHANED_S:
                    self._views.drop(key)
                continue
            reply = await self._replication.ask(copy.view.primary, Stands(copy.view.number))
            if self._views.copies.get(key) != copy:  # filled again meanwhile: this was said before
                continue
            disowned = isinstance(reply, Instated) and not reply.known
            if disowned or (reply is None and now - since_s >= ORPHANED_S):
                self._views.retire(key)
        for seen in (self._alone_since, self._asked):
            for key in [key for key in seen if key not in self._views.copies]:
                del seen[key]

    def _is_to_ask(self, view: View, now: float) -> bool:
        """Whether something later is known to have begun of what is kept, and its primary was not
        asked since; or it was not for long, as that need not be known here."""
        later = self._views.chronicle.later_than(view.intervals, view.epoch)
        latest = max((one.epoch for one in later), default=0)
        asked_s, asked_of = self._asked.setdefault(view.key, (now, 0))
        if latest <= asked_of and now - asked_s < STANDS_S:
            return False
        self._asked[view.key] = now, latest
        return True
