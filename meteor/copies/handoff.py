"""Hand-offs: how an interval of the curve changes its primary without losing what was acknowledged.

Law of this file: conversations; which interval is whose is decided in `meteor.keeping.holdings` and
`meteor.keeping.views`, what travels in `meteor.keeping.readable_shelf`.  The taker pulls pages,
then asks the giver to freeze the interval, makes the last changes durable and takes over; the
commit point is the giver's durable note that it gave (DESIGN section 5); if either dies before, its
view stands.  Who leaves, or had something in a former life, asks others to pull.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from chord import (
    Arc,
    CallError,
    ChordNode,
    Contact,
    Deferred,
    Fault,
    Handler,
    RemoteFault,
    RequestTimeout,
    Runtime,
)
from meteor.copies.copy_keeper import CopyKeeper
from meteor.copies.footing import Kept
from meteor.copies.giving import Giving, HandoffConfig, checked_interval
from meteor.copies.heirs import Heirs
from meteor.copies.later_views import LaterViews
from meteor.copies.pulling import Pulling
from meteor.copies.reconciling import Reconciling
from meteor.copies.replication import Replication
from meteor.copies.rivals import Rivals
from meteor.copies.standing_down import StandingDown
from meteor.copies.turns import GAINED, Bell
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import Admission
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.copy_messages import HandedOver
from meteor.wire.operations import Inherit, Inherited
from meteor.wire.view import HEARSAY, Ended, Rival, View, parts_of
from squid import HilbertCurve, Interval, intersect, merge, of_arc, subtract

LEAVE_ROUNDS, LEAVE_PAUSE_S = 3, 0.05
"""How often, and how far apart, a leaving peer asks who takes over what it holds while all that it
knows leave too, or are dead.  Others it asks until its time is up: a freeze ends."""

HANDED_OVER_MAX = 64
"""Offers remembered while one question goes round: more than a peer has neighbours."""

LEAVES = "Leaving"
"""The fault of a peer that takes nothing over, as it leaves itself."""


class Handoff:
    """One peer's side of every hand-off."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        curve: HilbertCurve,
        holdings: Holdings,
        shelf: Shelf,
        on_gained: Callable[[Intervals, Admission], None],
        *,
        views: Views,
        replication: Replication,
        keeper: CopyKeeper,
        id_bits: int = 160,
        config: HandoffConfig | None = None,
    ) -> None:
        self._node, self._runtime, self._curve = node, runtime, curve
        self._holdings, self._shelf, self._on_gained = holdings, shelf, on_gained
        self._views, self._replication, self._keeper = views, replication, keeper
        self._id_bits, self._config = id_bits, config or HandoffConfig()
        self.leaving = False
        self._giving = Giving(
            node, runtime, curve, holdings, shelf, self._config, replication, views,
            self.uncovered, self._given,
        )  # fmt: skip
        self.reconciling = Reconciling(
            runtime, self._config, holdings, shelf, views, replication, self._gained
        )
        self.heirs = Heirs(node, runtime, views, self._config)
        self.later = LaterViews(node, runtime, views, self._config.later_s)
        self._standing_down = StandingDown(runtime, views, replication)
        self.rivals = Rivals(
            runtime, views, holdings, replication, self.reconciling, self.heirs,
            keeper.checked_view, self._standing_down,
        )  # fmt: skip
        self.reconciling.on_rival = self.rivals.note
        self.pulling = Pulling(
            runtime, self._config, holdings, shelf, views, replication, keeper,
            lambda: self.leaving, self.heirs.note_unanswered, self._gained,
        )  # fmt: skip
        self.pulling.on_rival = self.rivals.note
        self._handed_over: deque[tuple[Contact, Interval]] = deque(maxlen=HANDED_OVER_MAX)
        """By whom, and what, since this peer asked last who holds something."""
        self._bell = Bell(runtime, "handoff")

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        handlers: dict[type, Handler] = {**self._giving.handlers, **self.rivals.handlers}
        handlers |= self._standing_down.handlers
        return {**handlers, Inherit: self._on_inherit, HandedOver: self._on_handed_over}

    # -- what the ring tells

    def arc_changed(self, _: Arc | None, __: Arc | None) -> None:
        """The ring gives this peer another arc: look at once."""
        self.wake()

    def contact_gone(self, contact: Contact) -> None:
        """A neighbour is dead: what it held is to be taken over from its copies."""
        self.heirs.note_dead(contact)
        self._replication.note_dead(contact)
        self.wake()

    def wake(self) -> None:
        """Compare what is held with the arc now."""
        self._bell.ring()

    def _given(self) -> None:
        """Who waits for an index that is elsewhere now need not wait."""
        self._runtime.deliver(GAINED, None)

    # -- the peer's own course

    async def watch_over(self) -> None:
        """Take over what the ring gives to this peer, for ever."""
        config, pressing_s = self._config, self._config.pressing_s
        self._runtime.spawn(self.rivals.go_on())
        while not self.leaving:
            before = self.uncovered()
            for interval in before:
                if not self.leaving:
                    await self._claim(interval)
            left = self.uncovered()
            if not left:
                self._views.end_company()
            again = bool(left) and left == before  # nobody could say yet: ask ever more rarely
            pressing_s = min(2 * pressing_s, config.idle_s) if again else config.pressing_s
            await self._bell.wait(pressing_s if left else config.idle_s)

    @property
    def everything(self) -> Intervals:
        """The whole curve."""
        return ((0, self._curve.size - 1),)

    def owned(self) -> Intervals:
        """The arc that the ring gives to this peer, in indexes of the curve."""
        arc = self._node.arc
        if arc is None:
            return ()
        return of_arc(arc.after, arc.last, self._curve.index_bits, self._id_bits)

    def uncovered(self) -> Intervals:
        """The part of this peer's arc that it does not hold."""
        return subtract(self.owned(), self._holdings.held)

    async def settle(self, index: int, timeout_s: float) -> None:
        """Wait until `index` is held here or known to be elsewhere, or the time is up."""
        deadline = self._runtime.now() + timeout_s
        while not intersect(((index, index),), self._holdings.held):
            left_s = deadline - self._runtime.now()
            if left_s <= 0 or self._holdings.holder_of(index) is not None:
                return
            try:
                await self._runtime.expect(GAINED, min(left_s, self._config.idle_s))
            except RequestTimeout:
                continue

    async def give_all(self, timeout_s: float) -> Intervals:
        """Hand everything held to the successor before leaving, also what is just coming in;
        returns what nobody took, and what went to one who fell silent before it began there."""
        self.leaving, is_silent, rounds_left = True, False, LEAVE_ROUNDS
        deadline = self._runtime.now() + timeout_s
        while rounds_left and self._runtime.now() < deadline:
            while self._holdings.awaiting and self._runtime.now() < deadline:
                await self._runtime.sleep(LEAVE_PAUSE_S)
            for successor in self._node.successors:
                again = await self._give_to(successor, deadline)
                is_silent = is_silent or again is None
                rounds_left = LEAVE_ROUNDS + 1 if again else rounds_left
                if not self._holdings.held:
                    break
            if not self._holdings.held:
                break
            rounds_left -= 1
            await self._runtime.sleep(LEAVE_PAUSE_S)
        gave = self._views.gave(self._runtime.contact.id) if is_silent else ()
        return merge(self._holdings.held, *(view.intervals for view in gave))

    def say_handed_over(self) -> None:
        """Tell those around that this peer did not fall; where few are left that is all of them."""
        around = filter(None, (*self._node.successors, self._node.predecessor))
        for one in {one.id: one for one in around}.values():
            self._runtime.send(one, HandedOver())

    def _on_handed_over(self, sender: Contact, _: object, __: float) -> None:
        self._replication.note_left(sender)

    async def _give_to(self, successor: Contact, deadline: float) -> bool | None:
        """Ask a successor to take all; whether to ask it again, None if it may not be there."""
        for interval in self._holdings.held:
            left_s = max(deadline - self._runtime.now(), 0.0)
            try:
                await self._runtime.call(successor, Inherit(interval), left_s)
            except RemoteFault as fault:
                return fault.kind != LEAVES
            except CallError:
                return None
        return False

    # -- taking over what nobody answers for, or from whom it has been

    async def hold_everything(self, *, is_new: bool) -> None:
        """The founder of a ring holds the whole curve; of what it had a part in before, and of a
        ring that is not new, it knows only what nobody else can know better."""
        for step in self.heirs.resume(self.everything, is_new=is_new):
            if step.kind == "lost":
                await self._take_lost(step.piece, step.sources)
            else:  # some of it may lie in the attic, as somebody had lost it
                epoch = step.view.epoch if step.view else 0
                async with self._keeper.brought_back(step.piece, epoch):
                    await self._take(step.piece, step.view, (), (), lost=False)

    async def _claim(self, interval: Interval) -> None:
        """Pull it from who holds it; else take over, from a copy or as lost, what is not coming."""
        self._handed_over.clear()
        found = await self.heirs.ask(interval, self._holdings.elsewhere())
        for holder, held in found.holders:
            both = intersect(held, self._holdings.held)
            for piece in subtract(held, both):
                await self.pulling.take(piece, holder, found.lost)
            # they do not know of each other yet; not so where it gave while others were waited for
            both = subtract(both, tuple(part for one, part in self._handed_over if one == holder))
            self.rivals.note(Rival(both, HEARSAY, (holder,), intersect(found.lost, both)))
        if found.holders or self.leaving:
            return
        for step in self.heirs.plan(found):
            part = intersect(step.piece, subtract(self.uncovered(), self._holdings.awaited))
            if part and step.kind == "lost":
                await self._take_lost(part, step.sources)
            elif part and step.kind == "adopt" and step.view is not None:
                await self._adopt(part, step.view, step.sources, found.kept)

    async def _adopt(
        self, piece: Intervals, view: View, sources: tuple[Contact, ...], kept: Kept = None
    ) -> None:
        """Take over what a dead primary had, from a copy of it."""
        self._views.see(view.epoch)
        others = tuple(one for one in sources if one.id != self._runtime.contact.id)
        if len(others) < len(sources):
            async with self._keeper.brought_back(piece, view.epoch):
                await self._take(piece, view, others, (view.primary,), lost=False, kept=kept)
            return
        if not await self._keeper.clear(intersect(view.lost, piece)):
            return
        kept = dict(self._views.copies) if intersect(view.lost, piece) else kept  # less, by that
        fence = self._replication.new_view(piece, others, view.lost, view.rivals)
        if not await self._replication.fence(fence, view):
            self.heirs.note_given_up(fence, view)
            return
        hand_offs = [self.pulling.expect(interval, others[0]) for interval in piece]
        try:
            for source in others:
                if await self.pulling.fetch(piece, source, view.epoch):
                    told, gone = Admission(), (view.primary,)  # heard of clients was what is here
                    await self._take(piece, view, others, gone, lost=False, told=told, kept=kept)
                    return
        finally:
            for hand_off in hand_offs:
                self._holdings.awaited_no_more(hand_off)

    async def step_up(self, view: View) -> None:
        """Go on with a copy alone: nobody else of its holders has been heard of for too long, and
        nobody near knows of a later view.  It may be that this copy was evicted and never told."""
        copy = self._views.copies.get(view.key)
        if copy is None or copy.view.epoch != view.epoch or not copy.whole:
            return
        view, kept = copy.view, dict(self._views.copies)  # some of it may be its own by now
        if await self.later.known(view):
            return
        later = self._views.later_than(view.intervals, view.epoch)  # asked for last: it may be new
        if all(one.primary.id == self._runtime.contact.id for one in later):
            await self._take(view.intervals, view, (), view.holders, lost=False, kept=kept)

    async def _take_lost(self, piece: Intervals, torn: tuple[Contact, ...]) -> None:
        """Hold a piece whose past nobody knows; a damaged last word shows, nothing older does."""
        own_id = self._runtime.contact.id
        if any(one.id == own_id for one in torn) or await self._keeper.clear(piece):
            await self._take(piece, None, (), (), lost=True)

    async def _take(
        self,
        piece: Intervals,
        view: View | None,
        others: tuple[Contact, ...],
        passed_over: tuple[Contact, ...],
        *,
        lost: bool,
        told: Admission | None = None,
        kept: Kept = None,
    ) -> None:
        """Hold a piece whose content is here, or of which nobody knows the past; its clients were
        `told` as their primary said last, unless it is given."""
        gone = piece if lost else intersect(view.lost if view is not None else (), piece)
        copies = self._replication.among(others)
        new = self._replication.new_view(piece, copies, gone, () if view is None else view.rivals)
        if parts_of(self._views.remembered(), piece):
            told = Admission()  # no mark speaks of what lay here before: see `pulling`
        epoch = view.epoch if view else 0
        async with self._keeper.word.running_out(new):
            begun = await self._replication.begin(new, epoch, taken=view, kept=kept)
        if begun is None:
            if view is not None:
                self._views.tried.note(new, view)
                self._replication.on_beside(view)  # to what was handed over meanwhile, perhaps
            return
        if lost:
            self._views.chronicle.lose(begun.intervals, begun.epoch)
            self._replication.followed.lost()
        self._replication.followed.took_over(passed_over)
        for one in passed_over:
            if one.id != self._runtime.contact.id:
                self._replication.announce(one, begun)
        if told is None:
            told = Admission() if view is None else self._keeper.marks.of(view.primary.id)
        self._gained(begun.intervals, told)

    def _gained(self, part: Intervals, admission: Admission) -> None:
        """Answer for `part` from now on."""
        self.heirs.closed(self._holdings.held)
        self._runtime.deliver(GAINED, None)
        self._on_gained(part, admission)

    # -- taking over from who leaves, or has what is ours

    def _on_inherit(self, sender: Contact, message: object, _: float) -> Deferred:
        assert isinstance(message, Inherit)
        checked_interval(message.interval, self._curve)
        return Deferred(self._inherit(message.interval, sender, message.taken_in))

    async def _inherit(
        self, interval: Interval, source: Contact, taken_in: tuple[Ended, ...]
    ) -> Inherited:
        if self.leaving:
            raise Fault(LEAVES, "the successor leaves too")
        answer = await self.heirs.ask_one(source, interval)
        if answer is None:
            raise Fault("Moved", "the offer could not be looked at")
        both = intersect(answer.held, self._holdings.held)
        for piece in subtract(answer.held, both):
            if not await self.pulling.take(piece, source, answer.lost):
                raise Fault("Moved", "the successor could not take the interval over")
            self._handed_over.append((source, piece))
        for piece in both:
            if not await self.reconciling.reconcile(piece, source):  # it goes on with it
                self.rivals.note(Rival((piece,), HEARSAY, (source,)))
                raise Fault("Moved", "the two holdings could not be made one")
            self._handed_over.append((source, piece))
        left = subtract((interval,), answer.held)
        if subtract(left, self._holdings.held):
            self.wake()
            raise Fault("Moved", "the interval is not held here yet")
        await self.reconciling.absorb_since_lost(answer, left, source)
        if intersect((interval,), self._holdings.lost):  # it is taken in once that is proven
            raise Fault("Moved", "it is not known yet whether this is all of the past")
        for view in (*answer.copies, *answer.former):
            part = intersect(view.intervals, left)
            if not await self.reconciling.absorb(part, source, view.epoch, view.primary.id):
                raise Fault("Moved", "the offer could not be pulled")
        if not await self.reconciling.absorb_with_it(taken_in, left, source):
            raise Fault("Moved", "the offer could not be pulled")
        return Inherited()
