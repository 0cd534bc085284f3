"""Finding out who has an interval: the questions of an heir.

Law of this file: asks, and decides nothing; the decision is `meteor.copies.takeover`'s.  An heir
asks every holder that it knows of, the peers that it gave to or took from, and its next successors;
whoever they name is asked too (DESIGN section 5).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Final, TypeGuard

from chord import (
    AnotherAnswers,
    CallError,
    ChordNode,
    Contact,
    DialRefused,
    Runtime,
)
from meteor.copies.claims import NOTES_MAX, is_too_much
from meteor.copies.evidence import (
    Evidence,
    as_before,
    named,
    named_later,
    names_what_was_before,
    of_the_past,
    went_another_way,
)
from meteor.copies.found import Found
from meteor.copies.giving import HandoffConfig
from meteor.copies.other_places import as_named, who_is_at
from meteor.copies.takeover import Asked, Step, plan
from meteor.keeping.chronicle import keep_last
from meteor.keeping.holdings import Intervals
from meteor.keeping.views import Views
from meteor.wire.operations import Claim, ClaimAnswer
from meteor.wire.view import Rival, View, ViewKey, parts_of
from squid import Interval, intersect, merge, subtract

CLAIMS_MAX: Final = 32
"""Peers asked for one interval in one round because others name them: more than the successors of
any concurrent joins ..."""
KNOWN_MAX: Final = 128
"""... and that the asker knows itself: more than it gives to, and takes from, at a time."""
DEAD_MAX: Final = 64
OPEN_MAX: Final = 256
FORGOTTEN: Final = 4
"""What was not asked for so many times the grace, somebody had meanwhile: it waits anew."""
AWAITED_MAX: Final = 64
"""Pieces that one peer may say it is just taking over: a bound for hostile input."""


class Heirs:
    """One peer's questions about intervals."""

    def __init__(
        self, node: ChordNode, runtime: Runtime, views: Views, config: HandoffConfig
    ) -> None:
        self._node, self._runtime, self._views, self._config = node, runtime, views, config
        self._dead: OrderedDict[int, None] = OrderedDict()
        self._open_since: OrderedDict[Interval, tuple[float, float]] = OrderedDict()
        self._unanswered: OrderedDict[ViewKey, None] = OrderedDict()
        self._given_up: OrderedDict[ViewKey, View] = OrderedDict()

    def note_dead(self, contact: Contact) -> None:
        """The ring has given a peer up."""
        self._dead[contact.id] = None
        while len(self._dead) > DEAD_MAX:
            self._dead.popitem(last=False)

    def note_unanswered(self, view: View) -> None:
        """A giver was asked for this, and it is not known whether it gave."""
        keep_last(self._unanswered, view.key, None, OPEN_MAX)

    def note_given_up(self, view: View, adopted: View) -> None:
        """Not all copies of this, which was to take over another view, took it: it does not
        begin."""
        keep_last(self._given_up, view.key, adopted, OPEN_MAX)

    async def ask(self, interval: Interval, elsewhere: Iterable[Contact]) -> Found:
        """Ask in waves until somebody holds some of it, or nobody is left to ask."""
        own = self._runtime.contact
        found = Found(interval, answered={own.id: own}, kept=dict(self._views.copies))
        self._note_own(found)
        asked = {own.id}
        begun = named_later(self._views.chronicle.all_of((interval,)), found.evidence)
        queue = [*named(found.evidence), *begun, *self._node.successors, *elsewhere]
        if self._node.predecessor is not None:
            queue.append(self._node.predecessor)
        most = CLAIMS_MAX + min(len({one.id for one in queue}), KNOWN_MAX)
        while queue and not found.holders:
            wave = list({one.id: one for one in queue if one.id not in asked}.values())
            if len(asked) + len(wave) > most:
                found.everybody = found.conclusive = False
                wave = wave[: most - len(asked)]
            asked |= {one.id for one in wave}
            queue = []
            tasks = [(one, self._runtime.spawn(self._ask(one, found))) for one in wave]
            for _, task in tasks:
                queue += await task
        # Not its own: what it has of these may be all that shows what they were to take over.
        self._views.forget_unbegun({one for one in found.tried if one[0][0] != own.id})
        return found

    async def ask_one(self, contact: Contact, interval: Interval) -> ClaimAnswer | None:
        """What one peer has of an interval; None when it does not answer."""
        try:
            answer = await self._runtime.call(contact, Claim(interval), self._config.claim_s)
        except CallError:
            return None
        return answer if _is_answer(answer) else None

    async def _ask(self, contact: Contact, found: Found) -> list[Contact]:
        """Ask one peer; returns whom it names."""
        try:
            claim = Claim(found.interval, self._views.tried.of((found.interval,))[:NOTES_MAX])
            answer = await self._runtime.call(contact, claim, self._config.claim_s)
        except DialRefused as error:  # it left, or died: nobody who is not there holds anything
            found.refused.add(contact.id)
            is_there = isinstance(error, AnotherAnswers)
            return await who_is_at(self._runtime, contact.address) if is_there else []
        except CallError:
            found.everybody = found.everybody and contact.id in self._dead
            found.conclusive = found.conclusive and found.everybody
            return []
        if not _is_answer(answer):
            found.everybody = found.conclusive = False
            return []
        return self._note(contact, answer, found)

    def _note(self, contact: Contact, answer: ClaimAnswer, found: Found) -> list[Contact]:
        found.answered[contact.id] = contact
        self._dead.pop(contact.id, None)  # it is back, under the same identifier
        found.heard[contact] = answer.heard
        awaited = intersect(answer.awaited, (found.interval,))
        found.awaited = merge(found.awaited, awaited[:AWAITED_MAX])
        found.tried |= {((contact.id, number), epoch) for number, epoch in answer.tried}
        passed_over = {((contact.id, number), epoch) for number, epoch in answer.passed_over}
        found.passed_over |= passed_over
        remembers = answer.damaged and answer.remembers
        found.forgetful |= {contact.id} if answer.damaged and not remembers else set()
        found.born[contact.id] = answer.born
        found.conclusive = found.conclusive and answer.settled
        held = intersect(answer.held, (found.interval,))
        if held:
            found.holders.append((contact, held))
            found.lost = merge(found.lost, intersect(answer.lost, held))
        taken_in = answer.taken_in
        fresh = [Evidence(contact, view, True, taken_in=taken_in) for view in answer.copies]
        with_it = chain(answer.former_taken_in, repeat(()))
        had = [*zip(answer.former, with_it, strict=False), *((one, ()) for one in answer.gave)]
        former = [
            Evidence(as_named(contact, view, answer.had), view, False, is_torn, taken_in, remembers)
            for view, taken_in in had
            for is_torn in (answer.damaged and view.epoch not in answer.sound,)
        ]
        former += [Evidence(contact, view, False, damaged=True) for view in answer.learning]
        found.note_names(contact, (one.contact for one in former))
        found.evidence += fresh + former
        found.gifts |= dict.fromkeys(answer.gifts, contact)
        known = (*(one.view for one in (*fresh, *former)), *answer.begun)
        found.is_twins = found.is_twins or any(map(self._is_twins, known))
        for view in answer.begun:
            self._views.chronicle.note(view)
        self._views.see(*(view.epoch for view in known))
        begun = named_later(answer.begun, found.evidence)
        return [*answer.elsewhere, *named((*fresh, *former)), *begun]

    def _is_twins(self, view: View) -> bool:
        own, primary = self._runtime.contact, view.primary
        is_later = primary.id == own.id and primary.incarnation > own.incarnation
        return is_later and primary.address != own.address

    def _note_own(self, found: Found) -> None:
        own = self._runtime.contact
        part = (found.interval,)
        whole = [copy.view for copy in self._views.copies.values() if copy.whole]
        damaged, learning = self._views.damaged, parts_of(self._views.learning(), part)
        found.heard[own] = self._views.heard.of(part)
        found.tried |= {((own.id, number), epoch) for number, epoch in self._views.tried.of(part)}
        passed_over = self._views.tried.next_of(part)
        found.passed_over |= {((own.id, number), epoch) for number, epoch in passed_over}
        remembers = damaged and not self._views.forgetful
        found.forgetful |= {own.id} if damaged and not remembers else set()
        found.born[own.id] = self._views.born
        found.evidence += [Evidence(own, view, False, damaged=True) for view in learning]
        taken_in = self._views.taken_in.within(part)
        found.evidence += [
            Evidence(own, view, True, taken_in=taken_in) for view in parts_of(whole, part)
        ]
        torn = self._views.torn
        gave = parts_of(self._views.gave(own.id), part)
        had = [*self._views.remembered_of(part), *((view, ()) for view in gave)]
        former = [
            Evidence(
                as_named(own, view, self._views.had), view, False, view.epoch in torn, of, remembers
            )
            for view, of in had
        ]
        found.note_names(own, (one.contact for one in former))
        found.evidence += former
        found.gifts |= dict.fromkeys(self._views.open_gifts(), own)

    # -- decisions

    def plan(self, found: Found) -> list[Step]:
        """What to do about an interval that nobody holds."""
        if found.is_twins:
            return []
        now = self._runtime.now()
        since_s, asked_s = self._open_since.get(found.interval, (now, now))
        if now - asked_s > FORGOTTEN * self._config.grace_s:
            since_s = now
        self._open_since[found.interval] = since_s, now
        while len(self._open_since) > OPEN_MAX:
            self._open_since.popitem(last=False)
        arc = self._node.arc
        orphaned = found.conclusive and arc is not None and any(dead in arc for dead in self._dead)
        patient = now - since_s >= self._config.grace_s
        dead = found.dead((*self._dead, *self._silent(found, now - since_s)))
        unanswered = self._under_which_nothing_was_kept(found, dead)
        asked = Asked(
            found.answered.values(), dead, patient, found.everybody, unanswered, found.forgetful,
            self._views.chronicle.all_of((found.interval,)), found.heard, found.awaited,
            given_up=found.tried, passed_over=found.passed_over, born=found.born,
        )  # fmt: skip
        evidence = as_before(found.evidence, self._given_up, self._runtime.contact)
        return found.without_names(plan((found.interval,), evidence, asked, orphaned=orphaned))

    def _under_which_nothing_was_kept(self, found: Found, dead: Collection[int]) -> set[ViewKey]:
        """Views that began nowhere, or may have, with all that was had before them: what was asked
        for here, what was given, and what its taker did not begin, as it says itself, and has."""
        had = {
            e.view.key for e in found.evidence
            if (e.view.key, e.view.epoch) in found.tried
            and e.contact.id == e.view.primary.id and not e.damaged
        }  # fmt: skip
        return {*self._unanswered, *self._died_before_they_began(found, dead), *had}

    @staticmethod
    def _died_before_they_began(found: Found, dead: Collection[int]) -> list[ViewKey]:
        """What anybody gave to who is dead, and of which no other copy ever heard: the giver would
        have been told itself, or another one by a later epoch."""
        heard_of = {(e.view.key, e.contact) for e in found.evidence}
        return [
            key for key, giver in found.gifts.items()
            if found.everybody and key[0] in dead
            and not any(view == key and contact != giver for view, contact in heard_of)
        ]  # fmt: skip

    def _silent(self, found: Found, waited_s: float) -> set[int]:
        """The holders named that neither answered now nor were heard of for long: only the next on
        the ring are given up by it, and a survivor need not wait for the others."""
        if waited_s < self._config.silent_s:
            return set()
        now = self._runtime.now()
        return {
            one.id
            for one in named(found.evidence)
            if one.id not in found.answered
            and now - self._runtime.link(one).last_heard_s >= self._config.silent_s
        }

    @staticmethod
    def beside(found: Found, step: Step) -> list[Rival]:
        """What went another way than the past that a step found."""
        if step.view is None:
            return []
        never, rivals = found.tried | found.passed_over, list[Rival]()
        of_piece = [one for one in found.evidence if intersect(one.view.intervals, step.piece)]
        for one in went_another_way(step.view, of_piece):
            part = intersect(one.intervals, step.piece)
            if (one.key, one.epoch) not in never:
                lost = intersect(one.lost, part)
                rivals.append(Rival(part, one.epoch, one.holders, lost, one.number))
        return rivals

    def since_lost(self, found: Found, step: Step) -> list[Rival]:
        """What others acknowledged under later views than the past that a step found, which had
        lost it: they may be of another ring, and nobody here went on with it."""
        if step.view is None:
            return []
        own_id, never = self._runtime.contact.id, found.tried | found.passed_over
        later = [
            one for one in found.evidence
            if one.view.epoch > step.view.epoch and intersect(one.view.lost, step.piece)
            and one.contact.id in one.view.holder_ids and not one.damaged
            and one.view.primary.id != own_id and (one.view.key, one.view.epoch) not in never
        ]  # fmt: skip
        rivals: dict[tuple[ViewKey, int], Rival] = {}
        for view in (one.view for one in later):
            part = intersect(view.lost, step.piece)
            part = subtract(part, self._views.taken_in.of(view.primary.id, view.epoch))
            ended = any(other.view.epoch > view.epoch and other.shows(view) for other in later)
            if part and not ended:
                rival = Rival(part, view.epoch, view.holders, part, view.number)
                rivals[view.key, view.epoch] = rival
        return list(rivals.values())

    def closed(self, held: Intervals) -> None:
        """What is held need not be waited for any more."""
        for interval in list(self._open_since):
            if not subtract((interval,), held):
                del self._open_since[interval]

    def resume(self, everything: Intervals, *, is_new: bool) -> list[Step]:
        """What a peer that is alone may take over from its own former life.  Where its ring is new
        and it remembers nothing, there is no past; not so where its journal has lost something, or
        there were others, who had it when it had nothing yet, or any more."""
        had = self._views.remembered_of(everything)
        if not had:
            return [Step(everything, "adopt" if is_new and not self._views.damaged else "lost")]
        own = self._runtime.contact
        torn = self._views.torn
        found = Found(everything[0], answered={own.id: own}, born={own.id: self._views.born})
        evidence = [
            Evidence(as_named(own, one, self._views.had), one, False, one.epoch in torn, of)
            for one, of in had
        ]
        found.note_names(own, (one.contact for one in evidence))
        begun = self._views.chronicle.all_of(everything)
        asked = Asked(found.answered.values(), (), patient=True, begun=begun)
        return found.without_names(plan(everything, evidence, asked, orphaned=True))

    @staticmethod
    def _never_began(found: Found) -> set[tuple[ViewKey, int]]:
        """Not what somebody has whole all the same, be it that nothing began under it: a copy that
        went over to it alive names nothing else, and who was given it has nothing else to show."""
        return found.tried - {
            (one.view.key, one.view.epoch) for one in found.evidence
            if (one.fresh and not names_what_was_before(one, found.evidence))
            or (one.contact.id == one.view.primary.id and not one.damaged)
        }  # fmt: skip

    def heal(self, found: Found) -> Sequence[Step]:
        """What of a lost interval can be known again."""
        if found.is_twins:
            return ()
        dead = found.dead(self._dead)
        unanswered = self._under_which_nothing_was_kept(found, dead)
        taken_in = self._views.taken_in  # what began, and is here, does not stand against the past
        begun = [
            left for one in self._views.chronicle.of((found.interval,))
            if (left := one.without(taken_in.of(one.primary.id, one.epoch))) is not None
        ]  # fmt: skip
        asked = Asked(
            found.answered.values(), dead, True,
            unanswered=unanswered, forgetful=found.forgetful, begun=begun, heard=found.heard,
            tried=self._never_began(found), born=found.born,
        )  # fmt: skip
        # What never began may be a proof of what came before, which alone would be none: it is put
        # in another light only where nothing comes of it as it is.
        steps: list[Step] = []
        for way in (asked, replace(asked, given_up=found.tried, passed_over=found.passed_over)):
            open_yet = subtract((found.interval,), merge(*(step.piece for step in steps)))
            of_it = plan(open_yet, of_the_past(found.evidence), way, orphaned=True)
            steps += [step for step in of_it if step.kind == "adopt"]
        return found.without_names(steps)


def _is_answer(reply: object) -> TypeGuard[ClaimAnswer]:
    return isinstance(reply, ClaimAnswer) and not is_too_much(reply)
