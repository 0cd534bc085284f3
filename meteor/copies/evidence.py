"""What an heir was told, and what of it is word of views that never began.

Law of this file: pure.  A copy that took a view which never began knows nothing else any more, and
has all of what that view took the place of: it speaks for that.  Taken at its word, it would hide
the last view that began behind one of which nobody can prove anything, and an interval of which
somebody has everything would be lost (DESIGN section 5).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chord import Contact
from meteor.wire.view import Ended, View, ViewKey
from squid import Interval, Intervals, covers, intersect, merge, subtract


@dataclass(frozen=True, slots=True)
class Evidence:
    """Somebody has a view's content, or the memory of it."""

    contact: Contact
    view: View
    fresh: bool
    """Whether it is a copy that was whole all the time."""
    damaged: bool = False
    """Whether it only knows of the epoch: its journal has lost something, or it was still being
    filled."""
    taken_in: tuple[Ended, ...] = ()
    """Of which ended views of others it has all content as well."""
    remembers: bool = False
    """Whether it is damaged, and knows all the same that this is the last that it had a part in."""

    def shows(self, view: View) -> bool:
        """Whether everything that was acknowledged under another view is noted to be with it."""
        return any(ended.shows(view.primary.id, view.epoch) for ended in self.taken_in)


class Told(tuple[Evidence, ...]):
    """Evidence of one piece, by which view it is of and by whose: it is looked at for each view."""

    of_view: dict[ViewKey, list[Evidence]]
    of_peer: dict[int, list[Evidence]]
    """By identifier."""
    _shown: dict[int, dict[int, Intervals]]
    """By what was taken in together, and by primary: up to which epochs all of it."""

    def __new__(cls, evidence: Iterable[Evidence]) -> Told:
        """As it is, with where each is found."""
        told = super().__new__(cls, evidence)
        told.of_view, told.of_peer = {}, {}
        for one in told:
            told.of_view.setdefault(one.view.key, []).append(one)
            told.of_peer.setdefault(one.contact.id, []).append(one)
        told._shown = {}
        return told

    def shows(self, one: Evidence, view: View) -> bool:
        """As `Evidence.shows`, for many views."""
        shown = self._shown.get(id(one.taken_in))
        if shown is None:
            shown = self._shown[id(one.taken_in)] = {}
            for of in one.taken_in:
                epochs = shown.get(of.primary, ())
                shown[of.primary] = (*epochs, (of.since, of.epoch))
            for primary, epochs in shown.items():
                shown[primary] = merge(epochs)
        return covers(shown.get(view.primary.id, ()), view.epoch)


def as_before(
    evidence: Iterable[Evidence], given_up: Mapping[ViewKey, View], own: Contact
) -> list[Evidence]:
    """What the asker's own views that not all copies took are evidence of: nothing began under
    them, and who took one has all of the view that it was to take over."""
    found = []
    for one in evidence:
        adopted = given_up.get(one.view.key)
        if adopted is None:
            found.append(one)
        elif one.contact != own and (before := adopted.within(one.view.intervals)) is not None:
            found.append(replace(one, view=before))
    return found


def as_it_was(
    evidence: Sequence[Evidence], given_up: Collection[tuple[ViewKey, int]]
) -> list[Evidence]:
    """The same of what others gave up, as they say themselves: of one piece, and only where all
    who have such a view are known to have all of one that came before."""
    found = list(evidence)
    for key, epoch in sorted(given_up):
        at = [e for e in found if (e.view.key, e.view.epoch) == (key, epoch)]
        having = [e for e in at if not e.damaged]
        before = [_took_the_place_of(e, found) for e in having]
        if key[1] != epoch or any(e.contact.id == key[0] for e in having):
            continue  # not its first epoch, or its primary had it all the same
        instead = [replace(e, view=view) for e, view in zip(having, before, strict=True) if view]
        if len(instead) == len(having):
            found = [*(e for e in found if e not in at), *instead]
    return found


def went_another_way(found: View, evidence: Sequence[Evidence]) -> list[View]:
    """What went another way than the last word that was found: views which their own primaries
    have, who were alone with them for a while, as in a cut, and of which those who have that word
    show an earlier epoch alone.  It may be all that is left of what was acknowledged there."""
    having = [one for one in evidence if (one.view.key, one.view.epoch) == (found.key, found.epoch)]
    had = {ended.primary for one in having for ended in one.taken_in}
    return [
        one.view for one in evidence
        if one.contact.id == one.view.primary.id and not one.damaged
        and one.view.primary.id in had and one.view.primary.id != found.primary.id
        and not any(other.shows(one.view) for other in having)
    ]  # fmt: skip


def as_settled(piece: Interval, evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """The same, where what began as many fell speaks for the last view before under which anything
    was kept: who has it has all of that, and no more.  Not where that was not of all of a piece."""
    for one in evidence:
        settled = one.view.settled
        before = None if settled is None else settled.within(one.view.intervals)
        if before is None or not has_piece(before, piece):
            yield one
        else:
            yield replace(one, view=before, fresh=False)


def put_back(piece: Interval, evidence: Collection[Evidence], begun: Iterable[View]) -> set[int]:
    """Who was started again with a backup of its journal: it knows only of what came before the
    view that a brief one stands for, both of which name it, and nothing is known to have begun
    after that.  What it does not know of says nothing."""
    known = [*(one.view for one in evidence), *begun]
    until = [(view, _kept_until(view, piece)) for view in known]
    last = max((before.epoch for _, before in until), default=0)
    due = [
        (view, before) for view, before in until
        if view.is_brief and not before.is_brief and before.epoch == last
    ]  # fmt: skip
    latest: dict[Contact, int] = {}
    for one in evidence if due else ():
        latest[one.contact] = max(latest.get(one.contact, 0), one.view.epoch)
    found = set[int]()
    for view, before in due:  # each once: what an answer may name is bounded, their product is not
        ids = before.holder_ids
        lives = {(one.id, one.address): one.incarnation for one in view.holders if one.id in ids}
        found |= _behind(lives, latest, last)
    return found


def _behind(
    lives: Mapping[tuple[int, str], int], latest: Mapping[Contact, int], last: int
) -> set[int]:
    """Who of these was started again since the named life, and knows of nothing so late."""
    its: dict[int, int] = {}
    for contact, epoch in latest.items():
        named = lives.get((contact.id, contact.address))
        if named is not None and contact.incarnation > named:
            its[contact.id] = max(its.get(contact.id, 0), epoch)
    return {one for one, epoch in its.items() if epoch < last}


def _kept_until(view: View, piece: Interval) -> View:
    """The last view under which anything was kept, of what a view has of a piece."""
    before = None if view.settled is None else view.settled.within(view.intervals)
    return view if before is None or not has_piece(before, piece) else before


def _took_the_place_of(one: Evidence, evidence: Iterable[Evidence]) -> View | None:
    """The last view of which a copy has all beside the one that it has now, if anybody names it."""
    past = [ended for ended in one.taken_in if ended.epoch < one.view.epoch] if one.fresh else []
    if not past:
        return None
    last = max(past, key=lambda ended: ended.epoch)
    named = (e.view for e in evidence if e.view.primary.id == last.primary)
    return next((view for view in named if view.epoch == last.epoch and not last.since), None)


def without_passed_over(
    evidence: Sequence[Evidence],
    passed_over: Collection[tuple[ViewKey, int]],
    begun: Sequence[View],
) -> list[Evidence]:
    """A next epoch of a view that was passed over as it should begin, in a higher one than the view
    that passed it over: its primary had the epoch before, all of which is with that later view."""
    found = list(evidence)
    for key, epoch in sorted(passed_over):
        had = [e.view for e in found if e.view.key == key and e.contact.id == key[0]
               and e.view.epoch < epoch and not e.damaged]  # fmt: skip
        before = max(had, key=lambda view: view.epoch, default=None)
        if before is not None and _goes_on(before, epoch, found, begun):
            found = [
                replace(e, view=before) if (e.view.key, e.view.epoch) == (key, epoch) else e
                for e in found
            ]
    return found


def _goes_on(before: View, epoch: int, evidence: Sequence[Evidence], begun: Sequence[View]) -> bool:
    """Whether a view began between an epoch of another one and its next, and has all of it."""
    between = [one for one in begun if one.key != before.key and before.epoch < one.epoch < epoch]
    last = max(between, key=lambda view: view.epoch, default=None)
    if last is None:
        return False
    fresh = [e for e in evidence if e.fresh and not e.damaged
             and (e.view.key, e.view.epoch) == (last.key, last.epoch)]  # fmt: skip
    return bool(fresh) and all(has_all_of(e, before) for e in fresh)


def keys_of(view: View, evidence: Sequence[Evidence]) -> set[ViewKey]:
    """A view's key, and those under which its primary had it of a piece that all of this is
    evidence of.  What is left of a view whose other part ended goes on under another number, in the
    epoch that it had, and no two views that one life of a peer begins share an epoch."""
    keys = {view.key}
    while True:
        had = {(e.view.primary, e.view.epoch) for e in evidence if e.view.key in keys}
        found = {e.view.key for e in evidence if (e.view.primary, e.view.epoch) in had}
        if found <= keys:
            return keys
        keys |= found


def has_all_of(survivor: Evidence, view: View) -> bool:
    """Whether a copy has everything that was acknowledged under another view as well."""
    if view.primary in (survivor.contact, survivor.view.primary):  # one after the other
        return True
    return survivor.shows(view)


def is_next_of(one: Evidence, newest: View, *, is_last: bool) -> bool:
    """Whether the last that a copy had before the view that it has now is the newest one: nothing
    began there in between.  Where the primary of the newest `is_last` at it, its next epochs never
    began, which that copy may have had before."""
    if not one.fresh or not one.taken_in:
        return False
    last = max(one.taken_in, key=lambda ended: ended.epoch)
    is_next = is_last and last.epoch > newest.epoch and one.shows(newest)
    return last.primary == newest.primary.id and (last.epoch == newest.epoch or is_next)


def names_what_was_before(one: Evidence, evidence: Iterable[Evidence]) -> bool:
    """Whether a copy names, beside a view that it has, what it had last before that of all of it:
    nothing else is hidden where the view that never began is passed over."""
    its = (e.view for e in evidence if e.contact == one.contact and not e.damaged)
    earlier = [view for view in its if view.epoch < one.view.epoch]
    last = max((ended.epoch for ended in one.taken_in if ended.epoch < one.view.epoch), default=0)
    since = [view.intervals for view in earlier if view.epoch >= last]
    return not subtract(one.view.intervals, merge(*since))


def has_piece(view: View, piece: Interval) -> bool:
    """Whether a view is of all of a piece."""
    return intersect(view.intervals, (piece,)) == (piece,)


def named(evidence: Iterable[Evidence]) -> list[Contact]:
    """Who had a part in what there is evidence of."""
    return [one for e in evidence for one in (e.view.primary, *e.view.copies)]


def named_later(begun: Iterable[View], evidence: Iterable[Evidence]) -> list[Contact]:
    """Who had what began after all that there is evidence of."""
    latest = max((one.view.epoch for one in evidence), default=0)
    return [holder for view in begun if view.epoch > latest for holder in view.holders]


def of_the_past(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Evidence of what was before it was lost: views without the part that they call lost."""
    cut = [(one, one.view.without(one.view.lost)) for one in evidence]
    return [replace(one, view=view) for one, view in cut if view is not None]


def of_both(left: View, right: View) -> View:
    """One epoch of one view, where each is word of a part of it: what either names stays named."""
    if not subtract(left.intervals, right.intervals):
        return right
    return replace(
        right,
        intervals=merge(left.intervals, right.intervals),
        lost=merge(left.lost, right.lost),
        rivals=tuple(dict.fromkeys((*left.rivals, *right.rivals))),
    )


def by_piece(pieces: Sequence[Interval], evidence: Iterable[Evidence]) -> list[list[Evidence]]:
    """What is evidence of each: all of it has its borders between pieces."""
    starts = [first for first, _ in pieces]
    found: list[list[Evidence]] = [[] for _ in pieces]
    for one in evidence:
        for first, last in merge(one.view.intervals):
            for at in range(bisect_left(starts, first), bisect_right(starts, last)):
                found[at].append(one)
    return [_cut_to(its, piece) for its, piece in zip(found, pieces, strict=True)]


def _cut_to(its: Sequence[Evidence], piece: Interval) -> list[Evidence]:
    """What was taken in of a piece at whose borders all evidence changes."""
    cut = {id(one.taken_in): one.taken_in for one in its}
    for of_all, ended in cut.items():
        cut[of_all] = tuple([one for one in ended if intersect(one.intervals, (piece,))])
    return [replace(e, taken_in=cut[id(e.taken_in)]) if e.taken_in else e for e in its]
