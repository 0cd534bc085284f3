"""By id: renewing, cancelling, finding and replacing what was posted before.

Law of this file: conversations.  An id routes by itself; a record that was replaced is followed to
where it is now (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Final

from arms import DATA
from chord import Contact, Runtime, replace
from meteor.admission import (
    KEPT_KINDS,
    check_takes_place,
    check_timeout_s,
    check_ttl_ms,
    check_version,
    read_document,
)
from meteor.errors import MeteorError, ProfileError, Refused
from meteor.rendezvous.asking import ASKED_MAX, BURIED_WITHIN_S, Asking
from meteor.rendezvous.leaving import back_to, left_by
from meteor.rendezvous.moves import runs_of, with_missing
from meteor.rendezvous.reading import reading
from meteor.rendezvous.task import AMENDS, FIND, FOUND
from meteor.security.gatekeeper import Admitted, Gatekeeper
from meteor.security.verifying import DELEGATION, Actor
from meteor.wire import codec
from meteor.wire.collector import Collector, Relay, raise_refusals, summaries_of
from meteor.wire.found_pages import readable
from meteor.wire.messages import Amend, Document, Post, PostReply
from meteor.wire.operations import Carried, Operation, Route, Summary
from meteor.wire.record_id import make_id, split_id
from meteor.wire.went import last_in
from squid import Box, HilbertCurve, Intervals, Outcome, Router, Wanted

FINDINGS_MAX: Final = 8
"""How often it is looked for what overlaps, while others change what was found."""
PLACES_MAX: Final = 256
"""So many places are asked for a record in turn: each is a `replace` unknown to the caller."""

_NOTHING_THERE: Final = "nothing is there of which one can tell that the delegation is for it"

Place = Callable[[bytes, str, bool], Box]
"""The box of a packed profile under an action, and whether it may go everywhere; raises."""


class Amending:
    """The by-id conversations of one peer with its clients."""

    def __init__(
        self,
        runtime: Runtime,
        router: Router,
        curve: HilbertCurve,
        asking: Asking,
        place: Place,
        gatekeeper: Gatekeeper,
    ) -> None:
        self._runtime, self._router, self._curve = runtime, router, curve
        self._asking, self._place, self._gatekeeper = asking, place, gatekeeper
        self._everywhere: Intervals = ((0, curve.size - 1),)

    async def amend(self, sender: Contact, amend: Amend) -> PostReply:
        """Carry out what a client asks of an id; raises `Refused`, and what is malformed."""
        check_timeout_s(amend.timeout_s)
        check_version(amend.version)
        if amend.verb == "replace":
            with reading(sender):
                document = check_takes_place(read_document(amend.document))
                admitted = self._gatekeeper.admit_amend(amend, document, self._runtime.now())
                self._place(document.profile, document.action, False)
            deadline = self._runtime.now() + amend.timeout_s
            if admitted.limit:
                looked = await self._look_at(sender, amend, admitted)
                if not looked.complete:
                    return looked
                amend = replace(amend, timeout_s=max(deadline - self._runtime.now(), 0.0))
            return await self._replace(sender, amend, document, admitted)
        if amend.verb not in AMENDS:
            raise MeteorError(f"{amend.verb!r} is none of renew, cancel, replace, find")
        with reading(sender):
            split_id(amend.id, self._curve)
            admitted = self._gatekeeper.admit_amend(amend, None, self._runtime.now())
        reply = await self.once(sender, amend, admitted)
        self._gatekeeper.amended(admitted, amend, reply, self._runtime.now())
        return reply

    async def _look_at(self, sender: Contact, amend: Amend, admitted: Admitted) -> PostReply:
        """What a delegate is to replace, as long as it is there: who has both places has the new
        one alone once that is written.  Raises `Refused`, also where nothing is found: what his
        post takes away may lie elsewhere."""
        question = replace(amend, verb=FIND, ttl_s=0.0, document=b"")
        looked = await self.once(sender, question, admitted, dry_run=True)
        if looked.complete and not looked.matches:
            with self._gatekeeper.counted():
                raise Refused(f"replace of {amend.id}: {_NOTHING_THERE}", DELEGATION)
        return replace(looked, matches=0)

    async def once(
        self,
        sender: Contact,
        amend: Amend,
        admitted: Admitted,
        *,
        mode: str = "within",
        dry_run: bool = False,
    ) -> PostReply:
        """Renew, cancel or find by id, following a record that was replaced to its new id."""
        full_id, collector, came_with = amend.id, Collector(), -1
        deadline = self._runtime.now() + amend.timeout_s
        left: Intervals = ()
        for places in count(1):
            _, box = split_id(full_id, self._curve)
            operation = replace(
                self._operation(sender, amend, admitted), id=full_id, mode=mode, dry_run=dry_run
            )
            outcome = await self._router.disseminate(
                box, codec.encode(operation), timeout_s=max(deadline - self._runtime.now(), 0.0),
                on_frame=collector.keep, asks=amend.verb == FIND,
            )  # fmt: skip
            summaries = summaries_of(outcome)
            with self._gatekeeper.counted():
                named = replace(operation, verb="replace") if dry_run else operation
                raise_refusals(named, summaries)
            went = last_in(summaries)
            if went is None or went.version <= came_with:
                break
            if self._runtime.now() >= deadline or places == PLACES_MAX:
                outcome = self._unmet(outcome, went.id)
                break
            left, full_id, came_with = left + outcome.missing, went.id, went.version
        if amend.verb == "cancel":  # it is still where no word came that it went on
            outcome = with_missing(outcome, left)
        if amend.verb == "renew" and _is_in_part(summaries):
            outcome = self._unmet(outcome, full_id)
        return PostReply(
            id=full_id,
            complete=outcome.complete,
            missing=outcome.missing,
            matches=sum(summary.matches for summary in summaries),
            peers=outcome.peers,
            hops=outcome.hops,
            ttl_s=amend.ttl_s,
            found=tuple(collector.found),
            repeated=any(summary.repeated for summary in summaries),
            of_nobody=any(summary.of_nobody for summary in summaries if summary.matches),
        )

    def _operation(self, sender: Contact, amend: Amend, admitted: Admitted) -> Operation:
        return Operation(
            verb=amend.verb,
            id=amend.id,
            version=amend.version,
            owner=admitted.actor.owner,
            ttl_ms=check_ttl_ms(amend.ttl_s),
            route=Route(self._runtime.contact, sender.id, amend.token),
            limit=admitted.limit,
            issued_ms=admitted.issued_ms,
        )

    async def bury(self, word: Carried, version: int, *, whatever: bool = True) -> None:
        """What was deleted where it was lives no more where it went, nor where it went from there:
        word is left that it is back, as two tombstones of one record would be two states of it.
        `whatever` version it has there, or unless that is later."""
        leave = Operation(
            "cancel", word.moved_to, version, word.owner, 0, moved_to=word.id,
            came_with=word.version,
        )  # fmt: skip
        deadline, pause_s = self._runtime.now() + BURIED_WITHIN_S, 0.0
        with suppress(ProfileError):  # other peers have named where it went
            while self._runtime.now() < deadline:
                outcomes, leave = await self._follow(leave, deadline)
                last = summaries_of(outcomes[-1])
                newer = [one for one in last if one.refused == "older"]
                if newer and whatever:
                    # Its author's clock may be ahead of the one here: a delete wins all the same.
                    leave = replace(leave, version=max(one.version for one in newer) + 1)
                    continue
                # Whatever is there the second time, it is the word that this has left.
                is_there = not pause_s and outcomes[-1].complete and any(one.known for one in last)
                if newer or last_in(last) is not None or is_there:
                    return
                # Nobody there knows of it: whoever had it on another side may be merged there yet.
                pause_s = 2 * pause_s or 1.0
                await self._runtime.sleep(pause_s)

    async def _replace(
        self, sender: Contact, amend: Amend, document: Document, admitted: Admitted
    ) -> PostReply:
        """The new region first, then the old one: found by one of them at any moment.  Data that
        the new one does not surely have stays in the old one, too.

        Raises `Refused` when the old one turns out to be deleted, newer, or somebody else's: the
        new one goes."""
        stem, _ = split_id(amend.id, self._curve)
        box = self._place(document.profile, document.action, False)
        operation = Operation(
            verb=document.action,
            id=make_id(stem, box, self._curve),
            version=amend.version,
            owner=admitted.actor.owner,
            ttl_ms=check_ttl_ms(amend.ttl_s),
            document=amend.document,
            route=Route(self._runtime.contact, sender.id, amend.token),
            visible_to=document.visible_to,
            limit=admitted.limit,
            issued_ms=admitted.issued_ms,
        )
        deadline = self._runtime.now() + amend.timeout_s
        now = self._runtime.now()
        with self._gatekeeper.charged(
            admitted, operation.id, amend.version, amend.ttl_s, now, instead=amend.id
        ) as answered:
            told = list[Summary]()
            try:
                reply = await self._asking.run(
                    sender, amend.token, box, operation, amend.timeout_s, told=told
                )
            except Refused as error:
                if error.rule == "deleted" and operation.id != amend.id:
                    self._runtime.spawn(self._take_back(back_to(amend.id, operation)))
                raise
            if reply.complete or KEPT_KINDS.get(document.action) != DATA:
                for first in left_by(amend, operation, told):
                    reply = await self._leave(sender, amend, first, admitted, reply, deadline)
            answered(reply)
            return reply

    async def finish(
        self, keep: Operation, old_id: str, timeout_s: float, is_wanted: Wanted
    ) -> None:
        """Carry out a replace that came halfway, of which this peer has the first half, as for its
        client; raises `Refused` as well, when the new one is taken back, or was deleted."""
        deadline, own = self._runtime.now() + timeout_s, self._runtime.contact
        _, box = split_id(keep.id, self._curve)
        reply = await self._asking.run(own, 0, box, keep, timeout_s, is_wanted)
        if reply.complete and await is_wanted():
            amend = Amend(0, "replace", old_id, keep.version, 0.0, timeout_s)
            (first,) = left_by(amend, keep, ())
            await self._leave(own, amend, first, Admitted(Actor(owner=keep.owner)), reply, deadline)

    async def _leave(
        self,
        sender: Contact,
        amend: Amend,
        first: Operation,
        admitted: Admitted,
        reply: PostReply,
        deadline: float,
    ) -> PostReply:
        """The second half of a replace: the region where the record is has word of where it is now,
        be it the `first` that is asked, or another, where it went from there before."""
        kept_id = first.moved_to
        _, box = split_id(kept_id, self._curve)
        outcomes, leave = await self._follow(first, deadline)
        summaries = [one for outcome in outcomes for one in summaries_of(outcome)]
        refused = {summary.refused for summary in summaries}
        left_s = max(deadline - self._runtime.now(), 0.0)
        if refused & {"older", "deleted"}:
            back = back_to(leave.id, replace(leave, id=kept_id))
            out = await self._router.disseminate(box, codec.encode(back), timeout_s=left_s)
            if not out.complete:
                self._runtime.spawn(self._take_back(back))
        elif refused & {"owner", "delegation"}:
            back_out = Amend(amend.token, "cancel", kept_id, amend.version, 0.0, left_s)
            await self.once(sender, back_out, replace(admitted, issued_ms=0))
        with self._gatekeeper.counted():
            raise_refusals(replace(first, verb="replace", id=kept_id), summaries)
        if leave.id != first.id and left_s:  # the next one to come by the old id goes straight on
            straight = replace(first, came_with=first.version)
            _, old_box = split_id(first.id, self._curve)
            await self._router.disseminate(old_box, codec.encode(straight), timeout_s=left_s)
        return replace(
            reply,
            complete=reply.complete and all(outcome.complete for outcome in outcomes),
            missing=sum((outcome.missing for outcome in outcomes), reply.missing),
            repeated=reply.repeated or any(summary.repeated for summary in summaries),
            of_nobody=any(summary.of_nobody for summary in summaries),
        )

    async def _take_back(self, back: Operation) -> None:
        """What was refused, and is where nobody could be asked just then, goes when they can."""
        _, box = split_id(back.id, self._curve)
        await self._router.disseminate(box, codec.encode(back), timeout_s=BURIED_WITHIN_S)

    async def _follow(self, leave: Operation, deadline: float) -> tuple[list[Outcome], Operation]:
        """Let a record leave the place where it is: what came of it at each place that it went to
        from the first one, and what was asked at the last."""
        outcomes = list[Outcome]()
        while True:
            _, box = split_id(leave.id, self._curve)
            left_s = max(deadline - self._runtime.now(), 0.0)
            if outcomes and (not left_s or len(outcomes) == PLACES_MAX):
                outcomes.append(self._unmet(outcomes.pop(), leave.id))
                return outcomes, leave
            outcomes.append(
                await self._router.disseminate(box, codec.encode(leave), timeout_s=left_s)
            )
            went = last_in(summaries_of(outcomes[-1]))
            if went is None or went.version <= leave.came_with or went.id == leave.moved_to:
                return outcomes, leave
            leave = replace(leave, id=went.id, came_with=went.version)

    def _unmet(self, outcome: Outcome, full_id: str) -> Outcome:
        """A record may be where this id says, and nobody has asked there."""
        _, box = split_id(full_id, self._curve)
        return with_missing(outcome, runs_of([full_id], box, self._curve))

    async def delete_overlapping(
        self,
        sender: Contact,
        post: Post,
        box: Box,
        operation: Operation,
        admitted: Admitted,
        is_wanted: Wanted | None,
    ) -> PostReply:
        """Find what overlaps, then cancel each by its id: it may live beyond the selector's box.
        What was found long after it was asked for is let be where its client waits no more: it had
        that done by another peer, and posted anew.  So is a version that came after it was found,
        of which the selector may take nothing: what overlaps is looked for once more then."""
        deadline = self._runtime.now() + post.timeout_s
        reply = PostReply(operation.id, True, (), 0, peers=0)
        for number in range(FINDINGS_MAX):
            found = await self._overlapping(box, operation, deadline, is_wanted, number)
            outcome, summaries, ids = found
            repeated = any(summary.repeated for summary in summaries)
            taken = await self._take_found(sender, post, ids, admitted, deadline)
            matches = taken.matches
            if repeated:  # what was found then was taken then, and is not said again
                matches += sum(summary.matches for summary in summaries)
            reply = replace(
                reply,
                complete=reply.complete and outcome.complete and taken.complete,
                missing=reply.missing + outcome.missing + taken.missing,
                matches=reply.matches + matches,
                peers=max(reply.peers, outcome.peers),
                repeated=reply.repeated or repeated,
            )
            if not reply.complete or taken.matches == len(ids):
                return reply
        return replace(reply, complete=False, missing=self._everywhere)

    async def _overlapping(
        self,
        box: Box,
        operation: Operation,
        deadline: float,
        is_wanted: Wanted | None,
        number: int,
    ) -> tuple[Outcome, list[Summary], dict[str, int]]:
        """What overlaps, by its id, with its version; for the `number`-th time."""
        ids: dict[str, int] = {}

        def on_frame(_: Contact, frame: bytes) -> None:
            ids.update((one.id, one.version) for one in readable((frame,)))

        left_s = max(deadline - self._runtime.now(), 0.0)
        outcome, summaries = await self._asking.ask(
            box, replace(operation, dry_run=True), left_s, Relay(waits_for_reply=False), on_frame,
            asks=False, is_wanted=is_wanted, first=number * ASKED_MAX,
        )  # fmt: skip
        if is_wanted is not None and not await is_wanted():
            ids.clear()
        return outcome, summaries, ids

    async def _take_found(
        self,
        sender: Contact,
        post: Post,
        ids: Mapping[str, int],
        admitted: Admitted,
        deadline: float,
    ) -> PostReply:
        """Cancel what was found, of the version that was found."""
        complete, removed = True, 0
        missing: Intervals = ()
        for full_id in sorted(ids):
            left_s = deadline - self._runtime.now()
            if left_s <= 0:  # nobody waits for a hundred thousand more, wherever these live
                complete, missing = False, self._everywhere
                break
            amend = Amend(post.token, "cancel", full_id, ids[full_id], 0.0, left_s)
            reply = await self.once(sender, amend, admitted, mode=FOUND)
            self._gatekeeper.amended(admitted, amend, reply, self._runtime.now())
            complete = complete and reply.complete
            missing += reply.missing
            removed += reply.matches
        return PostReply("", complete, missing, removed, peers=0)


def _is_in_part(summaries: Sequence[Summary]) -> bool:
    """Whether a record was found at some of its holders alone: it ran out at others before it was
    renewed at these, and lives on."""
    return len({summary.known for summary in summaries}) > 1
