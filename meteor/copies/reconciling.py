"""Making one holding of two: what another peer has of what is held here is taken in.

Law of this file: conversations.  After a partition, or a false suspicion, two peers may hold an
interval, and both acknowledged under it.  Versions merge, deletes win, at all copies of the one
whose arc it is; then the other one gives up (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from chord import CallError, Contact, RemoteFault, Runtime
from meteor.copies.claims import is_too_much
from meteor.copies.copying import Superseded
from meteor.copies.giving import HandoffConfig
from meteor.copies.replication import Replication
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import Admission, key_of
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Keep, Kept
from meteor.wire.operations import (
    Carried,
    Claim,
    ClaimAnswer,
    Freeze,
    Frozen,
    Pull,
    PulledPage,
    TakeOver,
    Yours,
)
from meteor.wire.view import HEARSAY, RIVALS_MAX, Ended, Rival, View, rivals_within
from squid import Interval, intersect, merge, subtract

MERGE_S: Final = 10.0
"""For a page of another holder's content to be durable at all copies."""

ReplyT = TypeVar("ReplyT")


async def asked(
    runtime: Runtime, config: HandoffConfig, contact: Contact, request: object, kind: type[ReplyT]
) -> ReplyT:
    """A call whose reply is what it should be; raises `CallError`."""
    reply = await runtime.call(contact, request, config.call_s)
    if not isinstance(reply, kind):
        raise RemoteFault("ProtocolError", f"{contact} answered {type(reply).__name__}")
    return reply


def going_on(page: PulledPage, before: PulledPage | None) -> PulledPage:
    """A page that goes on where the one before ended; raises `RemoteFault` where it does not.  What
    went to the attic meanwhile, or came back, or was read again by a restarted peer, is numbered
    anew there: what an old cursor skips would count as had."""
    if before is not None and page.place != before.place:
        raise RemoteFault("Moved", "the content lies elsewhere meanwhile: pull again")
    if page.more and page.cursor <= (0 if before is None else before.cursor):
        raise RemoteFault("ProtocolError", "a hand-off that does not go on")
    return page


class Reconciling:
    """One peer's holdings, and what others have of them."""

    def __init__(
        self,
        runtime: Runtime,
        config: HandoffConfig,
        holdings: Holdings,
        shelf: Shelf,
        views: Views,
        replication: Replication,
        on_gained: Callable[[Intervals, Admission], None],
    ) -> None:
        self._runtime, self._config, self._holdings = runtime, config, holdings
        self._shelf, self._views, self._replication = shelf, views, replication
        self._on_gained = on_gained
        self.on_rival: Callable[[Rival], object] = lambda _: None
        """Hears whom a peer that lets go had beside it."""
        self.on_outvoted: Callable[[Carried, int], object] = lambda _, __: None
        """Hears the word of a move that is over, as a later one says that the record went to some
        other place, and the version of that: two sides of a partition said so."""

    async def absorb(
        self,
        piece: Intervals,
        source: Contact,
        epoch: int,
        primary_id: int | None = None,
        *,
        unless_partial: bool = False,
    ) -> bool:
        """Take what another peer has of what is held here in, with one's copies: of its view of
        that epoch, should its content not be on the shelf there; whether what it has is here now.
        Whether that is all of a primary's view is known to `Views.has_all_of` then, and what that
        peer had taken in beside it; with `unless_partial` nothing is taken in that is not."""
        known = self._views.taken_in.within(piece)
        for interval in piece:
            try:
                await self._absorb_pages(interval, source, epoch, primary_id, unless_partial)
            except (CallError, Superseded):
                return False
        if not await self._is_level(piece):
            return False
        if self._views.taken_in.within(piece) != known:  # whoever gave it need not remember it now
            await self._shelf.note(self._views)
        return True

    async def _absorb_pages(
        self,
        interval: Interval,
        source: Contact,
        epoch: int = 0,
        primary_id: int | None = None,
        unless_partial: bool = False,
    ) -> PulledPage:
        """Returns the last page."""
        last: PulledPage | None = None
        whole, since = primary_id is not None, 0
        while last is None or last.more:
            pull = Pull(interval, 0 if last is None else last.cursor, epoch, primary_id)
            page = await asked(self._runtime, self._config, source, pull, PulledPage)
            last = going_on(page, last)
            whole, since = whole and page.whole, max(since, page.since)
            if unless_partial and not whole:
                return last
            await self.merge(page.carried)
            self._check_held(interval)
        self._views.taken_in.learn(last.taken_in, (interval,))
        if whole and primary_id is not None:
            self._views.taken_in.note(primary_id, epoch, (interval,), since)
        return last

    def _check_held(self, interval: Interval) -> None:
        """Nothing is kept of what is another peer's meanwhile."""
        if subtract((interval,), self._views.held()):
            raise Superseded("the interval was given up meanwhile")

    async def _is_level(self, part: Intervals) -> bool:
        """Whether one's copies have what was no news as well: it may have been here alone."""
        ends_s = self._runtime.now() + MERGE_S
        return await self._replication.levelling.until(part, ends_s)

    async def claimed(self, interval: Interval, holder: Contact) -> ClaimAnswer | None:
        """What another peer says of an interval; None when it does not answer."""
        claim = Claim(interval)
        try:
            answer = await asked(self._runtime, self._config, holder, claim, ClaimAnswer)
        except CallError:
            return None
        return None if is_too_much(answer) else answer

    async def absorb_since_lost(
        self, answer: ClaimAnswer, left: Intervals, source: Contact
    ) -> None:
        """What the source acknowledged since the past of it was lost, which was lost here again."""
        had = (*answer.copies, *answer.former)
        for view in had:
            if since := self._views.since_lost(view, intersect(left, self._holdings.lost), had):
                await self.absorb(since, source, view.epoch, view.primary.id)

    async def absorb_with_it(
        self, taken_in: tuple[Ended, ...], left: Intervals, source: Contact
    ) -> bool:
        """What the source can show to have, this peer can from now on.  Its views may speak of its
        attic alone; whether its shelf is here, and stays: a brief view keeps nothing."""
        known = self._views.has_all_of
        news = [one for one in taken_in if not known(one.intervals, one.primary, one.epoch)]
        if news:
            if not await self.absorb(left, source, 0):
                return False
            self._views.taken_in.learn(news, self._holdings.held)
            await self._shelf.note(self._views)
        return not subtract(left, self._views.settled())

    async def absorb_own(self, piece: Intervals, epoch: int, primary_id: int | None = None) -> bool:
        """The same of what lies in the attic here."""
        lots, _ = self._views.lots_for(piece, epoch, primary_id)
        for interval in piece if lots else ():
            cursor, more = 0, True
            while more:
                page = self._shelf.attic.page(lots, interval, cursor, self._shelf.outgoing)
                cursor, more = page.cursor, page.more
                try:
                    await self.merge(page.carried)
                    self._check_held(interval)
                except Superseded:
                    return False
        if lots and not await self._is_level(piece):
            return False
        there, whole = self._views.lots_for(piece, epoch, primary_id)
        if there == lots:  # all the time
            self._views.taken_in.learn(self._views.lots_taken_in(lots, piece), piece)
            if whole and primary_id is not None:
                since = self._views.stored_since(piece, epoch)
                self._views.taken_in.note(primary_id, epoch, piece, since)
        return True

    async def bring_to_copies(self, view: View, piece: Intervals) -> bool:
        """What is on the shelf here of a piece of a view, from a former life perhaps; whether every
        copy has that now."""
        for interval, carried in self._shelf.pages(piece):
            if not await self._is_kept(view, Keep((interval,), carried)):
                return False
        return True

    async def _is_kept(self, view: View, keep: Keep) -> bool:
        """Whether every copy of a view took something; who did not is none any more."""
        silent: list[Contact] = []
        replies = await self._replication.ask_all(view.copies, keep)
        for copy, reply in zip(view.copies, replies, strict=True):
            if isinstance(reply, Kept) and reply.newer:
                self._replication.passed_over(reply.newer)
                return False
            if not isinstance(reply, Kept) or not reply.known:
                silent.append(copy)
        await self._replication.evict(*silent)
        return not silent

    async def merge(self, carried: Sequence[Carried]) -> int:
        """Take in what is news of what is held here, with its copies; how much was.  All of it
        shows when this returns, also what another conversation is just taking in: its caller says
        that the past is known.  Raises `Superseded` when the holding ended meanwhile."""
        self._compare_words(carried)
        news = self._shelf.news(carried) + self._shelf.words_over(carried)
        coming = self._shelf.is_coming([key_of(one) for one in carried])
        ends_s = self._runtime.now() + MERGE_S
        for view in list(self._views.own.values()) if news else ():
            its = [one for one in news if self._shelf.meets(one, view.intervals)]
            its = [one for one in its if not self._shelf.is_over(one)]  # much happens meanwhile
            if its and self._holdings.is_frozen(view.intervals):
                raise Superseded("the interval is just given to another peer")
            for one in await self._replication.keep(its, view.intervals, ends_s) if its else ():
                # word of a move, or a delete, may have been under way before, and shows by now
                if self._shelf.may_show(one):
                    self._shelf.take_in(one, None)
        if coming:
            await self._replication.barrier()
            await self._shelf.barrier()
        return len(news)

    async def reconcile(self, interval: Interval, source: Contact) -> bool:
        """Two hold the interval: this peer, whose it is, takes the other's content in and lets it
        end; whether it did.  What the other knows the past of is known here before it lets go: once
        it has, nobody can say so again."""
        if any(view.is_brief for view in self._views.touching((interval,))):
            return False  # nothing is kept under it, nor may the other one let go because of it
        ended = self._holdings.merging(interval, source)
        try:
            last = await self._absorb_pages(interval, source)
            frozen = await asked(
                self._runtime, self._config, source, Freeze(interval, last.cursor), Frozen
            )
            await self.merge(going_on(frozen.page, last).carried)
            if not await self._is_level((interval,)):
                return False
            self._views.see(frozen.epoch, frozen.highest)
            own_id = self._runtime.contact.id
            rivals = [  # that this peer holds it too is known here
                one for one in rivals_within(frozen.rivals, (interval,))
                if one.epoch != HEARSAY or any(peer.id != own_id for peer in one.holders)
            ]  # fmt: skip
            for one in rivals:  # not merged there yet: nobody else names them from then on
                self.on_rival(one)
                await self.doubt(one)
            doubtful = merge(frozen.lost, *(one.intervals for one in rivals))
            if not await self._know(subtract((interval,), doubtful), frozen.epoch):
                return False
            await self._know_beside(rivals, subtract(doubtful, frozen.lost), frozen.epoch)
            if subtract((interval,), self._views.held()):  # given to the other one meanwhile
                return False
            given = await asked(
                self._runtime, self._config, source, TakeOver(interval, frozen.grant), Yours
            )
            self._views.see(given.epoch)
            # its copies name its view from now on, and it does not know of it any more
            known = subtract((interval,), doubtful)
            self._views.taken_in.learn(frozen.taken_in, (interval,))
            self._views.taken_in.note(source.id, frozen.epoch, known)
        except (CallError, Superseded):
            return False
        finally:
            ended()
        for view in self._views.touching((interval,)):
            await self._replication.change(view.number, settled=True)
        self._replication.on_ended(View(source, 0, frozen.epoch, (interval,), frozen.copies))
        self.tell_anew((interval,))
        return True

    def _compare_words(self, carried: Sequence[Carried]) -> None:
        """Where one record was moved to two places, the later word alone stays, and whoever comes
        by it is not led to the other one: what lies there goes, unless it is later still."""
        for one in carried:
            over = self._shelf.outvoted(one)
            if over is not None and self._shelf.meets(one, self._views.held()):
                self.on_outvoted(*over)

    def tell_anew(self, part: Intervals) -> None:
        """What another one had of `part` counts here by now.  Some of it may have been on the shelf
        all the time, as a copy of that one's: nobody was told of it here."""
        self._on_gained(part, Admission())

    async def _know(self, part: Intervals, epoch: int) -> bool:
        """The past of `part` up to an epoch is here, which may have been lost: whether every view
        says so now.  Not where something is known to have begun after that, which is not here."""
        gone = self._views.chronicle.gone_past(part, epoch, self._views.taken_in)
        asked_for, part = part, subtract(part, gone)
        for view in self._views.touching(intersect(self._views.lost(), part)):
            await self._replication.rival(view.number, known=part)
            self._replication.resync.add(view.number)
        return not intersect(self._views.lost(), asked_for)

    async def _know_beside(self, rivals: Sequence[Rival], part: Intervals, epoch: int) -> None:
        """The same of what has rivals, which stay named, all of them in the very view that calls
        the past known: once they are merged nobody would say that it is."""
        part = subtract(part, self._views.chronicle.gone_past(part, epoch, self._views.taken_in))
        for view in self._views.touching(intersect(self._views.lost(), part)):
            beside = {*view.rivals, *rivals_within(rivals, view.intervals)}
            if len(beside) <= RIVALS_MAX:
                await self._replication.rival(view.number, add=rivals, known=part)
                self._replication.resync.add(view.number)

    async def doubt(self, rival: Rival) -> None:
        """Note in one's views that it may have more of theirs than is here."""
        for view in self._views.touching(rival.intervals):
            for part in rivals_within((rival,), view.intervals):
                if part in view.rivals:
                    continue
                if len(view.rivals) < RIVALS_MAX:
                    await self._replication.rival(view.number, add=(part,))
                else:
                    await self._replication.rival(view.number, lost=part.intervals)
