"""Chronicle: which views began, as one peer was told; nothing of their content.

Law of this file: pure.  k peers have what was acknowledged in an epoch.  When all of them fall for
good, holders of an earlier epoch that come back would take that one for the last, as their journals
cannot tell, and what was acknowledged since would be absent without a word.  So whoever begins a
view tells the next peers of the ring, and these remember the newest of every piece.  It never shows
anything: it only stands against what is older.  A part that a view calls lost was not taken over
from anything: it does not stand against what came before, until it is lost in its turn (DESIGN
section 5).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from itertools import chain
from typing import Final, TypeVar

from chord import replace
from meteor.keeping.taken_in import TakenIn
from meteor.wire.view import EPOCHS, View, parts_of
from squid import Intervals, intersect, merge, subtract

KeyT = TypeVar("KeyT")
KnownT = TypeVar("KnownT")

CHRONICLE_MAX: Final = 64
"""Views remembered of each kind: several times what the peers that would tell one have."""
PIECES_MAX: Final = 64
"""Intervals of a view that is remembered: a bound for hostile input, far above what a ring has."""
HOLDERS_MAX: Final = 16
"""Copies of it that are remembered, to be asked."""
STANDS_MAX: Final = 8
"""Views that never began of which it is told whose content they stand for."""


class Chronicle:
    """The newest view that began of every piece of the curve that one peer was told of."""

    def __init__(self) -> None:
        self._known: tuple[View, ...] = ()
        """Views that had all of the past."""
        self._lost: tuple[View, ...] = ()
        """Later ones that had not: what was acknowledged there is on the shelves of who goes on."""
        self.unwritten = False
        """Whether something of it is not in the journal yet."""

    def __len__(self) -> int:
        return len(self._known) + len(self._lost)

    def note(self, view: View) -> None:
        """A view began; nonsense is passed over."""
        if view.epoch >= EPOCHS or len(view.intervals) + len(view.lost) > PIECES_MAX:
            return
        known = _news(self._known, view, subtract(view.intervals, view.lost))
        if known is not None:
            self._known = _with(self._known, known)
            self._lost = tuple(_left(self._lost, known))
        since_lost = intersect(view.intervals, view.lost)
        lost = _news((*self._known, *self._lost), view, since_lost)
        if lost is not None:
            self._lost = _with(self._lost, replace(lost, lost=lost.intervals))
        self.unwritten = self.unwritten or known is not None or lost is not None

    def lose(self, part: Intervals, epoch: int) -> None:
        """The past of `part` is lost again, to a view that began in an epoch: with it what was
        acknowledged since it was lost before.  Nobody goes on with that, and who has the past from
        before has not all of it."""
        for view in parts_of(self._lost, part):
            if view.epoch < epoch:
                self._known = (*self._known, replace(view, lost=()))[-CHRONICLE_MAX:]
                self._lost = tuple(_left(self._lost, view))
                self.unwritten = True

    def of(self, part: Intervals) -> tuple[View, ...]:
        """What of `part` began with all of the past."""
        return parts_of(self._known, part)

    def later_than(self, part: Intervals, epoch: int) -> tuple[View, ...]:
        """What of `part` did so in a later epoch.  Asked of every view by every peer once a second,
        and mostly for nothing: what is earlier is not looked at."""
        return parts_of([one for one in self._known if one.epoch > epoch], part)

    def all_of(self, part: Intervals) -> tuple[View, ...]:
        """What is known of `part`, the views that had not all of the past among it."""
        return parts_of((*self._known, *self._lost), part)

    def after(self, part: Intervals, epoch: int) -> Intervals:
        """What of `part` went on in a later epoch, with all of the past."""
        later = (one.intervals for one in self.later_than(part, epoch))
        return tuple(interval for intervals in later for interval in intervals)

    def gone_past(self, part: Intervals, epoch: int, taken_in: TakenIn) -> Intervals:
        """What of `part` went on after an epoch, under views whose content is not here."""
        later = (
            one.without(taken_in.of(one.primary.id, one.epoch))
            for one in self.later_than(part, epoch)
        )  # fmt: skip
        return merge(*(one.intervals for one in later if one is not None))

    def written(self) -> tuple[View, ...]:
        """All of it, as it goes into the journal."""
        self.unwritten = False
        return (*self._known, *self._lost)

    def restore(self, views: Iterable[View]) -> None:
        """What the journal says."""
        for view in views:
            if view.lost:
                self._lost = (*self._lost, view)[-CHRONICLE_MAX:]
            else:
                self._known = (*self._known, view)[-CHRONICLE_MAX:]


def _news(known: Iterable[View], view: View, part: Intervals) -> View | None:
    """What of a view is later than all that is known of `part`."""
    if not part:
        return None
    epoch, key = view.epoch, view.key
    for one in known:
        if one.epoch > epoch or (one.epoch == epoch and one.key >= key):
            part = subtract(part, one.intervals)
            if not part:
                return None
    copies = view.copies[:HOLDERS_MAX]
    return replace(view, intervals=part, copies=copies, lost=(), rivals=(), settled=None)


def _left(views: Iterable[View], begun: View) -> Iterable[View]:
    epoch, key = begun.epoch, begun.key
    earlier: list[View] = []
    later: list[View] = []
    for one in views:
        if one.epoch > epoch or (one.epoch == epoch and one.key > key):
            later.append(one)
        elif (left := one.without(begun.intervals)) is not None:
            earlier.append(left)
    return (*earlier, *later)


def _with(views: Iterable[View], begun: View) -> tuple[View, ...]:
    return (*_left(views, begun), begun)[-CHRONICLE_MAX:]


class Heard:
    """How late an epoch one peer heard of, piece by piece, since it was started: whether a view
    began or not, and whatever became of it."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, Intervals]] = []
        self._vague = 0
        """What is not known piece by piece any more is not later than this."""

    def note(self, part: Intervals, epoch: int) -> None:
        """Word came of a view."""
        if len(part) > PIECES_MAX:
            self._vague = max(self._vague, epoch)
            return
        news = part
        for one, of in reversed(self._pieces):  # the latest first; no two have an index in common
            if not news or one < epoch:
                break
            news = subtract(news, of)
        news = merge(news)
        if not news:
            return  # as most word is, which comes from all whom it reached before
        first, last = news[0][0], news[-1][1]
        left = (
            (one, subtract(of, news) if of[0][0] <= last and first <= of[-1][1] else of)
            for one, of in self._pieces
        )
        self._pieces = sorted((one, of) for one, of in (*left, (epoch, news)) if of)
        while len(self._pieces) > CHRONICLE_MAX:
            self._vague = max(self._vague, self._pieces.pop(0)[0])

    def of(self, part: Intervals) -> tuple[tuple[int, Intervals], ...]:
        """The latest epochs of pieces of `part`; of none of it word came of a later one than
        these."""
        cut = ((epoch, intersect(of, part)) for epoch, of in self._pieces)
        return ((self._vague, part), *(one for one in cut if one[1]))


class Tried:
    """Which views one peer, since it was started, asked copies to take that never began: some of
    these may hold on to one as to the last word."""

    def __init__(self) -> None:
        self._views: list[View] = []
        self._next: list[View] = []
        self._adopted: OrderedDict[int, View] = OrderedDict()
        self._kept: OrderedDict[int, tuple[View, ...] | None] = OrderedDict()
        self._before: OrderedDict[int, tuple[View, tuple[View, ...] | None]] = OrderedDict()
        """By the epochs of `_next`: what was had, and what was kept by who took one."""

    def note(self, view: View, adopted: View | None = None) -> None:
        """Nothing was, or will be, acknowledged under a view in its epoch, which was to take an
        `adopted` one over."""
        self._views = [*self._views, view][-CHRONICLE_MAX:]
        if adopted is not None:
            keep_last(self._adopted, view.number, adopted, CHRONICLE_MAX)

    def hear(self, number: int, kept: tuple[View, ...] | None) -> None:
        """What those kept until then who were asked to take a view; None where one did not say."""
        before = self._kept.get(number, ())
        both = None if before is None or kept is None else (*before, *kept)
        keep_last(self._kept, number, both, CHRONICLE_MAX)

    def stands_for(self, number: int) -> tuple[View, ...]:
        """Whose content who took such a one may have under this name: the view that it was to take
        over, and what its copies kept for others.  Empty where that is not known."""
        adopted, kept = self._adopted.get(number), self._kept.get(number)
        return () if adopted is None or kept is None else (adopted, *kept)

    def next_stands_for(self, epoch: int) -> tuple[View, ...]:
        """The same of a next epoch: the view that it was to take the place of, as far as that was
        the last that began here, and what its copies kept for others.  It may have been given away
        since, and nobody else remember it."""
        before, kept = self._before.get(epoch, (None, None))
        if before is None or kept is None:
            return ()
        return before, *parts_of(kept, before.intervals)

    def all_that_stand_for(self, part: Intervals) -> tuple[tuple[int, tuple[View, ...]], ...]:
        """The same of the last that touch `part`, by their numbers, and of the last next epochs, by
        these: no view is numbered by one."""
        numbers = dict.fromkeys(number for number, _ in self.of(part))
        known = ((number, parts_of(self.stands_for(number), part)) for number in numbers)
        epochs = [epoch for _, epoch in self.next_of(part)]
        of_next = ((epoch, parts_of(self.next_stands_for(epoch), part)) for epoch in epochs)
        last = (tuple(one for one in some if one[1])[-STANDS_MAX:] for some in (known, of_next))
        return tuple(chain(*last))

    def note_next(
        self, view: View, before: View | None, kept: tuple[View, ...] | None = None
    ) -> None:
        """The same of a next epoch of a view, that is passed over: all that was acknowledged up to
        it was so `before`.  Of what it says on the past no more than that, unless it finds one that
        was lost: an interval may have been given by it, and who took it names nothing else.  Who
        took it `kept` this for others, or took one that was tried before it, and said so then; None
        where one did not say."""
        if before is not None:
            self._next = [*self._next, view][-CHRONICLE_MAX:]
            if subtract(before.lost, view.lost):
                self.note(view)
            earlier = [had for one, had in self._before.values() if one.epoch == before.epoch]
            said = [had for had in (*earlier, kept) if had is not None]
            both = tuple(dict.fromkeys(chain(*said))) if len(said) > len(earlier) else None
            keep_last(self._before, view.epoch, (before, both), CHRONICLE_MAX)

    def begin(self, view: View) -> None:
        """One began: what was tried earlier stands no more for all that was acknowledged of it."""
        for epoch, (before, kept) in list(self._before.items()):
            if epoch < view.epoch and intersect(before.intervals, view.intervals):
                left = before.without(view.intervals)
                if left is None:
                    del self._before[epoch]
                else:
                    self._before[epoch] = left, kept

    def all(self) -> tuple[View, ...]:
        """Those that `of` gives the numbers of, the latest last."""
        return tuple(self._views)

    def of(self, part: Intervals) -> tuple[tuple[int, int], ...]:
        """Number and epoch of those that touch `part`."""
        return _numbered(self._views, part)

    def has(self, number: int) -> bool:
        """Whether any of them has that number."""
        return any(one.number == number for one in self._views)

    def next_of(self, part: Intervals) -> tuple[tuple[int, int], ...]:
        """The same of all next epochs that never began."""
        return _numbered(self._next, part)


def keep_last(known: OrderedDict[KeyT, KnownT], key: KeyT, value: KnownT, most: int) -> None:
    """Note one more, and forget the oldest of more than `most`."""
    known[key] = value
    while len(known) > most:
        known.popitem(last=False)


def _numbered(views: Iterable[View], part: Intervals) -> tuple[tuple[int, int], ...]:
    return tuple((one.number, one.epoch) for one in views if intersect(one.intervals, part))
