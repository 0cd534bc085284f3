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

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from arms import DATA, INTEREST, WATCH, Kind, Reaction, Record, Rendezvous, Return, Tell
from chord import Contact, Runtime
from meteor import codec
from meteor.admission import KEPT_KINDS
from meteor.holdings import Holdings, Intervals
from meteor.messages import Found
from meteor.moves import Moves
from meteor.operations import Carried, FoundPage, Operation, Summary
from meteor.placement import GONE, MOVED, Key, Placed
from meteor.record_id import stem_of
from meteor.shelf import Shelf
from meteor.task import DELETES, Task, read_task, refusal
from meteor.telling import Telling, found_of
from squid import Box, HandOn, HilbertCurve, Work, covers, intersect, merge, subtract

PAGE_BYTES = 64 * 1024
REMEMBERED_S = 600.0
"""How long it is remembered where a delete was carried out, so that a share which comes late does
not take what was stored after the delete was answered (DESIGN section 3)."""
REMEMBERED_MAX = 8192

TOMBSTONE_MS = 30 * 86_400 * 1000
"""A tombstone outlives every ttl (SPEC section 4: at most 30 days)."""

FROZEN_PAUSE_S = 0.02


@dataclass(slots=True)
class _Done:
    """Where a delete was carried out here so far."""

    at_s: float
    part: Intervals = ()


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
    ) -> None:
        self._runtime, self._holdings, self._shelf = runtime, holdings, shelf
        self._rendezvous, self._telling, self._settle = rendezvous, telling, settle
        self._curve = curve
        self._moves = Moves(curve)
        self._done: OrderedDict[bytes, _Done] = OrderedDict()

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
        return self._pass(task, part) if task.passes else None

    async def perform(self, share: HandOn, part: Intervals) -> Work:
        """Do an operation's work in `part`."""
        task = read_task(share, self._curve)
        if task is None:
            return Work(missing=part)
        if task.passes:
            return self._pass(task, part)
        ends_s = self._runtime.now() + share.remaining_ms / 1000
        await self._undisturbed(task, part)
        if self._runtime.now() > ends_s:
            return Work(missing=part)  # its origin has closed this attempt: nothing may happen now
        mine = intersect(part, self._holdings.held)
        undone = subtract(part, mine)
        if not mine:
            return Work(undone=undone)
        frames, summary = await self._change(task, mine)
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
                await self._shelf.barrier()
            else:
                return

    def _keys(self, task: Task) -> list[Key]:
        """The identities that a task may change."""
        if task.operation.verb in DELETES:
            return [record.key for record in self._selected(task)]
        return [task.key, task.old_key]

    def _remember(self, operation_id: bytes) -> _Done:
        now = self._runtime.now()
        while self._done:
            oldest = next(iter(self._done.values()))
            if len(self._done) <= REMEMBERED_MAX and now - oldest.at_s <= REMEMBERED_S:
                break
            self._done.popitem(last=False)
        return self._done.setdefault(operation_id, _Done(now))

    # -- what is not kept

    def _pass(self, task: Task, part: Intervals) -> Work:
        """A post without time to live meets what is kept in this part, and is gone."""
        carried = self._carried_of(task.operation)
        passing = self._shelf.record_of(carried, task.profile, task.box)
        reactions = self._rendezvous.arrive(passing, self._runtime.now(), self._in(part))
        found = self._carry_out(reactions)
        return Work(
            frames=_pages(found),
            body=codec.encode(Summary(_met(reactions, passing), moved=self._moved_lately(passing))),
            missing=() if passing.kind == DATA else intersect(part, self._holdings.lost),
        )

    def _moved_lately(self, passing: Record) -> tuple[str, ...]:
        """What a query may have missed at both its places."""
        if passing.action != "retrieve" or not self._moves:
            return ()
        assert isinstance(passing.region, Box)
        return self._moves.between(passing.region, self._runtime.now())

    def _carry_out(self, reactions: Sequence[Reaction]) -> list[Found]:
        """Tell whom it concerns; returns what the sender of the operation is to have."""
        found = []
        for reaction in reactions:
            if isinstance(reaction, Tell):
                self._telling.tell(reaction)
            else:
                found.append(found_of(self._shelf, reaction.record))
        return found

    # -- what changes something

    async def _change(self, task: Task, part: Intervals) -> tuple[list[bytes], Summary]:
        if task.operation.verb in KEPT_KINDS:
            return await self._keep(task, part)
        if task.operation.verb in DELETES:
            return await self._delete(task, part)
        return [], await self._amend(task, part)

    async def _keep(self, task: Task, part: Intervals) -> tuple[list[bytes], Summary]:
        """Store a record, match it with the other kinds, tell whom it concerns."""
        carried = self._carried_of(task.operation)
        known = self._living(task.key)
        left = self._living(task.old_key)
        refused = refusal(carried, known) or refusal(carried, left)
        if refused:
            return [], Summary(0, refused=refused)
        if known is not None and known.carried.version == carried.version:
            carried = replace(carried, ttl_ms=max(carried.ttl_ms, known.carried.ttl_ms))
        carried = (await self._shelf.write([carried]))[0]
        record = self._shelf.record_of(carried, task.profile)
        now, belongs = self._runtime.now(), self._in(part)
        arrival = self._rendezvous.accept(record, now, belongs)
        if arrival.outcome not in {"stored", "same"}:
            return [], Summary(0, refused=arrival.outcome)
        self._shelf.place(carried)
        reactions = arrival.reactions
        if arrival.outcome == "same":
            self._shelf.store.update(record)
            reactions = self._rendezvous.meet(record, now, belongs)
        found = self._carry_out(reactions)
        if record.kind != DATA:
            self._telling.moved(record)
        return _pages(found), Summary(_met(reactions, record), known=True)

    def _living(self, key: Key) -> Placed | None:
        """What is known of an identity and not over yet, a tombstone included."""
        placed = self._shelf.find(key)
        over = placed is None or placed.carried.ttl_ms <= self._shelf.wall_ms()
        return None if over else placed

    def _selected(self, task: Task) -> Sequence[Record]:
        """What a delete asks for."""
        operation = task.operation
        kinds: tuple[Kind, ...] = (DATA,) if operation.verb == "delete_data" else (INTEREST, WATCH)
        assert task.profile is not None, "a delete has a selector"
        return self._rendezvous.delete(
            task.profile, kinds, operation.owner, operation.mode, True, self._runtime.now()
        ).records

    async def _delete(self, task: Task, part: Intervals) -> tuple[list[bytes], Summary]:
        """Remove, on this copy, what the selector contains; count it where its lowest cell is."""
        selected = self._selected(task)
        if task.operation.dry_run:
            mine = [r for r in selected if covers(part, self._shelf.placed(r).lowest)]
            found = [found_of(self._shelf, r, payload=False) for r in mine]
            return _pages(found), Summary(len(mine))
        done = self._remember(task.id)
        fresh, done.part = subtract(part, done.part), merge(part, done.part)
        await self._bury([r for r in selected if self._shelf.lives_in(r, fresh)], task.id)
        return [], Summary(self._buried_in(part, task.id))

    def _buried_in(self, part: Intervals, operation_id: bytes) -> int:
        """How many records an operation took whose lowest cell lies in `part`."""
        return sum(covers(part, stone.lowest) for stone in self._shelf.buried(operation_id))

    async def _bury(self, records: Sequence[Record], operation_id: bytes) -> None:
        """Put tombstones in the place of records.  Waits for earlier ones also without any."""
        until_ms = self._shelf.wall_ms() + TOMBSTONE_MS
        stones = [
            replace(
                self._shelf.placed(record).carried,
                kind=GONE, ttl_ms=until_ms, blob=b"", route=None, operation=operation_id,
            )
            for record in records
        ]  # fmt: skip
        written = await self._shelf.write(stones)
        now, here = self._runtime.now(), self._in(self._holdings.held)
        for record, stone in zip(records, written, strict=True):
            self._carry_out(self._rendezvous.cancel(*record.key, now, here).reactions)
            self._shelf.place(stone)
            self._telling.drop(record.stem)

    async def _amend(self, task: Task, part: Intervals) -> Summary:
        """Renew, cancel or lay to rest one record by its id."""
        operation = task.operation
        known = self._living(task.key)
        if known is not None and known.carried.kind == GONE:
            refused = "deleted" if operation.moved_to else ""
            return Summary(self._buried_in(part, task.id), refused=refused)
        if operation.moved_to:
            if known is not None and known.carried.kind != MOVED and (
                known.carried.id == operation.id and known.carried.version > operation.version
            ):
                return Summary(0, refused="older")
            if known is not None and known.carried.kind == DATA:
                self._moves.note(operation.id, operation.moved_to, self._runtime.now())
            await self._lay_to_rest(task)
            return Summary(0)
        if known is None or known.carried.id != operation.id:
            return Summary(0, moved_to=self._moved_to(task, known))
        record = self._shelf.store.get(*task.key)
        if record is None:
            return Summary(0)
        if operation.verb == "renew":
            await self._renew(operation, known.carried, record)
            return Summary(int(covers(part, known.lowest)), known=True)
        await self._bury([record], task.id)
        return Summary(self._buried_in(part, task.id), known=True)

    def _moved_to(self, task: Task, known: Placed | None) -> str:
        """Where a record is now that was replaced; empty when nothing is known of it."""
        if known is not None:
            return known.carried.id
        left = self._living(task.old_key)
        return "" if left is None else left.carried.moved_to

    async def _lay_to_rest(self, task: Task) -> None:
        """The second half of a replace: leave word at the old region where the record is now."""
        operation, key = task.operation, task.key
        word = replace(
            self._carried_of(operation), kind=MOVED, route=None, moved_to=operation.moved_to
        )
        written = (await self._shelf.write([word]))[0]
        record = self._shelf.store.get(*key)
        if record is not None and record.id == word.id and record.version < word.version:
            now, here = self._runtime.now(), self._in(self._holdings.held)
            self._carry_out(self._rendezvous.forget(*key, now, here).reactions)
            self._telling.drop(record.stem)
        self._shelf.show(written)

    async def _renew(self, operation: Operation, carried: Carried, record: Record) -> None:
        renewed = replace(
            carried,
            ttl_ms=self._shelf.wall_ms() + operation.ttl_ms,
            route=operation.route if carried.route is not None else None,
            acknowledged=self._telling.watermark(stem_of(operation.id)),
        )
        written = (await self._shelf.write([renewed]))[0]
        self._shelf.show(written, record.profile)
        self._telling.moved(self._shelf.record_of(written, record.profile))

    async def expire(self) -> None:
        """Give back what has expired, and tell watches of interests that are gone."""
        swept = self._rendezvous.sweep(self._runtime.now(), self._in(self._holdings.held))
        for record in swept.records:
            self._telling.drop(record.stem)
        self._carry_out(swept.reactions)
        await self._shelf.drop(
            [*(record.key for record in swept.records), *self._shelf.stones_over()]
        )

    # -- forms

    def _carried_of(self, operation: Operation) -> Carried:
        return Carried(
            kind=KEPT_KINDS.get(operation.verb, MOVED),
            id=operation.id,
            owner=operation.owner,
            version=operation.version,
            action=operation.verb,
            ttl_ms=self._shelf.wall_ms() + operation.ttl_ms,
            blob=operation.document,
            number=0,
            acknowledged=0,
            route=operation.route,
        )

    def _in(self, part: Intervals) -> Callable[[Record, Record], bool]:
        """Whether a pair is told of for this part."""

        def belongs(left: Record, right: Record) -> bool:
            lowest = self._shelf.lowest_common(left, right)
            return lowest is not None and covers(part, lowest)

        return belongs


def _met(reactions: Sequence[Reaction], record: Record) -> int:
    """How many pairs a new record made."""
    return sum(
        isinstance(r, Return) or r.kind == "match" or (record.kind == WATCH and r.to is record)
        for r in reactions
    )


def _pages(found: Sequence[Found]) -> list[bytes]:
    """Pages of at most `PAGE_BYTES`, unless one match alone is larger."""
    pages: list[bytes] = []
    page: list[Found] = []
    size = 0
    for one in found:
        length = len(one.blob) + len(one.id) + 32
        if page and size + length > PAGE_BYTES:
            pages.append(codec.encode(FoundPage(tuple(page))))
            page, size = [], 0
        page.append(one)
        size += length
    if page:
        pages.append(codec.encode(FoundPage(tuple(page))))
    return pages
