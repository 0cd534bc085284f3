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
from typing import Final

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
from squid.intervals import Interval, intersect, merge, subtract
from squid.keyword_space import KeywordSpace
from squid.keyword_tuple import KeywordTuple, box_of
from squid.messages import HandOn, HandOnTaken, Report, ResultFrame
from squid.observer import RouteObserver
from squid.operation import OriginatedOperation, Outcome, Wanted
from squid.region import Box
from squid.router_config import Addressing, RouterConfig
from squid.share_check import check_share
from squid.still_open import StillOpen
from squid.worker import Work, Worker

RESOLVING_MAX = 8192
"""Shares in hand at once; more are refused, and tried again by who sent them."""

FRAMES_AT_ONCE: Final = 8
"""Pages that are sent in one turn: at most half a megabyte is encoded, and leaves as one."""


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
        self._parts = self._resolving = 0
        self._observer: RouteObserver | None = None

    def observe(self, observer: RouteObserver) -> None:
        """Let somebody look on from now on, instead of whoever did."""
        self._observer = self._handing_on.observer = observer

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
    ) -> Outcome:
        """Bring `body` to every peer whose holding meets `box`; returns when every matching index
        is reported on, or with what is `missing` when the time is up.  No share of an attempt is
        tried longer than until the next attempt: none goes about when the answer is long out.

        `asks` says that nothing is changed: who keeps a copy may answer for a silent owner.
        `on_frame(peer, page)` is told of each result page as it comes, possibly more than once.
        `age_s` is how long ago the question began that this is a part of.  What is not wanted any
        more is not tried again.
        """
        job = self._job_of(box)
        operation_id = self._runtime.random.randbytes(16)
        began_s = self._runtime.now() - age_s
        operation = OriginatedOperation(self._curve, box, job, on_frame, began_s, is_wanted)
        self._operations[operation_id] = operation
        if self._observer is not None:
            self._observer.began(operation_id, box, body)
        deadline = self._runtime.now() + timeout_s
        patience_s = self._config.reissue_s
        attempt = 0
        try:
            while True:
                left_s = max(deadline - self._runtime.now(), 0.0)
                lasts_s = min(patience_s, left_s)
                share = self._first_share(operation_id, attempt, box, job, body, lasts_s, asks)
                if not (asks and self._answer_at_once(share)):
                    self._runtime.begin(self.resolve(share, lasts_s))
                if not operation.settled:  # by what this peer itself did in this turn
                    with suppress(RequestTimeout):
                        await self._runtime.expect(operation_id, lasts_s)
                if await self._is_over(operation, deadline):
                    return self._ended(operation_id, operation.outcome())
                attempt += 1
                operation.begin(attempt)
                patience_s = min(2 * patience_s, self._config.reissue_s_max)
                job = operation.gaps()
        finally:
            del self._operations[operation_id]

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

    def _stretch(self, box: Box, attempt: int) -> Stretch | None:
        """Fingers see to a first attempt only: whatever it was that left it open, lookups find a
        way round.  A point has one owner, whom nobody else need lead to."""
        if self._config.addressing is Addressing.FIRST_MATCH or box.is_point or attempt:
            return None
        return self._handing_on.whole_circle()

    def _first_share(
        self,
        operation_id: bytes,
        attempt: int,
        box: Box,
        job: tuple[Interval, ...],
        body: bytes,
        left_s: float,
        asks: bool,
    ) -> HandOn:
        return HandOn(
            operation=operation_id, attempt=attempt, origin=self._runtime.contact,
            digest=self._space.digest, low=box.low, high=box.high, job=job, hops=0,
            remaining_ms=remaining_ms(left_s), body=body, asks=asks,
            stretch=self._stretch(box, attempt),
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
        if not message.asks:
            self._check_is_new(message)
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
        try:
            work = self._worker.answer(share, mine)
        except MeteorError as error:
            raise Fault("ProtocolError", f"the operation cannot be read: {error}") from error
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
        part = self._next_part()
        await self._send_frames(share, part, 0, work.frames)
        self._report(share, work, mine, handed, part)
        if work.undone:
            blocks = self._handing_on.plan(share, merge(work.undone), self._worker.held())
            await self._handing_on.hand_on(share, blocks, deadline)

    def _tell_origin(
        self, share: HandOn, work: Work, mine: tuple[Interval, ...], handed: int
    ) -> None:
        part = self._next_part()
        for number, body in enumerate(work.frames):
            self._send_frame(share, part, number, body)
        if work.rest is None:
            self._report(share, work, mine, handed, part)
        else:
            self._resolving += 1
            self._runtime.spawn(self._tell_rest(share, work, work.rest, mine, handed, part))

    async def _tell_rest(
        self,
        share: HandOn,
        work: Work,
        bring: Callable[[], Awaitable[Work]],
        mine: tuple[Interval, ...],
        handed: int,
        part: int,
    ) -> None:
        """Send the pages that were not made at once, then report."""
        rest = await bring()
        await self._send_frames(share, part, len(work.frames), rest.frames)
        frames = (*work.frames, *rest.frames)
        done = replace(work, frames=frames, body=rest.body, speaks_for_s=rest.speaks_for_s)
        self._report(share, done, mine, handed, part)
        self._resolving -= 1

    async def _send_frames(
        self, share: HandOn, part: int, first: int, frames: Sequence[bytes]
    ) -> None:
        for number, body in enumerate(frames, first):
            self._send_frame(share, part, number, body)
            if (number - first + 1) % FRAMES_AT_ONCE == 0:
                await self._runtime.sleep(0.0)

    def _next_part(self) -> int:
        self._parts += 1
        return self._parts

    def _send_frame(self, share: HandOn, part: int, number: int, body: bytes) -> None:
        self._say(share.origin, ResultFrame(share.operation, share.attempt, part, number, body))

    def _report(
        self,
        share: HandOn,
        work: Work,
        mine: tuple[Interval, ...],
        handed: int,
        part: int,
    ) -> None:
        if self._observer is not None:
            self._observer.worked(share, work)
        done = subtract(mine, work.undone) if work.undone else mine
        if not done:
            return
        open_here = bool(work.missing or work.doubted)
        report = Report(
            operation=share.operation,
            attempt=share.attempt,
            part=part,
            covered=subtract(done, merge(work.missing, work.doubted)) if open_here else done,
            missing=subtract(work.missing, work.doubted) if work.doubted else work.missing,
            frames=len(work.frames),
            hops=share.hops,
            body=work.body,
            handed=handed,
            speaks_for_s=work.speaks_for_s,
        )
        self._say(share.origin, report)

    def _say(self, origin: Contact, word: ResultFrame | Report) -> None:
        """Tell the origin; oneself at once, as nobody needs a message to know what he did."""
        if origin != self._runtime.contact:
            self._runtime.send(origin, word)
        elif isinstance(word, Report):
            self._on_report(origin, word, 0.0)
        else:
            self._on_frame(origin, word, 0.0)
