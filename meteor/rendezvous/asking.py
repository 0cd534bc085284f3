"""Asking a whole region for a client: pages go to it as they come, the rest is the reply.

Law of this file: conversations.  What comes back passes through `meteor.wire.collector`; which
region, and whether it may be asked, was decided before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from chord import Contact, Runtime, replace
from meteor.admission import DELETES, KEPT_KINDS
from meteor.rendezvous.leaving import back_to
from meteor.rendezvous.moves import region_of, runs_of, with_missing
from meteor.rendezvous.ownership import DELEGATION
from meteor.rendezvous.task import OWN, as_time_goes
from meteor.security.gatekeeper import Gatekeeper
from meteor.wire import codec
from meteor.wire.collector import Collector, Relay, raise_refusals, summaries_of
from meteor.wire.found_pages import is_page
from meteor.wire.messages import PostReply, ResultPage
from meteor.wire.operations import Operation, Summary
from meteor.wire.went import Went
from squid import Box, HilbertCurve, Outcome, Router, Wanted

MOVES_MAX = 8
"""How often a query follows what moves while it is looked for."""
ASKED_MAX = 8 * (1 + MOVES_MAX)
"""How often it is asked at most, while its time lasts: eight times for everything, where who
answered was not there when the question began.  Where two neighbours fall, others take over what
they had piece by piece, each of them just in time for one more question: three were too few."""


BURIED_WITHIN_S: Final = 30.0
"""For a delete to come to where else a record is, or went."""

STEM_LENGTH = 60
"""How much of a name of at most 64 characters is left where a number comes behind it."""

PAGE_WAITS_S = 0.001
"""How long a page may wait for the reply: less than anybody notices, longer than the report that
follows it needs."""


def ids_of(moved: Mapping[tuple[str, str], Went]) -> list[str]:
    """Where some records went, in an order of its own."""
    return sorted(went.id for went in moved.values())


def _follow(operation: Operation, number: int, moved: Mapping[tuple[str, str], Went]) -> Operation:
    """The same where something went, which may be on its way there yet."""
    came_with = max(1, *(went.version for went in moved.values()))
    return replace(_once_more(operation, number), came_with=came_with)


def _once_more(operation: Operation, number: int) -> Operation:
    """The same another time, the first being 0.  A delete is another one then: what was done before
    is not all of it.  Its name is of the first one's, so that who sends a signed one again is known
    by it."""
    if operation.verb not in DELETES or not number:
        return operation
    stem, _, region = operation.id.partition(".")
    return replace(operation, id=f"{stem[:STEM_LENGTH]}-{number}.{region}")


class Asking:
    """The askings of one peer on behalf of its clients."""

    def __init__(
        self, runtime: Runtime, router: Router, curve: HilbertCurve, gatekeeper: Gatekeeper
    ) -> None:
        self._runtime, self._router, self._curve = runtime, router, curve
        self._gatekeeper = gatekeeper

    async def run(
        self,
        sender: Contact,
        token: int,
        box: Box,
        operation: Operation,
        timeout_s: float,
        is_wanted: Wanted | None = None,
        told: list[Summary] | None = None,
        answered: list[Contact] | None = None,
    ) -> PostReply:
        """Carry an operation out in its whole region, within the time, and while it is wanted; what
        it finds is sent to its client, what peers said of it is `told`, and who they are is in
        `answered`.  Raises `Refused`."""
        relay, counted = Relay(waits_for_reply=box.is_point), Collector()
        deadline = self._runtime.now() + timeout_s

        def on_frame(peer: Contact, frame: bytes) -> None:
            if operation.verb != "retrieve":
                counted.count(peer, frame)
            elif not is_page(frame):
                return
            elif relay.take(frame):
                self._send_pages(sender, token, relay)
            elif relay.begins_to_wait:
                self._runtime.spawn(self._send_later(sender, token, relay))

        outcome, summaries = await self.ask(
            box, operation, timeout_s, relay, on_frame,
            asks=operation.verb == "retrieve" and operation.ttl_ms == 0, is_wanted=is_wanted,
        )  # fmt: skip
        if operation.verb in KEPT_KINDS:
            await self._bury_the_rest(box, operation, summaries, deadline)
            await self._take_back_the_rest(box, operation, summaries, deadline)
        with self._gatekeeper.counted():
            raise_refusals(operation, summaries)
        if told is not None:
            told += summaries
        if answered is not None:
            answered += [contact for contact, _ in outcome.summaries]
        matches = len(counted) if operation.dry_run else sum([one.matches for one in summaries])
        return PostReply(
            id=operation.id, complete=outcome.complete, missing=outcome.missing, matches=matches,
            peers=outcome.peers, pages=relay.sent, hops=outcome.hops,
            ttl_s=operation.ttl_ms / 1000, packed=relay.leave(),
            repeated=any(one.repeated for one in summaries),
        )  # fmt: skip

    async def _bury_the_rest(
        self, box: Box, operation: Operation, summaries: Sequence[Summary], deadline: float
    ) -> None:
        """What was deleted at one of its places is deleted at all: what others kept, which know
        nothing of that, goes before its poster is told."""
        is_deleted = any(one.refused == "deleted" for one in summaries)
        if not (is_deleted and any(one.known for one in summaries)):
            return
        cancel = Operation("cancel", operation.id, operation.version, operation.owner, 0, mode=OWN)
        body, left_s = codec.encode(cancel), max(deadline - self._runtime.now(), 0.0)
        outcome = await self._router.disseminate(box, body, timeout_s=left_s)
        if not outcome.complete:
            self._runtime.spawn(self._router.disseminate(box, body, timeout_s=BURIED_WITHIN_S))

    async def _take_back_the_rest(
        self, box: Box, operation: Operation, summaries: Sequence[Summary], deadline: float
    ) -> None:
        """What one of its places has no right to keep, by a delegation, is kept nowhere: as above,
        but without a tombstone, as what stands there is of the same name."""
        stays = [one.moved_to for one in summaries if one.refused == DELEGATION and one.moved_to]
        if not stays or stays[0] == operation.id or not any(one.known for one in summaries):
            return
        body, left_s = codec.encode(back_to(stays[0], operation)), deadline - self._runtime.now()
        outcome = await self._router.disseminate(box, body, timeout_s=max(left_s, 0.0))
        if not outcome.complete:
            self._runtime.spawn(self._router.disseminate(box, body, timeout_s=BURIED_WITHIN_S))

    async def ask(
        self,
        box: Box,
        operation: Operation,
        timeout_s: float,
        relay: Relay,
        on_frame: Callable[[Contact, bytes], None],
        *,
        asks: bool,
        is_wanted: Wanted | None = None,
        first: int = 0,
    ) -> tuple[Outcome, list[Summary]]:
        """Ask the whole region, and all of it anew where somebody answers who cannot know what the
        question may have missed, as he was started since: a question that begins now misses nothing
        of that.  What it did before counts of a delete, which takes nothing twice.

        A delete is not asked anew that somebody carried out before, when it was another peer that
        said so: that one has told its client, perhaps, and what came since would be taken.  What
        is asked for the second time and on, by its client's request, begins with another `first`
        number."""
        first_s = self._runtime.now()
        deadline = first_s + timeout_s

        async def disseminate(where: Box, what: Operation, began_s: float) -> Outcome:
            now = self._runtime.now()
            body = as_time_goes(what, self._runtime.now, first_s)
            return await self._router.disseminate(
                where, body(), timeout_s=max(deadline - now, 0.0), on_frame=on_frame,
                asks=asks, age_s=now - began_s, is_wanted=is_wanted, anew=body,
            )  # fmt: skip

        told: list[Summary] = []
        for number in range(first, first + ASKED_MAX, 1 + MOVES_MAX):
            outcome, summaries = await self._round(
                box, operation, number, disseminate, relay, is_wanted
            )
            told = told + summaries if operation.verb in DELETES else summaries
            if not outcome.is_outlived or self._runtime.now() >= deadline:
                break
            if is_wanted is not None and not await is_wanted():
                break
            if operation.verb in DELETES and any(one.repeated for one in told):
                break
        return outcome, told

    async def _round(
        self,
        box: Box,
        operation: Operation,
        number: int,
        disseminate: Callable[[Box, Operation, float], Awaitable[Outcome]],
        relay: Relay,
        is_wanted: Wanted | None,
    ) -> tuple[Outcome, list[Summary]]:
        """Ask the whole region, and once more where something went while it was being asked.

        What moves later only was at its place all the while; so each turn looks for what the first
        asking may have missed, where it went since, and for nothing else.  None is begun for who
        waits no more: another peer told him that it is done, and what he posted since lies there.
        """
        began_s = self._runtime.now()
        whole = await disseminate(box, _once_more(operation, number), began_s)
        summaries = summaries_of(whole)
        moved = relay.unseen(summaries)
        if not moved:
            return whole, summaries
        missed = dict(moved)
        for turn in range(1, 1 + MOVES_MAX):
            again = region_of(ids_of(moved), box, self._curve)
            if again is None or whole.is_outlived:
                break
            if is_wanted is not None and not await is_wanted():
                break
            outcome = await disseminate(again, _follow(operation, number + turn, moved), began_s)
            whole = with_missing(whole, outcome.missing)
            whole = replace(whole, is_outlived=outcome.is_outlived)
            summaries += (told := summaries_of(outcome))
            unseen = relay.unseen(told).items()
            moved = {key: went for key, went in unseen if key in missed and went > missed[key]}
            missed |= moved
        return with_missing(whole, runs_of(ids_of(moved), box, self._curve)), summaries

    async def _send_later(self, client: Contact, token: int, relay: Relay) -> None:
        """A page waits a moment for the reply, or for others, so that they travel as one."""
        await self._runtime.sleep(PAGE_WAITS_S)
        self._send_pages(client, token, relay)

    def _send_pages(self, client: Contact, token: int, relay: Relay) -> None:
        pages = relay.leave()
        if pages:
            self._runtime.send(client, ResultPage(token, relay.sent, (), pages))
            relay.sent += 1
