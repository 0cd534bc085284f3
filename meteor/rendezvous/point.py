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
from functools import partial

from arms import DATA, Asked, Record, Rendezvous
from chord import Contact, Runtime, replace
from meteor.admission import KEPT_KINDS
from meteor.copies.copying import Superseded
from meteor.copies.lease import Lease
from meteor.copies.replication import Replication
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.rendezvous.changes import Changes
from meteor.rendezvous.deletes import Write
from meteor.rendezvous.finishing import finished
from meteor.rendezvous.halfway import Halfway
from meteor.rendezvous.moves import Moves
from meteor.rendezvous.ownership import keys_of, looks_at
from meteor.rendezvous.reach import Reach
from meteor.rendezvous.reactions import Following, Reactions, carried_of
from meteor.rendezvous.recall import Recall
from meteor.rendezvous.repeats import Repeats, begins_in
from meteor.rendezvous.task import FIND, PERFORM, Task, read_task
from meteor.rendezvous.telling import Telling
from meteor.rendezvous.under_way import Ends, UnderWay
from meteor.rendezvous.undisturbed import FROZEN_PAUSE_S, undisturbed
from meteor.wire import codec
from meteor.wire.action_messages import Willing
from meteor.wire.operations import Carried, Summary
from meteor.wire.view import View
from meteor.wire.went import Went, telling
from squid import Box, HandOn, HilbertCurve, Work, intersect, merge, subtract

WAITING_SHARE = 0.7
"""Of a question's time, how much is spent waiting for what is about to be settled."""
BURIED_AT_ONCE = 16
"""Records that a delete takes in one step: some 50 microseconds each, here and at every copy."""


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
        self._runtime, self._holdings, self._shelf, self._views = runtime, holdings, shelf, views
        self._rendezvous, self._telling, self._replication = rendezvous, telling, replication
        self._curve, self._settle, self._lease, self._step_up = curve, settle, lease, step_up
        self._moves = Moves(curve, runtime.now())
        self.halfway = Halfway(shelf, holdings, curve, views.present)
        self._recall, self._repeats = Recall(shelf.issued_ms()), Repeats(self.forgot)
        self.reach, holdings.on_gain = Reach(shelf, replication.copying), self._gained
        self._undisturbed = partial(undisturbed, runtime, holdings, shelf, replication)
        self._under_way, self._reactions = UnderWay(runtime), Reactions(runtime, shelf, telling)
        self.changes = Changes(
            runtime, holdings, shelf, rendezvous, telling, self._reactions, self._moves,
            self.halfway,
        )  # fmt: skip

    def _gained(self, part: Intervals) -> None:
        self._recall.gained(part, self._shelf.issued_ms())
        self._moves.known.gained(part, self._runtime.now())
        if stones := self._shelf.table.stones():
            self._shelf.owed.note_all(stones)  # another holder's, perhaps, whom it had them for
            self._runtime.spawn(self.changes.compare_in(part, stones))

    def forgot(self, ago_s: float) -> None:
        """Something that was carried out here so long ago is not remembered any more."""
        self._recall.forgot(self._shelf.issued_ms() - int(ago_s * 1000))

    def remembers_since_ms(self, part: Intervals) -> int:
        """From which Unix millisecond on this peer knows all that was done in `part`."""
        return self._recall.since_ms(part)

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
        if not task.passes or not self._lease.in_touch(part) or self._holdings.is_open(part):
            return None
        if task.follows or (self.halfway and self.halfway.untold(task, part)):
            return None
        return self._told_at_once(task, part) or self._pass_now(task, part)

    def may_come_late(self, share: HandOn) -> bool:
        """Not what deletes, or changes by id: it would take what was posted since."""
        task = read_task(share, self._curve)
        return task is None or task.may_come_late

    def having_lain(self, share: HandOn, late_s: float) -> HandOn:
        """What is kept has lived for so long already."""
        task = read_task(share, self._curve)
        return share if task is None else task.having_lain(share, late_s)

    def may_be_done(self, share: HandOn, part: Intervals) -> bool:
        """Of what deletes, where `part` was another peer's a while ago."""
        task, now = read_task(share, self._curve), self._runtime.now()
        return task is not None and task.takes and self._moves.known.is_new(part, now)

    def copied(self) -> Intervals:
        """The indexes of which a whole copy is kept here for others."""
        return self._views.copied()

    async def stand_in(self, share: HandOn, part: Intervals) -> Work | None:
        """Answer for a silent primary, once another holder says that the copy here counts."""
        task = read_task(share, self._curve)
        if task is None or not task.passes:
            return None
        await finished(self._runtime, self.halfway, task, part)
        await self._lease.confirm(part)
        for view in await self._lease.unconfirmed(subtract(part, self._holdings.held)):
            if not self._lease.is_deserted(view):
                return None
            await self._step_up(view)
            if subtract(intersect(view.intervals, part), self._holdings.held):
                return None  # somebody near knows of a later view
        if task.follows and subtract(part, self._holdings.held):
            return None  # the primary alone knows whether it is on its way
        if subtract(part, merge(self._views.copied(), self._holdings.held)):
            return None
        # As it is now: what is found as the pages are packed is on none of them.
        copied = subtract(part, subtract(self._holdings.held, self._holdings.lost))
        unknown = intersect(copied, self._views.copied_lost())
        doubted = intersect(copied, self._views.copied_rivals())
        work = await self._pass_by_enough(task, part)
        doubted, missing = merge(work.doubted, doubted), merge(work.missing, unknown)
        return replace(work, missing=missing, doubted=doubted)

    async def perform(self, share: HandOn, part: Intervals) -> Work:
        """Do an operation's work in `part`."""
        task = read_task(share, self._curve)
        if task is None:
            return Work(missing=part)
        ends_s = self._runtime.now() + share.remaining_ms / 1000
        # The first try has the whole of an arc, a later one begins where something can lie.
        lowest = self._curve.next_match(task.box, part[0][0]) if part else None
        name = share.origin.id, share.operation, part[1:], part[0][1] if part else None, lowest
        work = await self._under_way.once(
            name, ends_s, lambda ends: self._perform(task, part, ends)
        )
        return Work(undone=part) if work is None else work

    async def _perform(self, task: Task, part: Intervals, ends: Ends) -> Work:
        await self._settled(task, part, ends())
        if task.follows:
            # Where it was, a copy of this place perhaps, it shows no more as soon as it is written.
            await self._replication.barrier()
        if task.passes:  # what is given up in these waits is not answered for
            await finished(self._runtime, self.halfway, task, part)
            await self._lease.confirm(part)
        else:
            if task.operation.dry_run or task.operation.verb not in KEPT_KINDS:
                # what finds nothing has nobody keep anything, who would say that others went on
                await self._lease.confirm(part)
            if (refused := await self.reach.refusal(task, part)) is not None:
                return Work(body=codec.encode(refused))
            await self._undisturbed(part, () if task.deletes else keys_of(task))
        if self._runtime.now() > ends() or task.overlives(self._runtime.lateness()):
            return Work(undone=part)  # its origin has closed this attempt: nothing may happen now
        mine = intersect(part, self._holdings.held)
        undone = subtract(part, mine) if mine != part else ()
        if not mine:
            return Work(undone=undone)
        doubted = self._doubted(task, mine)
        if task.passes:
            work = await self._pass_by_enough(task, mine)
            return replace(work, undone=undone, doubted=merge(work.doubted, doubted))
        if doubted:
            return Work(undone=part)
        return await self._change_or_leave(task, mine, undone, ends)

    async def _change_or_leave(
        self, task: Task, mine: Intervals, undone: Intervals, ends: Ends
    ) -> Work:
        """Change something, or leave it to whom it belongs meanwhile."""
        try:
            frames, summary, speaks_for_s = await self._change(task, mine, ends)
        except Superseded:
            return Work(undone=merge(mine, undone))
        if task.operation.verb in KEPT_KINDS and self._doubted(task, mine):
            # It showed meanwhile: an interest is asked for again, which changes nothing here.  What
            # a delete did counts, as it is not done twice: it says what it may have left.
            return Work(undone=merge(mine, undone))
        await finished(self._runtime, self.halfway, task, mine)
        missing, body = self._missing_of(task, mine), codec.encode(summary)
        return Work(frames, body, missing, undone=undone, speaks_for_s=speaks_for_s)

    async def _settled(self, task: Task, part: Intervals, ends_s: float) -> None:
        """Wait until it is known whether all of this part is here, which is soon.  A question keeps
        some of its time, to bring home what is known."""
        if not self._doubted(task, part):
            return
        now = self._runtime.now()
        until_s = now + (ends_s - now) * (WAITING_SHARE if task.passes else 1.0)
        while self._doubted(task, part) and self._runtime.now() < until_s:
            await self._runtime.sleep(FROZEN_PAUSE_S)

    def _doubted(self, task: Task, part: Intervals) -> Intervals:
        """What of this part it is not known of yet whether all is here; data asks nothing."""
        is_data = KEPT_KINDS.get(task.operation.verb) == DATA
        return () if is_data else self._holdings.doubted(part)

    # -- what is not kept

    async def _pass_by_enough(self, task: Task, part: Intervals) -> Work:
        """The same, but for what fewer hold than have to: of that nothing is shown, or met.  Others
        may make the answer complete, and what they deleted would be in it."""
        lately, long = self._holdings.few(part)
        enough = subtract(part, merge(lately, long)) if lately or long else part
        work = await self._pass(task, enough) if enough else Work()
        return replace(work, missing=merge(work.missing, long), doubted=lately)

    async def _pass(self, task: Task, part: Intervals) -> Work:
        """A post without time to live meets what is kept in this part, and is gone."""
        if (told := self._told_at_once(task, part)) is not None:
            return told
        missing = self._missing_of(task, part)
        passing, now = self._passing(task)
        if task.asks:
            asked = self._ask(passing, now, part)
            following = await self._reactions.answer(asked, passing, part)
        else:
            met = self._rendezvous.accept(passing, now, self._reactions.within(part))
            following = await self._reactions.follow(met.steps, passing)
        return self._passed(following, passing, part, missing)

    def _pass_now(self, task: Task, part: Intervals) -> Work | None:
        """A question's answer as far as it goes in this very turn; None for what is no question."""
        if not task.asks:
            return None
        passing, now = self._passing(task)
        asked, missing = self._ask(passing, now, part), self._missing_of(task, part)
        following, bring = self._reactions.answer_now(asked, passing, part)
        if bring is None:
            return self._passed(following, passing, part, missing)

        async def rest() -> Work:
            await bring()
            return self._passed(following, passing, part, missing)

        return Work(frames=following.pages.leave(), missing=missing, rest=rest)

    def _ask(self, question: Record, now: float, part: Intervals) -> Asked:
        span = (part[0][0], part[-1][1]) if part else None
        return self._rendezvous.ask(question, now, self._reactions.within(part), span)

    def _told_at_once(self, task: Task, part: Intervals) -> Work | None:
        """The answer to a question that is not for matching."""
        lost = self._holdings.missing(part)
        if task.operation.verb == FIND:
            frames, summary = self.changes.find(task)
            return Work(frames=frames, body=codec.encode(summary), missing=lost)
        if task.operation.verb == PERFORM and task.operation.dry_run:
            return Work(body=codec.encode(Willing(part)), missing=lost)
        return None

    def _passing(self, task: Task) -> tuple[Record, float]:
        """The record of what passes, and the time at which it does."""
        carried, now = carried_of(task.operation, self._shelf.wall_ms()), self._runtime.now()
        passing = self._shelf.record_of(carried, task.profile, (task.key[1], task.box, None))
        # Between two clocks a time is rounded: what passes must not live for a microsecond.
        return replace(passing, expires_s=now), now

    def _missing_of(self, task: Task, part: Intervals) -> Intervals:
        """What a question can have no answer about; data that passes asks nothing."""
        is_data = KEPT_KINDS.get(task.operation.verb) == DATA
        lost = () if is_data else self._holdings.missing(part)
        return merge(lost, self.halfway.untold(task, part)) if self.halfway else lost

    def _passed(
        self, following: Following, passing: Record, part: Intervals, missing: Intervals
    ) -> Work:
        """What came of it, with what a query may have missed at both its places."""
        summary, speaks_for_s = Summary(following.pairs), None
        if passing.action == "retrieve":
            assert isinstance(passing.region, Box)
            went, speaks_for_s = self._moved(passing.region, part, passing.owner, is_data=True)
            summary = telling(summary, went)
        body = codec.encode(summary)
        return Work(following.pages.all(), body, missing, speaks_for_s=speaks_for_s)

    def _moved(
        self, box: Box, part: Intervals, owner: str, *, is_data: bool
    ) -> tuple[Sequence[Went], float]:
        """What went where lately, and how old a question may be for this to be all."""
        sees, now = partial(self._shelf.sees, owner), self._runtime.now()
        told = self._moves.from_within(box, part, now, sees, is_data=is_data)
        return told.went, now - told.since_s

    # -- what changes something

    async def _change(
        self, task: Task, part: Intervals, ends: Ends
    ) -> tuple[list[bytes], Summary, float | None]:
        written: list[Carried] = []
        owed = self._shelf.owed_in(part, *looks_at(task))  # nothing of it is promised before

        async def write(carried: Sequence[Carried]) -> list[Carried]:
            kept = await self._replication.keep_for_client(carried, part, ends())
            written.extend(kept)
            return kept

        lowest_in = partial(begins_in, self._curve, task.box)
        first = self._repeats.first_summary(task.operation, task.id, part, lowest_in)
        if first is not None and not task.operation.dry_run:
            await self._replication.enough(part, ends(), owed)
            return [], first, None
        frames, speaks_for_s = list[bytes](), None
        if task.operation.verb in KEPT_KINDS:
            is_over = self._recall.has_run_out(task.operation, part, self._shelf.issued_ms())
            frames, summary = await self.changes.keep(task, part, write, is_over=is_over)
        elif task.deletes:
            frames, summary = await self._delete(task, part, write, ends, first)
            is_data, owner = task.operation.verb == "delete_data", task.operation.owner
            went, speaks_for_s = self._moved(task.box, part, owner, is_data=is_data)
            summary = telling(summary, went)
        else:
            doubtful = self._recall.may_be_repeat(task.operation, part)
            summary = await self.changes.amend(task, part, write, doubtful=doubtful)
        if first is None:
            self._repeats.note(task.operation, task.id, part, summary, self._runtime.now())
        # What is so already may be so here alone; a refusal, or what only looks, promises nothing.
        promises = not (task.operation.dry_run or summary.refused)
        is_open = task.deletes and self._replication.levelling.is_open(part)
        if promises and (self._shelf.owed or not written or is_open):
            await self._replication.enough(part, ends(), owed)
        return frames, summary, speaks_for_s

    async def _delete(
        self, task: Task, part: Intervals, write: Write, ends: Ends, first: Summary | None
    ) -> tuple[list[bytes], Summary]:
        """Some at a time, so that others get their turn in between, and let go of as they are
        buried: a hundred thousand at once take 0.1 s.  Raises `Superseded` when the time is up."""
        deletes, newest = self.changes.deletes, self._recall.newest_taken(task.operation, part)
        selected = await deletes.selected(task, newest)
        if task.operation.dry_run:
            shown = subtract(part, merge(*self._holdings.few(part)))  # as in `_pass_by_enough`
            return await deletes.would_delete(task, selected, shown, first)
        fresh, mine = deletes.fresh_part(task.mark, part), {one.key for one in selected}
        selected.reverse()
        while True:
            some = selected[: -BURIED_AT_ONCE - 1 : -1]
            del selected[-BURIED_AT_ONCE:]
            keys = [key for one in some for key in (one.key, (one.owner, one.id))]
            await self._undisturbed(part, keys)  # the word of a move is written under the second
            if some and self._runtime.now() > ends():
                raise Superseded("nobody waits for it any more")
            present = deletes.still_in(task, some, fresh, newest)
            await deletes.bury(present, task.mark, write)
            mine -= {record.key for record in some} - {record.key for record in present}
            if not selected:
                await deletes.bury_beside(task.mark, part, mine, write)
                return [], await deletes.buried(task.mark, part)
            await self._runtime.sleep(0.0)  # a journal in memory never makes anybody wait
