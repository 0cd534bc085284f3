"""Deletes: what a selector takes of what one peer holds, and the tombstones in its place.

Law of this file: what is taken is counted once.  A delete looks, then buries some at a time, so a
post may come in between: each record is looked at again in the turn in which it is buried.  A share
that is tried again after a lost report is not carried out twice, and counts as before, by the mark
on the tombstones (DESIGN section 3).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from itertools import islice

from arms import DATA, INTEREST, WATCH, Kind, Record, Rendezvous
from chord import Runtime, dataclass, replace
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.outlived import outlasting_ms
from meteor.keeping.placement import GONE, Key, key_of
from meteor.keeping.shelf import Shelf
from meteor.lifetimes import TTL_S_MAX
from meteor.rendezvous.ended import Ended
from meteor.rendezvous.reactions import AT_ONCE, Reactions
from meteor.rendezvous.task import Task
from meteor.rendezvous.telling import Telling, found_of
from meteor.security.delegated import is_within
from meteor.wire.found_pages import Pages
from meteor.wire.operations import Carried, Summary
from squid import covers, merge, subtract

REMEMBERED_S = 600.0
"""How long it is remembered where a delete was carried out, so that a share which comes late does
not take what was stored after the delete was answered (DESIGN section 3)."""
REMEMBERED_MAX = 8192

COUNTED_AT_ONCE = 1000
"""Tombstones that are counted in one turn."""

TOMBSTONE_MS = outlasting_ms(round(TTL_S_MAX * 1000))
"""A tombstone outlives every ttl (SPEC section 4: at most 30 days), also where whoever was away
with the record has a slower clock."""

Write = Callable[[Sequence[Carried]], Awaitable[list[Carried]]]
"""Makes changes durable wherever they must be."""


@dataclass(slots=True)
class _Done:
    """Where a delete was carried out here so far."""

    at_s: float
    part: Intervals = ()


def _is_up_to(newest: int | None, record: Record) -> bool:
    return newest is None or record.version <= newest


def _is_for(task: Task, record: Record) -> bool:
    """Whether whoever asks may take it: a delegate no more than his delegation is for."""
    return is_within(task.operation.limit, record.profile, record.kind)


class Deletes:
    """What one peer deletes of what it keeps."""

    def __init__(
        self,
        runtime: Runtime,
        holdings: Holdings,
        shelf: Shelf,
        rendezvous: Rendezvous,
        telling: Telling,
        reactions: Reactions,
        ended: Ended,
    ) -> None:
        self._runtime, self._holdings, self._shelf = runtime, holdings, shelf
        self._rendezvous, self._telling, self._reactions = rendezvous, telling, reactions
        self._ended = ended
        self._done: OrderedDict[bytes, _Done] = OrderedDict()

    async def selected(self, task: Task, newest: int | None) -> list[Record]:
        """What a delete asks for, as it is kept at the beginning of this, up to the `newest`
        version."""
        operation = task.operation
        kinds: tuple[Kind, ...] = (DATA,) if operation.verb == "delete_data" else (INTEREST, WATCH)
        assert task.profile is not None, "a delete has a selector"
        candidates = self._rendezvous.deletable(
            task.profile, kinds, operation.owner, operation.mode, self._runtime.now()
        )
        selected: list[Record] = []
        while some := list(islice(candidates, AT_ONCE)):
            selected += [
                one
                for one in some
                if one is not None and _is_up_to(newest, one) and _is_for(task, one)
            ]
            if len(some) == AT_ONCE:
                await self._runtime.sleep(0.0)
        return selected

    async def would_delete(
        self, task: Task, selected: Sequence[Record], part: Intervals, first: Summary | None
    ) -> tuple[list[bytes], Summary]:
        """What a delete that only asks is told; of one that asked before, and heard this `first`,
        how much of what was found then is no more there."""
        newest = None if first is None else task.operation.version
        pages, count = Pages(), 0
        for at, record in enumerate(selected, 1):
            placed = self._shelf.find(record.key)
            met = None if placed is None else self._shelf.lowest_in(task.box, placed)
            if met is not None and covers(part, met):
                pages.add(found_of(self._shelf, record, payload=False))
                count += _is_up_to(newest, record)
            if at % AT_ONCE == 0:
                await self._runtime.sleep(0.0)
        if first is None:
            return pages.all(), Summary(count)
        return pages.all(), replace(first, matches=max(first.matches - count, 0))

    def fresh_part(self, operation_id: bytes, part: Intervals) -> Intervals:
        """Where a delete was not carried out before."""
        return subtract(part, self._remember(operation_id).part)

    def still_in(
        self, task: Task, selected: Sequence[Record], part: Intervals, newest: int | None
    ) -> list[Record]:
        """What a delete selected, as it is now: what is still here and lives in this part.  A
        version that came since is taken where the selector takes it too: a delete comes before
        another post or after it, and never misses both of its versions."""
        present = [self._shelf.store.get(*record.key) for record in selected]
        return [
            now
            for now, then in zip(present, selected, strict=True)
            if now is not None
            and _is_up_to(newest, now)
            and (now.version == then.version or self._is_taken(task, now))
            and _is_for(task, now)
            and self._shelf.lives_in(now, part)
        ]

    def _is_taken(self, task: Task, record: Record) -> bool:
        assert task.profile is not None, "a delete has a selector"
        return self._rendezvous.is_deletable(
            task.profile, record, task.operation.mode, self._runtime.now()
        )

    async def bury(self, records: Sequence[Record], operation_id: bytes, write: Write) -> None:
        """Put tombstones in the place of records that are here.  Waits for earlier changes also
        without any."""
        until_ms = self._shelf.wall_ms() + TOMBSTONE_MS
        stones = [
            replace(
                self._shelf.placed(record).carried,
                kind=GONE, ttl_ms=until_ms, blob=b"", route=None, operation=operation_id, limit=b"",
            )
            for record in records
        ]  # fmt: skip
        written = await write(stones)
        now, here = self._runtime.now(), self._reactions.within(self._holdings.held)
        for record, stone in zip(records, written, strict=True):
            self._ended.note(record)
            gone = self._rendezvous.cancel(*record.key, now, here)
            self._reactions.carry_out(gone.steps, record)
            self._shelf.place(stone)
            self._telling.drop(record)

    async def bury_beside(
        self, operation_id: bytes, part: Intervals, mine: Collection[Key], write: Write
    ) -> None:
        """What another holder of a part of it was the first to bury, and this peer has as its copy,
        is to be with the copies of this part as well: these are others."""
        stones = self._shelf.buried(operation_id)
        while some := list(islice(stones, COUNTED_AT_ONCE)):
            others = [one.carried for one in some if key_of(one.carried) not in mine]
            if others := [one for one in others if self._shelf.meets(one, part)]:
                await write(others)  # not placed anew: it is here, and counts once
            if len(some) == COUNTED_AT_ONCE:
                await self._runtime.sleep(0.0)

    async def buried(self, operation_id: bytes, part: Intervals) -> Summary:
        """A delete was carried out in this part: how much it took there, each counted where its
        lowest cell is."""
        done = self._remember(operation_id)
        done.part = merge(part, done.part)
        count, stones = 0, self._shelf.buried(operation_id)
        while some := list(islice(stones, COUNTED_AT_ONCE)):
            count += sum(covers(part, stone.lowest) for stone in some)
            if len(some) == COUNTED_AT_ONCE:
                await self._runtime.sleep(0.0)
        return Summary(count)

    def _remember(self, operation_id: bytes) -> _Done:
        now = self._runtime.now()
        while self._done:
            oldest = next(iter(self._done.values()))
            if len(self._done) <= REMEMBERED_MAX and now - oldest.at_s <= REMEMBERED_S:
                break
            self._done.popitem(last=False)
        return self._done.setdefault(operation_id, _Done(now))
