"""The rendezvous point: what an operation does at a peer that holds a part of its region.

Law of this file: order.  Of every operation: wait until nothing is frozen and no other change of
the same record is under way, decide, make it durable, then insert and match in one step without an
await, in the journal's order, then report.  So of every pair the later arrival finds the earlier
exactly once.  A pair is told of by the holder of the lowest index that both regions share; matching
is per (record, interval), so a moving arc loses no pair (DESIGN section 4).  An operation that is
tried again after a lost report answers as before: posts are known by their version, what a delete
took by its mark on the tombstones.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from arms import DATA, Record, Rendezvous
from chord import Contact, Runtime
from meteor import codec
from meteor.admission import KEPT_KINDS
from meteor.changes import Changes
from meteor.holdings import Holdings, Intervals
from meteor.lease import Lease
from meteor.moves import Moves
from meteor.operations import Carried, Summary
from meteor.placement import Key
from meteor.reactions import Reactions, carried_of, met, pages_of
from meteor.replication import Replication, Superseded
from meteor.shelf import Shelf
from meteor.task import DELETES, FIND, Task, read_task
from meteor.telling import Telling
from meteor.views import View, Views
from squid import Box, HandOn, HilbertCurve, Work, intersect, merge, subtract

PAGE_BYTES = 64 * 1024
FROZEN_PAUSE_S = 0.02

Write = Callable[[Sequence[Carried]], Awaitable[list[Carried]]]
"""Makes changes durable wherever they must be."""


class RendezvousPoint:
    """The worker of one peer's router."""

    def __init__(
        self,
        runtime: Runtime,
        holdings: Holdings,
        shelf: Shelf,
        rendezvous: Rendezvous,
        telling: Telling,
        settle: Callable[[int, float], Awaitable[None]],
        curve: HilbertCurve,
        replication: Replication,
        lease: Lease,
        views: Views,
        step_up: Callable[[View], Awaitable[None]],
    ) -> None:
        self._runtime, self._holdings, self._shelf = runtime, holdings, shelf
        self._rendezvous, self._telling, self._settle = rendezvous, telling, settle
        self._curve, self._replication, self._lease = curve, replication, lease
        self._views, self._step_up = views, step_up
        self._moves = Moves(curve)
        self._reactions = Reactions(shelf, telling)
        self.changes = Changes(
            runtime, holdings, shelf, rendezvous, telling, self._reactions, self._moves
        )

    # -- the router's questions

    def held(self) -> Intervals:
        """The curve indexes that this peer answers for."""
        return self._holdings.held

    def holder_of(self, index: int) -> Contact | None:
        """Another peer that is known to hold `index`."""
        return self._holdings.holder_of(index)

    def unreachable(self, holder: Contact) -> None:
        """A peer that was given something does not answer: the ring knows better."""
        self._holdings.forget_holder(holder)

    async def settle(self, index: int, timeout_s: float) -> None:
        """Wait until an index of this peer's arc is held here."""
        await self._settle(index, timeout_s)

    def answer(self, share: HandOn, part: Intervals) -> Work | None:
        """What is not kept is met in the turn in which it comes."""
        task = read_task(share, self._curve)
        if task is None:
            return Work(missing=part)
        if not task.passes or not self._lease.in_touch(part):
            return None
        return self._pass(task, part)

    def copied(self) -> Intervals:
        """The indexes of which a whole copy is kept here for others."""
        return self._views.copied()

    async def stand_in(self, share: HandOn, part: Intervals) -> Work | None:
        """Answer for a silent primary, once another holder says that the copy here counts."""
        task = read_task(share, self._curve)
        if task is None or not task.passes:
            return None
        await self._lease.confirm(part)
        for view in await self._lease.unconfirmed(subtract(part, self._holdings.held)):
            if not self._lease.is_deserted(view):
                return None
            await self._step_up(view)
        if subtract(part, merge(self._views.copied(), self._holdings.held)):
            return None
        work = self._pass(task, part)
        missing = merge(work.missing, intersect(part, self._views.copied_lost()))
        return replace(
            work, missing=subtract(missing, subtract(self._holdings.held, self._holdings.lost))
        )

    async def perform(self, share: HandOn, part: Intervals) -> Work:
        """Do an operation's work in `part`."""
        task = read_task(share, self._curve)
        if task is None:
            return Work(missing=part)
        ends_s = self._runtime.now() + share.remaining_ms / 1000
        if task.passes:
            await self._lease.confirm(part)
        else:
            await self._undisturbed(task, part)
        if self._runtime.now() > ends_s:
            return Work(undone=part)  # its origin has closed this attempt: nothing may happen now
        mine = intersect(part, self._holdings.held)
        undone = subtract(part, mine)
        if not mine:
            return Work(undone=undone)
        if task.passes:
            return replace(self._pass(task, mine), undone=undone)
        return await self._change_or_leave(task, mine, undone, ends_s)

    async def _change_or_leave(
        self, task: Task, mine: Intervals, undone: Intervals, ends_s: float
    ) -> Work:
        """Change something, or leave it to whom it belongs meanwhile."""
        try:
            frames, summary = await self._change(task, mine, ends_s)
        except Superseded:
            return Work(undone=merge(mine, undone))
        return Work(
            frames=frames,
            body=codec.encode(summary),
            missing=() if task.operation.verb == "store" else intersect(mine, self._holdings.lost),
            undone=undone,
        )

    async def _undisturbed(self, task: Task, part: Intervals) -> None:
        """Wait out a hand-off of this part, whose freeze is bounded, and changes of the same
        record that are on their way to the journal."""
        while True:
            if self._holdings.is_frozen(part):
                await self._runtime.sleep(FROZEN_PAUSE_S)
            elif self._shelf.is_begun(self._keys(task)):
                await self._replication.barrier()
            else:
                return

    def _keys(self, task: Task) -> list[Key]:
        """The identities that a task may change."""
        if task.operation.verb in DELETES:
            return [record.key for record in self.changes.selected(task)]
        return [task.key, task.old_key]

    # -- what is not kept

    def _pass(self, task: Task, part: Intervals) -> Work:
        """A post without time to live meets what is kept in this part, and is gone."""
        if task.operation.verb == FIND:
            frames, summary = self.changes.find(task)
            lost = intersect(part, self._holdings.lost)
            return Work(frames=frames, body=codec.encode(summary), missing=lost)
        carried = carried_of(task.operation, self._shelf.wall_ms())
        passing = self._shelf.record_of(carried, task.profile, task.box)
        reactions = self._rendezvous.arrive(
            passing, self._runtime.now(), self._reactions.within(part)
        )
        found = self._reactions.carry_out(reactions)
        return Work(
            frames=pages_of(found),
            body=codec.encode(Summary(met(reactions, passing), moved=self._moved_lately(passing))),
            missing=() if passing.kind == DATA else intersect(part, self._holdings.lost),
        )

    def _moved_lately(self, passing: Record) -> tuple[str, ...]:
        """What a query may have missed at both its places."""
        if passing.action != "retrieve" or not self._moves:
            return ()
        assert isinstance(passing.region, Box)
        return self._moves.between(passing.region, self._runtime.now())

    # -- what changes something

    async def _change(
        self, task: Task, part: Intervals, ends_s: float
    ) -> tuple[list[bytes], Summary]:
        def write(carried: Sequence[Carried]) -> Awaitable[list[Carried]]:
            return self._replication.keep(carried, part, ends_s)

        if task.operation.verb in KEPT_KINDS:
            return await self.changes.keep(task, part, write)
        if task.operation.verb in DELETES:
            return await self.changes.delete(task, part, write)
        return [], await self.changes.amend(task, part, write)
