"""An application's action at the peers that answer: who would run it, then one run a peer.

Law of this file: conversations.  First the region is asked who answers for what; then each of them
runs the action once, over all that it reports.  A run is never repeated: whoever does not answer,
or has no such action, is missing (SPEC section 1); so is whoever ran the same signed request
already, sent again by somebody who read along, or cannot know whether it did.  What a run is given
is found as any retrieve finds it, by the peer's own rendezvous point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from chord import CallError, Contact, Deferred, Fault, Handler, RemoteFault, Runtime
from meteor.admission import ACTIONS, place, read_document
from meteor.errors import MeteorError, UnknownAction, to_fault
from meteor.rendezvous.application_actions import (
    ActionContext,
    ApplicationActions,
    RunFailed,
    run_bounded,
)
from meteor.rendezvous.point import RendezvousPoint
from meteor.rendezvous.repeats import Ran
from meteor.rendezvous.task import PERFORM
from meteor.values import Match
from meteor.wire import codec
from meteor.wire.action_messages import ActionResult, Perform, Performed, Willing
from meteor.wire.collector import MATCHES_MAX
from meteor.wire.document import unpack_profile
from meteor.wire.found_pages import readable
from meteor.wire.messages import Found, Post, PostReply, ResultPage
from meteor.wire.operations import Operation
from meteor.wire.record_id import stem_of
from squid import (
    Box,
    HandOn,
    Intervals,
    KeywordSpace,
    Outcome,
    Router,
    Work,
    intersect,
    merge,
    subtract,
)

RUNS_MAX: Final = 32
"""Runs at one peer at once; whoever asks for more is told `Busy`."""
FINDING_SHARE: Final = 0.4
"""Of a post's time, for finding out who answers; the rest is for the runs."""
MARGIN_S: Final = 0.1
"""Of a run's time, kept back for its result's way."""
KNOWN_MAX: Final = 32
"""Names of actions in the answer to one that is unknown: enough to see the slip."""
TROUBLES_MAX: Final = 8
"""Sentences about runs that failed, in one reply: the rest would say the same."""


class Performing:
    """The runs of one peer, and those that its clients ask for."""

    def __init__(
        self,
        runtime: Runtime,
        router: Router,
        point: RendezvousPoint,
        space: KeywordSpace,
        actions: ApplicationActions,
    ) -> None:
        self._runtime, self._router, self._point = runtime, router, point
        self._space, self._actions = space, actions
        self._running = self._begun = 0
        self._ran = Ran(point.forgot)

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Perform: self._on_perform}

    # -- on behalf of a client

    async def run(
        self, client: Contact, post: Post, action: str, box: Box, owner: str
    ) -> PostReply:
        """Have an action run wherever its region is answered for, over what `owner` may see;
        results go to the client as they come.  Raises `UnknownAction` where no peer has it."""
        deadline = self._runtime.now() + post.timeout_s
        operation = Operation(
            PERFORM, post.stem, post.version, owner, 0, document=post.document, dry_run=True
        )
        outcome = await self._router.disseminate(
            box, codec.encode(operation), timeout_s=FINDING_SHARE * post.timeout_s, asks=True
        )
        pages = _Pages(self._runtime, client, post.token)
        tasks = [
            (part, self._runtime.spawn(self._run_at(peer, post, owner, part, deadline, pages)))
            for peer, part in _who_answers(outcome)
        ]
        replies = [(part, await task) for part, task in tasks]
        return self._reply(action, post, box, outcome, replies, pages.sent)

    async def _run_at(
        self,
        peer: Contact,
        post: Post,
        owner: str,
        part: Intervals,
        deadline: float,
        pages: _Pages,
    ) -> Performed:
        """One peer's run; whatever hinders it is said in its `trouble`."""
        issued_ms = 0 if post.credentials is None else post.credentials.issued_ms
        request = Perform(post.document, post.stem, post.version, owner, part, issued_ms)
        left_s = max(deadline - self._runtime.now(), 0.001)
        try:
            performed = await self._runtime.call(peer, request, left_s)
        except RemoteFault as fault:
            return Performed((), trouble=f"{peer.address}: {fault}")
        except CallError as error:
            return Performed((), trouble=f"{peer.address}: {type(error).__name__}")
        if not (isinstance(performed, Performed) and 0 <= performed.matches <= MATCHES_MAX):
            return Performed((), trouble=f"{peer.address}: it speaks otherwise")
        if performed.has_result:
            result = ActionResult(peer, performed.done, performed.matches, performed.data)
            pages.send(Found(f"{post.stem}-{pages.sent}", 0, "", 0, codec.encode(result)))
        return performed

    def _reply(
        self,
        action: str,
        post: Post,
        box: Box,
        outcome: Outcome,
        replies: list[tuple[Intervals, Performed]],
        pages: int,
    ) -> PostReply:
        ran = [performed for _, performed in replies if performed.done]
        known = [performed.known for _, performed in replies if performed.known is not None]
        troubles = [one for _, one in replies if one.trouble]
        troubles.sort(key=lambda one: one.known is not None)  # what hindered a run comes first
        if known and len(known) == len(replies):  # else somebody has it, or may have it
            raise UnknownAction(action, (*ACTIONS, *max(known, key=len)))
        left = [one for one in _left_over(replies) if self._space.curve.has_match(box, *one)]
        missing = merge(outcome.missing, left)
        return PostReply(
            id=post.stem,
            complete=not missing,
            missing=missing,
            matches=sum(performed.matches for performed in ran),
            peers=len(ran),
            pages=pages,
            hops=outcome.hops,
            troubles=tuple(one.trouble for one in troubles[:TROUBLES_MAX]),
        )

    # -- at a peer that answers

    def _on_perform(self, _: Contact, message: object, remaining_s: float) -> Deferred:
        assert isinstance(message, Perform)
        if self._running >= RUNS_MAX:
            raise Fault("Busy", f"{self._running} actions are running here")
        # It may have lain on its way, or here as this process was held: the client was told by now
        # that it did not run.
        left_s = remaining_s - max(self._runtime.lateness(), self._runtime.request_late_s())
        if left_s <= 0:
            raise Fault("Late", "it lay for long, and the time of the run may be up")
        return Deferred(self._perform(message, left_s))

    async def _perform(self, request: Perform, remaining_s: float) -> Performed:
        self._running += 1
        try:
            return await self._perform_known(request, remaining_s)
        except MeteorError as error:
            raise to_fault(error) from error
        finally:
            self._running -= 1

    async def _perform_known(self, request: Perform, remaining_s: float) -> Performed:
        ends_s = self._runtime.now() + max(remaining_s - MARGIN_S, remaining_s / 2)
        document = read_document(request.document)
        handler = self._actions.find(document.action)
        address = self._runtime.contact.address
        if handler is None:
            reason = f"{address}: no action {document.action!r} here"
            return Performed((), trouble=reason, known=self._actions.names[:KNOWN_MAX])
        matches, done = await self._select(request, ends_s)
        if not done:
            return Performed((), trouble=f"{address}: it answers for nothing of this any more")
        if 0 < request.issued_ms < self._point.remembers_since_ms(done):
            trouble = f"{address}: this was signed before the peer was started, or got its place"
            return Performed((), trouble=f"{trouble}, and may have run: sign it anew")
        if not self._ran.begin(request.owner, request.stem, request.version, self._runtime.now()):
            return Performed((), trouble=f"{address}: this signed request ran here already")
        message = Match(Found(request.stem, request.version, request.owner, 0, request.document))
        left_s = max(ends_s - self._runtime.now(), 0.0)
        context = ActionContext(document.action, address, done, self._space, left_s)
        try:
            result = await run_bounded(self._runtime, handler, context, message, matches)
        except RunFailed as error:
            return Performed((), trouble=f"{document.action} at {address}: {error}")
        return Performed(done, len(matches), result is not None, result or b"")

    async def _select(self, request: Perform, ends_s: float) -> tuple[list[Match], Intervals]:
        """What this peer reports in these intervals, and in which of them it still does."""
        document = read_document(request.document)
        profile = unpack_profile(document.profile).typed(self._space)
        box = place(profile, document.action, self._space, everywhere=True)
        asked = intersect(merge(request.intervals), ((0, self._space.curve.size - 1),))
        mine = intersect(asked, self._point.held())
        kept = intersect(subtract(asked, mine), self._point.copied())
        share = self._share(request, box, asked, ends_s)
        works = [(mine, await self._point.perform(share, mine))] if mine else []
        if kept:
            stood_in = await self._point.stand_in(share, kept)
            works += [] if stood_in is None else [(kept, stood_in)]
        return _matches_of(works)

    def _share(self, request: Perform, box: Box, asked: Intervals, ends_s: float) -> HandOn:
        """The question as the worker of the router is asked it."""
        self._begun += 1  # each is work of its own: nobody tries one again
        operation = Operation(
            PERFORM, stem_of(request.stem), request.version, request.owner, 0,
            document=request.document,
        )  # fmt: skip
        return HandOn(
            operation=self._begun.to_bytes(8),
            attempt=0,
            origin=self._runtime.contact,
            digest=self._space.digest,
            low=box.low,
            high=box.high,
            job=asked,
            hops=0,
            remaining_ms=int(max(ends_s - self._runtime.now(), 0.0) * 1000),
            body=codec.encode(operation),
            asks=True,
        )


class _Pages:
    """The results of one post on their way to its client, each as soon as it is there."""

    def __init__(self, runtime: Runtime, client: Contact, token: int) -> None:
        self._runtime, self._client, self._token = runtime, client, token
        self.sent = 0

    def send(self, found: Found) -> None:
        """One more result."""
        self._runtime.send(self._client, ResultPage(self._token, self.sent, (found,)))
        self.sent += 1


def _who_answers(outcome: Outcome) -> list[tuple[Contact, Intervals]]:
    """Each peer with all that it answers for; what two speak for is the first one's."""
    parts: dict[int, tuple[Contact, Intervals]] = {}
    taken: Intervals = ()
    for peer, body in outcome.summaries:
        willing = _willing(body)
        if willing is None:
            continue
        fresh = subtract(merge(willing.intervals), taken)
        if fresh:
            taken = merge(taken, fresh)
            _, before = parts.get(peer.id, (peer, ()))
            parts[peer.id] = (peer, merge(before, fresh))
    return list(parts.values())


def _willing(body: bytes) -> Willing | None:
    """What a report says; None for what no peer of ours would."""
    try:
        willing = codec.decode(body)
    except MeteorError:
        return None
    return willing if isinstance(willing, Willing) else None


def _left_over(replies: Iterable[tuple[Intervals, Performed]]) -> Intervals:
    """What was asked for and nobody's run speaks for."""
    return merge(
        *(subtract(part, intersect(part, merge(performed.done))) for part, performed in replies)
    )


def _matches_of(works: Iterable[tuple[Intervals, Work]]) -> tuple[list[Match], Intervals]:
    """The matches in a worker's pages, and the intervals that they are all of."""
    matches: list[Match] = []
    done: Intervals = ()
    for part, work in works:
        matches += map(Match, readable(work.frames))
        done = merge(done, subtract(part, merge(work.missing, work.undone)))
    return matches, done
