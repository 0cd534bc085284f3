"""Forgetting a lost arc: an operator declares that its past will not come back.

Law of this file: only what is lost is forgotten, by whoever answers for it, at all its copies; it
is logged and counted.  From then on the arc answers as complete as any other.  Should a holder of
the past return after all, what it has is taken in as ever (DESIGN section 5).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from chord import (
    CallError,
    ChordNode,
    Contact,
    Deferred,
    Fault,
    Handler,
    NotJoined,
    RemoteFault,
    Runtime,
)
from meteor.copies.replication import Replication
from meteor.errors import MeteorError, Refused, to_fault
from meteor.keeping.views import Views
from meteor.wire.messages import Forget, Forgotten, WireInterval
from meteor.wire.operations import ForgetPast
from squid import HilbertCurve, Interval, Intervals, intersect, merge, of_arc, subtract

FORGET_S: Final = 10.0
"""For one holder to write at all copies that an arc's past is gone."""
INTERVALS_MAX: Final = 4096
"""Intervals in one message: a bound for hostile input."""

_log = logging.getLogger("meteor.forgetting")


class Forgetting:
    """One peer's part in it: it asks the holders for its clients, and is one itself."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        views: Views,
        replication: Replication,
        *,
        curve: HilbertCurve,
        id_bits: int,
        admit: Callable[[Forget], None],
    ) -> None:
        self._admit = admit
        self._node, self._runtime, self._views = node, runtime, views
        self._replication, self._curve, self._id_bits = replication, curve, id_bits
        self.count = 0
        """How many intervals were forgotten here."""

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Forget: self._on_forget, ForgetPast: self._on_forget_past}

    def _on_forget(self, _: Contact, message: object, __: float) -> Deferred:
        assert isinstance(message, Forget)
        try:
            self._admit(message)
        except MeteorError as error:
            raise to_fault(error) from error
        return Deferred(self._ask_holders(self._checked(message.intervals)))

    def _on_forget_past(self, _: Contact, message: object, __: float) -> Deferred:
        assert isinstance(message, ForgetPast)
        return Deferred(self._forget(self._checked((message.interval,))))

    def _checked(self, intervals: Sequence[WireInterval]) -> Intervals:
        proper = all(0 <= first <= last < self._curve.size for first, last in intervals)
        if len(intervals) > INTERVALS_MAX or not proper:
            raise to_fault(MeteorError("forget: an interval lies outside the curve, or too many"))
        return merge(tuple(intervals))

    # -- for a client

    async def _ask_holders(self, intervals: Intervals) -> Forgotten:
        """Have each interval forgotten by who owns it, piece by piece."""
        forgotten: Intervals = ()
        for interval in intervals:
            left: Intervals = (interval,)
            while left:
                piece, owner = await self._owned(left[0])
                if owner.id == self._node.contact.id:
                    await self._forget((piece,))
                else:
                    await self._ask(owner, piece)
                forgotten = merge(forgotten, (piece,))
                left = subtract(left, (piece,))
        return Forgotten(forgotten)

    async def _owned(self, interval: Interval) -> tuple[Interval, Contact]:
        """The first piece of an interval that has one owner."""
        shift = self._id_bits - self._curve.index_bits
        try:
            owner = await self._node.lookup(interval[0] << shift, timeout_s=FORGET_S)
        except (CallError, NotJoined, MeteorError) as error:
            raise to_fault(MeteorError(f"forget of {_text(interval)}: no owner: {error}")) from None
        arc = of_arc(owner.arc.after, owner.arc.last, self._curve.index_bits, self._id_bits)
        mine = [piece for piece in intersect(arc, (interval,)) if piece[0] == interval[0]]
        return (mine or [(interval[0], interval[0])])[0], owner.contact

    async def _ask(self, owner: Contact, piece: Interval) -> None:
        try:
            await self._runtime.call(owner, ForgetPast(piece), FORGET_S)
        except RemoteFault as fault:
            raise Fault(fault.kind, fault.message, fault.details) from None
        except CallError as error:
            text = f"forget of {_text(piece)}: {owner} does not answer ({error}); try again"
            raise to_fault(MeteorError(text)) from None

    # -- as its holder

    async def _forget(self, part: Intervals) -> Forgotten:
        """Declare the past of what is lost here gone; refuses what is not lost here."""
        kept = subtract(part, self._views.lost())
        if kept:
            raise to_fault(
                Refused(
                    f"forget of {_text(kept[0])}: that is not lost at {self._node.contact}; look "
                    "at `meteor ring` for what is",
                    "not lost",
                )
            )
        for view in self._views.touching(part):
            its = intersect(view.lost, part)
            if not await self._replication.found(view.number, its):
                raise to_fault(MeteorError(f"forget of {_text(its[0])}: it moves; try again"))
            for interval in its:
                _log.warning("the past of the lost interval %s is forgotten", _text(interval))
            self.count += len(its)
        return Forgotten(part)


def _text(interval: Interval) -> str:
    return f"{interval[0]}-{interval[1]}"
