"""Known views: what one peer can say of who keeps which interval, and in which epoch.

Law of this file: pure, and nothing here changes anything; who changes it is `Views`.  Whether
content is here and which view is the later are two questions: a copy that is being filled, or a
former view, has an epoch that an earlier view gives way to, whatever there is of its content
(DESIGN section 5).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from chord import Contact
from meteor.keeping.taken_in import TakenIn
from meteor.wire.view import Copy, Ended, Stored, View, ViewKey, ended_within
from squid import Intervals, intersect, merge, subtract

HAD_MAX = 8
"""Identifiers of former lives that are remembered."""
RANK_BITS = 20
_LIFE = (1 << RANK_BITS) - 1
"""Two lives of one peer differ in them unless they began a multiple of so many milliseconds apart:
with fewer bits, those of a peer that is started again and again would."""


class KnownViews:
    """The views that one peer has a part in, for whoever asks."""

    def __init__(self, own_id: int = 0, incarnation: int = 0) -> None:
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
        """Whether the journal had lost something as this life began: of what was had before ..."""
        self.torn: frozenset[int] = frozenset()
        """... in these epochs; what was had since is as whole as anybody's ..."""
        self.forgetful = False
        """... and perhaps in others that nothing is known of any more."""
        self.born = 0
        """The incarnation that began the journal: of what an earlier one had nothing is known."""
        self.had: tuple[int, ...] = ()
        """Identifiers that this peer had at other places of the ring, the last one last: under
        these it is named in what it remembers."""
        self.company = 0
        """How many had something that this peer had in a life before this one, itself among them:
        the most of any view; 0 once it has all again."""
        self.gifts: OrderedDict[ViewKey, None] = OrderedDict()
        """Views of others that begin by what this peer gave, and are not known to have begun."""
        self.taken_in = TakenIn()
        """What of ended views of others is on the shelf."""
        self._seen = 0
        self._rank = own_id % ((1 << RANK_BITS) - 3) ^ incarnation & _LIFE

    def note_names(self, had: Iterable[int], last: int | None, own_id: int) -> None:
        """Under which identifiers this peer was in the ring before this life: those that its
        journal says it had, and the last one."""
        names = dict.fromkeys((*had, *(() if last is None else (last,))))
        names.pop(own_id, None)
        self.had = tuple(names)[-HAD_MAX:]

    # -- what this peer is the primary of, and what stays on its shelf

    def touching(self, part: Intervals) -> list[View]:
        """The own views that have some of `part`."""
        return [view for view in self.own.values() if intersect(view.intervals, part)]

    def holders_of(self, part: Intervals) -> set[int]:
        """Who has some of `part`, as far as what is kept here says."""
        whole = (copy.view for copy in self.copies.values() if copy.whole)
        views = (one for one in (*self.own.values(), *whole) if intersect(one.intervals, part))
        return {one for view in views for one in view.holder_ids}

    def held(self) -> Intervals:
        """What this peer is the primary of."""
        return merge(*[view.intervals for view in self.own.values()])

    def settled(self) -> Intervals:
        """What of it is under views that are not brief: what comes there is kept."""
        return merge(*(view.intervals for view in self.own.values() if not view.is_brief))

    def lost(self) -> Intervals:
        """The part of `held` whose past is not known."""
        return merge(*[view.lost for view in self.own.values()])

    def unknown(self) -> Intervals:
        """The same, and what was answered for elsewhere at the same time."""
        return merge(*[view.unknown for view in self.own.values()])

    def kept(self) -> Intervals:
        """Everything whose records are to stay on the shelf, whatever for."""
        return merge(self.present(), *[view.intervals for view in self.former])

    def present(self) -> Intervals:
        """What this peer is the primary of, a copy of, or being made a copy of."""
        return merge(self.held(), *[copy.view.intervals for copy in self.copies.values()])

    def present_lost(self) -> Intervals:
        """The part of `present` whose past nobody knew: what is on the shelf came since."""
        return merge(self.lost(), *[copy.view.lost for copy in self.copies.values()])

    # -- what it keeps for others

    def kept_for(self, primary_id: int, *, whole: bool) -> Intervals:
        """What is kept here as a copy of a primary's; `whole`: without what is being filled."""
        return merge(
            *[
                copy.view.intervals
                for (primary, _), copy in self.copies.items()
                if primary == primary_id and (copy.whole or not whole)
            ]
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

    def open_gifts(self) -> list[ViewKey]:
        """What this peer gave and has all of, as a copy of the taker, not knowing that it began."""
        return [key for key in self.gifts if key in self.copies and self.copies[key].whole]

    def gave(self, own_id: int) -> list[View]:
        """What this peer was the primary of until it gave that away, and nobody is known to have
        begun since.  It is no primary of it any more, and has all that it acknowledged there."""
        before = (one for copy in self.copies.values() if copy.whole for one in copy.before)
        return [one for one in before if one.primary.id == own_id]

    # -- what it had

    def remembered(self) -> list[View]:
        """All that was had in a former life, or until a newer view was heard of."""
        return [*self.former, *(one.view for one in self.stored)]

    def remembered_of(self, part: Intervals) -> list[tuple[View, tuple[Ended, ...]]]:
        """What of that lies in `part`, and of which ended views of others all content is with it:
        on the shelf, or in its lot."""
        former = [had for one in self.former if (had := one.within(part)) is not None]
        on_shelf = self.taken_in.within(part) if former else ()
        stored = ((one.view.within(part), one.taken_in) for one in self.stored)
        found = [
            *((had, on_shelf) for had in former),
            *((had, of) for had, of in stored if had is not None),
        ]
        return [
            (had, () if had.epoch in self.torn else ended_within(of, had.intervals))
            for had, of in found
        ]

    def since_lost(self, view: View, part: Intervals, told: Iterable[View] = ()) -> Intervals:
        """What of `part` was kept under a view since its past was lost, and under no later one that
        knew its past, as far as is remembered here, and `told`: with that came deletes."""
        later = (one for one in (*self.remembered(), *told) if one.epoch > view.epoch)
        known = (subtract(one.intervals, one.lost) for one in later)
        return subtract(intersect(view.lost, part), merge(*known))

    def is_former(self, part: Intervals) -> bool:
        """Whether any of `part` was had in a former life."""
        return any(intersect(one.intervals, part) for one in self.former)

    def lots_of(self, epoch: int, part: Intervals) -> list[int]:
        """Where in the attic the content of the former views of an epoch is that have `part`."""
        return [
            one.lot
            for one in self.stored
            if one.view.epoch == epoch and intersect(one.view.intervals, part)
        ]

    def has_all_of(
        self, part: Intervals, primary_id: int, epoch: int, since: int | None = None
    ) -> bool:
        """Whether all is on the shelf that a primary had acknowledged of `part` when an epoch of
        its ended, or all `since` an earlier one.  A later view of the same primary does not show
        that where it calls the past lost, or names a rival: it may have been passed over, and have
        begun anew, since."""
        first = epoch if since is None else since
        whole = [one.view for one in self.copies.values() if one.whole]
        whole += self._sound()
        had = [
            one.intervals if one.since <= first else subtract(one.intervals, one.unknown)
            for one in whole
            if one.primary.id == primary_id and one.epoch >= epoch
        ]
        return not subtract(part, merge(*had, self.taken_in.of(primary_id, epoch, first)))

    def shown_since(self, part: Intervals, primary_id: int, epoch: int) -> int:
        """From which epoch of a primary on that is shown, where it is: the earliest."""
        had = (one.since for one in self.former if one.primary.id == primary_id)
        ended = (one.since for one in self.taken_in.within(part) if one.primary == primary_id)
        earlier = sorted(one for one in {0, *had, *ended} if one < epoch)
        has_all = partial(self.has_all_of, part, primary_id, epoch)
        return next((one for one in earlier if has_all(one)), epoch)

    def stored_since(self, part: Intervals, epoch: int) -> int:
        """The same of what is in the attic of the views of an epoch, where all of it is."""
        if not self.has_stored(part, epoch):
            return epoch
        of_it = (one.view for one in self.stored if one.view.epoch == epoch)
        return max(view.since for view in of_it if intersect(view.intervals, part))

    def lots_for(
        self, part: Intervals, epoch: int, primary_id: int | None
    ) -> tuple[list[int], bool]:
        """Where in the attic that is, and whether it is all of it.  What could be shown of the
        shelf can be shown of the attic: where a primary is named whose epoch is in no lot of its
        own, those are meant into which it was taken."""
        lots, whole = self.lots_of(epoch, part), self.has_stored(part, epoch)
        if whole or primary_id is None or self.has_all_of(part, primary_id, epoch):
            return lots, whole
        later = self._lots_showing(part, primary_id, epoch)
        return (sorted({*lots, *later}), True) if later else (lots, False)

    def _lots_showing(self, part: Intervals, primary_id: int, epoch: int) -> list[int]:
        """The earliest of the lots that have all which a primary had acknowledged of `part` when an
        epoch of its ended; none unless these have."""
        lots: list[int] = []
        for one in sorted(self._sound_lots(), key=_epoch_of):
            of, its = one.view, one.view.intervals
            ended = (Ended(of.primary.id, of.epoch, its, of.since), *one.taken_in)
            shown = (e.intervals for e in ended if e.shows(primary_id, epoch))
            news = intersect(intersect(merge(*shown), its), part)
            lots += [one.lot] if news else []
            part = subtract(part, news)
        return [] if part else lots

    def lots_taken_in(self, lots: Collection[int], part: Intervals) -> tuple[Ended, ...]:
        """Of which ended views of others all content of `part` lies with the former views that are
        in these lots."""
        return tuple(
            ended for one in self._sound_lots() if one.lot in lots
            for ended in ended_within(one.taken_in, intersect(one.view.intervals, part))
        )  # fmt: skip

    def has_stored(self, part: Intervals, epoch: int) -> bool:
        """Whether all of that is in the attic."""
        stored = [one.view.intervals for one in self._sound_lots() if one.view.epoch == epoch]
        return not subtract(part, merge(*stored))

    def sound(self, views: Iterable[View]) -> tuple[int, ...]:
        """In which epochs of these nothing of it was lost with the journal."""
        return tuple(sorted({one.epoch for one in views} - self.torn))

    def _sound(self) -> list[View]:
        return [one for one in self.former if one.epoch not in self.torn]

    def _sound_lots(self) -> list[Stored]:
        return [one for one in self.stored if one.view.epoch not in self.torn]

    # -- which view is the later

    def next_epoch(self) -> int:
        """Higher than any epoch that this peer has seen, and no other's: its last bits are of the
        peer's own id, so that two who take over at one moment never share an epoch, and of its
        life: copies may have what it tried last before it crashed, of which it knows nothing."""
        return ((self._seen >> RANK_BITS) + 1 << RANK_BITS) + self._rank

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
        """Whether all that the view is of is here, up to the epoch that its primary adopted.  What
        is lost here, and not to the view, is not; nor is what the journal may have lost of a former
        life."""
        known = self.copies.get(view.key)
        left = view.intervals if known is None else subtract(view.intervals, known.view.intervals)
        there = [copy.view for copy in self.copies.values() if copy.whole]
        there += [*self._sound(), *self.own.values()]
        for one in there:
            if adopted_epoch and one.epoch >= adopted_epoch:
                left = subtract(left, subtract(one.intervals, subtract(one.lost, view.lost)))
        return not left

    def _over(self, part: Intervals) -> Iterator[View]:
        copies = (copy.view for copy in self.copies.values())
        every = (*self.own.values(), *copies, *self.remembered())
        return (view for view in every if intersect(view.intervals, part))


def _epoch_of(stored: Stored) -> int:
    return stored.view.epoch
