"""Taking over what nobody answers for: from whose content, or as lost.

Law of this file: pure.  An heir asks all holders that it knows and its next successors.  The newest
epoch that any of them names counts.  A copy that lived all the time and was not told otherwise has
everything: one survivor is enough.  One that was restarted, or was passed over, may have been
evicted meanwhile: it counts only while a majority of its epoch's holders have that same epoch and
at most one is silent, as a later epoch has at least two holders, of whom one would be among those
asked.  Where its primary is there, it vouches for an earlier epoch of the same view, as it notes
the next one after its copies and keeps itself whatever it acknowledged: then all count who know of
the view in any epoch, or noted what this primary tried next and never began.  A holder that answers
and does not know the epoch has moved on from it, and with it the interval: then one copy alone
proves nothing, nor does a restarted one.  Not so a copy that lived all the time and still has what
the epoch took the place of: whoever is told of any later one lets go of that.  It was not told, as
the primary fell just then.  A view of which its own primary knows nothing, though it remembers an
earlier one, never began, and who gave that away says what it had until it hears that the taker
began; one that remembers nothing is just about to begin it, as its copies know of it first, and is
waited for.  Where all would be lost, a view counts as never begun as well whose
primary is back from a crash without any memory of the piece, if nobody was told that it began; and
a copy whose last view before one that never began is the newest has not moved on. What a peer does
not know of before it was restarted says nothing when its journal has lost more than records, or was
put back from a backup, as a brief view shows: it is as one that is silent. And what anybody was
told to have begun later stands against whoever cannot show that as well, though nobody is left who
has it; while a holder that lived all the time, and heard of nothing so late, has not moved on
(`meteor.keeping.chronicle`; DESIGN section 5).
What never began hides nothing that did, though a copy has it whole (`meteor.copies.evidence`); nor
does what ended as one of an earlier epoch took all of it in, beside who can show to have that.
What is left of a view goes on under another number: to those who were not told yet it is the same.
Where nothing can be proven so, a view that began as many fell counts as the one that it stands for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from chord import Contact
from meteor.copies.evidence import (
    Evidence,
    Told,
    as_it_was,
    as_settled,
    by_piece,
    has_all_of,
    has_piece,
    is_next_of,
    keys_of,
    of_both,
    put_back,
    without_passed_over,
)
from meteor.wire.operations import HeardOf
from meteor.wire.view import View, ViewKey
from squid import Interval, Intervals, intersect, merge

SILENT_MAX = 1
"""Silent holders beside which a restarted copy still counts: see the head of this file."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who answered, and the identifiers of who is known to be dead."""

    answered: Collection[Contact]
    dead: Collection[int]
    patient: bool
    """Whether whoever is silent has been waited for long enough."""
    everybody: bool = True
    """Whether all who were asked answered, or are dead: one of the others may have the interval in
    a later epoch, of which its holders of old know nothing."""
    unanswered: Collection[ViewKey] = ()
    """Views under which nothing was acknowledged, though somebody has all of one: the asker's own,
    for which it asked a giver and never heard, and anybody's gifts to who died before it began."""
    forgetful: Collection[int] = ()
    """The identifiers of those who answered and whose journal has lost something."""
    begun: Collection[View] = ()
    """The newest views that began, as anybody was told: nobody need be left who has them."""
    heard: Mapping[Contact, Sequence[HeardOf]] = field(default_factory=dict)
    """How late an epoch those who answered heard of, piece by piece, in their present life."""
    awaited: Intervals = ()
    """What others who answered are just taking over: the giver's copies know nothing of it, and
    the giver may have died since."""
    tried: Collection[tuple[ViewKey, int]] = ()
    """Views, and in which epochs of theirs, that never began, as their primaries say themselves: a
    primary that found the past may have gone on without it all the same."""
    given_up: Collection[tuple[ViewKey, int]] = ()
    """The same, whoever took them and has them whole (`meteor.copies.evidence.as_it_was`)."""
    passed_over: Collection[tuple[ViewKey, int]] = ()
    """Views, and in which next epochs of theirs, that were passed over as they should begin."""
    born: Mapping[int, int] = field(default_factory=dict)
    """By identifier: the incarnation that began the journal of who answered."""

    never_began: Told = field(default_factory=lambda: Told(()))
    """What was given to who fell before it began there."""

    def was_given(self, named: Contact, view: View) -> bool:
        """Whether a holder let go of a view only for one that never began, and has all of both."""
        of = self.never_began
        of_it = (one for one in of if named.id in {one.view.primary.id, one.contact.id})
        return any(of.shows(one, view) for one in of_it)

    def is_behind(self, named: Contact, view: View, piece: Interval) -> bool:
        """Whether a holder that a view names lived all the time, and did not hear of it, nor of any
        later one: its giver took the piece from it with a word of its own views."""
        heard = self.heard.get(named, ())
        return bool(heard) and all(
            epoch < view.epoch for epoch, of in heard if intersect(of, (piece,))
        )

    def has_forgotten(self, contact: Contact, named: Contact) -> bool:
        """Whether a peer may have known a view that names it, in a life before this one."""
        torn = contact.id in self.forgetful and contact.incarnation > named.incarnation
        return torn or named.incarnation < self.born.get(contact.id, 0)

    def without_a_word_of(self, put_back: Collection[int]) -> Asked:
        """The same, where these do not know what they had."""
        return replace(self, forgetful={*self.forgetful, *put_back}) if put_back else self

    def begun_after(self, view: View, piece: Interval) -> list[View]:
        """What is known to have begun after a view of a piece."""
        return [one for one in self.begun if one.epoch > view.epoch and has_piece(one, piece)]

    def waits_for(self, silent: Iterable[Contact]) -> bool:
        """Whether one of these may still answer.  Whose identifier another peer has now, as it was
        granted anew, is dead."""
        granted = {one.id for one in self.answered}
        return not self.patient and any(
            one.id not in self.dead and one.id not in granted for one in silent
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What to do with a piece."""

    piece: Intervals
    kind: Literal["adopt", "wait", "lost"]
    view: View | None = None
    """The newest view, when it is adopted, or lost with something left of it."""
    sources: tuple[Contact, ...] = ()
    """Who has all of it; of what is lost, who has the last word with holes: a damaged journal."""


def is_peer(contact: Contact, named: Contact) -> bool:
    """Whether a peer is the one that a view names, or a later life of it, and not one that was
    granted the identifier of the dead."""
    return contact.id == named.id and (
        contact.address == named.address or contact.incarnation > named.incarnation
    )


def _speaks_for(contact: Contact, named: Contact, evidence: Told) -> bool:
    """Whether a peer is the one that a view names, or a later life of it, and not one that had its
    identifier before: that was granted anew while it was down, and names two since it is back."""
    moved = contact.address != named.address
    return is_peer(contact, named) and not (
        moved
        and any(
            one.contact == contact
            and any((h.id, h.address) == (contact.id, contact.address) for h in one.view.holders)
            for one in evidence.of_peer.get(contact.id, ())
        )
    )


def _is_among(named: Contact, contacts: Iterable[Contact]) -> bool:
    return any(is_peer(one, named) for one in contacts)


def plan(
    part: Intervals, evidence: Sequence[Evidence], asked: Asked, *, orphaned: bool
) -> list[Step]:
    """What to do with `part`, piece by piece; `orphaned` says that nobody more can be asked, so
    that a piece without evidence is lost at once."""
    steps: list[Step] = []
    pieces = _pieces(part, evidence, asked)
    for piece, its in zip(pieces, by_piece(pieces, evidence), strict=True):
        known = as_it_was(its, asked.given_up)
        began = [one for one in asked.begun if has_piece(one, piece)]
        of_piece = Told(without_passed_over(known, asked.passed_over, began))
        here = asked.without_a_word_of(put_back(piece, of_piece, began))
        step = _decide(piece, of_piece, here, orphaned)
        for left, so_asked in _without_what_ended(piece, of_piece, here):
            if step.kind != "lost":
                break
            if left and left != of_piece:
                step = _decide(piece, left, so_asked, orphaned)
        if steps and _same(steps[-1], step):
            steps[-1] = _joined(steps[-1], step)
        else:
            steps.append(step)
    return steps


def _without_what_ended(
    piece: Interval, evidence: Told, asked: Asked
) -> Iterator[tuple[Told, Asked]]:
    """Evidence that may show a last word where all of it does not: without views that never began,
    and without those that were let go as one of an earlier epoch had all of them.  The latter
    began: they stand against whoever cannot show to have them as well."""
    died = [one for one in evidence if _died_before(one.view, piece, evidence, asked)]
    yield Told(one for one in evidence if one not in died), replace(asked, never_began=Told(died))
    yield Told(as_settled(piece, evidence)), asked
    having = [one for one in evidence if one.taken_in]
    ended = [one for one in evidence if any(_took_in(other, one, evidence) for other in having)]
    begun = (*asked.begun, *(one.view for one in ended))
    left = (one for one in evidence if one not in ended)
    began = (one for one in left if _began(one.view, evidence, asked))
    yield Told(began), replace(asked, begun=begun)


def _took_in(one: Evidence, ended: Evidence, evidence: Told) -> bool:
    """Whether all that a later view had is with another one, and not the other way round."""
    apart = one.view.key != ended.view.key and one.view.epoch < ended.view.epoch
    shows = apart and not one.damaged and evidence.shows(one, ended.view)
    return shows and not evidence.shows(ended, one.view)


def _pieces(part: Intervals, evidence: Sequence[Evidence], asked: Asked) -> list[Interval]:
    """`part` cut wherever the evidence changes."""
    known = [one.intervals for one in (*(e.view for e in evidence), *asked.begun)]
    known += [of for heard in asked.heard.values() for _, of in heard]
    known += [ended.intervals for one in evidence for ended in one.taken_in]
    known += [asked.awaited]
    borders = sorted({end for of in known for first, last in of for end in (first, last + 1)})
    pieces = []
    for first, last in part:
        starts = [first, *(border for border in borders if first < border <= last)]
        ends = [*(start - 1 for start in starts[1:]), last]
        pieces += list(zip(starts, ends, strict=True))
    return pieces


def _decide(piece: Interval, evidence: Told, asked: Asked, orphaned: bool) -> Step:
    if not asked.patient and intersect(asked.awaited, (piece,)):
        return Step((piece,), "wait")
    if not evidence:
        return Step((piece,), "lost" if orphaned or asked.patient else "wait")
    begun = [one for one in evidence if _began(one.view, evidence, asked)]
    if not begun:
        return Step((piece,), "lost" if asked.patient else "wait")
    newest = max((one.view for one in begun), key=_rank)
    having = [one for one in evidence if _is_at(one, newest) and not one.damaged]
    later = asked.begun_after(newest, piece)
    given = newest.key in asked.unanswered and not later
    if having and given:
        return Step((piece,), "adopt", newest, tuple(one.contact for one in having))
    unheard = [one for one in newest.holders if not _is_among(one, asked.answered)]
    if asked.waits_for(unheard) or (not asked.patient and _begins(newest, evidence, asked)):
        return Step((piece,), "wait")
    fresh = [one for one in having if one.fresh]
    if not fresh and not asked.everybody and not asked.patient:
        return Step((piece,), "wait")
    # what began later does not stand against those who have all of it as well
    sources = [one for one in having if (one.fresh or not fresh) and all(map(one.shows, later))]
    if not sources or not _proven(newest, piece, having, evidence, asked):
        # whoever does not know of it may be about to have it: an heir's copies know of it first
        if not asked.patient:
            return Step((piece,), "wait")
        torn = [] if having else [one for one in evidence if _is_at(one, newest)]
        if torn and not later and _proven(newest, piece, torn, evidence, asked):
            return Step((piece,), "lost", newest, tuple(one.contact for one in torn))
        return Step((piece,), "lost")
    return Step((piece,), "adopt", newest, tuple(one.contact for one in sources))


def _rank(view: View) -> tuple[object, ...]:
    """The latest last; beyond that the same order whoever answers first."""
    return view.epoch, view.key, sorted(view.holder_ids)


def _began(view: View, evidence: Told, asked: Asked) -> bool:
    """Whether anything can have been acknowledged under a view: not when its primary, who has a
    memory of the piece, knows nothing of it.  It gave up while only some copies had noted it."""
    if any((one.key, one.epoch) == (view.key, view.epoch) for one in asked.begun):
        return True  # others were told so: its primary has an earlier journal than it had
    if (view.key, view.epoch) in asked.tried or _was_not_taken(view, evidence, asked):
        return False
    own = evidence.of_peer.get(view.primary.id, ())
    if not any(_speaks_for(one.contact, view.primary, evidence) for one in own):
        return True
    its = evidence.of_view.get(view.key, ())
    knows = any(_speaks_for(one.contact, view.primary, evidence) for one in its)
    return knows or not any(
        is_peer(one, view.primary) and not asked.has_forgotten(one, view.primary)
        for one in asked.answered
    )


def _was_not_taken(view: View, evidence: Told, asked: Asked) -> bool:
    """Whether one of its copies remembers only an earlier epoch of it: nothing begins before all of
    them have it in their journals.  Not where that one shows to have had it, and went over from it.
    Nor where it was started again, which may have been with a backup of its journal, if another one
    lived all the time and has that epoch whole: with it is all that came before as well."""
    of_it = evidence.of_view.get(view.key, ())
    is_whole = any(one.fresh and one.view.epoch == view.epoch for one in of_it)
    return any(
        max(one.view.epoch for one in theirs) < view.epoch
        for copy in view.copies
        if copy.id not in asked.forgetful
        and (theirs := [one for one in of_it if is_peer(one.contact, copy)])
        and not any(one.damaged or one.shows(view) for one in theirs)
        and not (is_whole and any(one.contact.incarnation > copy.incarnation for one in theirs))
    )


def _died_before(view: View, piece: Interval, evidence: Told, asked: Asked) -> bool:
    """Whether the primary of a view was restarted and remembers nothing of the piece, and nobody
    was told that it began, or anything later: whatever it acknowledges is in its journal first."""
    came_back = any(
        _speaks_for(one, view.primary, evidence)
        and one.incarnation > view.primary.incarnation
        and not asked.has_forgotten(one, view.primary)
        for one in asked.answered
    )
    own = evidence.of_peer.get(view.primary.id, ())
    remembers = any(_speaks_for(one.contact, view.primary, evidence) for one in own)
    began = any(one.epoch >= view.epoch and has_piece(one, piece) for one in asked.begun)
    return came_back and not remembers and not began


def _begins(view: View, evidence: Sequence[Evidence], asked: Asked) -> bool:
    """Whether its primary lives, and does not know of it yet: it answered before its copies did.
    Passed over now, it would have given up what nobody else may take over."""
    lives = any(one == view.primary for one in asked.answered)
    return lives and not any(
        one.view.key == view.key and is_peer(one.contact, view.primary) for one in evidence
    )


def _proven(
    newest: View,
    piece: Interval,
    having: Sequence[Evidence],
    evidence: Told,
    asked: Asked,
) -> bool:
    """Whether no later epoch can be that nobody named: see the head of this file."""
    holders = newest.holders
    # An earlier epoch of the same view is no contradiction: a primary that was passed over while
    # its copies noted the next one knows no more, and no less than it acknowledged.
    keys = keys_of(newest, evidence)
    know = [one for one in evidence
            if one.view.key in keys or _is_tried_after(newest, one.view)]  # fmt: skip
    vouched = any(one.view.key in keys and is_peer(one.contact, newest.primary)
                  and not one.damaged for one in know)  # fmt: skip
    there = [*having, *(one for one in know if vouched and not one.damaged)]
    there += [one for one in evidence if one.remembers and _is_at(one, newest)]
    vouches = any(is_peer(one.contact, newest.primary) and not one.damaged for one in having)
    went_on = [one for one in evidence if is_next_of(one, newest, is_last=vouches)
               and not _began(one.view, evidence, asked)]  # fmt: skip
    there += went_on if vouches else []
    have = [one for one in holders if _is_among(one, [e.contact for e in there])]
    came = {one for one in holders
            if any(_speaks_for(peer, one, evidence) and not asked.has_forgotten(peer, one)
                   for peer in asked.answered)}  # fmt: skip
    fresh = [one for one in having if one.fresh]
    know += [one for one in evidence if fresh and _is_behind(one, newest, fresh)]
    know += went_on
    moved_on = [one for one in holders
                if one in came and not _is_among(one, [e.contact for e in know])
                and not asked.is_behind(one, newest, piece)
                and not asked.was_given(one, newest)]  # fmt: skip
    most = 2 * len(have) > len(holders)
    if fresh:
        return most or not moved_on
    silent = len(holders) - len(have) - len(moved_on)
    return most and not moved_on and silent <= SILENT_MAX


def _is_behind(one: Evidence, newest: View, survivors: Sequence[Evidence]) -> bool:
    """Whether a copy was not told of the newest view: what it has whole is earlier, and not beside
    that one, as all that it has is with every survivor of the newest as well."""
    earlier = one.fresh and one.view.epoch < newest.epoch
    return earlier and all(has_all_of(survivor, one.view) for survivor in survivors)


def _is_tried_after(newest: View, view: View) -> bool:
    """Whether the primary of the newest view that began tried this one next."""
    same = (view.primary.id, view.primary.address) == (newest.primary.id, newest.primary.address)
    return same and view.epoch > newest.epoch


def _is_at(one: Evidence, newest: View) -> bool:
    return one.view.key == newest.key and one.view.epoch == newest.epoch


def _same(left: Step, right: Step) -> bool:
    if left.kind != right.kind or left.sources != right.sources:
        return False
    if left.view is None or right.view is None:
        return left.view is right.view
    return left.view.key == right.view.key and left.view.epoch == right.view.epoch


def _joined(left: Step, right: Step) -> Step:
    view = of_both(left.view, right.view) if left.view and right.view else right.view
    return Step(merge(left.piece, right.piece), left.kind, view, right.sources)
