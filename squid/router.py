"""The router: brings an operation to every peer whose holding meets a region, and knows it did.

Law of this file: conversations only.  What has been covered is decided in `squid.ledger`; who
answers for an index is the `Worker`'s business, who owns it the ring's.  A peer does what lies in
its own holding; the rest goes on by `squid.handing_on` (DESIGN section 3; Squid section 3.4).
Stale routing state costs a message, never an answer: what nobody reports is issued again by the
origin, and what stays open is `missing`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from chord import (
    ChordNode,
    Contact,
    Deferred,
    Fault,
    Handler,
    MeteorError,
    RequestTimeout,
    Runtime,
    Unhurried,
    replace,
)
from squid.dyadic_shares import Share, Stretch
from squid.handing_on import HandingOn, remaining_ms
from squid.intervals import Interval, intersect, merge
from squid.keyword_space import KeywordSpace
from squid.keyword_tuple import KeywordTuple, box_of
from squid.messages import HandOn, HandOnTaken, Report, ResultFrame
from squid.observer import RouteObserver
from squid.operation import OriginatedOperation, Outcome, Wanted
from squid.region import Box
from squid.reporting import Reporting
from squid.router_config import Addressing, RouterConfig
from squid.share_check import check_share
from squid.still_open import StillOpen
from squid.worker import Work, Worker

RESOLVING_MAX = 8192
"""Shares in hand at once; more are refused, and tried again by who sent them."""


class Router:
    """Content routing of one peer: `disseminate` as origin, `handlers` as receiver."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        space: KeywordSpace,
        worker: Worker,
        *,
        id_bits: int = 160,
        config: RouterConfig | None = None,
    ) -> None:
        self._node, self._runtime, self._space, self._worker = node, runtime, space, worker
        self._curve = space.curve
        self._config = config or RouterConfig()
        self._operations: dict[bytes, OriginatedOperation] = {}
        self._handing_on = HandingOn(
            node, runtime, self._curve, worker, self, self._config, id_bits
        )
        self._still_open = StillOpen(runtime, self._operations)
        self._reporting = Reporting(runtime, self._on_frame, self._on_report)
        self._resolving = 0
        self._observer: RouteObserver | None = None

    def observe(self, observer: RouteObserver) -> None:
        """Let somebody look on from now on, instead of whoever did."""
        self._observer = self._handing_on.observer = self._reporting.observer = observer

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        mine = {HandOn: self._on_share, ResultFrame: self._on_frame, Report: self._on_report}
        return {**mine, **self._still_open.handlers}

    # -- origin

    async def deliver(
        self, keyword_tuple: KeywordTuple, data: bytes, *, timeout_s: float = 10.0
    ) -> Outcome:
        """Bring `data` to every peer that holds a part of `keyword_tuple`'s region: the report's
        one operation (section 3.2).  Raises `SpaceError` for a tuple that the space cannot place.
        """
        return await self.disseminate(box_of(self._space, keyword_tuple), data, timeout_s=timeout_s)

    async def disseminate(
        self,
        box: Box,
        body: bytes,
        *,
        timeout_s: float,
        on_frame: Callable[[Contact, bytes], None] | None = None,
        asks: bool = False,
        age_s: float = 0.0,
        is_wanted: Wanted | None = None,
        anew: Callable[[], bytes] | None = None,
    ) -> Outcome:
        """Bring `body` to every peer whose holding meets `box`; returns when every matching index
        is reported on, or with what is `missing` when the time is up.  No share of an attempt is
        tried longer than until the next attempt: none goes about when the answer is long out.

        `asks` says that nothing is changed: who keeps a copy may answer for a silent owner.
        `on_frame(peer, page)` is told of each result page as it comes, possibly more than once.
        `age_s` is how long ago the question began that this is a part of.  What is not wanted any
        more is not tried again.  `anew` gives the body as it is when it is issued again: time that
        is left in it is less by then.
        """
        operation_id, now = self._runtime.random.randbytes(16), self._runtime.now()
        if self._observer is not None:
            self._observer.began(operation_id, box, body)
        job, deadline = self._job_of(box), now + timeout_s
        lasts_s = min(self._config.reissue_s, timeout_s)
        share = self._first_share(operation_id, box, job, body, lasts_s, asks)
        work = self._answer_whole(share) if asks and box.is_point else None
        if work is not None and work.settles(age_s):
            return self._ended(operation_id, self._alone(share, work, on_frame))
        operation = OriginatedOperation(self._curve, box, job, on_frame, now - age_s, is_wanted)
        self._operations[operation_id] = operation
        try:
            if work is not None:
                self._tell_origin(share, work, job, 0)
            else:
                self._do_or_begin(share, lasts_s)
            await self._until_settled(operation, share, deadline, anew)
        finally:
            del self._operations[operation_id]
        return self._ended(operation_id, operation.outcome())

    async def _until_settled(
        self,
        operation: OriginatedOperation,
        share: HandOn,
        deadline: float,
        anew: Callable[[], bytes] | None,
    ) -> None:
        """Wait for what a first share comes to, and issue again what stays open."""
        patience_s, attempt = self._config.reissue_s, 0
        while True:
            lasts_s = min(patience_s, max(deadline - self._runtime.now(), 0.0))
            if attempt:
                again = replace(
                    share, attempt=attempt, job=operation.gaps(), stretch=None,
                    remaining_ms=remaining_ms(lasts_s),
                    body=share.body if anew is None else anew(),
                )  # fmt: skip
                self._do_or_begin(again, lasts_s)
            if not operation.settled:  # by what this peer itself did in this turn
                with suppress(RequestTimeout):
                    await self._runtime.expect(share.operation, lasts_s)
            if await self._is_over(operation, deadline):
                return
            attempt += 1
            operation.begin(attempt)
            patience_s = min(2 * patience_s, self._config.reissue_s_max)

    def _do_or_begin(self, share: HandOn, lasts_s: float) -> None:
        if not (share.asks and self._answer_at_once(share)):
            self._runtime.begin(self.resolve(share, lasts_s))

    def _alone(
        self, share: HandOn, work: Work, on_frame: Callable[[Contact, bytes], None] | None
    ) -> Outcome:
        """What nobody else has a part in: there is nothing to keep account of."""
        if on_frame is not None:
            for page in work.frames:
                on_frame(share.origin, page)
        self._reporting.saw(share, work)
        return Outcome.alone(share.origin, work.body)

    async def _is_over(self, operation: OriginatedOperation, deadline: float) -> bool:
        if operation.settled or self._runtime.now() >= deadline:
            return True
        wanted = operation.is_wanted is None or await operation.is_wanted()
        return operation.settled or not wanted

    async def wants(self, share: HandOn) -> bool:
        """Whether a share that nobody took is to be tried again, as far as this peer knows."""
        if share.origin != self._runtime.contact:
            return True
        operation = self._operations.get(share.operation)
        if operation is None:
            return False
        return operation.is_wanted is None or await operation.is_wanted()

    def _ended(self, operation_id: bytes, outcome: Outcome) -> Outcome:
        if self._observer is not None:
            self._observer.ended(operation_id, outcome)
        return outcome

    def _job_of(self, box: Box) -> tuple[Interval, ...]:
        if box.is_point:
            index = self._curve.encode(box.low)
            return ((index, index),)
        return ((0, self._curve.size - 1),)

    def _stretch(self, box: Box) -> Stretch | None:
        """Fingers see to a first attempt only: whatever it was that left it open, lookups find a
        way round.  A point has one owner, whom nobody else need lead to."""
        if self._config.addressing is Addressing.FIRST_MATCH or box.is_point:
            return None
        return self._handing_on.whole_circle()

    def _first_share(
        self,
        operation_id: bytes,
        box: Box,
        job: tuple[Interval, ...],
        body: bytes,
        left_s: float,
        asks: bool,
    ) -> HandOn:
        return HandOn(
            operation=operation_id, attempt=0, origin=self._runtime.contact,
            digest=self._space.digest, low=box.low, high=box.high, job=job, hops=0,
            remaining_ms=remaining_ms(left_s), body=body, asks=asks,
            stretch=self._stretch(box),
        )  # fmt: skip

    def _on_frame(self, sender: Contact, message: object, _: float) -> None:
        assert isinstance(message, ResultFrame)
        operation = self._operations.get(message.operation)
        if operation is not None:
            operation.take_frame(sender, message)
            self._tell_if_settled(message.operation, operation)

    def _on_report(self, sender: Contact, message: object, _: float) -> None:
        assert isinstance(message, Report)
        operation = self._operations.get(message.operation)
        if operation is not None:
            operation.take_report(sender, message, self._runtime.now())
            self._tell_if_settled(message.operation, operation)

    def _tell_if_settled(self, operation_id: bytes, operation: OriginatedOperation) -> None:
        if operation.settled:
            self._runtime.deliver(operation_id, None)

    # -- receiver

    def _on_share(
        self, _: Contact, message: object, __: float
    ) -> HandOnTaken | Deferred | Unhurried:
        assert isinstance(message, HandOn)
        check_share(message, self._space)
        if message.stands_in:
            return Deferred(self.stand_in(message))
        late_s = 0.0
        if not message.asks:
            self._check_is_new(message)
            late_s = self._runtime.request_late_s()
        if late_s >= self._config.hand_on_s:  # its sender waits no more, and others may do it
            return self._take_late(self._worker.having_lain(message, late_s))
        if not self._answer_at_once(message, is_full=self._resolving >= RESOLVING_MAX):
            self._check_room(is_full=self._resolving >= RESOLVING_MAX)
            self._resolving += 1
            self._runtime.begin(self._take(message))
            return Unhurried(HandOnTaken(self._node.arc))  # most likely the report leaves soon
        return HandOnTaken(self._node.arc)

    def _check_is_new(self, share: HandOn) -> None:
        """What may have lain here for longer than its sender waits, as this peer was held, was had
        done by another peer since, perhaps, and the client told.  Raises `Fault` where doing it
        then would undo what came after that."""
        late_s = self._runtime.lateness()
        if late_s >= self._config.hand_on_s and not self._worker.may_come_late(share):
            raise Fault("Late", f"this peer was held for {late_s:.1f} s, and it may be an old one")

    def _take_late(self, share: HandOn) -> HandOnTaken:
        """Of what lay on its way for long, that which may undo what came since is done only where
        somebody waits for it still."""
        self._check_room(is_full=self._resolving >= RESOLVING_MAX)
        self._resolving += 1
        self._runtime.spawn(self._take_if_open(share))
        return HandOnTaken(self._node.arc)

    async def _take_if_open(self, share: HandOn) -> None:
        if self._worker.may_come_late(share) or await self._still_open.is_open(share):
            await self.resolve(share, share.remaining_ms / 1000)
        self._resolving -= 1

    def _check_room(self, *, is_full: bool) -> None:
        if is_full:
            raise Fault("Busy", f"{self._resolving} shares are in hand")

    async def stand_in(self, share: HandOn) -> HandOnTaken:
        """Answer what a copy here can answer, and hand on the rest; raises `Fault`."""
        deadline = self._runtime.now() + share.remaining_ms / 1000
        part = intersect(share.job, merge(self._worker.copied(), self._worker.held()))
        work = await self._worker.stand_in(share, part) if part and share.asks else None
        if work is None:
            raise Fault("NoCopy", "nothing that counts is kept here of this")
        blocks = self._handing_on.plan(share, share.job, part)
        self._tell_origin(share, work, part, len(blocks))
        if blocks:
            onward = replace(share, stands_in=False)
            self._resolving += 1
            self._runtime.spawn(self._hand_on_rest(onward, blocks, deadline))
        return HandOnTaken()

    async def _take(self, share: HandOn) -> None:
        await self.resolve(share, share.remaining_ms / 1000)
        self._resolving -= 1

    def _answer_at_once(self, share: HandOn, *, is_full: bool = False) -> bool:
        """What only asks, or lies here whole, is answered in this very turn, so that the
        acknowledgement, the pages and the report travel as one; the rest of it is handed on in the
        next, unless this peer `is_full`: then it is refused."""
        held = self._worker.held()
        mine = intersect(share.job, held)
        is_whole = mine == share.job
        if not is_whole and not (share.asks and self._handing_on.concerns(share, mine)):
            return False
        work = self._answer_in(share, mine)
        if work is None:
            return False
        blocks = [] if is_whole else self._handing_on.plan(share, share.job, held)
        self._check_room(is_full=is_full and (bool(blocks) or work.rest is not None))
        if blocks:
            self._resolving += 1
            deadline = self._runtime.now() + share.remaining_ms / 1000
            self._runtime.spawn(self._hand_on_rest(share, blocks, deadline))
        self._tell_origin(share, work, mine, len(blocks))
        return True

    def _answer_whole(self, share: HandOn) -> Work | None:
        """The answer to all of a question that lies here, if it can be had in this very turn."""
        is_here = intersect(share.job, self._worker.held()) == share.job
        return self._answer_in(share, share.job) if is_here else None

    def _answer_in(self, share: HandOn, part: tuple[Interval, ...]) -> Work | None:
        try:
            return self._worker.answer(share, part)
        except MeteorError as error:
            raise Fault("ProtocolError", f"the operation cannot be read: {error}") from error

    def _tell_origin(
        self, share: HandOn, work: Work, mine: tuple[Interval, ...], handed: int
    ) -> None:
        tell_rest = self._reporting.tell(share, work, mine, handed)
        if tell_rest is not None:
            self._resolving += 1
            self._runtime.spawn(self._in_hand(tell_rest()))

    async def _in_hand(self, rest: Awaitable[None]) -> None:
        await rest
        self._resolving -= 1

    async def _hand_on_rest(self, share: HandOn, blocks: Sequence[Share], deadline: float) -> None:
        await self._handing_on.hand_on(share, blocks, deadline)
        self._resolving -= 1

    async def resolve(self, share: HandOn, left_s: float) -> None:
        """Do one's own part of a share and hand on the rest."""
        deadline = self._runtime.now() + left_s
        held = self._worker.held()
        mine = intersect(share.job, held)
        blocks = [] if mine == share.job else self._handing_on.plan(share, share.job, held)
        if not self._handing_on.concerns(share, mine):
            await self._handing_on.hand_on(share, blocks, deadline)
            return
        if blocks:
            self._runtime.spawn(self._handing_on.hand_on(share, blocks, deadline))
        await self._perform(share, mine, deadline, len(blocks))

    async def _perform(
        self, share: HandOn, mine: tuple[Interval, ...], deadline: float, handed: int
    ) -> None:
        is_doubtful = self._worker.may_be_done(share, mine)
        if is_doubtful and not await self._still_open.is_open(share):
            return
        work = await self._worker.perform(share, mine)
        await self._reporting.tell_all(share, work, mine, handed)
        if work.undone:
            blocks = self._handing_on.plan(share, merge(work.undone), self._worker.held())
            await self._handing_on.hand_on(share, blocks, deadline)
