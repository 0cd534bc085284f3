"""Views: who keeps which interval, in which epoch, as far as one peer knows.

Law of this file: pure.  A view names an interval's primary, its copies and an epoch.  Epochs grow
along succession: whoever changes a view, or takes an interval over, uses a higher one than any it
has seen, and makes it durable at every copy before it acknowledges anything under it.  So of two
views of one index the one with the higher epoch is the later, and a copy that has seen it refuses
the earlier primary (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from chord import Contact
from meteor.keeping.chronicle import Chronicle, Heard, Tried
from meteor.keeping.known_views import KnownViews
from meteor.wire.view import EPOCHS, Copy, Ended, Stored, View, ViewKey, parts_of
from squid import Intervals, intersect, merge, subtract

BEFORE_MAX = 8
"""What a copy's view took the place of and is remembered: views of one peer after the other that
fell before they began."""
FORMER_MAX = 256
WITH_MAX = 64
"""Ended views of others whose content lies with that of one former view, in one lot; the last ones
noted: far more than the sides of a cut take in turn."""
GIFTS_MAX = 64
COPIES_MAX = 256
"""Views of others kept at once: far above what k - 1 predecessors can have."""


class Views(KnownViews):
    """All views that one peer has a part in."""

    def __init__(self, own_id: int = 0, incarnation: int = 0) -> None:
        super().__init__(own_id, incarnation)
        self.chronicle, self.heard, self.tried = Chronicle(), Heard(), Tried()

    @classmethod
    def of(cls, peer: Contact, born: int = 0) -> Views:
        """Those of one life of a peer, whose journal an incarnation began, if that is known."""
        views = cls(peer.id, peer.incarnation)
        views.born = born
        return views

    # -- epochs, and word of views

    def draw_epoch(self) -> int:
        """The next epoch, which is not drawn again: it numbers a view as well, so that no later
        life of this peer gives two views one number."""
        epoch = self.next_epoch()
        self.see(epoch)
        return epoch

    def see(self, *epochs: int) -> None:
        """Epochs that others named; nonsense is passed over."""
        self._seen = max((self._seen, *(one for one in epochs if one < EPOCHS)))

    def hear(self, view: View) -> None:
        """Word came of a view."""
        self.see(view.epoch)
        self.heard.note(view.intervals, view.epoch)

    # -- copies

    def learn(self, view: View) -> None:
        """Be filled with a view's content; what was kept of it under others stays until then."""
        self.hear(view)
        self.copies[view.key] = Copy(view, whole=False)
        while len(self.copies) > COPIES_MAX:  # whoever only began to learn goes first
            learning = (key for key, copy in self.copies.items() if not copy.whole)
            del self.copies[next(learning, next(iter(self.copies)))]

    def put(self, view: View) -> None:
        """Keep a whole copy; what it takes the place of ends."""
        before = self._before(view)
        self.learn(view)
        self.end(view)
        self.copies[view.key] = Copy(view, whole=True, before=before)

    def _before(self, view: View) -> tuple[View, ...]:
        """What a view takes the place of, and what that did unless it is known to have begun."""
        found: list[View] = []
        for copy in self.copies.values():
            same = copy.view.key == view.key
            if copy.whole and (same or copy.view.epoch < view.epoch):
                found += copy.before if same else (*copy.before, copy.view)
        found.sort(key=lambda one: one.epoch)
        return parts_of(found, view.intervals)[-BEFORE_MAX:]

    def note_begun(self, primary_id: int, epoch: int) -> None:
        """A primary speaks in an epoch, or says that it began: the view of that epoch has begun."""
        for key, copy in self.copies.items():
            if copy.before and copy.view.primary.id == primary_id and copy.view.epoch == epoch:
                self.copies[key] = replace(copy, before=())

    def end(self, view: View) -> None:
        """A view begins somewhere: earlier copies of its intervals end here.  What the view calls
        lost is kept as evidence: it may be just that past."""
        self.hear(view)
        for key, copy in list(self.copies.items()):
            if copy.view.epoch < view.epoch and intersect(copy.view.intervals, view.intervals):
                if copy.whole:
                    for one in (*copy.before, copy.view):
                        self._remember_of(one, subtract(view.lost, one.lost))
                    self.take_in(copy.view, subtract(view.intervals, view.lost))
                left = copy.view.without(view.intervals)
                if left is None:
                    del self.copies[key]
                else:
                    before = parts_of(copy.before, left.intervals)
                    self.copies[key] = replace(copy, view=left, before=before)

    def remember_beside(self, view: View) -> None:
        """A view of which this peer is no copy takes the place of what it keeps for others: whoever
        begins it need not know of them.  Without their primary this may be the last that is left
        of what they acknowledged.  So it is with what another view of the same primary took the
        place of, and is not known to have begun: it may be had from somebody else."""
        for key, copy in self.copies.items():
            past = copy.view.within(subtract(view.intervals, view.lost))
            if not copy.whole or past is None or copy.view.epoch >= view.epoch:
                continue
            had = (past,) if key[0] != view.primary.id else parts_of(copy.before, past.intervals)
            for one in had:
                if one.primary.id != view.primary.id:
                    self.remember(one)

    def take_in(self, view: View, part: Intervals) -> None:
        """All content of what an ended view has of `part` is on the shelf; what a brief one stands
        for is with it."""
        had = intersect(view.intervals, part)
        if view.settled is not None and (before := view.settled.within(had)) is not None:
            self.take_in(before, had)
        known = subtract(had, view.unknown)
        self.taken_in.note(view.primary.id, view.epoch, known)
        self.taken_in.note(view.primary.id, view.epoch, subtract(had, known), view.since)

    def copied_unknown(self, primary: Contact) -> Intervals:
        """Where what is kept for one life of a peer may lack something, and just what that has of
        it is here.  Not where another primary's went on after it: that life may have the interval
        from there again, and have lost what it had of it before."""
        kept = [copy.view for copy in self.copies.values() if copy.whole]
        return merge(
            *(
                subtract(view.unknown, self._gone_past(view))
                for view in kept
                if view.primary == primary
            )
        )

    def _gone_past(self, view: View) -> Intervals:
        return self.chronicle.gone_past(view.unknown, view.epoch, self.taken_in)

    def drop(self, key: ViewKey) -> None:
        """Keep a copy no more."""
        self.copies.pop(key, None)

    def put_given(self, view: View, parts: Iterable[View]) -> None:
        """Keep a copy of what was just given away, `parts` of own views until then; its primary has
        not begun yet.  Should it never begin, this peer has not moved on from these."""
        self.put(view)
        copy = self.copies[view.key]
        before = (*copy.before, *parts)[-BEFORE_MAX:]
        self.copies[view.key] = replace(copy, before=before)
        for one in parts:  # nobody else can show that, once the taker and its copies have moved on
            self.take_in(one, view.intervals)
        self.gifts[view.key] = None
        while len(self.gifts) > GIFTS_MAX:
            self.gifts.popitem(last=False)

    def retire(self, key: ViewKey) -> None:
        """The primary of a copy does not count on it any more, or is gone."""
        copy = self.copies.pop(key, None)
        if copy is not None and copy.whole:
            self.remember(copy.view)

    # -- own views

    def put_own(self, view: View) -> None:
        """Be the primary of a view from now on, or in a later epoch of it."""
        self.end(view)
        self.tried.begin(view)
        for number, one in list(self.own.items()):
            if number != view.number:
                left = one.without(view.intervals)
                if left is None:
                    del self.own[number]
                else:
                    self.own[number] = left
        self.own[view.number] = view

    def give(self, part: Intervals) -> None:
        """Be the primary of `part` no more.  What is left stays in its epoch until its copies have
        a later one: by an epoch that they do not know it could not be told from an heir's."""
        for number, view in list(self.own.items()):
            if intersect(view.intervals, part):
                left = view.without(part)
                if left is None:
                    del self.own[number]
                else:
                    self.own[number] = left

    def demote(self, part: Intervals) -> list[int]:
        """A newer view of `part` is known: what was held here is evidence and content now.  What is
        left goes on under another number, so that the copies know of what was as well; returns
        these numbers."""
        numbers = []
        for number, view in list(self.own.items()):
            past, left = view.within(part), view.without(part)
            if past is None:
                continue
            self.remember(past)
            del self.own[number]
            if left is not None:
                self.take_in(left, left.intervals)  # its later epochs do not reach back to this one
                numbers.append(self.draw_epoch())
                self.own[numbers[-1]] = replace(left, number=numbers[-1])
        return numbers

    def lay_down(self, part: Intervals) -> None:
        """The past of `part` is taken as lost: what was kept of it for others is former, and what
        was coming in is worth nothing."""
        for key, copy in list(self.copies.items()):
            past, left = copy.view.within(part), copy.view.without(part)
            if past is None:
                continue
            for one in (*copy.before, copy.view) if copy.whole else ():
                self._remember_of(one, past.intervals)
            if left is None or not copy.whole:
                del self.copies[key]
            else:
                before = parts_of(copy.before, left.intervals)
                self.copies[key] = replace(copy, view=left, before=before)

    def _remember_of(self, view: View, part: Intervals) -> None:
        """So is what a view took the place of that is not known to have begun: all of that is here,
        and nobody else may be left to show it."""
        if (past := view.within(part)) is not None:
            self.remember(past)

    # -- a former life

    def remember(self, view: View) -> None:
        """Something was had until now: evidence, and content that is on the shelf."""
        self.see(view.epoch)
        self.former.append(view)
        del self.former[:-FORMER_MAX]

    def store(self, view: View, lot: int) -> None:
        """The content of a former view went to the attic, with whatever was taken in beside it."""
        with_it = self.taken_in.within(view.intervals)[-WITH_MAX:]
        self.former.remove(view)
        self.stored.append(Stored(view, lot, with_it))
        del self.stored[:-FORMER_MAX]

    def bring_back(self, epoch: int, part: Intervals) -> None:
        """What former views of an epoch have of `part` is on the shelf again; the rest stays."""
        for one in list(self.stored):
            back, left = one.view.within(part), one.view.without(part)
            if one.view.epoch != epoch or back is None:
                continue
            self.stored.remove(one)
            self.remember(back)
            self.taken_in.learn(one.taken_in, back.intervals)
            if left is not None:
                self.stored.append(replace(one, view=left))

    def go_on_with(self, view: View, adopted_epoch: int) -> None:
        """What was had of what an own view knows is on its shelf, and evidence no more.  Another
        primary may name it as a rival: it is noted as taken in where no copy lacks it, as there is
        none yet, or as it is what all of them had."""
        known = subtract(view.intervals, view.lost)
        for one in self._sound():
            if not view.copies or one.epoch == adopted_epoch:
                had = intersect(one.intervals, known)
                self.taken_in.note(one.primary.id, one.epoch, had, one.since)
        self.forget_former(known)

    def forget_former(self, part: Intervals) -> None:
        """What is known of a former life about `part` is not needed any more; it is where an own
        view names just that as its rival: nobody else need have it."""
        self.former = [
            left for one in self.former
            if (left := one.without(subtract(part, self._is_rival_of_own(one)))) is not None
        ]  # fmt: skip

    def forget_offered(self, part: Intervals, had: Collection[tuple[ViewKey, int]]) -> None:
        """Nor is what was `had` of it, by key and epoch, as it was offered, in the attic or not."""
        since = [one for one in self.former if (one.key, one.epoch) not in had]
        stored = [one for one in self.stored if (one.view.key, one.view.epoch) not in had]
        self.former = [one for one in self.former if one not in since]
        self.stored = [one for one in self.stored if one not in stored]
        self.forget_former(part)
        self.forget_stored(part)
        self.former += since
        self.stored += stored

    def forget_unbegun(self, never: Collection[tuple[ViewKey, int]]) -> None:
        """Of views in a former life that `never` began, as their primaries say: these are not there
        to say so for ever, as one may go to another place.  What they took over has to be here."""
        gone = [
            (view.key, view.epoch) for view in self.remembered()
            if (view.key, view.epoch) in never and self._has_what_it_took_over(view)
        ]  # fmt: skip
        self.former = [one for one in self.former if (one.key, one.epoch) not in gone]
        self.stored = [one for one in self.stored if (one.view.key, one.view.epoch) not in gone]

    def _has_what_it_took_over(self, view: View) -> bool:
        had = self.remembered_of(view.intervals)
        with_it = [of for one, of in had if (one.key, one.epoch) == (view.key, view.epoch)]
        return any(
            one.epoch < view.epoch
            and not subtract(view.intervals, one.intervals)
            and all(any(e.shows(one.primary.id, one.epoch) for e in of) for of in with_it)
            for one, _ in had
        )

    def _is_rival_of_own(self, former: View) -> Intervals:
        return merge(
            *(
                rival.intervals
                for view in self.own.values()
                for rival in view.rivals
                if rival.epoch <= former.epoch
                and any(former.primary.id == one.id for one in rival.holders[-1:])
            )
        )

    def forget_stored(self, part: Intervals) -> None:
        """Nor is what lies in the attic, but for the same: it may be known in what came before a
        view ended that this peer had on its own."""
        self.stored = [
            replace(one, view=left)
            for one in self.stored
            if (left := one.view.without(subtract(part, self._is_rival_of_own(one.view))))
            is not None
        ]

    def end_company(self) -> None:
        """Where a peer has its part again, with nothing lost, and nothing remembered of what it had
        before, it is as if it had never fallen."""
        if self.company and not self.remembered() and not self.lost():
            self.company = 0

    def restore(
        self,
        views: Iterable[View],
        stored: Iterable[Stored] = (),
        taken_in: Iterable[Ended] = (),
        *,
        whole: bool,
        remembers: bool = False,
    ) -> None:
        """Come back to life: whatever was is former now.  What is not `whole`, as the journal was
        damaged, is content to be offered, and no proof that all is here; nor that this was the
        last, unless the peer `remembers`."""
        self.damaged, self.forgetful = not whole, not (whole or remembers)
        self.taken_in.restore(taken_in if whole else ())
        for view in views:
            self.remember(view)
        self.stored = [one if whole else replace(one, taken_in=()) for one in stored][-FORMER_MAX:]
        self.see(*(one.view.epoch for one in self.stored))
        self.torn = frozenset(() if whole else (one.epoch for one in self.remembered()))
        self.company = max((len(one.holder_ids) for one in self.remembered()), default=0)
