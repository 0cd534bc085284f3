"""The rendezvous point: what an operation does at a peer that holds a part of its region.

Law of this file: order.  Of every operation: wait until nothing is frozen, make it durable, then
insert and match in one step without an await, in the journal's order, then report.  So of every
pair the later arrival finds the earlier exactly once.  A pair is told of by the holder of the
lowest index that both regions share; matching is per (record, interval), so a moving arc loses no
pair (DESIGN section 4).  Side effects run once per (operation, interval).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from arms import DATA, INTEREST, WATCH, Kind, Reaction, Record, Rendezvous, Return, Tell
from chord import Contact, Runtime
from meteor import codec
from meteor.admission import KEPT_KINDS
from meteor.document import decode_document, unpack_profile
from meteor.holdings import Holdings, Intervals
from meteor.messages import Found
from meteor.operations import Carried, FoundPage, Operation, Summary
from meteor.record_id import stem_of
from meteor.shelf import GONE, MOVED, Key, Shelf
from meteor.telling import Telling, found_of
from squid import HandOn, Work, covers, intersect, merge, subtract

PAGE_BYTES = 64 * 1024
REMEMBERED_S = 600.0
"""How long an operation's effects are remembered, so that an attempt repeated after a lost report
does not run twice (DESIGN section 3)."""
REMEMBERED_MAX = 8192

TOMBSTONE_MS = 30 * 86_400 * 1000
"""A tombstone outlives every ttl (SPEC section 4: at most 30 days)."""

FROZEN_PAUSE_S = 0.02


@dataclass(slots=True)
class _Done:
    """What an operation has done here so far."""

    at_s: float
    part: Intervals = ()
    removed: list[int] = field(default_factory=list)
    """The lowest index of each record that it removed: counted where that index is held."""


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
    ) -> None:
        self._runtime, self._holdings, self._shelf = runtime, holdings, shelf
        self._rendezvous, self._telling, self._settle = rendezvous, telling, settle
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
        """A question that is not kept is answered in the turn in which it comes."""
        operation = codec.decode(share.body)
        if isinstance(operation, Operation) and _is_question(operation):
            return self._ask(operation, part)
        return None

    async def perform(self, share: HandOn, part: Intervals) -> Work:
        """Do an operation's work in `part`."""
        operation = codec.decode(share.body)
        if not isinstance(operation, Operation):
            return Work()
        if _is_question(operation):
            return self._ask(operation, part)
        await self._thawed(part)
        mine = intersect(part, self._holdings.held)
        undone = subtract(part, mine)
        if not mine:
            return Work(undone=undone)
        done = self._remember(share.operation)
        frames, summary = await self._change(operation, mine, done)
        done.part = merge(done.part, mine)
        return Work(
            frames=frames,
            body=codec.encode(summary),
            missing=() if operation.verb == "store" else intersect(mine, self._holdings.lost),
            undone=undone,
        )

    async def _thawed(self, part: Intervals) -> None:
        """Wait out a hand-off of this part; its freeze is bounded."""
        while self._holdings.is_frozen(part):
            await self._runtime.sleep(FROZEN_PAUSE_S)

    def _remember(self, operation_id: bytes) -> _Done:
        now = self._runtime.now()
        while self._done:
            oldest = next(iter(self._done.values()))
            if len(self._done) <= REMEMBERED_MAX and now - oldest.at_s <= REMEMBERED_S:
                break
            self._done.popitem(last=False)
        return self._done.setdefault(operation_id, _Done(now))

    # -- what changes nothing

    def _ask(self, operation: Operation, part: Intervals) -> Work:
        """A retrieve that is not kept: what matches in this part, in pages."""
        query = self._shelf.record_of(self._carried_of(operation))
        reactions = self._rendezvous.arrive(query, self._runtime.now(), self._in(part))
        found = self._carry_out(reactions)
        return Work(
            frames=_pages(found),
            body=codec.encode(Summary(len(found))),
            missing=intersect(part, self._holdings.lost),
        )

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

    async def _change(
        self, operation: Operation, part: Intervals, done: _Done
    ) -> tuple[list[bytes], Summary]:
        if operation.verb in KEPT_KINDS:
            return await self._keep(operation, part, done)
        if operation.verb in {"delete_data", "delete_interest"}:
            return await self._delete(operation, part, done)
        return [], await self._amend(operation, part, done)

    async def _keep(
        self, operation: Operation, part: Intervals, done: _Done
    ) -> tuple[list[bytes], Summary]:
        """Store a record, match it with the other kinds, tell whom it concerns."""
        profile = unpack_profile(decode_document(operation.document).profile)
        refused = self._refusal(operation)
        if refused:
            return [], Summary(0, refused=refused)
        carried = (await self._shelf.write([self._carried_of(operation)]))[0]
        record = self._shelf.record_of(carried, profile)
        now, belongs = self._runtime.now(), self._in(subtract(part, done.part))
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

    def _refusal(self, operation: Operation) -> str:
        known = self._shelf.find(key_of(operation))
        if known is None or self._is_over(known.carried) or known.carried.kind == MOVED:
            return ""
        if known.carried.kind == GONE:
            return "deleted"
        return "older" if known.carried.version > operation.version else ""

    def _is_over(self, carried: Carried) -> bool:
        return carried.ttl_ms <= self._shelf.wall_ms()

    async def _delete(
        self, operation: Operation, part: Intervals, done: _Done
    ) -> tuple[list[bytes], Summary]:
        """Remove, on this copy, what the selector contains; count it where its lowest cell is."""
        profile = unpack_profile(decode_document(operation.document).profile)
        kinds: tuple[Kind, ...] = (DATA,) if operation.verb == "delete_data" else (INTEREST, WATCH)
        selected = self._rendezvous.delete(
            profile, kinds, operation.owner, operation.mode, True, self._runtime.now()
        ).records
        if operation.dry_run:
            mine = [r for r in selected if covers(part, self._shelf.placed(r).lowest)]
            return _pages([found_of(self._shelf, r, payload=False) for r in mine]), Summary(
                len(mine)
            )
        done.removed += await self._bury(selected, GONE)
        fresh = subtract(part, done.part)
        return [], Summary(sum(covers(fresh, lowest) for lowest in done.removed))

    async def _bury(self, records: Sequence[Record], kind: str, moved_to: str = "") -> list[int]:
        """Put tombstones in the place of records; returns the lowest index of each."""
        if not records:
            return []
        places = [self._shelf.placed(record) for record in records]
        stones = [self._stone(placed.carried, kind, moved_to) for placed in places]
        written = await self._shelf.write(stones)
        now, here = self._runtime.now(), self._in(self._holdings.held)
        for record, stone in zip(records, written, strict=True):
            bury = self._rendezvous.cancel if kind == GONE else self._rendezvous.forget
            self._carry_out(bury(*record.key, now, here).reactions)
            self._shelf.place(stone)
            self._telling.drop(record.stem)
        return [placed.lowest for placed in places]

    async def _amend(self, operation: Operation, part: Intervals, done: _Done) -> Summary:
        """Renew, cancel or lay to rest one record by its id."""
        known = self._shelf.find(key_of(operation))
        if known is None or self._is_over(known.carried):
            return Summary(0)
        carried = known.carried
        if carried.kind in {GONE, MOVED}:
            fresh = subtract(part, done.part)
            counted = sum(covers(fresh, lowest) for lowest in done.removed)
            return Summary(counted, moved_to="" if operation.moved_to else carried.moved_to)
        if carried.id != operation.id:
            return Summary(0, moved_to="" if operation.moved_to else carried.id)
        fresh = subtract(part, done.part)
        if operation.verb == "renew":
            await self._renew(operation, carried)
            return Summary(int(covers(fresh, known.lowest)), known=True)
        record = self._shelf.store.get(*key_of(operation))
        if record is None:
            return Summary(0)
        kind = MOVED if operation.moved_to else GONE
        done.removed += await self._bury([record], kind, operation.moved_to)
        return Summary(sum(covers(fresh, lowest) for lowest in done.removed), known=True)

    async def _renew(self, operation: Operation, carried: Carried) -> None:
        renewed = replace(
            carried,
            ttl_ms=self._shelf.wall_ms() + operation.ttl_ms,
            route=operation.route if carried.route is not None else None,
            acknowledged=self._telling.watermark(stem_of(operation.id)),
        )
        written = (await self._shelf.write([renewed]))[0]
        known = self._shelf.store.get(*key_of(operation))
        if known is not None and known.id == written.id:
            record = self._shelf.record_of(written, known.profile)
            self._shelf.store.update(record)
            self._shelf.place(written)
            self._telling.moved(record)

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
            kind=KEPT_KINDS[operation.verb],
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

    def _stone(self, carried: Carried, kind: str, moved_to: str) -> Carried:
        until_ms = self._shelf.wall_ms() + TOMBSTONE_MS if kind == GONE else carried.ttl_ms
        return replace(carried, kind=kind, ttl_ms=until_ms, blob=b"", route=None, moved_to=moved_to)

    def _in(self, part: Intervals) -> Callable[[Record, Record], bool]:
        """Whether a pair is told of for this part."""

        def belongs(left: Record, right: Record) -> bool:
            lowest = self._shelf.lowest_common(left, right)
            return lowest is not None and covers(part, lowest)

        return belongs


def key_of(operation: Operation) -> Key:
    """The identity of the record that an operation is about."""
    return operation.owner, stem_of(operation.id)


def _is_question(operation: Operation) -> bool:
    """Whether it is a retrieve that is answered once and not kept."""
    return operation.verb == "retrieve" and operation.ttl_ms == 0


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
