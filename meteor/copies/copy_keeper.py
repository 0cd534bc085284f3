"""The copy's side: keeping what other primaries write, and refusing those whose time is over.

Law of this file: nothing is confirmed that is not durable here; content of others is kept without
matching it.  Whoever hears of a later view tells the primary that was passed over, on the link on
which that one would else go on hearing from it (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from chord import Contact, Deferred, Fault, Handler, Runtime
from meteor.copies.lain import having_lain
from meteor.copies.their_marks import TheirMarks
from meteor.copies.word import Word
from meteor.keeping.chronicle import CHRONICLE_MAX
from meteor.keeping.expiry_clock import HELD_S, overlives
from meteor.keeping.holdings import Holdings
from meteor.keeping.placement import Admission, Key, key_of
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import COPIES_MAX, Views
from meteor.wire.copy_messages import (
    Begun,
    Instate,
    Instated,
    Keep,
    Kept,
    Learn,
    Touch,
    Touched,
    Watermarks,
)
from meteor.wire.view import EPOCHS, RIVALS_MAX, Settled, View
from squid import HilbertCurve, Interval, Intervals, intersect, merge, subtract

PART_MAX: Final = 4096
"""Intervals in one message: a bound for hostile input."""


class CopyKeeper:
    """What one peer keeps for others."""

    def __init__(
        self,
        runtime: Runtime,
        curve: HilbertCurve,
        views: Views,
        holdings: Holdings,
        shelf: Shelf,
        passed_over: Callable[[tuple[View, ...]], None],
        word: Word,
    ) -> None:
        self._runtime, self._curve, self._passed_over = runtime, curve, passed_over
        self._views, self._holdings, self._shelf = views, holdings, shelf
        self.word, self.marks = word, TheirMarks(views, shelf)
        self._since_lost: list[Intervals] = []
        """What is just pulled here, and came since the past of it was lost."""
        self._came: Intervals = ()
        """Whose records may be here."""
        self._coming_back: list[Intervals] = []
        """What is just gone on with, and brought back from the attic: no view speaks of it yet, and
        what of it lay on the shelf all the time is not put there once more."""
        self._left: list[Key] = []
        """What was cleared away in memory, and is still in the journal."""

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {
            Keep: self._on_keep,
            Learn: self._on_learn,
            Instate: self._on_instate,
            Touch: self._on_touch,
            Begun: self._on_begun,
            Watermarks: self.marks.on_watermarks,
        }

    # -- content

    def _on_keep(self, sender: Contact, message: object, _: float) -> Deferred | Kept:
        assert isinstance(message, Keep)
        if self._lay_for_long(message):
            return Kept(known=False)
        message = having_lain(message, self._runtime.request_late_s())
        part = self._checked(message.part)
        left = subtract(part, self._views.kept_for(sender.id, whole=False))
        if not left:
            if not message.carried and not message.taken_in:
                return Kept()  # it only asks whether this is a copy still
            return Deferred(self._keep(sender.id, message))
        return self._not_kept(sender.id, left)

    def _not_kept(self, primary_id: int, left: Intervals) -> Kept:
        mine = [view for view in self._views.own.values() if intersect(view.intervals, left)]
        newer = [
            copy.view for copy in self._views.copies.values()
            if copy.view.primary.id != primary_id and intersect(copy.view.intervals, left)
        ]
        return Kept(known=False, newer=(*mine, *newer))

    def _lay_for_long(self, message: Keep) -> bool:
        late_s = self._runtime.lateness()
        return late_s > HELD_S and any(overlives(one.ttl_ms, late_s) for one in message.carried)

    async def _keep(self, primary_id: int, message: Keep) -> Kept:
        came = Admission()
        for one in message.carried:  # what is said of marks while it is written down is said later
            came.enter(key_of(one), one)
        self.marks.note(primary_id, came.watermarks)
        news = self._shelf.news_of(message.carried, self._holdings.held)
        await self._shelf.admit(message.carried, came)
        self._shelf.owe(news, self._holdings.held)
        if message.taken_in:
            self._views.taken_in.learn(message.taken_in, self._checked(message.part))
        # What was kept of it may have been laid down meanwhile, without this.
        left = subtract(self._checked(message.part), self._views.kept_for(primary_id, whole=False))
        stones = self._shelf.deleted_elsewhere(message.carried)
        return self._not_kept(primary_id, left) if left else Kept(stones=stones)

    # -- views

    def _on_learn(self, _: Contact, message: object, __: float) -> Deferred | Instated:
        assert isinstance(message, Learn)
        view = self.checked_view(message.view)
        self._passed_over((view,))
        self._views.hear(view)
        newer = self._views.newer(view)
        if newer:
            return Instated(known=False, newer=newer)
        if self.comes_in(view.lost):
            return Instated(known=False)
        cleared = self._clear(view.lost)
        if not self._is_whole(view):
            if self._is_gained(view):
                self.marks.forget(view)
            self._views.learn(view)
        self.expect(view.intervals)
        return Deferred(self._cleared()) if cleared else Instated()

    def _is_whole(self, view: View) -> bool:
        """Whether this peer is a whole copy of just that already, as its primary says too, who was
        told otherwise a moment before: no copy any more, it could not speak for it alone."""
        copy = self._views.copies.get(view.key)
        counts = view.has_copy(self._runtime.contact.id)
        return copy is not None and copy.whole and copy.view.epoch == view.epoch and counts

    def _on_instate(self, _: Contact, message: object, __: float) -> Deferred | Instated:
        assert isinstance(message, Instate)
        view, adopted_epoch = self.checked_view(message.view), message.adopted_epoch
        if self._word_left_s(view, adopted_epoch) > 0:
            return Deferred(self._instate_later(view, adopted_epoch))
        return self._instate_now(view, adopted_epoch)

    def _word_left_s(self, view: View, adopted_epoch: int) -> float:
        """For how long a view waits that this peer would take, as far as it knows by now."""
        takes = view.has_copy(self._runtime.contact.id) and not self._views.newer(view)
        if takes and (
            self._views.in_sync(view, adopted_epoch) or self._lies_in_attic(view, adopted_epoch)
        ):
            return self.word.left_s(view)
        return 0.0

    async def _instate_later(self, view: View, adopted_epoch: int) -> Instated:
        """The primary before relies on this peer for a moment yet: it is told first."""
        async with self.word.running_out(view):
            reply = self._instate_now(view, adopted_epoch)
        instated = await reply.conversation if isinstance(reply, Deferred) else reply
        assert isinstance(instated, Instated)
        return instated

    def _instate_now(self, view: View, adopted_epoch: int) -> Deferred | Instated:
        if self._lies_in_attic(view, adopted_epoch):
            return Deferred(self._instate_from_attic(view, adopted_epoch))
        return self._instate(view, adopted_epoch)

    def _lies_in_attic(self, view: View, adopted_epoch: int) -> bool:
        """Whether an heir takes over what is kept here off the shelf: it was found to be the last
        word, and whom it is asked to refuse is not known here to have been passed over."""
        in_attic = adopted_epoch and self._views.lots_of(adopted_epoch, view.intervals)
        has_copy = view.has_copy(self._runtime.contact.id)
        return bool(in_attic) and has_copy and not self._views.newer(view)

    async def _instate_from_attic(self, view: View, adopted_epoch: int) -> Instated:
        async with self.brought_back(view.intervals, adopted_epoch):
            reply = self._instate(view, adopted_epoch)
        instated = await reply.conversation if isinstance(reply, Deferred) else reply
        assert isinstance(instated, Instated)
        return instated

    def _instate(self, view: View, adopted_epoch: int) -> Deferred | Instated:
        self._passed_over((view,))
        self._views.hear(view)
        gift = self._views.gifts.pop(view.key, None)
        newer = self._views.newer(view)
        if newer:
            return Instated(known=False, newer=newer)
        gained = self._is_gained(view)
        passed_over = self._views.passed_over_by(view)
        beside = self._views.beside(view, self._runtime.contact.id)
        if not view.has_copy(self._runtime.contact.id):
            self._views.drop(view.key)
            self._views.remember_beside(view)
            self._views.end(view)
        elif self._views.in_sync(view, adopted_epoch):
            self._views.put(view)
            self.word.is_over(view)
            if gained or gift is not None:
                self.marks.forget(view)
        else:
            return Instated(known=False)
        for other in passed_over:
            self._runtime.send(other, Instate(view))
        return Deferred(self._installed(beside))

    def _is_gained(self, view: View) -> bool:
        return bool(subtract(view.intervals, self._views.kept_for(view.primary.id, whole=False)))

    async def _installed(self, beside: tuple[View, ...] = ()) -> Instated:
        await self._shelf.note(self._views)
        return Instated(beside=beside)

    def _on_begun(self, _: Contact, message: object, __: float) -> None:
        assert isinstance(message, Begun)
        for view in message.views[: CHRONICLE_MAX + 1]:
            self._check(view)
            self._views.hear(view)
            self._views.note_begun(view.primary.id, view.epoch)
            self._views.chronicle.note(view)

    # -- what lay here before its past was lost

    def comes_in(self, part: Intervals) -> bool:
        """Whether clearing a part away would take with it what is just coming: that would be
        missing where it is held, or counts as a copy, in a moment."""
        coming = merge(self._holdings.awaited, *self._coming_back)
        return bool(intersect(self._from_before(part), coming))

    def _from_before(self, part: Intervals) -> Intervals:
        """Where what is here of a part did not come since the past of it was lost."""
        return subtract(part, merge(self._views.present_lost(), *self._since_lost))

    async def clear(self, part: Intervals) -> bool:
        """The past of `part` is lost to whoever this peer has it from, or for, from now on: nothing
        that lay here before shows in it.  What a former view speaks of goes to the attic.  Whether
        it is so: not where somebody just has it brought back from there, as the last word."""
        if intersect(part, merge(*self._coming_back)):
            return False
        if self._clear(part):
            await self._cleared()
        return True

    def came_since(self, part: Intervals) -> Callable[[], None]:
        """The past of `part` is lost and cleared away, and what came since comes in, though no view
        here has it yet, until what this returns is called: who learns the same meanwhile would take
        it for that past."""
        self._since_lost.append(part)
        return lambda: self._since_lost.remove(part)

    async def _cleared(self) -> Instated:
        """Before a view that calls it lost is noted here: after a restart all that the journal has
        would count as come since."""
        await self._shelf.note(self._views)
        left, self._left = self._left, []
        await self._shelf.erase(left)
        return Instated()

    def _clear(self, part: Intervals) -> bool:
        part = self._from_before(part)
        if not part:
            return False
        self._views.lay_down(part)
        stays = self._views.present()
        shelf = self._shelf
        going = [placed.carried for placed in shelf.table if shelf.meets(placed.carried, part)]
        going = [one for one in going if not shelf.meets(one, stays)]
        for view in list(self._views.former):
            if intersect(view.intervals, part) or any(
                shelf.meets(one, view.intervals) for one in going
            ):
                self._views.store(view, shelf.store_lot(view.intervals))
        self._views.taken_in.forget(part)  # from now on that lies with the lots
        self._left += shelf.forget(map(key_of, going))
        return True

    @asynccontextmanager
    async def brought_back(self, part: Intervals, epoch: int) -> AsyncIterator[None]:
        """The former view of an epoch is proven to be the last: what of it lies in the attic is on
        the shelf again, and stays there while somebody goes on with it."""
        self._coming_back.append(part)
        try:
            for interval in part:
                await self._bring_back(interval, epoch)
            self._views.bring_back(epoch, part)
            yield
        finally:
            self._coming_back.remove(part)

    async def _bring_back(self, interval: Interval, epoch: int) -> None:
        lots = self._views.lots_of(epoch, (interval,))
        cursor, more = 0, bool(lots)
        while more:
            page = self._shelf.attic.page(lots, interval, cursor, self._shelf.outgoing)
            self.expect((interval,))
            await self._shelf.admit(page.carried, Admission())
            cursor, more = page.cursor, page.more

    # -- tidying

    def expect(self, part: Intervals) -> None:
        """Records of `part` come in, whatever becomes of it."""
        self._came = merge(self._came, part)

    async def tidy_if_less(self) -> None:
        """Forget the records of what is kept for nobody any more."""
        self._shelf.attic.keep_only({one.lot for one in self._views.stored})
        if self._views.chronicle.unwritten:
            await self._shelf.note(self._views)
        self.expect(self._stays())
        if self._left:
            left, self._left = self._left, []
            await self._shelf.note(self._views)
            await self._shelf.erase(left)
        stays = self._stays()
        if subtract(self._came, stays):
            self._views.taken_in.keep_only(stays)  # nothing is noted that is erased
            await self._shelf.note(self._views)
            self._came = merge(stays, self._stays())  # more of it than before the note, perhaps
            await self._shelf.erase(self._shelf.forget_outside(self._came))

    def _stays(self) -> Intervals:
        return merge(self._views.kept(), self._holdings.awaited, *self._coming_back)

    def _on_touch(self, sender: Contact, message: object, _: float) -> Touched:
        assert isinstance(message, Touch)
        part = self._checked(message.part)
        primary_id = sender.id if message.primary is None else message.primary
        if message.primary is None:
            self._views.note_begun(sender.id, message.epoch)
        newer = tuple(
            view
            for view in self._views.later_than(part, message.epoch)
            if view.primary.id != sender.id
        )
        newer += self.word.withdrawn(part, message.epoch, sender.id)
        copy = not subtract(part, self._views.kept_for(primary_id, whole=True))
        if not copy:  # it may all be with others, that began since
            begun = self._views.chronicle.of(part)
            newer += tuple(
                view for view in begun
                if view.epoch > message.epoch and view.primary.id != sender.id
            )  # fmt: skip
        if message.primary is None and copy and not newer:
            self.word.give(sender, part)
        return Touched(newer, copy)

    # -- what others say is not believed

    def _checked(self, part: Intervals) -> Intervals:
        if len(part) > PART_MAX:
            raise Fault("ProtocolError", f"more than {PART_MAX} intervals")
        for first, last in part:
            if not 0 <= first <= last < self._curve.size:
                raise Fault("ProtocolError", "an interval lies outside the curve")
        return merge(part)

    def checked_view(self, view: View) -> View:
        """The view itself; raises `Fault` when nobody would make it known here."""
        if view.primary.id == self._runtime.contact.id:
            raise Fault("ProtocolError", "a view that nobody would install here")
        self._check(view)
        if view.settled is not None:
            self._check(view.settled)
        return view

    def _check(self, view: View | Settled) -> None:
        for part in (view.intervals, view.lost, *(rival.intervals for rival in view.rivals)):
            self._checked(part)
        if len(view.rivals) > 2 * RIVALS_MAX or any(
            len(rival.holders) > COPIES_MAX for rival in view.rivals
        ):
            raise Fault("ProtocolError", "more rivals than a ring has parts")
        if len(view.copies) > COPIES_MAX:
            raise Fault("ProtocolError", f"more than {COPIES_MAX} copies")
        if not 0 <= view.epoch < EPOCHS:
            raise Fault("ProtocolError", f"epoch {view.epoch} is none")
