"""By id: renewing, cancelling, finding and replacing what was posted before.

Law of this file: conversations.  An id routes by itself; a record that was replaced is followed to
where it is now (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from meteor.errors import MeteorError, Refused
from meteor.rendezvous.asking import ASKED_MAX, Asking
from meteor.rendezvous.leaving import back_to, left_by
from meteor.rendezvous.moves import runs_of, with_missing
from meteor.rendezvous.overlapping import Finding
from meteor.rendezvous.place_to_place import PLACES_MAX, PlaceToPlace
from meteor.rendezvous.reading import reading
from meteor.rendezvous.task import AMENDS, FIND, FOUND, as_time_goes
from meteor.security.gatekeeper import Admitted, Gatekeeper
from meteor.security.verifying import DELEGATION
from meteor.wire.collector import Collector, Relay, raise_refusals, summaries_of
from meteor.wire.found_pages import readable
from meteor.wire.messages import Amend, Document, Post, PostReply
from meteor.wire.operations import Operation, Route, Summary
from meteor.wire.record_id import make_id, split_id
from meteor.wire.went import last_in
from squid import Box, HilbertCurve, Intervals, Router, Wanted

FINDINGS_MAX: Final = 8
"""How often it is looked for what overlaps, while others change what was found."""
FIRST_SHARE: Final = 0.5
"""Of the time of what comes after it is given to what came halfway before."""

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
        self._places = PlaceToPlace(runtime, router, curve)
        self.bury, self.order = self._places.bury, self._places.order
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
            stem, _ = split_id(amend.id, self._curve)
            admitted = self._gatekeeper.admit_amend(amend, None, self._runtime.now())
        if amend.verb == "cancel":
            amend = await self._in_its_turn(stem, amend)
        reply = await self.once(sender, amend, admitted)
        self._gatekeeper.amended(admitted, amend, reply, self._runtime.now())
        return reply

    async def _in_its_turn(self, stem: str, amend: Amend) -> Amend:
        """Behind what its client was told to be incomplete, with the time that is left: else the
        record would be deleted where it was, and seen for a second where that brought it."""
        began_s = self._runtime.now()
        await self._places.brought_forward(stem, began_s + amend.timeout_s * FIRST_SHARE)
        return replace(amend, timeout_s=amend.timeout_s - (self._runtime.now() - began_s))

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
        began_s = self._runtime.now()
        deadline = began_s + amend.timeout_s
        left: Intervals = ()
        sent = replace(self._operation(sender, amend, admitted), mode=mode, dry_run=dry_run)
        for places in count(1):
            _, box = split_id(full_id, self._curve)
            operation = replace(sent, id=full_id)
            body = as_time_goes(operation, self._runtime.now, began_s)
            outcome = await self._router.disseminate(
                box, body(), timeout_s=max(deadline - self._runtime.now(), 0.0),
                on_frame=collector.keep, asks=amend.verb == FIND, anew=body,
            )  # fmt: skip
            summaries = summaries_of(outcome)
            with self._gatekeeper.counted():
                named = replace(operation, verb="replace") if dry_run else operation
                raise_refusals(named, summaries)
            went = last_in(summaries)
            if went is None or went.version <= came_with:
                break
            if self._runtime.now() >= deadline or places == PLACES_MAX:
                outcome = self._places.unmet(outcome, went.id)
                break
            left, full_id, came_with = left + outcome.missing, went.id, went.version
        if amend.verb == "cancel":  # it is still where no word came that it went on
            outcome = with_missing(outcome, left)
        if amend.verb == "renew" and _is_in_part(summaries):
            outcome = self._places.unmet(outcome, full_id)
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
            route=Route(self._runtime.contact, sender.id, amend.token, amend.since),
            limit=admitted.limit,
            issued_ms=admitted.issued_ms,
        )

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
            route=Route(self._runtime.contact, sender.id, amend.token, amend.since),
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
                if operation.id == amend.id:
                    raise
                counts = await self._what_counts(sender, amend, admitted, error, deadline)
                if counts.rule == "deleted":
                    self._runtime.spawn(self._places.order(back_to(amend.id, operation)))
                raise counts from None
            if reply.complete or KEPT_KINDS.get(document.action) != DATA:
                kept = reply
                for first in left_by(amend, operation, told):
                    reply = await self._leave(first, reply, deadline)
                if kept.complete and not reply.complete:
                    self._go_on(left_by(amend, operation, told), kept)
            answered(reply)
            return reply

    async def _what_counts(
        self, sender: Contact, amend: Amend, admitted: Admitted, refused: Refused, deadline: float
    ) -> Refused:
        """Why the first half of a replace is refused.  What had it before may have taken it back as
        the old one turned out to be deleted, and says that something later is there: who is told
        that posts again under the same id, in vain."""
        left_s = deadline - self._runtime.now()
        if refused.rule != "older" or left_s <= 0:
            return refused
        question = replace(amend, verb=FIND, ttl_s=0.0, document=b"", timeout_s=left_s)
        try:
            await self.once(sender, question, admitted, dry_run=True)
        except Refused as other:
            return other if other.rule == "deleted" else refused
        except MeteorError:
            return refused
        return refused

    def _go_on(self, leaves: Sequence[Operation], kept: PostReply) -> None:
        """The second half of a replace that its client was told to be incomplete: what holds the
        first one need not know of the other place, where the record may be deleted."""

        async def attempt(deadline: float) -> bool:
            replies = [await self._leave(first, kept, deadline) for first in leaves]
            return all(reply.complete for reply in replies)

        stem, _ = split_id(kept.id, self._curve)
        self._runtime.spawn(self._places.in_the_end(stem, attempt))

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
            await self._leave(first, reply, deadline)

    async def _leave(self, first: Operation, reply: PostReply, deadline: float) -> PostReply:
        """The second half of a replace: the region where the record is has word of where it is now,
        be it the `first` that is asked, or another, where it went from there before."""
        kept_id = first.moved_to
        outcomes, leave = await self._places.follow(first, deadline)
        summaries = [one for outcome in outcomes for one in summaries_of(outcome)]
        refused = {summary.refused for summary in summaries}
        left_s = max(deadline - self._runtime.now(), 0.0)
        if refused & {"older", "deleted", "owner", "delegation"}:
            # No tombstone: what else has this identity, here or elsewhere, was not to be deleted.
            back = back_to(leave.id, replace(leave, id=kept_id))
            if not (await self._places.order(back, left_s)).complete:
                self._runtime.spawn(self._places.order(back))
        with self._gatekeeper.counted():
            raise_refusals(replace(first, verb="replace", id=kept_id), summaries)
        if leave.id != first.id and left_s:  # the next one to come by the old id goes straight on
            straight = replace(first, came_with=first.version)
            await self._places.order(straight, left_s)
        return replace(
            reply,
            complete=reply.complete and all(outcome.complete for outcome in outcomes),
            missing=sum((outcome.missing for outcome in outcomes), reply.missing),
            repeated=reply.repeated or any(summary.repeated for summary in summaries),
            of_nobody=any(summary.of_nobody for summary in summaries),
        )

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
            repeated, outcome = reply.repeated or found.is_repeat, found.outcome
            ids = found.up_to(post.version if repeated else None)
            taken = await self._take_found(sender, post, ids, admitted, deadline)
            later = runs_of(found.ids.keys() - ids.keys(), box, self._curve)
            reply = replace(
                reply,
                complete=outcome.complete and taken.complete and not later,
                missing=reply.missing + outcome.missing + taken.missing + later,
                matches=reply.matches + taken.matches + found.taken_before,
                peers=max(reply.peers, outcome.peers),
                repeated=repeated,
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
    ) -> Finding:
        """What overlaps; for the `number`-th time."""
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
        return Finding(outcome, summaries, ids)

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
