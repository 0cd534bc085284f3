"""Adopted: from which epoch a peer took over each piece of what it is the primary of.

Law of this file: pure.  What was acknowledged elsewhere in a later epoch than that is not in a
view: who answered then is its rival.  Two views that became one were taken over from two epochs,
and neither counts for the other's piece (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from chord import Contact
from meteor.wire.view import EPOCHS, RIVALS_MAX, Copy, Rival, View, ViewKey
from squid import Intervals, intersect, merge, subtract


class Adopted:
    """The epochs that one peer's own views were taken over from, by their numbers."""

    def __init__(self) -> None:
        self._pieces: dict[int, tuple[tuple[Intervals, int], ...]] = {}
        self._given: dict[int, tuple[tuple[Intervals, Contact, int], ...]] = {}
        """By whom, and up to which epoch of its own."""

        self._kept: dict[int, tuple[tuple[Intervals, ViewKey, int], ...]] = {}
        """Of which view it was kept here, whole, until the own one began, and in which epoch."""

        self._rivals: dict[int, tuple[Rival, ...]] = {}
        """What it names that who had it before named."""

    def note(self, view: View, epoch: int) -> None:
        """A view begins, with all that was acknowledged up to an epoch, but for its rivals."""
        self._pieces[view.number] = ((view.intervals, epoch),)
        self._rivals[view.number] = view.rivals

    def note_given(self, view: View, giver: Contact, epoch: int) -> None:
        """It was given by another peer, who had, and tried, no later epoch: whatever of its own is
        known of is here, also what copies took and it never began.  With `EPOCHS`, all that it had
        in that life: it died as it gave."""
        self._given[view.number] = ((view.intervals, giver, epoch),)

    def given_by(self, giver: Contact) -> Intervals:
        """What one peer gave of all that is held."""
        pieces = (piece for given in self._given.values() for piece in given)
        return merge(*(of for of, one, _ in pieces if one.id == giver.id))

    def note_kept(self, view: View, copy: Copy | None) -> None:
        """A view begins now, instead of what was kept here until this moment, if anything was."""
        if copy is not None and copy.whole:
            part = intersect(view.intervals, copy.view.intervals)
            self._kept[view.number] = ((part, copy.view.key, copy.view.epoch),)

    def join(self, number: int, views: Iterable[View]) -> None:
        """A view has what these have, or had until now: no more of a piece than that, as what was
        given away may have come back from somebody who took it over later."""
        views = tuple(views)
        left = (
            (intersect(intervals, one.intervals), since)
            for one in views
            for intervals, since in self._pieces.get(one.number, ())
        )
        self._pieces[number] = tuple(dict.fromkeys(piece for piece in left if piece[0]))
        given = (
            (intersect(intervals, one.intervals), giver, epoch)
            for one in views
            for intervals, giver, epoch in self._given.get(one.number, ())
        )
        self._given[number] = tuple(dict.fromkeys(piece for piece in given if piece[0]))
        kept = (
            (intersect(intervals, one.intervals), key, epoch)
            for one in views
            for intervals, key, epoch in self._kept.get(one.number, ())
        )
        self._kept[number] = tuple(dict.fromkeys(piece for piece in kept if piece[0]))
        rivals = (rival for one in views for rival in self._rivals.get(one.number, ()))
        self._rivals[number] = tuple(dict.fromkeys(rivals))

    def keep_only(self, numbers: Collection[int]) -> None:
        """The other views ended."""
        self._pieces = {one: part for one, part in self._pieces.items() if one in numbers}
        self._given = {one: part for one, part in self._given.items() if one in numbers}
        self._kept = {one: part for one, part in self._kept.items() if one in numbers}
        self._rivals = {one: named for one, named in self._rivals.items() if one in numbers}

    def note_had(self, number: int, rival: Rival) -> None:
        """It is noted in place of one that who had a view before named."""
        if not self.had_rival(number, rival):
            self._rivals[number] = (*self._rivals.get(number, ()), rival)[-2 * RIVALS_MAX :]

    def had_rival(self, number: int, rival: Rival) -> bool:
        """Whether who had a view before named this one beside it: what that had was acknowledged
        beside what came from there, though it was in an earlier epoch."""
        named = ((one.epoch, one.holders) for one in self._rivals.get(number, ()))
        return (rival.epoch, rival.holders) in named

    def before(
        self, number: int, part: Intervals, epoch: int, primary: Contact | None = None
    ) -> Intervals:
        """What of `part` a view took over from an epoch before that one, of another primary."""
        pieces = self._pieces.get(number, ((part, 0),))
        before = intersect(part, merge(*(piece for piece, since in pieces if since < epoch)))
        return subtract(before, self._given_by(number, epoch, primary))

    def shows(self, number: int, part: Intervals, epoch: int, primary: Contact) -> Intervals:
        """What of `part` a view took over from just that epoch, which is that primary's, or was
        given by it in that or a later one of its own.  Not by any later epoch of somebody else's:
        that may have begun on another side of a cut."""
        just = (piece for piece, since in self._pieces.get(number, ()) if since == epoch)
        return intersect(part, merge(*just, self._given_by(number, epoch, primary)))

    def _given_by(self, number: int, epoch: int, primary: Contact | None) -> Intervals:
        given = (
            piece for piece, giver, last in self._given.get(number, ())
            if primary is not None and giver.id == primary.id and epoch <= last
            and (last < EPOCHS or giver == primary)
        )  # fmt: skip
        return merge(*given)

    def kept_before(self, number: int, later: View) -> Intervals:
        """What of a view was kept here in an earlier epoch of a later view until the own one began.
        Where that names this peer as a copy nothing was acknowledged under it: all of its copies
        have it first, and this one never did."""
        pieces = self._kept.get(number, ())
        return merge(*(of for of, key, epoch in pieces if key == later.key and epoch < later.epoch))

    def latest(self, number: int) -> int:
        """The last of the epochs that a view was taken over from."""
        return max((epoch for _, epoch in self._pieces.get(number, ())), default=0)
