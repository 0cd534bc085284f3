"""The router: brings an operation to every peer whose holding meets a region, and knows it did.

Law of this file: conversations only.  What to hand on is decided in `squid.clusters`, what has been
covered in `squid.ledger`; who answers for an index is the `Worker`'s business, who owns it the
ring's.  A peer does what lies in its own holding and hands on the rest to the owner of the first
matching index (DESIGN section 3; Squid section 3.4).  Stale routing state costs a message, never an
answer: what nobody reports is issued again by the origin, and what stays open is `missing`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from chord import (
    CallError,
    ChordNode,
    Contact,
    Deferred,
    Fault,
    Handler,
    LookupFailed,
    MeteorError,
    NotJoined,
    Owner,
    RequestTimeout,
    Runtime,
)
from squid.clusters import Share, shares
from squid.intervals import Interval, intersect, merge, subtract
from squid.keyword_space import KeywordSpace
from squid.keyword_tuple import KeywordTuple, box_of
from squid.messages import HandOn, HandOnTaken, Report, ResultFrame
from squid.operation import OriginatedOperation, Outcome
from squid.region import Box
from squid.share_check import REMAINING_MS_MAX, check_share
from squid.standby import Standby
from squid.worker import Work, Worker

RESOLVING_MAX = 8192
"""Shares in hand at once; more are refused, and tried again by who sent them."""


@dataclass(frozen=True, slots=True)
class RouterConfig:
    """Times of the router, in seconds."""

    reissue_s: float = 1.0
    """How long the origin waits for open gaps before it issues them again; doubled each time.
    Shorter repeats work that is merely slow, longer makes a lost frame dearer."""
    hand_on_s: float = 0.75
    """Time for one acknowledged hand-on before the next candidate is tried."""
    retry_s: float = 0.05
    """First pause after a hand-on failed; doubled up to `retry_s_max`."""
    retry_s_max: float = 0.4


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
        self._shift = id_bits - self._curve.index_bits
        self._config = config or RouterConfig()
        self._operations: dict[bytes, OriginatedOperation] = {}
        self._standby = Standby(node, runtime)
        self._parts = self._resolving = 0

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {HandOn: self._on_share, ResultFrame: self._on_frame, Report: self._on_report}

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
    ) -> Outcome:
        """Bring `body` to every peer whose holding meets `box`; returns when every matching index
        is reported on, or with what is `missing` when the time is up.  No share of an attempt is
        tried longer than until the next attempt: none goes about when the answer is long out.

        `asks` says that nothing is changed: who keeps a copy may answer for a silent owner.
        `on_frame(peer, page)` is told of each result page as it comes, possibly more than once.
        """
        job = self._job_of(box)
        operation_id = self._runtime.random.randbytes(16)
        operation = OriginatedOperation(self._curve, box, job, on_frame)
        self._operations[operation_id] = operation
        deadline = self._runtime.now() + timeout_s
        patience_s = self._config.reissue_s
        attempt = 0
        try:
            while True:
                left_s = max(deadline - self._runtime.now(), 0.0)
                lasts_s = min(patience_s, left_s)
                waiting = self._runtime.expect(operation_id, lasts_s)
                share = replace(
                    self._first_share(operation_id, attempt, box, job, body, lasts_s), asks=asks
                )
                self._runtime.spawn(self._resolve(share, lasts_s))
                with suppress(RequestTimeout):
                    await waiting
                if operation.settled or self._runtime.now() >= deadline:
                    return operation.outcome()
                attempt += 1
                operation.begin(attempt)
                patience_s *= 2
                job = operation.gaps()
        finally:
            del self._operations[operation_id]

    def _job_of(self, box: Box) -> tuple[Interval, ...]:
        if box.is_point:
            index = self._curve.encode(box.low)
            return ((index, index),)
        return ((0, self._curve.size - 1),)

    def _first_share(
        self,
        operation_id: bytes,
        attempt: int,
        box: Box,
        job: tuple[Interval, ...],
        body: bytes,
        left_s: float,
    ) -> HandOn:
        return HandOn(
            operation=operation_id,
            attempt=attempt,
            origin=self._runtime.contact,
            digest=self._space.digest,
            low=box.low,
            high=box.high,
            job=job,
            hops=0,
            remaining_ms=_remaining_ms(left_s),
            body=body,
        )

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
            operation.take_report(sender, message)
            self._tell_if_settled(message.operation, operation)

    def _tell_if_settled(self, operation_id: bytes, operation: OriginatedOperation) -> None:
        if operation.settled:
            self._runtime.deliver(operation_id, None)

    # -- receiver

    def _on_share(self, _: Contact, message: object, __: float) -> HandOnTaken | Deferred:
        assert isinstance(message, HandOn)
        check_share(message, self._space)
        if message.stands_in:
            return Deferred(self._stand_in(message))
        if not self._answer_at_once(message):
            if self._resolving >= RESOLVING_MAX:
                raise Fault("Busy", f"{self._resolving} shares are in hand")
            self._resolving += 1
            self._runtime.spawn(self._take(message))
        return HandOnTaken(self._node.arc)

    async def _stand_in(self, share: HandOn) -> HandOnTaken:
        """Answer what a copy here can answer, and hand on the rest."""
        deadline = self._runtime.now() + share.remaining_ms / 1000
        part = intersect(share.job, merge(self._worker.copied(), self._worker.held()))
        work = await self._worker.stand_in(share, part) if part and share.asks else None
        if work is None:
            raise Fault("NoCopy", "nothing that counts is kept here of this")
        blocks = shares(self._curve, Box(share.low, share.high), share.job, part)
        self._tell_origin(share, work, part, len(blocks))
        if blocks:
            onward = replace(share, stands_in=False)
            self._runtime.spawn(self._hand_on(onward, blocks, deadline))
        return HandOnTaken()

    async def _take(self, share: HandOn) -> None:
        await self._resolve(share, share.remaining_ms / 1000)
        self._resolving -= 1

    def _answer_at_once(self, share: HandOn) -> bool:
        """A share that lies here whole and only asks is answered in this very turn, so that the
        acknowledgement, the pages and the report travel as one."""
        mine = intersect(share.job, self._worker.held())
        if mine != share.job:
            return False
        try:
            work = self._worker.answer(share, mine)
        except MeteorError as error:
            raise Fault("ProtocolError", f"the operation cannot be read: {error}") from error
        if work is None:
            return False
        self._tell_origin(share, work, mine, handed=0)
        return True

    async def _resolve(self, share: HandOn, left_s: float) -> None:
        """Do one's own part of a share and hand on the rest."""
        deadline = self._runtime.now() + left_s
        box = Box(share.low, share.high)
        held = self._worker.held()
        mine = intersect(share.job, held)
        blocks = shares(self._curve, box, share.job, held)
        if not mine or not any(self._curve.has_match(box, *interval) for interval in mine):
            await self._hand_on(share, blocks, deadline)
            return
        if blocks:
            self._runtime.spawn(self._hand_on(share, blocks, deadline))
        await self._perform(share, mine, deadline, len(blocks))

    async def _perform(
        self, share: HandOn, mine: tuple[Interval, ...], deadline: float, handed: int
    ) -> None:
        work = await self._worker.perform(share, mine)
        self._tell_origin(share, work, mine, handed)
        if work.undone:
            box = Box(share.low, share.high)
            blocks = shares(self._curve, box, merge(work.undone), self._worker.held())
            await self._hand_on(share, blocks, deadline)

    def _tell_origin(
        self, share: HandOn, work: Work, mine: tuple[Interval, ...], handed: int
    ) -> None:
        self._parts += 1
        part = self._parts
        for number, body in enumerate(work.frames):
            frame = ResultFrame(share.operation, share.attempt, part, number, body)
            self._runtime.send(share.origin, frame)
        done = subtract(mine, merge(work.undone)) if work.undone else mine
        if not done:
            return
        report = Report(
            operation=share.operation,
            attempt=share.attempt,
            part=part,
            covered=subtract(done, merge(work.missing)) if work.missing else done,
            missing=work.missing,
            frames=len(work.frames),
            hops=share.hops,
            body=work.body,
            handed=handed,
        )
        self._runtime.send(share.origin, report)

    async def _hand_on(self, share: HandOn, blocks: Sequence[Share], deadline: float) -> None:
        """Bring each block to the owner of its first matching index, one message an owner."""
        pause_s = self._config.retry_s
        if len(blocks) == 1:
            # The common case, a point, without tasks of its own.
            index = blocks[0].first
            owner = self._believed_owner(index) if share.hops == 0 else None
            if owner is None:
                owner = await self._owner_of(index, deadline)
            if await self._give(share, owner, blocks, deadline):
                return
        while blocks and self._runtime.now() < deadline:
            batches = await self._by_owner(blocks, deadline)
            tasks = [
                (batch, self._runtime.spawn(self._give(share, owner, batch, deadline)))
                for owner, batch in batches
            ]
            failed: list[Share] = []
            for batch, task in tasks:
                if not await task:
                    failed += batch
            blocks = sorted(failed, key=lambda block: block.first)
            if blocks:
                await self._runtime.sleep(pause_s)
                pause_s = min(2 * pause_s, self._config.retry_s_max)

    async def _by_owner(
        self, blocks: Sequence[Share], deadline: float
    ) -> list[tuple[Contact | None, list[Share]]]:
        """Group blocks by who is to have them; None where no owner was found."""
        tasks = [self._runtime.spawn(self._owner_of(block.first, deadline)) for block in blocks]
        groups: dict[Contact | None, list[Share]] = {}
        for block, task in zip(blocks, tasks, strict=True):
            groups.setdefault(await task, []).append(block)
        return list(groups.items())

    def _believed_owner(self, index: int) -> Contact | None:
        """Whom this peer's own routing state takes for the owner; a stale belief costs one hop.
        Origins alone act on it: stale caches of several peers could send a share in circles."""
        key = index << self._shift
        route = self._node.route(key)
        if self._node.owns(key) or not route.to_owner or not route.candidates:
            return None
        return route.candidates[0]

    async def _owner_of(self, index: int, deadline: float) -> Contact | None:
        """Whom the ring names; where it names this peer, who holds the index meanwhile."""
        left_s = max(deadline - self._runtime.now(), 0.001)
        try:
            owner = await self._node.lookup(index << self._shift, timeout_s=left_s)
        except (LookupFailed, NotJoined):
            return self._worker.holder_of(index)
        if owner.suspected:
            self._standby.silent(owner.contact, owner.heirs)
        if owner.contact.id == self._runtime.contact.id:
            return self._worker.holder_of(index) or owner.contact
        return owner.contact

    async def _give(
        self, share: HandOn, owner: Contact | None, batch: Sequence[Share], deadline: float
    ) -> bool:
        """Hand a batch to its owner; whether it took it."""
        left_s = deadline - self._runtime.now()
        if owner is None or left_s <= 0:
            return False
        job = merge(block.interval for block in batch)
        if owner.id == self._runtime.contact.id:
            return await self._keep(share, job, left_s)
        onward = replace(share, job=job, hops=share.hops + 1, remaining_ms=_remaining_ms(left_s))
        if not share.asks:
            return await self._hand(onward, owner, min(self._config.hand_on_s, left_s))
        order = self._standby.order(owner, batch[0].first << self._shift)
        for contact, stands_in in order:
            patience_s = self._standby.patience_s(contact)
            if contact is order[-1][0]:
                patience_s = max(patience_s, self._config.hand_on_s)
            message = replace(onward, stands_in=True) if stands_in else onward
            if await self._hand(message, contact, min(patience_s, left_s)):
                return True
        return False

    async def _hand(self, share: HandOn, contact: Contact, timeout_s: float) -> bool:
        """Hand a share to one peer; whether it took it."""
        try:
            taken = await self._runtime.call(contact, share, timeout_s)
        except CallError as error:
            if not share.stands_in:
                self._standby.silent(contact)
                self._worker.unreachable(contact)
            if not share.asks or not isinstance(error, RequestTimeout):
                self._node.forget(contact)
            return False
        if not isinstance(taken, HandOnTaken):
            return False
        if not share.stands_in:
            self._standby.heard(contact)
        if taken.arc is not None:
            self._node.learn(Owner(contact, taken.arc, 0))
        return True

    async def _keep(self, share: HandOn, job: tuple[Interval, ...], left_s: float) -> bool:
        """The ring says that this is ours, the holdings do not (yet): a question is answered from
        a copy, should it count; else wait, then look again."""
        onward = replace(share, job=job, hops=share.hops + 1)
        if share.asks and intersect(job, self._worker.copied()):
            with suppress(Fault):
                await self._stand_in(replace(onward, remaining_ms=_remaining_ms(left_s)))
                return True
        box = Box(share.low, share.high)
        first = self._curve.next_match(box, job[0][0])
        assert first is not None, "a block always has a match"
        await self._worker.settle(first, left_s)
        held = intersect(job, self._worker.held())
        if not held:
            return False
        self._runtime.spawn(self._resolve(onward, left_s))
        return True


def _remaining_ms(left_s: float) -> int:
    return min(int(left_s * 1000), REMAINING_MS_MAX)
