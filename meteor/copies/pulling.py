"""Pulling: the taker's side of a hand-off, page by page up to the giver's word.

Law of this file: conversations.  The taker pulls pages, asks the giver to freeze the interval,
makes the last changes durable and takes over; whether a giver that does not answer gave is asked
again, and is remembered as open (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from chord import CallError, Contact, DialRefused, DialRejected, RemoteFault, Runtime
from meteor.copies.copy_keeper import CopyKeeper
from meteor.copies.giving import HandoffConfig
from meteor.copies.reconciling import asked, going_on
from meteor.copies.replication import Replication
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import Admission
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.operations import Freeze, Frozen, Pull, PulledPage, TakeOver, Yours
from meteor.wire.view import EPOCHS, HEARSAY, Rival, View
from squid import Interval, intersect, merge, subtract

TAKE_OVER_TRIES = 5
TURN_PAUSE_S: Final = 0.005
"""How often it is looked whether another one has given what both have."""
LOOKED_AT: Final = 256
"""Records that are looked at in one turn."""

DIED_FROZEN: Final = Yours(tried=EPOCHS)
"""Of a giver that cannot say: whatever it was about to begin, nothing is in it that is not here."""


class Pulling:
    """How one peer takes intervals from their holders."""

    def __init__(
        self,
        runtime: Runtime,
        config: HandoffConfig,
        holdings: Holdings,
        shelf: Shelf,
        views: Views,
        replication: Replication,
        keeper: CopyKeeper,
        is_leaving: Callable[[], bool],
        unanswered: Callable[[View], None],
        gained: Callable[[Intervals, Admission], None],
    ) -> None:
        self._runtime, self._config, self._holdings = runtime, config, holdings
        self._shelf, self._views, self._replication = shelf, views, replication
        self._keeper, self._is_leaving = keeper, is_leaving
        self._unanswered, self._gained = unanswered, gained
        self.on_rival: Callable[[Rival], object] = lambda _: None
        """Hears who holds what has come from another one in the meantime."""
        self._beginning: list[Interval] = []
        """What is just asked for, and begun when it is given."""

    async def fetch(self, piece: Intervals, source: Contact, epoch: int) -> bool:
        """Pull content from somebody who is not its primary."""
        for interval in piece:
            try:
                await self._pull_pages(interval, source, Admission(), epoch)
            except CallError:
                return False
        return True

    def expect(self, interval: Interval, source: Contact) -> int:
        """Keep what comes in of an interval, until `Holdings.awaited_no_more` of what this
        returns."""
        self._keeper.expect((interval,))
        return self._holdings.await_from(interval, source)

    async def take(self, interval: Interval, source: Contact, lost: Intervals) -> bool:
        """Take the interval over from its holder, who does not know the past of what is `lost`;
        whether it is held here now."""
        lost = intersect(lost, (interval,))
        # A copy of it has nothing older: laid down, it was worth nothing where the giver then left.
        before = subtract(lost, self._views.copied_unknown(source))
        if self._keeper.comes_in(before):
            return False  # from another one, who may know the past of it
        await self._keeper.clear(before)
        here = self._keeper.came_since(lost)
        hand_off = self.expect(interval, source)
        admission = Admission()
        try:
            last = await self._pull_pages(interval, source, admission)
            if self._came_from_another(interval, source, lost):
                return False
            thaws_s = self._runtime.now() + self._config.freeze_s
            frozen = await asked(
                self._runtime, self._config, source, Freeze(interval, last.cursor), Frozen
            )
            await self._shelf.admit(going_on(frozen.page, last).carried, admission)
            self._views.taken_in.learn(frozen.taken_in, (interval,))
            await self._beside_what_came(interval, admission)
            begun = await self._begin(interval, source, lost, frozen, thaws_s)
        except CallError:
            return False
        finally:
            self._holdings.awaited_no_more(hand_off)
            here()
        if begun is None:
            return False
        self._gained(begun.intervals, admission)
        return True

    async def _begin(
        self, interval: Interval, source: Contact, lost: Intervals, frozen: Frozen, thaws_s: float
    ) -> View | None:
        """Take over what is frozen: None where it is not given, or somebody else gave some of it.
        Who is just giving that is waited for: what he has given cannot be left to him."""
        while any(intersect((interval,), (one,)) for one in self._beginning):
            if self._runtime.now() >= thaws_s:
                return None
            await self._runtime.sleep(TURN_PAUSE_S)
        self._beginning.append(interval)
        try:
            if self._is_leaving() or self._came_from_another(interval, source, lost):
                return None
            self._views.see(frozen.epoch, frozen.highest)
            copies = self._replication.among((source, *frozen.copies))
            if all(one.id != source.id for one in copies):
                # It keeps what it had until this is known to have begun.
                copies = (*copies, source)
            view = self._replication.new_view((interval,), copies, frozen.lost, frozen.rivals)
            request = TakeOver(interval, frozen.grant, view)
            given = await self._take_over(request, source, thaws_s)
            if given is None:
                self._unanswered(view)
                return None
            self._note_taken_in(interval, source, frozen, given)
            begun = await self._replication.begin(view, frozen.epoch, source, given)
            if begun is None:  # passed over at once, if only in part: it has all the same
                self._views.remember(view)
                self._views.tried.note(view)
                self._unanswered(view)
            return begun
        finally:
            self._beginning.remove(interval)

    def _came_from_another(self, interval: Interval, source: Contact, lost: Intervals) -> bool:
        """Whether somebody else gave some of it meanwhile: the two are to be made one.  One who is
        asked twice, as he offers it as well, gave it himself."""
        both = intersect((interval,), self._holdings.held)
        self._replication.levelling.note_come(both)
        both = subtract(both, self._replication.adopted.given_by(source))
        self.on_rival(Rival(both, HEARSAY, (source,), intersect(lost, both)))
        return bool(both)

    def _note_taken_in(
        self, interval: Interval, source: Contact, frozen: Frozen, given: Yours
    ) -> None:
        """All that the giver had is here.  Of its one view of that a next epoch may have begun
        since it froze, as copies come and go: nothing was acknowledged in it, and should one of
        them name it, nobody but who took the interval over can show that."""
        is_one_view = frozen.epoch == frozen.highest
        last = max(frozen.epoch, given.epoch) if is_one_view else frozen.epoch
        known = subtract((interval,), merge(*(one.intervals for one in frozen.rivals)))
        known = subtract(known, frozen.lost)
        self._views.taken_in.note(source.id, last, known)
        left = subtract((interval,), known)
        if frozen.since <= frozen.epoch:
            self._views.taken_in.note(source.id, last, left, frozen.since)

    async def _beside_what_came(self, interval: Interval, admission: Admission) -> None:
        """What this peer had before, in a ring or on a side of its own, has a number of that: the
        giver's marks speak of nothing that the giver does not have."""
        cursor, more = 0, True
        while more:
            after = self._shelf.table.changed_after(cursor, interval)
            some = list(islice(after, LOOKED_AT))
            now_ms = self._shelf.wall_ms()
            for _, placed in some:
                if placed.carried.ttl_ms > now_ms:
                    admission.beside(placed)
            more = len(some) == LOOKED_AT
            if more:
                cursor = some[-1][0]
                await self._runtime.sleep(0.0)

    async def _pull_pages(
        self, interval: Interval, source: Contact, admission: Admission, epoch: int = 0
    ) -> PulledPage:
        """Returns the last page."""
        last: PulledPage | None = None
        try:
            while last is None or last.more:
                pull = Pull(interval, 0 if last is None else last.cursor, epoch)
                page = await asked(self._runtime, self._config, source, pull, PulledPage)
                last = going_on(page, last)
                await self._shelf.admit(page.carried, admission)
        finally:
            self._replication.levelling.note_come((interval,))
        return last

    async def _take_over(self, request: TakeOver, source: Contact, thaws_s: float) -> Yours | None:
        """Ask until the giver is known to have given: its last epochs, as far as it says.  One that
        died frozen gave nothing more away, and all that it had is durable here; one that may have
        thawed took posts unknown here."""
        for _ in range(TAKE_OVER_TRIES):
            try:
                reply = await asked(self._runtime, self._config, source, request, Yours)
            except RemoteFault:
                return None
            except DialRejected:
                return None  # it lives, and may thaw
            except DialRefused:
                return DIED_FROZEN if self._runtime.now() < thaws_s else None
            except CallError:
                continue
            return reply
        return None
