"""Rivals: what was answered for elsewhere at the same time, and is merged as soon as it is known.

Law of this file: conversations.  After a partition, or a false suspicion, two primaries meet; the
one whose view is the earlier gives up and says what it had.  From that moment on the other names
the interval in every answer, until the content is merged here and at all copies; the note of it is
part of the view, so that it goes wherever the interval goes (DESIGN section 5).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import product
from typing import Final

from chord import Contact, Fault, Handler, Runtime, replace
from meteor.copies.heirs import Heirs
from meteor.copies.reconciling import Reconciling
from meteor.copies.replication import Replication
from meteor.copies.standing_down import StandingDown
from meteor.copies.turns import Bell
from meteor.copies.unbegun import NOTHING, Unbegun, as_rival, own_word, word_of
from meteor.keeping.chronicle import keep_last
from meteor.keeping.holdings import Holdings
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Beside
from meteor.wire.operations import ClaimAnswer
from meteor.wire.view import HEARSAY, RIVALS_MAX, Rival, View, rivals_within
from squid import Interval, Intervals, intersect, merge, subtract

AGAIN_S, IDLE_S = 0.2, 1.0
"""How often it is looked while there are rivals, and while there are none."""
HOPED_S: Final = 5.0
"""How long a question waits for a new rival to be merged, if it has the time; after that its
interval counts as missing at once."""
GIVEN_UP_S: Final = 30.0
"""A rival none of whose holders gives its content for so long is gone: what only it had is lost."""

AROUND_S: Final = 2.0
"""How often all around are asked for what a rival had, while its holders do not give it."""

LAST_WORDS_MAX, WORDS_MAX, PIECES_MAX = 64, 4, 64
"""Peers of which is remembered what they said last, words of each, and pieces of each word."""
WORD_LASTS_S: Final = 10.0
"""A word that came so long before somebody was heard to hold an interval is of an earlier hold."""
_Word = tuple[float, Intervals, int]
"""When it came, of what, and of which epoch."""

HEARD_MAX: Final = 256
"""Rivals that wait to be written down: a bound for hostile input."""


class Rivals:
    """What one primary knows of others beside it."""

    def __init__(
        self,
        runtime: Runtime,
        views: Views,
        holdings: Holdings,
        replication: Replication,
        reconciling: Reconciling,
        heirs: Heirs,
        checked: Callable[[View], View],
        standing_down: StandingDown,
    ) -> None:
        self._runtime, self._views, self._holdings = runtime, views, holdings
        self._replication, self._reconciling = replication, reconciling
        self._heirs, self._checked, self._standing_down = heirs, checked, standing_down
        self._since_s: dict[Rival, float] = {}
        self._pulled: set[tuple[Rival, int]] = set()
        """From whom what it has of a rival was taken in, though that was not all."""
        self._around_s: dict[Rival, float] = {}
        """When all around were asked last."""
        self._last_words: OrderedDict[Contact, tuple[_Word, ...]] = OrderedDict()
        """What primaries said of their views that ended, and what of these was noted here."""
        self._heard: dict[Rival, None] = {}
        """Not written down yet."""
        self._bell = Bell(runtime, "rivals")
        holdings.hope = self._hope
        holdings.heard = lambda: merge(*(rival.intervals for rival in self._heard))
        replication.on_beside = self._on_kept_beside
        replication.with_heard = self._with_heard

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Beside: self._on_beside}

    def _on_beside(self, sender: Contact, message: object, _: float) -> None:
        assert isinstance(message, Beside)
        ended = self._checked(message.view)
        if ended.primary.id != sender.id:
            mine = self._views.touching(ended.intervals)
            if any(one.has_copy(sender.id) for one in mine):  # it gave that: see `_pass_on`
                self._beside(ended, lived=True)
            return
        self._pass_on(ended)
        early = ended.without(self._views.held())
        if early is not None and self._replication.changing.is_busy:
            # A copy may have told of what has not begun here yet: nobody says so again.
            del self._replication.beside[HEARD_MAX:]
            self._replication.beside.append(early)
        if self._beside(ended, lived=True):
            words = self._last_words.get(sender, ())[1 - WORDS_MAX :]
            word = self._runtime.now(), ended.intervals[:PIECES_MAX], ended.epoch
            keep_last(self._last_words, sender, (*words, word), LAST_WORDS_MAX)

    def _pass_on(self, ended: View) -> None:
        """To whoever has it by now: a primary that gives up hears of the one that passed it over,
        which may have given the interval since."""
        for copy in list(self._views.copies.values()):
            part = ended.within(copy.view.intervals) if copy.whole else None
            if part is not None and ended.epoch < copy.view.epoch:
                self._runtime.send(copy.view.primary, Beside(part))

    def _on_kept_beside(self, view: View) -> None:
        with suppress(Fault):  # nonsense
            self._beside(self._checked(view))

    def _beside(self, ended: View, *, lived: bool = False) -> bool:
        """Note what of a view that ended, be it that its primary `lived` until then and answered,
        is not here; whether there was room for all of that."""
        noted = True
        self._standing_down.note(ended)
        for mine in self._views.touching(ended.intervals):
            part = intersect(mine.intervals, ended.intervals)
            unknown = self._unknown(mine, ended, part, lived)
            lost = intersect(ended.lost, unknown)
            of_it = Rival(unknown, ended.epoch, ended.holders, lost, ended.number)
            for rival in (of_it, *rivals_within(ended.rivals, part)):
                noted = self.note(rival) and noted
        return noted

    def _unknown(self, mine: View, ended: View, part: Intervals, lived: bool) -> Intervals:
        """What of `part` may have been acknowledged under a view that ended and is not in `mine`.
        Nothing was, under a brief one: whoever has what that stood for has all of it.  Nor was it
        under one of which this peer is a copy that never had it, and took over what came before.
        Who answered until now may have done so on another side of a cut, and the epoch that `mine`
        was taken over from be the later one: what is of an earlier one need not be left of it."""
        adopted, settled = self._replication.adopted, ended.settled
        unknown = adopted.before(mine.number, part, ended.epoch, ended.primary)
        if lived:
            here = adopted.shows(mine.number, part, ended.epoch, ended.primary)
            unknown = merge(unknown, subtract(part, here))
        if ended.counts_on(self._runtime.contact):
            unknown = subtract(unknown, adopted.kept_before(mine.number, ended))
        if settled is None:
            return unknown
        known = adopted.shows(mine.number, part, settled.epoch, settled.primary)
        known = merge(known, self._views.taken_in.of(settled.primary.id, settled.epoch))
        return subtract(unknown, intersect(known, settled.intervals))

    def note(self, rival: Rival) -> bool:
        """Say of these intervals from now on that something may be missing, and see to it; whether
        there was room for that."""
        if rival.intervals and len(self._heard) >= HEARD_MAX:
            return False
        if rival.intervals:
            self._heard[rival] = None
            self._holdings.doubt(rival.intervals)
            self._bell.ring()
        return True

    def _with_heard(self, view: View) -> View:
        """A view that ends here now, with what is heard and not written down: nobody else would
        say so.  What there is no room for counts as lost.  So does the view that it stands for:
        nothing may be kept under it yet, whatever it names."""
        heard = [one for one in rivals_within(self._heard, view.intervals)
                 if one not in view.rivals]  # fmt: skip
        if not heard:
            return view
        room = max(RIVALS_MAX - len(view.rivals), 0)
        rivals, lost = heard[:room], merge(*(one.intervals for one in heard[room:]))
        settled = view.settled and replace(
            view.settled,
            rivals=(*view.settled.rivals, *rivals),
            lost=merge(view.settled.lost, lost),
        )
        return replace(
            view, rivals=(*view.rivals, *rivals), lost=merge(view.lost, lost), settled=settled
        )

    def _hope(self) -> Intervals:
        """What is named because of rivals that are only just known."""
        now = self._runtime.now()
        noted = [one for view in self._views.own.values() for one in view.rivals]
        young = [one for one in noted if now - self._since_s.setdefault(one, now) < HOPED_S]
        named = merge(*(one.intervals for one in (*young, *self._heard)))
        return subtract(named, self._views.lost())

    async def go_on(self) -> None:
        """Write rivals down, and merge what they had, for ever."""
        while True:
            await self._note_heard()
            self._forget_unnamed()
            self._standing_down.tell()
            for view in list(self._views.own.values()):
                for rival in () if view.is_brief else view.rivals:
                    await self._settle(view, rival)
            pending = any(view.rivals for view in self._views.own.values())
            await self._bell.wait(AGAIN_S if pending else IDLE_S)

    async def _note_heard(self) -> None:
        for rival in list(self._heard):
            await self._reconciling.doubt(rival)
            if self._is_noted(rival):  # else the view was another one meanwhile
                self._heard.pop(rival)
        doubted = (rival.intervals for rival in self._heard)
        self._holdings.reckon(merge(self._views.unknown(), *doubted))

    def _is_noted(self, rival: Rival) -> bool:
        """That the past is lost there says nothing of it: that may be found without it."""
        return all(
            part in view.rivals
            or (len(view.rivals) >= RIVALS_MAX and not subtract(part.intervals, view.lost))
            for view in self._views.touching(rival.intervals)
            for part in rivals_within((rival,), view.intervals)
        )

    async def _settle(self, view: View, rival: Rival) -> None:
        since_s = self._since_s.setdefault(rival, self._runtime.now())
        settle = self._asked_again if rival.epoch == HEARSAY else self._merged
        known = await settle(view, rival)
        if known is not None:
            await self._note_heard()  # what is one in its place: first of all, at all copies
            if rivals_within(self._heard, rival.intervals):
                return
            self._replication.resync.add(view.number)
            await self._replication.rival(view.number, without=rival, known=known)
            if rival.epoch != HEARSAY:  # else `reconcile` has done so
                self._reconciling.tell_anew(intersect(rival.intervals, self._views.held()))
            self._forget(rival)
        elif self._runtime.now() - since_s >= GIVEN_UP_S and not self._is_here(rival):
            await self._replication.rival(view.number, without=rival, lost=rival.intervals)
            self._forget(rival)

    def _is_here(self, rival: Rival) -> bool:
        """Whether all that it had is here, though not with all copies yet."""
        primary_id = rival.holders[-1].id if rival.holders else self._runtime.contact.id
        has_all = self._views.has_all_of(rival.intervals, primary_id, rival.epoch)
        return rival.epoch != HEARSAY and has_all

    def _forget_unnamed(self) -> None:
        """Those of what was given, in part perhaps, are another's by now."""
        named = {*self._heard, *(one for view in self._views.own.values() for one in view.rivals)}
        for rival in [one for one in self._since_s if one not in named]:
            self._forget(rival)

    def _forget(self, rival: Rival) -> None:
        self._since_s.pop(rival, None)
        self._around_s.pop(rival, None)
        self._pulled = {one for one in self._pulled if one[0] != rival}

    async def _asked_again(self, view: View, rival: Rival) -> Intervals | None:
        """None while somebody who said that it holds the interval too may do so: what it has of it
        is taken in, and it lets go; what it knows of others is noted."""
        for holder, interval in product(rival.holders, rival.intervals):
            if holder.id == self._runtime.contact.id:
                continue  # it came here with the note of it: asked, this peer would let go
            answer = await self._reconciling.claimed(interval, holder)
            since_s = self._since_s.get(rival, self._runtime.now())
            if answer is None and self._said_what_it_had(view, holder, interval, since_s):
                continue
            if answer is None:
                return None
            for piece in intersect(answer.held, (interval,)):
                if not await self._reconciling.reconcile(piece, holder):
                    return None
            if not self._note_past(view, rival, interval, self._others(answer)):
                return None
        return ()  # `reconcile` has written down what is known of the past by that

    def _said_what_it_had(
        self, view: View, holder: Contact, interval: Interval, since_s: float
    ) -> bool:
        """Whether a holder that does not answer said that it let go, and what it had: no less than
        what a view was taken over from.  It may have left since."""
        latest = self._replication.adopted.latest(view.number)
        return any(
            epoch >= latest and came_s >= since_s - WORD_LASTS_S and not subtract((interval,), of)
            for came_s, of, epoch in self._last_words.get(holder, ())
        )

    def _others(self, answer: ClaimAnswer) -> tuple[View, ...]:
        own_id = self._runtime.contact.id
        return tuple(one for one in (*answer.copies, *answer.former) if one.primary.id != own_id)

    def _note_past(
        self, view: View, rival: Rival, interval: Interval, past: Iterable[View]
    ) -> bool:
        """What a rival, or whoever says so instead of it, had of an interval, as far as it is not
        here: later than what a view was taken over from, unless it was beside that already."""
        adopted, noted = self._replication.adopted, True
        for one in past:
            part = intersect(one.intervals, (interval,))
            if not adopted.had_rival(view.number, rival):
                part = adopted.before(view.number, part, one.epoch, one.primary)
            elif self._views.has_all_of(part, one.primary.id, one.epoch):
                continue
            instead = as_rival(one, part)
            if adopted.had_rival(view.number, rival):
                adopted.note_had(view.number, instead)
            noted = self.note(instead) and noted
        return noted

    async def _is_at_copies(
        self, view: View, part: Intervals, primary_id: int, epoch: int
    ) -> bool:
        """Whether all that a rival had, and that is on the shelf here, is with every copy as well:
        what was pulled is; what this peer had itself, or kept for another one, it alone may have,
        be it noted as taken in."""
        if not await self._reconciling.bring_to_copies(view, part):
            return False
        if not self._views.has_all_of(part, primary_id, epoch):  # it left the shelf meanwhile
            return False
        since = self._views.shown_since(part, primary_id, epoch)
        self._views.taken_in.note(primary_id, epoch, part, since)
        return True

    async def _never_began(self, view: View, rival: Rival) -> bool:
        """Whether its primary says that it went on without it, or was started again since and
        remembers what it had before as the last, and holds nothing of it now: that is a rival
        instead.  A copy may have taken it all the same."""
        past: list[tuple[Interval, Unbegun]] = []
        for interval in rival.intervals:
            of_it = await self._before_it(interval, rival)
            if subtract((interval,), merge(*(one.intervals for one in of_it.all()))):
                return False
            past.append((interval, of_it))
        noted = True
        for interval, of_it in past:
            noted = self._note_past(view, rival, interval, of_it.had) and noted
            for one in of_it.instead:  # whatever this view was taken over from: see there
                noted = self.note(as_rival(one, (interval,))) and noted
        return noted

    async def _before_it(self, interval: Interval, rival: Rival) -> Unbegun:
        """What its primary, the last of the holders, had of a rival that never began."""
        if not rival.holders or rival.holders[-1].id == self._runtime.contact.id:
            return own_word(rival, interval, self._views)
        answer = await self._reconciling.claimed(interval, rival.holders[-1])
        return NOTHING if answer is None else word_of(rival, interval, answer, self._others(answer))

    async def _around(self, rival: Rival) -> list[Contact]:
        """Who has something of it that came later: a rival that is gone may have handed it on."""
        now = self._runtime.now()
        asked_s = self._around_s.setdefault(rival, self._since_s.get(rival, now))
        if now - asked_s < AROUND_S:
            return []
        self._around_s[rival] = now
        having: list[Contact] = []
        for interval in rival.intervals:
            found = await self._heirs.ask(interval, ())
            having += [holder for holder, _ in found.holders]
            having += [one.contact for one in found.evidence if one.view.epoch >= rival.epoch]
        return [one for one in having if one.id != self._runtime.contact.id]

    async def _merged(self, view: View, rival: Rival) -> Intervals | None:
        """Of what the past is known here by all that a rival had; None while that is not here.  It
        comes from somebody who can show that it has what was acknowledged there when it ended, be
        it only that it merged it itself."""
        gone = self._views.chronicle.gone_past(rival.intervals, rival.epoch, self._views.taken_in)
        known = subtract(rival.intervals, merge(rival.lost, gone))
        primary_id = rival.holders[-1].id if rival.holders else self._runtime.contact.id
        wanted = rival.intervals, primary_id, rival.epoch
        # who has a copy of ours may have merged it, for whoever held the interval before
        others = (*view.copies, *await self._around(rival))
        pulled = False
        for holder in {one.id: one for one in (*rival.holders, *others)}.values():
            if self._views.has_all_of(*wanted):
                there = pulled or await self._is_at_copies(view, *wanted)
                return known if there else None
            if holder.id == self._runtime.contact.id:
                pulled = await self._reconciling.absorb_own(
                    rival.intervals, rival.epoch, primary_id
                )
            else:
                before = (rival, holder.id) in self._pulled or holder not in rival.holders
                if await self._reconciling.absorb(
                    rival.intervals, holder, rival.epoch, primary_id, unless_partial=before
                ):  # else it is asked for all of that again
                    self._pulled.add((rival, holder.id))
                    pulled = True
        if self._views.has_all_of(*wanted):
            return known if pulled or await self._is_at_copies(view, *wanted) else None
        return () if await self._never_began(view, rival) else None
