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
from dataclasses import dataclass, field
from typing import Protocol

from chord import (
    CallError,
    ChordNode,
    Contact,
    Fault,
    Handler,
    LookupFailed,
    NotJoined,
    Owner,
    RequestTimeout,
    Runtime,
)
from squid.clusters import Share, shares
from squid.hilbert import HilbertCurve
from squid.intervals import Interval, intersect, merge, subtract
from squid.keyword_space import KeywordSpace
from squid.keyword_tuple import KeywordTuple, box_of
from squid.ledger import Ledger
from squid.messages import HandOn, HandOnTaken, Report, ResultFrame
from squid.region import Box

HOPS_MAX = 64
"""A share handed on more often than this goes in circles: it is dropped, and the origin's ledger
shows the gap.  A tree of N peers is about log2 N deep."""

JOB_INTERVALS_MAX = 4096
"""Intervals in one share: a bound for hostile input, far above what two borders can cut."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker did with its part of an operation."""

    frames: Sequence[bytes] = ()
    """Pages for the origin, in order."""
    body: bytes = b""
    """A summary for the origin."""
    missing: tuple[Interval, ...] = ()
    """The indexes of the part whose past this peer does not hold."""
    undone: tuple[Interval, ...] = ()
    """What turned out to be another peer's meanwhile: the router hands it on."""


class Worker(Protocol):
    """The layer above: what a peer holds, and what it does there."""

    def held(self) -> tuple[Interval, ...]:
        """The curve indexes that this peer answers for, sorted and disjoint."""

    def holder_of(self, index: int) -> Contact | None:
        """Another peer that is known to hold `index` whatever the ring says (a hand-off)."""

    def unreachable(self, holder: Contact) -> None:
        """A peer that `holder_of` may have named does not answer."""

    async def settle(self, index: int, timeout_s: float) -> None:
        """Wait until an index that the ring gives to this peer is held here, or the time is up."""

    async def perform(self, share: HandOn, part: tuple[Interval, ...]) -> Work:
        """Do the operation in `part`, which was held when this was called."""


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an operation came to at its origin."""

    complete: bool
    missing: tuple[Interval, ...]
    summaries: tuple[tuple[Contact, bytes], ...]
    """One a counted report."""
    peers: int
    """Peers that processed a part."""
    hops: int
    """The longest chain of hand-ons."""
    messages: int = 0
    """Shares handed on, as reported."""


@dataclass(slots=True)
class _Operation:
    """The origin's side of one operation in flight."""

    ledger: Ledger
    on_frame: Callable[[Contact, bytes], None]
    attempt: int = 0
    waiting: dict[tuple[int, int, int], Report] = field(default_factory=dict)
    """Reports that do not count yet, by sender, part and attempt."""
    summaries: list[tuple[Contact, bytes]] = field(default_factory=list)
    peers: set[int] = field(default_factory=set)
    hops: int = 0
    messages: int = 0


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
        self._operations: dict[bytes, _Operation] = {}
        self._parts = 0

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
    ) -> Outcome:
        """Bring `body` to every peer whose holding meets `box`; returns when every matching index
        is reported on, or with what is `missing` when the time is up.

        `on_frame(peer, page)` is told of each result page as it comes, possibly more than once.
        """
        job = self._job_of(box)
        operation_id = self._runtime.random.randbytes(16)
        ledger = Ledger(self._curve, box, job)
        operation = _Operation(ledger, on_frame or _ignore_frame)
        self._operations[operation_id] = operation
        deadline = self._runtime.now() + timeout_s
        patience_s = self._config.reissue_s
        try:
            while True:
                left_s = deadline - self._runtime.now()
                waiting = self._runtime.expect(operation_id, min(patience_s, max(left_s, 0.0)))
                self._begin(operation_id, operation, box, job, body, left_s)
                with suppress(RequestTimeout):
                    await waiting
                if ledger.settled or self._runtime.now() >= deadline:
                    return _outcome(operation, self._curve, box)
                operation.attempt += 1
                patience_s *= 2
                job = ledger.gaps()
        finally:
            del self._operations[operation_id]

    def _job_of(self, box: Box) -> tuple[Interval, ...]:
        if box.is_point:
            index = self._curve.encode(box.low)
            return ((index, index),)
        return ((0, self._curve.size - 1),)

    def _begin(
        self,
        operation_id: bytes,
        operation: _Operation,
        box: Box,
        job: tuple[Interval, ...],
        body: bytes,
        left_s: float,
    ) -> None:
        share = HandOn(
            operation=operation_id,
            attempt=operation.attempt,
            origin=self._runtime.contact,
            digest=self._space.digest,
            low=box.low,
            high=box.high,
            job=job,
            hops=0,
            remaining_ms=max(0, int(left_s * 1000)),
            body=body,
        )
        self._runtime.spawn(self._resolve(share, left_s))

    def _on_frame(self, sender: Contact, message: object, _: float) -> None:
        assert isinstance(message, ResultFrame)
        operation = self._operations.get(message.operation)
        if operation is None:
            return
        operation.on_frame(sender, message.body)
        key = (sender.id, message.part)
        fresh = operation.ledger.frame(key, message.attempt, message.number)
        report = operation.waiting.get((*key, message.attempt))
        if report is not None and fresh:
            self._count(sender, report, operation)
        self._settle_operation(message.operation, operation)

    def _on_report(self, sender: Contact, message: object, _: float) -> None:
        assert isinstance(message, Report)
        operation = self._operations.get(message.operation)
        if operation is None:
            return
        key = (sender.id, message.part)
        operation.messages += message.handed
        operation.waiting[*key, message.attempt] = message
        fresh = operation.ledger.report(
            key, message.attempt, message.covered, message.missing, message.frames
        )
        if fresh or message.missing:
            self._count(sender, message, operation)
        self._settle_operation(message.operation, operation)

    def _count(self, sender: Contact, report: Report, operation: _Operation) -> None:
        """Enter a report whose part counts: one that repeats what counted already does not."""
        del operation.waiting[sender.id, report.part, report.attempt]
        operation.summaries.append((sender, report.body))
        operation.peers.add(sender.id)
        operation.hops = max(operation.hops, report.hops)

    def _settle_operation(self, operation_id: bytes, operation: _Operation) -> None:
        if operation.ledger.settled:
            self._runtime.deliver(operation_id, None)

    # -- receiver

    def _on_share(self, _: Contact, message: object, __: float) -> HandOnTaken:
        assert isinstance(message, HandOn)
        self._check(message)
        self._runtime.spawn(self._resolve(message, message.remaining_ms / 1000))
        return HandOnTaken(self._node.arc)

    def _check(self, share: HandOn) -> None:
        """Refuse what no peer of this ring would send."""
        if share.digest != self._space.digest:
            raise Fault("SpaceMismatch", "the share was made for another keyword space")
        side, size = self._curve.side, self._curve.size
        corners = zip(share.low, share.high, strict=False)
        if len(share.low) != self._curve.dimensions or len(share.high) != self._curve.dimensions:
            raise Fault("ProtocolError", "the box has the wrong number of dimensions")
        if not all(0 <= low <= high < side for low, high in corners):
            raise Fault("ProtocolError", "the box lies outside the keyword space")
        if not 1 <= len(share.job) <= JOB_INTERVALS_MAX:
            raise Fault("ProtocolError", f"a job has 1 to {JOB_INTERVALS_MAX} intervals")
        after = -1
        for first, last in share.job:
            if not after < first <= last < size:
                raise Fault("ProtocolError", "the job's intervals are not sorted and disjoint")
            after = last
        if share.hops > HOPS_MAX:
            raise Fault("ProtocolError", f"handed on more than {HOPS_MAX} times")

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
        self._parts += 1
        part = self._parts
        for number, body in enumerate(work.frames):
            frame = ResultFrame(share.operation, share.attempt, part, number, body)
            self._runtime.send(share.origin, frame)
        done = subtract(mine, merge(work.undone)) if work.undone else mine
        if done:
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
        if work.undone:
            box = Box(share.low, share.high)
            blocks = shares(self._curve, box, merge(work.undone), self._worker.held())
            await self._hand_on(share, blocks, deadline)

    async def _hand_on(self, share: HandOn, blocks: Sequence[Share], deadline: float) -> None:
        """Bring each block to the owner of its first matching index, one message an owner."""
        pause_s = self._config.retry_s
        if len(blocks) == 1:
            # The common case, a point, without tasks of its own.
            owner = await self._owner_of(blocks[0].first, deadline)
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

    async def _owner_of(self, index: int, deadline: float) -> Contact | None:
        """Whom the ring names; where it names this peer, who holds the index meanwhile."""
        left_s = max(deadline - self._runtime.now(), 0.001)
        try:
            owner = await self._node.lookup(index << self._shift, timeout_s=left_s)
        except (LookupFailed, NotJoined):
            return self._worker.holder_of(index)
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
        onward = HandOn(
            operation=share.operation,
            attempt=share.attempt,
            origin=share.origin,
            digest=share.digest,
            low=share.low,
            high=share.high,
            job=job,
            hops=share.hops + 1,
            remaining_ms=int(left_s * 1000),
            body=share.body,
        )
        try:
            timeout_s = min(self._config.hand_on_s, left_s)
            taken: HandOnTaken = await self._runtime.call(owner, onward, timeout_s)
        except CallError:
            self._node.forget(owner)
            self._worker.unreachable(owner)
            return False
        if taken.arc is not None:
            self._node.learn(Owner(owner, taken.arc, 0))
        return True

    async def _keep(self, share: HandOn, job: tuple[Interval, ...], left_s: float) -> bool:
        """The ring says that this is ours, the holdings do not (yet): wait, then look again."""
        box = Box(share.low, share.high)
        first = self._curve.next_match(box, job[0][0])
        assert first is not None, "a block always has a match"
        await self._worker.settle(first, left_s)
        held = intersect(job, self._worker.held())
        if not held:
            return False
        onward = HandOn(
            share.operation, share.attempt, share.origin, share.digest, share.low, share.high,
            job, share.hops + 1, share.remaining_ms, share.body,
        )  # fmt: skip
        self._runtime.spawn(self._resolve(onward, left_s))
        return True


def _ignore_frame(_: Contact, __: bytes) -> None:
    """For operations whose results nobody wants."""


def _up_to_last_match(curve: HilbertCurve, box: Box, interval: Interval) -> Interval:
    """An open interval cut behind its last match: what lies beyond is nobody's fault."""
    first, last = interval
    low, high = first, last
    while low < high:
        middle = (low + high + 1) // 2
        if curve.has_match(box, middle, last):
            low = middle
        else:
            high = middle - 1
    return first, low


def _outcome(operation: _Operation, curve: HilbertCurve, box: Box) -> Outcome:
    return Outcome(
        complete=operation.ledger.complete,
        missing=tuple(_up_to_last_match(curve, box, gap) for gap in operation.ledger.missing),
        summaries=tuple(operation.summaries),
        peers=len(operation.peers),
        hops=operation.hops,
        messages=operation.messages,
    )
