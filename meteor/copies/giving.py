"""The giver's side of a hand-off: who holds what, pages, the freeze, and the commit point.

Law of this file: nothing is given that is not frozen, and to no two takers; the interval is given
in the moment in which the note of it is durable (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from chord import ChordNode, Contact, Deferred, Fault, Handler, Runtime
from meteor.copies.claims import NOTES_MAX, last_noted, latest
from meteor.copies.replication import Replication
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Instate
from meteor.wire.operations import (
    Claim,
    ClaimAnswer,
    Freeze,
    Frozen,
    Pull,
    PulledPage,
    TakeOver,
    Yours,
)
from meteor.wire.view import View, parts_of, rivals_within
from squid import HilbertCurve, Interval, intersect, merge, subtract


@dataclass(frozen=True, slots=True)
class HandoffConfig:
    """Times of a hand-off, in seconds."""

    call_s: float = 2.0
    """For one page or one freeze."""
    claim_s: float = 0.6
    """For one question who has an interval."""
    later_s: float = 0.2
    """For one question whether a copy that is about to go on alone still counts."""
    linger_s: float = 0.05
    """How long the copies of what was given away may keep it as that at least: the taker's view
    comes meanwhile."""
    silent_s: float = 1.0
    """A holder that has not been heard of for so long, and does not answer, is not waited for by
    an heir that has a copy."""
    freeze_s: float = 4.0
    """A giver thaws by itself after this: writes wait no longer for a dead taker."""
    idle_s: float = 1.0
    """How often holdings are compared with the arc when nothing is known to have changed."""
    pressing_s: float = 0.1
    """The same while a part of the arc is not held."""
    grace_s: float = 5.0
    """An interval that nobody reachable holds is taken as lost after this, at once when a peer
    that owned it is known to be dead."""


FROZEN_MAX = 64
"""Freezes at once: more than a peer has neighbours that could join or leave together."""


def checked_interval(interval: Interval, curve: HilbertCurve) -> Interval:
    """The interval itself; raises `Fault` when it does not lie on the curve."""
    if not 0 <= interval[0] <= interval[1] < curve.size:
        raise Fault("ProtocolError", "the interval lies outside the curve")
    return interval


class Giving:
    """What a peer answers to those who would take something over from it."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        curve: HilbertCurve,
        holdings: Holdings,
        shelf: Shelf,
        config: HandoffConfig,
        replication: Replication,
        views: Views,
        uncovered: Callable[[], Intervals],
        on_given: Callable[[], None],
    ) -> None:
        self._node, self._runtime, self._curve = node, runtime, curve
        self._holdings, self._shelf, self._config = holdings, shelf, config
        self._replication, self._views = replication, views
        self._uncovered, self._on_given = uncovered, on_given
        self._frozen_at: dict[int, int] = {}
        """The latest epoch of what each grant is of."""

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {
            Claim: self._on_claim,
            Pull: self._on_pull,
            Freeze: self._on_freeze,
            TakeOver: self._on_take_over,
        }

    def _on_claim(self, sender: Contact, message: object, _: float) -> ClaimAnswer:
        assert isinstance(message, Claim)
        tried = message.tried[:NOTES_MAX]
        self._views.forget_unbegun({((sender.id, number), epoch) for number, epoch in tried})
        part = (checked_interval(message.interval, self._curve),)
        elsewhere = (*self._holdings.elsewhere(), *self._node.successors[:1])
        whole = [copy.view for copy in self._views.copies.values() if copy.whole]
        copies, learning = parts_of(whole, part), parts_of(self._views.learning(), part)
        gave = parts_of(self._views.gave(self._runtime.contact.id), part)
        had = latest(self._views.remembered_of(part), (*copies, *learning, *gave))
        return ClaimAnswer(
            held=intersect(part, self._holdings.held),
            lost=intersect(part, self._holdings.lost),
            elsewhere=elsewhere,
            settled=not self._uncovered(),
            copies=copies,
            former=tuple(view for view, _ in had),
            damaged=self._views.damaged,
            learning=learning,
            gifts=tuple(self._views.open_gifts()),
            taken_in=last_noted(self._views.taken_in.within(part)),
            begun=self._views.chronicle.all_of(part),
            heard=self._views.heard.of(part),
            awaited=intersect(part, self._holdings.awaited),
            tried=self._views.tried.of(part),
            passed_over=self._views.tried.next_of(part),
            gave=gave,
            former_taken_in=tuple(taken_in for _, taken_in in had),
            stands_for=self._views.tried.all_that_stand_for(part),
            born=self._views.born,
            remembers=not self._views.forgetful,
            sound=self._views.sound((*(view for view, _ in had), *gave)),
            had=self._views.had,
        )

    def _on_pull(self, _: Contact, message: object, __: float) -> PulledPage:
        assert isinstance(message, Pull)
        interval = checked_interval(message.interval, self._curve)
        lots, whole = self._views.lots_for((interval,), message.epoch, message.primary)
        if lots and message.epoch:
            page = self._shelf.attic.page(lots, interval, message.cursor, self._shelf.outgoing)
            with_it = self._views.lots_taken_in(lots, (interval,))
            page = self._placed(page, lots)
            since = self._views.stored_since((interval,), message.epoch)
            return replace(page, whole=whole, since=since, taken_in=with_it)
        if subtract((interval,), self._views.kept()):
            raise Fault("Moved", "the interval is not kept here")
        page = self._placed(self._shelf.page(interval, message.cursor))
        if message.primary is None:
            return page
        whole = self._views.has_all_of((interval,), message.primary, message.epoch)
        since = self._views.shown_since((interval,), message.primary, message.epoch)
        with_it = self._views.taken_in.within((interval,))
        return replace(page, whole=whole, since=since, taken_in=with_it)

    def _placed(self, page: PulledPage, lots: Sequence[int] = ()) -> PulledPage:
        """With word of where it was read: from these lots of the attic, or from the shelf."""
        return replace(page, place=(self._runtime.contact.incarnation, *lots))

    def _on_freeze(self, _: Contact, message: object, __: float) -> Deferred:
        assert isinstance(message, Freeze)
        interval = self._held_here(message.interval)
        if self._holdings.frozen_count >= FROZEN_MAX:
            raise Fault("Busy", f"{FROZEN_MAX} hand-offs from here are under way")
        if self._holdings.is_frozen((interval,)):  # else two takers would hold what both asked for
            raise Fault("Busy", "part of the interval is being handed to another peer")
        return Deferred(self._freeze(interval, message.cursor))

    async def _freeze(self, interval: Interval, cursor: int) -> Frozen:
        grant = self._holdings.freeze(interval)
        self._runtime.spawn(self._thaw_later(grant))
        await self._replication.barrier()
        if not self._holdings.is_granted(grant, interval):
            raise Fault("Busy", "a change took longer than the freeze lasts: pull again")
        page = self._placed(self._shelf.page(interval, cursor, whole=True))
        views = self._views.touching((interval,))
        shared = [view.copies for view in views]
        self._frozen_at[grant] = highest = self._latest((interval,))
        return Frozen(
            page,
            grant,
            intersect((interval,), self._views.lost()),
            rivals=rivals_within((one for view in views for one in view.rivals), (interval,)),
            epoch=min((view.epoch for view in views), default=0),
            highest=highest,
            since=max((view.since for view in views), default=0),
            taken_in=self._views.taken_in.within((interval,)),
            copies=tuple(
                copy for copy in (shared[0] if shared else ())
                if all(any(copy.id == one.id for one in copies) for copies in shared)
            ),
        )  # fmt: skip

    async def _thaw_later(self, grant: int) -> None:
        await self._runtime.sleep(self._config.freeze_s)
        self._holdings.thaw_if_idle(grant)
        self._frozen_at.pop(grant, None)

    def _on_take_over(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, TakeOver)
        checked_interval(message.interval, self._curve)
        return Deferred(self._give(message, sender))

    async def _give(self, request: TakeOver, taker: Contact) -> Yours:
        """The commit point is inside `note_give`: the note that this interval is given.  Asked
        again meanwhile, it answers once more when that is durable."""
        part, grant = (request.interval,), request.grant
        if subtract(part, self._holdings.held):
            return self._given_before(request, taker)
        if not self._holdings.is_granted(grant, request.interval):
            raise Fault("Moved", "the grant has run out: pull again")
        own_id = self._node.contact.id
        if own_id > taker.id and self._holdings.is_merging(part, taker):
            raise Fault("Busy", "it is being taken in here: one of the two lets go, not both")
        frozen_at = self._frozen_at.get(grant, 0)  # it thaws by itself, unless it is pinned
        self._holdings.pin(grant)
        await self._replication.changing.enter()
        try:
            if subtract(part, self._holdings.held):  # the same question came first
                return self._given_before(request, taker)
            if request.view is None and self._latest(part) > self._frozen_at.get(grant, 0):
                # it may pass the taker over in this moment: both would have let go
                raise Fault("Busy", "a later epoch began here since it was frozen: pull again")
            if any(one.since > frozen_at for one in self._views.touching(part)):
                # somebody else had it in between, and the taker nothing of what that one wrote
                raise Fault("Busy", "it was taken over anew since it was frozen: pull again")
            given = await self._commit(part, taker, request.view)
        finally:
            self._replication.changing.leave()
            self._holdings.unpin(grant)
        return given

    def _given_before(self, request: TakeOver, taker: Contact) -> Yours:
        """What this peer keeps for the taker by this very gift speaks for it too: who was silent
        for a while is not believed to hold anything."""
        given = self._holdings.given_to(taker)
        if request.view is not None and request.view.key in self._views.copies:
            given = merge(given, self._views.copies[request.view.key].view.intervals)
        if subtract((request.interval,), given):
            raise Fault("Moved", "part of the interval is held by another peer")
        return Yours()

    async def _commit(self, part: Intervals, taker: Contact, view: View | None) -> Yours:
        """From here on the taker is the primary; this peer is one of its copies, if it says so.
        Returns its own last epochs: the copies may have changed since the freeze."""
        if view is not None and any(one.epoch >= view.epoch for one in self._views.touching(part)):
            raise Fault("Busy", "a later epoch began here meanwhile: pull again")
        if view is not None and subtract(intersect(view.lost, part), self._views.lost()):
            raise Fault("Busy", "a past that was lost was found here meanwhile: pull again")
        heard = intersect(part, self._holdings.heard())  # where the past is lost as well
        if heard or subtract(intersect(part, self._holdings.lost), self._views.unknown()):
            raise Fault("Busy", "a rival was heard of, and is not written down yet: pull again")
        rivals = (one for mine in self._views.touching(part) for one in mine.rivals)
        if view is not None and set(rivals_within(rivals, part)) - set(view.rivals):
            raise Fault("Busy", "a rival showed meanwhile: pull again")
        parts = parts_of(self._views.touching(part), part)
        tried = max((epoch for _, epoch in self._views.tried.next_of(part)), default=0)
        given = Yours(self._latest(part), tried)
        self._views.give(part)
        whole = {one.number for one in parts if one.number not in self._views.own}
        if view is not None and view.has_copy(self._runtime.contact.id):
            self._views.put_given(view, parts)
            self._replication.gifts.note(view.key, parts)
        await self._shelf.note(self._views)
        self._holdings.give(part, taker)
        self._on_given()
        self._runtime.spawn(self._say_what_is_left(parts, whole))
        return given

    async def _say_what_is_left(self, parts: Sequence[View], whole: Collection[int]) -> None:
        """Not at once: whom the taker names as its copies must still have the part when its view
        comes, and would let go of it by this.  Nor before the taker has begun.  Of a view that gave
        way in part meanwhile, and goes on under another number, its copies must keep what was."""
        await self._runtime.sleep(self._config.linger_s)
        gifts, replication = self._replication.gifts, self._replication
        for one in parts:
            await gifts.begun()
            while not await replication.change(one.number, patient=True) and gifts.are_open():
                await gifts.begun()  # more was given while this change waited for its turn
            if gifts.was_left(one.number) or one.number in whole:
                # in the epoch that it had: nothing that began with it is passed over by this
                await replication.ask_all(one.copies, Instate(replace(one, copies=())))

    def _latest(self, part: Intervals) -> int:
        """The latest epoch of what this peer keeps of a part as its primary; 0 of nothing."""
        return max((view.epoch for view in self._views.touching(part)), default=0)

    def _held_here(self, interval: Interval) -> Interval:
        if subtract((checked_interval(interval, self._curve),), self._holdings.held):
            raise Fault("Moved", "the interval is not held here")
        return interval
