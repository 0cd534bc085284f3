"""Unbegun: what a rival that never began stands for, by the word of its primary.

Law of this file: pure.  Nothing was acknowledged under a view that did not begin; who took it has
what its primary had before, and what it kept for others until then.  All of it is had where all of
that is (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from meteor.keeping.views import Views
from meteor.wire.operations import ClaimAnswer
from meteor.wire.view import Rival, View, parts_of
from squid import Interval, Intervals, intersect, merge, subtract


@dataclass(frozen=True, slots=True)
class Unbegun:
    """What to look for instead of one that never began; nothing where it may have begun."""

    had: tuple[View, ...] = ()
    """Of this, what began after all that the asker's view was taken over from."""
    instead: tuple[View, ...] = ()
    """All of this, however early: its primary was at work until it gave that away, on another side
    of a cut perhaps, and it is to be shown that it is here."""

    def all(self) -> tuple[View, ...]:
        """Both."""
        return (*self.had, *self.instead)


NOTHING: Final = Unbegun()


def as_rival(view: View, part: Intervals) -> Rival:
    """What of `part` was acknowledged under a view, beside another one."""
    part = intersect(view.intervals, part)
    return Rival(part, view.epoch, view.holders, intersect(view.lost, part), view.number)


def own_word(rival: Rival, interval: Interval, views: Views) -> Unbegun:
    """Of one that this very peer was about to begin."""
    part, tried = (interval,), views.tried
    if before := tried.stands_for(rival.number):
        return Unbegun(parts_of(before, part))
    had, next_of = parts_of(views.remembered(), part), tried.next_of(part)
    before = tried.next_stands_for(rival.epoch)
    return _before_next(rival, interval, had, next_of, before, is_last=not views.forgetful)


def word_of(
    rival: Rival, interval: Interval, answer: ClaimAnswer, had: tuple[View, ...]
) -> Unbegun:
    """As its primary says, who `had` that of others than the asker."""
    if answer.held:  # it is about to hear that it was passed over
        return NOTHING
    stands_for = dict(answer.stands_for)
    if before := stands_for.get(rival.number, ()):
        return Unbegun(parts_of(before, (interval,)))
    is_last, before = answer.remembers or not answer.damaged, stands_for.get(rival.epoch, ())
    return _before_next(rival, interval, had, answer.passed_over, before, is_last=is_last)


def _before_next(
    rival: Rival,
    interval: Interval,
    had: tuple[View, ...],
    next_of: Sequence[tuple[int, int]],
    before: tuple[View, ...],
    *,
    is_last: bool,
) -> Unbegun:
    """Of a next epoch of what its primary had.  A view is in that one's journal before anything is
    acknowledged under it: an undamaged one that has an earlier epoch of it was never that far.  One
    that gave away what it had since remembers of that no more than what it was `before`."""
    last = merge(*(one.intervals for one in had if is_last and rival.is_next_of(one)))
    if not any(epoch == rival.epoch for _, epoch in next_of):
        return NOTHING if subtract((interval,), last) else Unbegun(had)
    left = subtract((interval,), merge(*(one.intervals for one in had)))
    # All of the last, also where a view to which the primary gave it is among what it `had`.
    return Unbegun((*had, *parts_of(before[1:], left)), parts_of(before[:1], (interval,)))
