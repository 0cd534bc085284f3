"""Handing on: brings each share of an operation to a peer that sees to it.

Law of this file: conversations only.  Which shares there are is decided in `squid.dyadic_shares`
(first match) and `squid.finger_shares`, whom to ask in a silent owner's stead in `squid.standby`.
A hand-on is acknowledged before any work; what nobody takes is tried again, by lookup, until the
share's time is up (DESIGN section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Protocol

from chord import (
    CallError,
    ChordNode,
    Contact,
    Fault,
    LinkClosed,
    LookupFailed,
    NotJoined,
    Owner,
    RequestTimeout,
    Runtime,
    Task,
    replace,
)
from squid.dyadic_shares import Share, Stretch, shares
from squid.finger_shares import Surroundings, finger_shares
from squid.hilbert import HilbertCurve
from squid.intervals import Intervals, count, intersect, merge, of_arc, subtract
from squid.messages import HandOn, HandOnTaken
from squid.observer import RouteObserver
from squid.region import Box
from squid.router_config import RouterConfig
from squid.share_check import REMAINING_MS_MAX
from squid.standby import Standby
from squid.worker import Worker

_Lookups = dict[int, Task[Contact | None]]
"""Who owns an index, by index: those that are asked for now."""

LOOKUP_S: Final = 0.4
"""How long shares whose owner is found wait for those of others, which may have the same one; what
nobody is found for by then is cut in two."""
CUT_MAX: Final = 64
"""Shares that are looked after at once, from which on what nobody is found for is cut no more."""


class Receiver(Protocol):
    """The peer's own side of a share: what comes back to it."""

    async def resolve(self, share: HandOn, left_s: float) -> None:
        """Do one's own part of a share and hand on the rest."""

    async def stand_in(self, share: HandOn) -> HandOnTaken:
        """Answer what a copy here can answer, and hand on the rest; raises `Fault`."""

    async def wants(self, share: HandOn) -> bool:
        """Whether a share that nobody took is to be tried again, as far as this peer knows."""


class HandingOn:
    """How one peer hands on what it does not do itself."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        curve: HilbertCurve,
        worker: Worker,
        receiver: Receiver,
        config: RouterConfig,
        id_bits: int,
    ) -> None:
        self._node, self._runtime, self._curve, self._worker = node, runtime, curve, worker
        self._receiver, self._config = receiver, config
        self._id_bits, self._shift = id_bits, id_bits - curve.index_bits
        self._standby = Standby(node, runtime)
        self.observer: RouteObserver | None = None
        """Told of every share that somebody took."""

    # -- what is handed on

    def concerns(self, share: HandOn, part: Intervals) -> bool:
        """Whether anything that is asked for may lie in a part."""
        if not part:
            return False
        box = Box(share.low, share.high)
        for first, last in part:  # noqa: SIM110 - a generator takes three times as long
            if self._curve.has_match(box, first, last):
                return True
        return False

    def plan(self, share: HandOn, job: Intervals, own: Intervals) -> list[Share]:
        """What is to be handed on of a job, `own` being done here."""
        box = Box(share.low, share.high)
        if share.stretch is None:
            return shares(self._curve, box, job, own)
        around = Surroundings(
            self._node.contact.id, self._node.known_arcs,
            index_bits=self._curve.index_bits, id_bits=self._id_bits,
        )  # fmt: skip
        rest = subtract(job, own)
        return finger_shares(self._curve, box, rest, around, Stretch(*share.stretch))

    def whole_circle(self) -> Stretch:
        """What an origin sees to by its fingers: from its last index round to its first."""
        arc, here = self._node.arc, self._node.contact.id >> self._shift
        own = () if arc is None else of_arc(
            arc.after, arc.last, self._curve.index_bits, self._id_bits
        )  # fmt: skip
        return Stretch(here, self._curve.size - count(own) + 1)

    # -- handing on

    async def hand_on(self, share: HandOn, plan: Sequence[Share], deadline: float) -> None:
        """Bring each share of the plan to its contact, or else to the owner of its first matching
        index: one message a peer."""
        pause_s = self._config.retry_s
        if len(plan) == 1:
            # The common case, a point, without tasks of its own.
            owner, believed = plan[0].contact, False
            if owner is None and share.hops == 0:
                owner = self._believed_owner(plan[0].first)
                believed = owner is not None
            if owner is None and plan[0].first == plan[0].last:
                owner = await self._owner_of(plan[0].first, deadline)
            if await self._give(share, owner, plan, deadline, believed=believed):
                return
            if not await self._receiver.wants(share):
                return
            plan = [_without_contact(plan[0])]
        lookups: _Lookups = {}
        while plan and self._runtime.now() < deadline:
            batches = await self._by_contact(plan, lookups, deadline)
            tasks = [
                (owner, batch, self._runtime.spawn(self._give(share, owner, batch, deadline)))
                for owner, batch in batches
            ]
            failed: list[Share] = []
            for owner, batch, task in tasks:
                if not await task:
                    cuts = owner is None and len(plan) < CUT_MAX
                    failed += self._cut(share, batch) if cuts else batch
            plan = sorted(map(_without_contact, failed), key=lambda block: block.first)
            if plan:
                await self._runtime.sleep(pause_s)
                pause_s = min(2 * pause_s, self._config.retry_s_max)
                if not await self._receiver.wants(share):
                    return

    def _cut(self, share: HandOn, batch: Sequence[Share]) -> list[Share]:
        """What nobody is found for, in halves: only the first index is known to be nobody's, and
        behind it others may be at their places."""
        box, halves = Box(share.low, share.high), list[Share]()
        for block in batch:
            middle = (block.first + block.last) // 2
            second = self._curve.next_match(box, middle + 1) if middle < block.last else None
            if second is None or second > block.last:
                halves.append(block)
            else:
                halves += [block._replace(last=middle), block._replace(first=second)]
        return halves

    async def _by_contact(
        self, plan: Sequence[Share], lookups: _Lookups, deadline: float
    ) -> list[tuple[Contact | None, list[Share]]]:
        """Group shares by who is to have them; None where no owner was found.  `lookups` are those
        of before that go on: nobody waits for long for whom others are slow to name."""
        for block in plan:
            if block.contact is None and block.first not in lookups:
                lookups[block.first] = self._runtime.spawn(self._owner_of(block.first, deadline))
        await self._some_time([lookups[block.first] for block in plan if block.contact is None])
        groups: dict[tuple[Contact | None, Stretch | None], list[Share]] = {}
        for block in plan:
            owner = block.contact
            if owner is None and lookups[block.first].done():
                owner = await lookups.pop(block.first)
            groups.setdefault((owner, block.stretch), []).append(block)
        return [(owner, batch) for (owner, _), batch in groups.items()]

    async def _some_time(self, lookups: Sequence[Task[Contact | None]]) -> None:
        """Wait until all have ended, or as long as is worth it."""
        if all(one.done() for one in lookups):
            return
        token = object()

        async def all_ended() -> None:
            for one in lookups:
                await one
            self._runtime.deliver(token, None)

        ended = self._runtime.expect(token, LOOKUP_S)
        self._runtime.spawn(all_ended())
        with suppress(RequestTimeout):
            await ended

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
        self,
        share: HandOn,
        owner: Contact | None,
        batch: Sequence[Share],
        deadline: float,
        *,
        believed: bool = False,
    ) -> bool:
        """Hand a batch to its owner, or to a finger; whether it took it.

        One that is only `believed` to own it is not waited for: the ring knows, and if it is silent
        who stands in for it."""
        left_s = deadline - self._runtime.now()
        if owner is None or left_s <= 0:
            return False
        job, block = merge(block.interval for block in batch), batch[0]
        if owner.id == self._runtime.contact.id:
            return await self._keep(share, job, block, left_s)
        onward = replace(
            share, job=job, hops=share.hops + 1, remaining_ms=remaining_ms(left_s),
            stretch=block.stretch,
        )  # fmt: skip
        if not share.asks:
            return await self._hand(onward, owner, min(self._config.hand_on_s, left_s))
        key = block.first << self._shift if block.contact is None else owner.id
        order = self._standby.order(owner, key)
        for contact, stands_in in order:
            patience_s = self._standby.patience_s(contact)
            if contact is order[-1][0] and not believed and not self._runtime.suspects(contact):
                patience_s = max(patience_s, self._config.hand_on_s)
            message = replace(onward, stands_in=True) if stands_in else onward
            if await self._hand(message, contact, min(patience_s, left_s)):
                return True
        self._node.forget(owner)  # who was said to stand in for it does not: let the ring say anew
        return False

    async def _hand(self, share: HandOn, contact: Contact, timeout_s: float) -> bool:
        """Hand a share to one peer; whether it took it."""
        try:
            taken = await self._runtime.ask(contact, share, timeout_s)
        except CallError as error:
            if not share.stands_in:
                self._standby.silent(contact)
                self._worker.unreachable(contact)
            if not share.asks or not isinstance(error, RequestTimeout):
                self._node.forget(contact)
            return self._is_for_the_origin(share, error)
        if not isinstance(taken, HandOnTaken):
            return False
        if self.observer is not None:
            self.observer.handed_on(share, contact)
        if not share.stands_in:
            self._standby.heard(contact)
        if taken.arc is not None:
            self._node.learn(Owner(contact, taken.arc, 0))
        return True

    def _is_for_the_origin(self, share: HandOn, error: CallError) -> bool:
        """Whether a share that nobody said he took is left alone here: he may do it all the same,
        and its origin be told.  Another one would do it again then, when the answer is out, and
        take what was posted since; only the origin knows, and asks again for what is open."""
        may_be_done = isinstance(error, RequestTimeout | LinkClosed)
        if share.asks or not may_be_done or share.origin == self._runtime.contact:
            return False
        return not self._worker.may_come_late(share)

    async def _keep(self, share: HandOn, job: Intervals, block: Share, left_s: float) -> bool:
        """The ring says that this is ours, the holdings do not (yet): a question is answered from
        a copy, should it count; else wait, then look again."""
        onward = replace(share, job=job, hops=share.hops + 1, stretch=block.stretch)
        if share.asks and intersect(job, self._worker.copied()):
            with suppress(Fault):
                await self._receiver.stand_in(replace(onward, remaining_ms=remaining_ms(left_s)))
                return True
        deadline = self._runtime.now() + left_s
        await self._worker.settle(block.first, left_s)
        left_s = deadline - self._runtime.now()
        if left_s <= 0 or not intersect(job, self._worker.held()):
            return False
        onward = replace(onward, remaining_ms=remaining_ms(left_s))
        self._runtime.spawn(self._receiver.resolve(onward, left_s))
        return True


def remaining_ms(left_s: float) -> int:
    """Time left, as a message tells it."""
    return min(int(left_s * 1000), REMAINING_MS_MAX)


def _without_contact(block: Share) -> Share:
    """A share whose contact did not take it: its owner is looked up."""
    return block._replace(contact=None)
