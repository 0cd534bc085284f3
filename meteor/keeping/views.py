"""Views: who keeps which interval, in which epoch, as far as one peer knows.

Law of this file: pure.  A view names an interval's primary, its copies and an epoch.  Epochs grow
along succession: whoever changes a view, or takes an interval over, uses a higher one than any it
has seen, and makes it durable at every copy before it acknowledges anything under it.  So of two
views of one index the one with the higher epoch is the later, and a copy that has seen it refuses
the earlier primary (DESIGN section 5).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from chord import Contact
from meteor.keeping.chronicle import Chronicle, Heard, Tried
from meteor.keeping.taken_in import TakenIn
from meteor.wire.view import EPOCHS, Copy, Ended, Stored, View, ViewKey, parts_of
from squid import Intervals, intersect, merge, subtract

BEFORE_MAX = 8
"""What a copy's view took the place of and is remembered: views of one peer after the other that
fell before they began."""
FORMER_MAX = 256
GIFTS_MAX = 64
RANK_BITS = 20
COPIES_MAX = 256
"""Views of others kept at once: far above what k - 1 predecessors can have."""


class Views:
    """All views that one peer has a part in."""

    def __init__(self, own_id: int = 0) -> None:
        self.own: dict[int, View] = {}
        """As their primary, by number."""
        self.copies: dict[ViewKey, Copy] = {}
        self.former: list[View] = []
        """Had in a former life, or until a newer view was heard of: evidence for whoever takes the
        interval over, and content to be offered to its owner; nothing is answered from it."""
        self.stored: list[Stored] = []
        """The same, of intervals whose past was lost since: this content shows only when it is
        proven to be that past."""
        self.damaged = False
        """Whether something of `former` was lost with the journal."""
        self.gifts: OrderedDict[ViewKey, None] = OrderedDict()
        """Views of others that begin by what this peer gave, and are not known to have begun."""
        self.taken_in = TakenIn()
        """What of ended views of others is on the shelf."""
        self.chronicle, self.heard, self.tried = Chronicle(), Heard(), Tried()
        self._seen = 0
        self._rank = own_id % ((1 << RANK_BITS) - 3)

    # -- questions

    def touching(self, part: Intervals) -> list[View]:
        """The own views that have some of `part`."""
        return [view for view in self.own.values() if intersect(view.intervals, part)]

    def held(self) -> Intervals:
        """What this peer is the primary of."""
        return merge(*(view.intervals for view in self.own.values()))

    def lost(self) -> Intervals:
        """The part of `held` whose past is not known."""
        return merge(*(view.lost for view in self.own.values()))

    def unknown(self) -> Intervals:
        """The same, and what was answered for elsewhere at the same time."""
        return merge(*(view.unknown for view in self.own.values()))

    def kept(self) -> Intervals:
        """Everything whose records are to stay on the shelf, whatever for."""
        return merge(self.present(), *(view.intervals for view in self.former))

    def present(self) -> Intervals:
        """What this peer is the primary of, a copy of, or being made a copy of."""
        return merge(self.held(), *(copy.view.intervals for copy in self.copies.values()))

    def present_lost(self) -> Intervals:
        """The part of `present` whose past nobody knew: what is on the shelf came since."""
        return merge(self.lost(), *(copy.view.lost for copy in self.copies.values()))

    def remembered(self) -> list[View]:
        """All that was had in a former life, or until a newer view was heard of."""
        return [*self.former, *(one.view for one in self.stored)]

    def lots_of(self, epoch: int, part: Intervals) -> list[int]:
        """Where in the attic the content of the former views of an epoch is that have `part`."""
        return [
            one.lot
            for one in self.stored
            if one.view.epoch == epoch and intersect(one.view.intervals, part)
        ]

    def has_all_of(self, part: Intervals, primary_id: int, epoch: int) -> bool:
        """Whether all is on the shelf that a primary had acknowledged of `part` when an epoch of
        its ended."""
        whole = [one.view for one in self.copies.values() if one.whole]
        whole += [] if self.damaged else self.former
        had = [
            one.intervals for one in whole if one.primary.id == primary_id and one.epoch >= epoch
        ]
        return not subtract(part, merge(*had, self.taken_in.of(primary_id, epoch)))

    def has_stored(self, part: Intervals, epoch: int) -> bool:
        """Whether all of that is in the attic."""
        stored = [one.view.intervals for one in self.stored if one.view.epoch == epoch]
        return not self.damaged and not subtract(part, merge(*stored))

    def next_epoch(self) -> int:
        """Higher than any epoch that this peer has seen, and no other peer's: its last bits are of
        the peer's own id, so that two who take over at one moment never share an epoch."""
        return ((self._seen >> RANK_BITS) + 1 << RANK_BITS) + self._rank

    def draw_epoch(self) -> int:
        """The next epoch, which is not drawn again: it numbers a view as well, so that no later
        life of this peer gives two views one number."""
        epoch = self.next_epoch()
        self.see(epoch)
        return epoch

    def see(self, *epochs: int) -> None:
        """Epochs that others named; nonsense is passed over."""
        self._seen = max((self._seen, *(one for one in epochs if one < EPOCHS)))

    def kept_for(self, primary_id: int, *, whole: bool) -> Intervals:
        """What is kept here as a copy of a primary's; `whole`: without what is being filled."""
        return merge(
            *(
                copy.view.intervals
                for (primary, _), copy in self.copies.items()
                if primary == primary_id and (copy.whole or not whole)
            )
        )

    def learning(self) -> list[View]:
        """What this peer is being made a copy of."""
        return [copy.view for copy in self.copies.values() if not copy.whole]

    def copied(self) -> Intervals:
        """What is kept whole for others."""
        return merge(*(copy.view.intervals for copy in self.copies.values() if copy.whole))

    def copied_lost(self) -> Intervals:
        """The part of it of which something may not be known."""
        return merge(*(copy.view.unknown for copy in self.copies.values() if copy.whole))

    def copied_rivals(self) -> Intervals:
        """The part of it of which that is about to be settled by its primary."""
        whole = [copy.view for copy in self.copies.values() if copy.whole]
        rivals = merge(*(one.intervals for view in whole for one in view.rivals))
        return subtract(rivals, merge(*(view.lost for view in whole)))

    def passed_over_by(self, view: View) -> tuple[Contact, ...]:
        """The other primaries whose copies here end with a view."""
        found = {
            copy.view.primary.id: copy.view.primary
            for copy in self.copies.values()
            if copy.view.epoch < view.epoch and intersect(copy.view.intervals, view.intervals)
        }
        found.pop(view.primary.id, None)
        return tuple(found[one] for one in sorted(found))

    def beside(self, view: View, own_id: int) -> tuple[View, ...]:
        """What is kept, or known of, for other primaries of a view's intervals: whoever begins the
        view knows whether that is what it took over from.  Not what this peer was about to begin
        itself."""
        return tuple(
            part
            for copy in self.copies.values()
            if copy.view.primary.id not in (view.primary.id, own_id)
            and (part := copy.view.within(view.intervals)) is not None
        )  # fmt: skip

    def newer(self, view: View) -> tuple[View, ...]:
        """What stands against installing another peer's view: own ones of the same interval,
        and others of the same or a higher epoch."""
        found = [one for one in self.own.values() if intersect(one.intervals, view.intervals)]
        found += [
            one
            for one in (*(copy.view for copy in self.copies.values()), *self.remembered())
            if one.key != view.key and one.epoch >= view.epoch
            and intersect(one.intervals, view.intervals)
        ]  # fmt: skip
        known = self.copies.get(view.key)
        if known is not None and known.view.epoch > view.epoch:
            found.append(known.view)
        return tuple(found)

    def later_than(self, part: Intervals, epoch: int) -> tuple[View, ...]:
        """The views of others of some of `part` that came after an epoch."""
        return tuple(view for view in self._over(part) if view.epoch > epoch)

    def in_sync(self, view: View, adopted_epoch: int) -> bool:
        """Whether all that the view is of is here, up to the epoch that its primary adopted."""
        known = self.copies.get(view.key)
        left = view.intervals if known is None else subtract(view.intervals, known.view.intervals)
        there = [copy.view for copy in self.copies.values() if copy.whole]
        there += [*self.former, *self.own.values()]
        for one in there:
            if adopted_epoch and one.epoch >= adopted_epoch:
                left = subtract(left, one.intervals)
        return not left

    def open_gifts(self) -> list[ViewKey]:
        """What this peer gave and has all of, as a copy of the taker, not knowing that it began."""
        return [key for key in self.gifts if key in self.copies and self.copies[key].whole]

    # -- changes

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
            if copy.whole and copy.view.epoch < view.epoch:
                same = copy.view.key == view.key
                found += copy.before if same else (*copy.before, copy.view)
        found.sort(key=lambda one: one.epoch)
        return parts_of(found, view.intervals)[-BEFORE_MAX:]

    def note_begun(self, primary_id: int, epoch: int) -> None:
        """A primary speaks in an epoch: the view of that epoch has begun."""
        for key, copy in self.copies.items():
            if copy.before and copy.view.primary.id == primary_id and copy.view.epoch == epoch:
                self.copies[key] = replace(copy, before=())

    def end(self, view: View) -> None:
        """A view begins somewhere: earlier copies of its intervals end here.  What the view calls
        lost is kept as evidence: it may be just that past."""
        self.hear(view)
        for key, copy in list(self.copies.items()):
            if copy.view.epoch < view.epoch and intersect(copy.view.intervals, view.intervals):
                past = copy.view.within(subtract(view.lost, copy.view.lost))
                if copy.whole and past is not None:
                    self.remember(past)
                if copy.whole:
                    self.take_in(copy.view, subtract(view.intervals, view.lost))
                left = copy.view.without(view.intervals)
                if left is None:
                    del self.copies[key]
                else:
                    before = parts_of(copy.before, left.intervals)
                    self.copies[key] = replace(copy, view=left, before=before)

    def take_in(self, view: View, part: Intervals) -> None:
        """All content of what an ended view has of `part` is on the shelf."""
        self.taken_in.note(view.primary.id, view.epoch, intersect(view.intervals, part))

    def drop(self, key: ViewKey) -> None:
        """Keep a copy no more."""
        self.copies.pop(key, None)

    def put_given(self, view: View) -> None:
        """Keep a copy of what was just given away; its primary has not begun yet."""
        self.put(view)
        self.gifts[view.key] = None
        while len(self.gifts) > GIFTS_MAX:
            self.gifts.popitem(last=False)

    def put_own(self, view: View) -> None:
        """Be the primary of a view from now on, or in a later epoch of it."""
        self.end(view)
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
                numbers.append(self.draw_epoch())
                self.own[numbers[-1]] = replace(left, number=numbers[-1])
        return numbers

    def retire(self, key: ViewKey) -> None:
        """The primary of a copy does not count on it any more, or is gone."""
        copy = self.copies.pop(key, None)
        if copy is not None and copy.whole:
            self.remember(copy.view)

    def is_former(self, part: Intervals) -> bool:
        """Whether any of `part` was had in a former life."""
        return any(intersect(one.intervals, part) for one in self.former)

    def lay_down(self, part: Intervals) -> None:
        """The past of `part` is taken as lost: what was kept of it for others is former, and what
        was coming in is worth nothing."""
        for key, copy in list(self.copies.items()):
            past, left = copy.view.within(part), copy.view.without(part)
            if past is None:
                continue
            if copy.whole:
                self.remember(past)
            if left is None or not copy.whole:
                del self.copies[key]
            else:
                self.copies[key] = replace(copy, view=left)

    def store(self, view: View, lot: int) -> None:
        """The content of a former view went to the attic."""
        self.former.remove(view)
        self.stored.append(Stored(view, lot))
        del self.stored[:-FORMER_MAX]

    def bring_back(self, epoch: int, part: Intervals) -> None:
        """What former views of an epoch have of `part` is on the shelf again; the rest stays."""
        for one in list(self.stored):
            back, left = one.view.within(part), one.view.without(part)
            if one.view.epoch != epoch or back is None:
                continue
            self.stored.remove(one)
            self.remember(back)
            if left is not None:
                self.stored.append(replace(one, view=left))

    def forget_former(self, part: Intervals) -> None:
        """What is known of a former life about `part` is not needed any more."""
        self.former = [left for one in self.former if (left := one.without(part)) is not None]

    def forget_stored(self, part: Intervals) -> None:
        """Nor is what lies in the attic."""
        self.stored = [
            replace(one, view=left)
            for one in self.stored
            if (left := one.view.without(part)) is not None
        ]

    def restore(
        self,
        views: Iterable[View],
        stored: Iterable[Stored] = (),
        taken_in: Iterable[Ended] = (),
        *,
        whole: bool,
    ) -> None:
        """Come back to life: whatever was is former now.  What is not `whole`, as the journal was
        damaged, is content to be offered, and no proof that all is here."""
        self.damaged = not whole
        self.taken_in.restore(taken_in if whole else ())
        for view in views:
            self.remember(view)
        self.stored = list(stored)[-FORMER_MAX:]
        self.see(*(one.view.epoch for one in self.stored))

    def remember(self, view: View) -> None:
        """Something was had until now: evidence, and content that is on the shelf."""
        self.see(view.epoch)
        self.former.append(view)
        del self.former[:-FORMER_MAX]

    def hear(self, view: View) -> None:
        """Word came of a view."""
        self.see(view.epoch)
        self.heard.note(view.intervals, view.epoch)

    def _over(self, part: Intervals) -> Iterator[View]:
        copies = (copy.view for copy in self.copies.values())
        every = (*self.own.values(), *copies, *self.remembered())
        return (view for view in every if intersect(view.intervals, part))
