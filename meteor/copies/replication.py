"""The primary's side of copies: its views, how they begin, change and end.

Law of this file: conversations; what a view is and which is later is decided in
`meteor.keeping.views`.  A view is durable at all its copies and here before anything is
acknowledged under it; a copy that is silent, or refuses, is evicted in a next epoch; a primary that
hears of a later view of what it holds gives that up at once (DESIGN section 5).  How a change of
records comes to the copies of a view is in `copying.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from chord import ChordNode, Contact, Runtime, replace
from meteor.copies.adopted import Adopted
from meteor.copies.choosing import Choosing
from meteor.copies.config import CopiesConfig
from meteor.copies.copying import Copying
from meteor.copies.followed import Followed
from meteor.copies.footing import Footing, Kept
from meteor.copies.gifts import Gifts
from meteor.copies.inquiry import Inquiry, kept_by, kept_by_all, not_taken_by
from meteor.copies.levelling import Levelling
from meteor.copies.settling import Settling
from meteor.copies.turns import Mutex
from meteor.copies.witnesses import Witnesses
from meteor.keeping.holdings import Holdings
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Beside, Instate, Instated
from meteor.wire.operations import Yours
from meteor.wire.view import EPOCHS, Rival, View, is_passed_over, parts_of, rivals_within
from squid import Intervals, intersect, merge, subtract

NOTHING: Final = Yours()


class Replication:
    """One peer's views as their primary."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        views: Views,
        holdings: Holdings,
        shelf: Shelf,
        config: CopiesConfig,
    ) -> None:
        self._runtime = runtime
        self._views, self._holdings, self._shelf = views, holdings, shelf
        self._inquiry = inquiry = Inquiry(runtime, config)
        self.ask, self.ask_all = inquiry.ask, inquiry.ask_all
        choosing = Choosing(node, config)
        self.among, self.wanted = choosing.among, choosing.wanted
        self._witnesses = its = Witnesses(node, runtime, views, config, self.ask)
        self.lacks, self.is_pressing, self.has_left = its.lacks, its.is_pressing, its.has_left
        self.note_left, self.note_dead = its.note_left, its.note_dead
        self.settling = Settling(
            runtime, views, config, change=self.change, may_fall=self._witnesses.may_fall
        )
        self.followed = Followed(runtime)
        self.changing = Mutex(runtime, "changing views")
        """Held by whoever changes what this peer is the primary of."""
        self.learners: dict[int, tuple[Contact, int]] = {}
        """Who is being filled, and for which view."""
        self.adopted, self.gifts = Adopted(), Gifts(runtime, views)
        self.resync: set[int] = set()
        """Views with content that their copies may lack: it came from a former life."""
        self.beside: list[View] = []  # of others', what may be just about to begin here
        self.on_beside: Callable[[View], None] = lambda _: None
        """Hears what copies kept for others of what is held here."""
        self.on_ended: Callable[[View], None] = lambda _: None
        """Hears of views that gave way: own ones, also before they began, and others' to these."""
        self.with_heard: Callable[[View], View] = lambda view: view
        """Adds the rivals that are not written down yet."""
        self.on_superseded: Callable[[], None] = lambda: None
        self.on_changed: Callable[[], None] = lambda: None
        self.levelling = Levelling(runtime, views, self.ask, self.evict, self.passed_over)
        self.copying = Copying(
            runtime, views, holdings, shelf, self.learners,
            ask_each=inquiry.ask_each, lacks=self.lacks, too_few=self._witnesses.too_few,
            evict=self.evict, settle=self.settling.settle,
            passed_over=self.passed_over, on_lack=self._look_for_copies,
            level=self.levelling.until,
        )  # fmt: skip
        """Brings changes of records to the copies."""
        self.keep, self.barrier = self.copying.keep, self.copying.barrier
        self.keep_for_client, self.enough = self.copying.keep_for_client, self.copying.enough

    # -- changes of views

    async def evict(self, *contacts: Contact) -> None:
        """Go on without these copies, in a next epoch of every view that they were of: without all
        of them at once, as whoever is asked to agree is waited for again."""
        if not contacts:
            return
        # A recruit may just be becoming a copy: it is sent all until that is decided.
        await self.changing.enter()
        self.changing.leave()
        self._note_silent([one.id for one in contacts])
        for one in contacts:
            self.learners.pop(one.id, None)
        asked: set[int] = set()
        while left := [one for one in self._numbers_with(contacts) if one not in asked]:
            asked.update(left)  # a view may have gone on under another number meanwhile
            for number in left:
                await self.change(number, without=contacts)

    def _numbers_with(self, copies: Sequence[Contact]) -> list[int]:
        """The own views that have any of these."""
        ids = {one.id for one in copies}
        return [number for number, view in self._views.own.items() if ids & view.holder_ids]

    def _note_silent(self, ids: Collection[int]) -> None:
        self._witnesses.note_silent(ids)
        self.followed.silent(ids)

    def _look_for_copies(self) -> None:
        """A change waits for a view to have a copy again."""
        self.on_changed()

    async def change(
        self,
        number: int,
        *,
        without: Sequence[Contact] = (),
        add: Contact | None = None,
        patient: bool = False,
        settled: bool = False,
    ) -> bool:
        """Another copy, or some less; whether the view is so now.  A `patient` change is none while
        something that was given has not begun, be it that it was given while this one waited; a
        `settled` one lets something be kept under the view from then on."""
        fallen = await self._inquiry.fallen_of(self._views.own.get(number), without)
        self._note_silent([one.id for one in fallen])
        without = (*without, *fallen)
        await self.changing.enter()
        try:
            view = self._views.own.get(number)
            if patient and self.gifts.are_open():
                return False
            if view is None or (add is not None and add.id not in self.learners):
                return False  # who was being filled missed a change
            if add is not None and view.copies and self.gifts.are_open_of(number):
                return False  # it goes on under another number by that, which nobody was filled for
            gone = {one.id for one in (*without, *((add,) if add is not None else ()))}
            copies = [copy for copy in view.copies if copy.id not in gone]
            if add is not None:
                copies.append(add)
            adopted_epoch = view.epoch
            before = None if settled else view
            view = replace(view, epoch=self._views.next_epoch(), copies=tuple(copies))
            installed = await self.install(view, adopted_epoch, before)
            return installed is not None and (add is None or installed.has_copy(add.id))
        finally:
            self.changing.leave()

    async def begin(
        self,
        view: View,
        adopted_epoch: int,
        giver: Contact | None = None,
        given: Yours = NOTHING,
        taken: View | None = None,
        kept: Kept = None,
    ) -> View | None:
        """Be the primary of a view that is new here, whose content is here, as that of one that was
        `taken` over, whose holders may be gone: None when a later one is known meanwhile, or what
        was `kept` as that was decided is not so any more, or somebody gave some of it, else the
        view as its copies have it.  Of one that was passed over in part while it was noted here
        that is what is left.  What copies kept for a `giver`, who froze it and gave all up to its
        last epochs, is nothing beside it; what one that died as it gave had named is."""
        await self.changing.enter()
        try:
            before, footing = set(self._views.own), Footing(self._views, view, kept)
            if not footing.holds() or (giver is None and footing.touched):
                return None
            installed = await self.install(footing.with_own(), adopted_epoch, taken, kept)
            if installed is None:
                left = self._views.touching(view.intervals)
                installed = next((one for one in left if one.number not in before), None)
            if installed is not None:
                self.adopted.keep_only(self._views.own)
                self.adopted.note(installed, max(adopted_epoch, given.epoch))
                for one in footing.touched:  # it is here, and not with the copies
                    self._views.take_in(one, installed.intervals)
                if taken is not None and kept is not None:
                    self._views.take_in(taken, installed.intervals)
                if giver is not None:
                    self.adopted.note_given(installed, giver, max(given.epoch, given.tried))
                self.levelling.note_begun(installed.intervals)
                self._holdings.gain(installed.intervals, lost=installed.unknown)
                known = subtract(installed.intervals, installed.lost)
                self.resync |= {installed.number} if self._views.is_former(known) else set()
                self._views.go_on_with(installed, adopted_epoch)
                self._say_beside(None if given.tried == EPOCHS else giver)
            return installed
        finally:
            self.changing.leave()

    async def fence(self, view: View, adopted: View) -> bool:
        """Let copies refuse the primary before, while their content is fetched; whether all do.
        It is remembered here as something to be filled: whoever asks meanwhile is to know that this
        peer has not moved on from it."""
        self._views.learn(view)
        self._views.tried.note(view, adopted)
        replies = await self.ask_all(view.copies, Instate(view, adopted.epoch))
        self._views.tried.hear(view.number, kept_by_all(replies))
        self._views.see(view.epoch)
        self.beside += kept_by(replies)
        return not not_taken_by(view, replies)

    def announce(self, contact: Contact, view: View) -> None:
        """Tell a primary that it was passed over, should it live."""
        self._runtime.send(contact, Instate(view))

    async def found(self, number: int, part: Intervals) -> bool:
        """The past of what was lost is here now: say so to the copies; whether that holds."""
        await self.changing.enter()
        try:
            view = self._views.own.get(number)
            if view is None:
                return False
            known = intersect(view.lost, part)
            view = replace(view, epoch=self._views.next_epoch(), lost=subtract(view.lost, part))
            if await self.install(view) is None:
                return False
            self._holdings.find(subtract(known, self._views.unknown()))
            self.resync.add(number)
            self._views.forget_former(known)
            self._views.forget_stored(known)
            return True
        finally:
            self.changing.leave()

    async def rival(
        self,
        number: int,
        *,
        add: Iterable[Rival] = (),
        without: Rival | None = None,
        lost: Intervals = (),
        known: Intervals = (),
    ) -> None:
        """A view has rivals, or one less: merged, and the past `known` by it, or `lost`."""
        await self.changing.enter()
        try:
            view = self._views.own.get(number)
            if view is None:
                return
            # it may have given some of its part away while this waited for its turn
            new = rivals_within(add, view.intervals)
            names = (*(one for one in view.rivals if one not in (*new, without)), *new)
            gone = merge(subtract(view.lost, known), intersect(lost, view.intervals))
            epoch = self._views.next_epoch()
            if await self.install(replace(view, epoch=epoch, rivals=names, lost=gone), view.epoch):
                self._holdings.find(subtract(view.unknown, self._views.unknown()))
        finally:
            self.changing.leave()

    async def unify(self, one: View, other: View) -> None:
        """Make one view of two that have the same copies."""
        await self.changing.enter()
        try:
            own = self._views.own
            if self.gifts.are_open() or any(own.get(its.number) != its for its in (one, other)):
                return
            rivals = tuple(dict.fromkeys((*one.rivals, *other.rivals)))
            intervals, lost = merge(one.intervals, other.intervals), merge(one.lost, other.lost)
            epoch = self._views.next_epoch()
            view = replace(one, epoch=epoch, intervals=intervals, lost=lost, rivals=rivals)
            self.adopted.join(one.number, (one, other))
            await self.install(view, min(one.epoch, other.epoch))
        finally:
            self.changing.leave()

    def new_view(
        self,
        intervals: Intervals,
        copies: Iterable[Contact],
        lost: Intervals = (),
        rivals: Iterable[Rival] = (),
    ) -> View:
        """A view of this peer's own, in an epoch later than any that it has seen."""
        epoch, rivals = self._views.draw_epoch(), rivals_within(rivals, intervals)
        return View(self._runtime.contact, epoch, epoch, intervals, tuple(copies), lost, rivals)

    async def install(
        self, view: View, adopted_epoch: int = 0, stands_for: View | None = None, kept: Kept = None
    ) -> View | None:
        """Make an own view durable at all its copies and here; a copy that fails is left out, in a
        further epoch.  None when a later view is known meanwhile.  `changing` must be held.  Where
        it may be brief, nothing is kept under it yet that was not so under what it `stands_for`."""
        before, footing = self._views.own.get(view.number), Footing(self._views, view, kept)
        if before is not None and before.copies and self.gifts.are_open_of(before.number):
            view, adopted_epoch = self._beside_what_was_given(view, before), before.epoch
        asked = {copy.id for old in (*footing.touched, view) for copy in old.copies}
        while True:
            view = replace(view, settled=self._witnesses.before_it(view, stands_for))
            self._views.see(view.epoch)
            replies = await self._inquiry.instate(view, before, adopted_epoch)
            self.beside += kept_by(replies)
            if before is None:
                self._views.tried.hear(view.number, kept_by_all(replies))
            if self._is_over(view, replies, footing):
                self._give_up(view, before, kept_by_all(replies))
                return None
            failed = not_taken_by(view, replies)
            if not failed:
                break
            self._views.tried.note_next(view, before, kept_by_all(replies))
            self._note_silent(failed)
            rest = tuple(copy for copy in view.copies if copy.id not in failed)
            view = replace(view, epoch=self._views.next_epoch(), copies=rest)
        told = await self._witnesses.tell(view, asked)
        if self._is_over(view, told, footing):
            self._give_up(view, before, kept_by_all(replies))
            return None
        know = sum(isinstance(reply, Instated) and reply.known for reply in told)
        had = () if stands_for is None else stands_for.holder_ids
        self._witnesses.note_gone(view, {*had, *self._views.holders_of(view.intervals)}, know)
        if stands_for is not None:
            self.adopted.note_kept(view, self._views.copies.get(stands_for.key))
        self.beside += footing.beside()
        self._views.put_own(view)
        if before is not None and before.number != view.number:
            self.gifts.note_left(before.number)
        self._witnesses.note_begun(view)
        await self._shelf.note(self._views)
        self._witnesses.say_begun(view)
        self.followed.holders(before, view)
        if before is not None:
            self._say_beside()
            self._let_go(before, view)
        self._witnesses.release()
        self.on_changed()
        return self._views.own.get(view.number)  # passed over during the note, perhaps

    def _let_go(self, before: View, view: View) -> None:
        """Tell who was a copy, and is none any more."""
        for copy in before.copies:
            if not view.has_copy(copy.id):
                self._runtime.send(copy, Instate(view))

    def _beside_what_was_given(self, view: View, before: View) -> View:
        """The next of a view of which part was given that has not begun, under another number: the
        copies keep that part under the one that they know.  Not a drawn one, as what is left of a
        view that was passed over gets: nobody is to think that it began anew (`View.since`)."""
        view = replace(view, number=before.number - 1)
        self.adopted.join(view.number, (before,))
        for learner, number in list(self.learners.values()):
            if number == before.number:  # it would not hear of changes any more
                del self.learners[learner.id]
                self._runtime.send(learner, Instate(before))
        return view

    def _is_over(self, view: View, replies: Iterable[object], footing: Footing) -> bool:
        """Whether a later view than one that is being installed is known, or what it begins on is
        not as it was."""
        for reply in replies:
            if isinstance(reply, Instated) and is_passed_over(view, reply.newer):
                self.passed_over(reply.newer)
                return True
        return not footing.holds()

    def _give_up(self, view: View, before: View | None, kept: tuple[View, ...] | None) -> None:
        """A view does not begin, though copies have it, and not what they `kept` for others."""
        self._views.tried.note_next(view, before, kept)
        self.on_ended(view)

    def _say_beside(self, giver: Contact | None = None) -> None:
        """Of what is held by now: what is just about to begin is told of when it does."""
        beside, self.beside = self.beside, []
        for one in beside:
            if giver is None or one.primary.id != giver.id:
                self.on_beside(one)

    def passed_over(self, newer: Iterable[View]) -> None:
        """Later views are known: give up what they are of."""
        lost: Intervals = ()
        for one in newer:
            self._views.see(one.epoch)
            for mine in self._views.touching(one.intervals):
                if (one.epoch, one.key) > (mine.epoch, mine.key) and one.key != mine.key:
                    part = intersect(mine.intervals, one.intervals)
                    self._holdings.give(part, one.primary)
                    lost = merge(lost, part)
                    known = self._views.own[mine.number] = self.with_heard(mine)
                    for ended in parts_of((known,), part):
                        self._runtime.send(one.primary, Beside(ended))
                        self.on_ended(ended)
        if lost:
            before = self._views.touching(lost)
            for number in self._views.demote(lost):
                self.adopted.join(number, before)
                self._runtime.spawn(self.change(number))
            self._runtime.spawn(self._shelf.note(self._views))
            self.on_superseded()
