"""Changes: what storing, deleting, renewing and replacing do at a peer that holds their place.

Law of this file: order.  Decide, make it durable here and at every copy, then insert and match in
one step without an await, in the order of the numbers; so of every pair the later arrival finds the
earlier exactly once.  An operation that is tried again after a lost report answers as before: posts
are known by their version, what a delete took by its mark on the tombstones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice

from arms import DATA, INTEREST, WATCH, Kind, Profile, Record, Rendezvous
from chord import Runtime, dataclass, replace
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import GONE, MOVED, Key, Placed, key_of
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.moves import KEPT_S, Moves
from meteor.rendezvous.ownership import Ownership
from meteor.rendezvous.reactions import AT_ONCE, Reactions, carried_of, pages_of
from meteor.rendezvous.task import OVER, Task, refusal
from meteor.rendezvous.telling import Telling, found_of
from meteor.wire.found_pages import Pages
from meteor.wire.operations import Carried, Operation, Route, Summary
from meteor.wire.record_id import stem_of
from squid import covers, merge, subtract

REMEMBERED_S = 600.0
"""How long it is remembered where a delete was carried out, so that a share which comes late does
not take what was stored after the delete was answered (DESIGN section 3)."""
REMEMBERED_MAX = 8192

SWEPT_AT_ONCE = 32
"""Records, or tombstones, that are given back in one turn: some 20 microseconds each, and for an
interest a look at the watches."""

COUNTED_AT_ONCE = 1000
"""Tombstones that are counted in one turn."""

TOMBSTONE_MS = 30 * 86_400 * 1000
"""A tombstone outlives every ttl (SPEC section 4: at most 30 days)."""

Write = Callable[[Sequence[Carried]], Awaitable[list[Carried]]]
"""Makes changes durable wherever they must be."""


@dataclass(slots=True)
class _Done:
    """Where a delete was carried out here so far."""

    at_s: float
    part: Intervals = ()


def _is_of_one_client(one: Route, other: Route | None) -> bool:
    return other is not None and one.client == other.client


def _is_up_to(newest: int | None, record: Record) -> bool:
    return newest is None or record.version <= newest


class Changes:
    """What one peer keeps, and what it does to it."""

    def __init__(
        self,
        runtime: Runtime,
        holdings: Holdings,
        shelf: Shelf,
        rendezvous: Rendezvous,
        telling: Telling,
        reactions: Reactions,
        moves: Moves,
    ) -> None:
        self._runtime, self._holdings, self._shelf = runtime, holdings, shelf
        self._rendezvous, self._telling = rendezvous, telling
        self._reactions, self._moves = reactions, moves
        self._ownership = Ownership(shelf)
        self._done: OrderedDict[bytes, _Done] = OrderedDict()
        self.deleted_where_it_was: Callable[[Carried], object] = lambda _: None
        """Hears the word of a move away from here of what was deleted here as it was before."""
        shelf.displaced = self._note_move
        shelf.take_in = self.take_in

    def _note_move(self, old: Carried, new: Carried) -> None:
        """A query may have passed the one place too early, and come to the other too late."""
        if old.kind == new.kind == DATA:
            self._moves.note(old.id, new.id, new, self._runtime.now())

    def _note_word(self, word: Carried) -> None:
        """Who knew of a move may answer no query any more: whoever has its word knows of it too."""
        age_ms = self._shelf.wall_ms() + TOMBSTONE_MS - word.ttl_ms
        left = self._shelf.store.get(word.owner, stem_of(word.id))
        is_data = left is None or left.kind == DATA
        if word.moved_to and is_data and age_ms < KEPT_S * 1000:
            self._moves.note(word.id, word.moved_to, word, self._runtime.now())

    def _compare(self, one: Carried) -> None:
        """Two sides of a partition may have said so of one record: the delete wins, wherever."""
        known = self._shelf.find((one.owner, one.id if one.kind == GONE else stem_of(one.id)))
        if known is not None:
            stone, word = (one, known.carried) if one.kind == GONE else (known.carried, one)
            if stone.kind == GONE and stone.id == word.id and stone.version < word.version:
                self.deleted_where_it_was(word)

    def _remember(self, operation_id: bytes) -> _Done:
        now = self._runtime.now()
        while self._done:
            oldest = next(iter(self._done.values()))
            if len(self._done) <= REMEMBERED_MAX and now - oldest.at_s <= REMEMBERED_S:
                break
            self._done.popitem(last=False)
        return self._done.setdefault(operation_id, _Done(now))

    async def keep(
        self, task: Task, part: Intervals, write: Write, *, is_over: bool
    ) -> tuple[list[bytes], Summary]:
        """Store a record, match it with the other kinds, tell whom it concerns; nothing new where
        it `is_over` already."""
        carried = carried_of(task.operation, self._shelf.wall_ms())
        known = self._living(task.key)
        left = self._living(task.old_key)
        refused = refusal(carried, known) or refusal(carried, left)
        refused = refused or self._ownership.beyond_limit(task)
        if refused or (is_over and known is None):
            return [], Summary(0, refused=refused or OVER)
        if known is not None and known.carried.version == carried.version:
            # Its time runs since it came first: a repeat may have lain before a peer that was held.
            kept = known.carried
            carried = replace(carried, ttl_ms=kept.ttl_ms, renewed=kept.renewed)
        carried = (await write([carried]))[0]
        record = self._shelf.record_of(carried, task.profile)
        now, belongs = self._runtime.now(), self._reactions.within(part)
        arrival = self._rendezvous.accept(record, now, belongs)
        if arrival.outcome not in {"stored", "same"}:
            return [], Summary(0, refused=arrival.outcome)
        self._shelf.place(carried)
        steps = arrival.steps
        if arrival.outcome == "same":
            self._shelf.store.update(record)
            steps = self._rendezvous.meet(record, now, belongs)
        if record.kind != DATA:
            self._telling.moved(record)
        following = await self._reactions.follow(steps, record)
        return following.pages.all(), Summary(following.pairs, known=True)

    def _living(self, key: Key) -> Placed | None:
        """What is known of an identity and not over yet, a tombstone included."""
        placed = self._shelf.find(key)
        over = placed is None or placed.carried.ttl_ms <= self._shelf.wall_ms()
        return None if over else placed

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
            selected += [one for one in some if one is not None and _is_up_to(newest, one)]
            if len(some) == AT_ONCE:
                await self._runtime.sleep(0.0)
        return selected

    async def would_delete(
        self, selected: Sequence[Record], part: Intervals
    ) -> tuple[list[bytes], Summary]:
        """What a delete that only asks is told."""
        pages, count = Pages(), 0
        for at, record in enumerate(selected, 1):
            placed = self._shelf.find(record.key)
            if placed is not None and covers(part, placed.lowest):
                pages.add(found_of(self._shelf, record, payload=False))
                count += 1
            if at % AT_ONCE == 0:
                await self._runtime.sleep(0.0)
        return pages.all(), Summary(count)

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
            and self._shelf.lives_in(now, part)
        ]

    def _is_taken(self, task: Task, record: Record) -> bool:
        assert task.profile is not None, "a delete has a selector"
        return self._rendezvous.is_deletable(
            task.profile, record, task.operation.mode, self._runtime.now()
        )

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

    def _buried_in(self, part: Intervals, operation_id: bytes) -> int:
        """How many records an operation on one identity took whose lowest cell lies in `part`."""
        return sum(covers(part, stone.lowest) for stone in self._shelf.buried(operation_id))

    async def bury(self, records: Sequence[Record], operation_id: bytes, write: Write) -> None:
        """Put tombstones in the place of records that are here.  Waits for earlier changes also
        without any."""
        until_ms = self._shelf.wall_ms() + TOMBSTONE_MS
        stones = [
            replace(
                self._shelf.placed(record).carried,
                kind=GONE, ttl_ms=until_ms, blob=b"", route=None, operation=operation_id,
            )
            for record in records
        ]  # fmt: skip
        written = await write(stones)
        now, here = self._runtime.now(), self._reactions.within(self._holdings.held)
        for record, stone in zip(records, written, strict=True):
            gone = self._rendezvous.cancel(*record.key, now, here)
            self._reactions.carry_out(gone.steps, record)
            self._shelf.place(stone)
            self._telling.drop(record)

    async def amend(self, task: Task, part: Intervals, write: Write, *, doubtful: bool) -> Summary:
        """Renew, cancel or lay to rest one record by its id; `doubtful` says that it may be a
        repeat, by which nothing lives longer."""
        sent, task = task.operation, self._ownership.addressed(task)
        refused = self._ownership.refusal(task)
        if refused:
            return Summary(0, refused=refused)
        operation = task.operation
        known = self._living(task.key)
        back = known is not None and operation.moved_to == known.carried.id
        if known is not None and known.carried.kind == GONE and not back:
            refused = "deleted" if operation.moved_to else ""
            return Summary(self._buried_in(part, task.id), refused=refused)
        if operation.moved_to:
            if (
                known is not None
                and known.carried.kind != MOVED
                and (known.carried.id == operation.id and known.carried.version > operation.version)
            ):
                return Summary(0, refused="older")
            left = self._living(task.old_key)
            if left is not None and left.carried.version > operation.version:
                return Summary(0)  # it was left once more since
            if known is not None and known.carried.kind == DATA:
                gone = replace(known.carried, owner=sent.owner, visible_to=sent.visible_to)
                self._moves.note(operation.id, operation.moved_to, gone, self._runtime.now())
            await self._lay_to_rest(task, write)
            return Summary(0)
        if known is None or known.carried.id != operation.id:
            return Summary(0, moved_to=self._moved_to(task, known))
        record = self._shelf.store.get(*task.key)
        if record is None:
            return Summary(0)
        if operation.verb == "renew":
            carried = known.carried
            if doubtful and operation.version <= max(carried.version, carried.renewed):
                return Summary(int(covers(part, known.lowest)), known=True, repeated=True)
            await self._renew(operation, known.carried, record, write)
            return Summary(int(covers(part, known.lowest)), known=True)
        await self.bury([record], task.id, write)
        return Summary(self._buried_in(part, task.id), known=True)

    def find(self, task: Task) -> tuple[list[bytes], Summary]:
        """The interest of an id, as it was posted; or why there is none."""
        task = self._ownership.addressed(task)
        refused = self._ownership.refusal(task)
        if refused:
            return [], Summary(0, refused=refused)
        known = self._living(task.key)
        if known is None or (known.carried.id != task.operation.id and known.carried.kind != GONE):
            return [], Summary(0, moved_to=self._moved_to(task, known))
        if known.carried.kind == GONE:
            return [], Summary(0, refused="deleted")
        record = self._shelf.store.get(*task.key)
        if record is None or record.kind == DATA:
            return [], Summary(0, refused="" if record is None else "no interest")
        return pages_of([found_of(self._shelf, record)]), Summary(1, known=True)

    def _moved_to(self, task: Task, known: Placed | None) -> str:
        """Where a record is now that was replaced; empty when nothing is known of it."""
        if known is not None:
            return known.carried.id
        left = self._living(task.old_key)
        return "" if left is None else left.carried.moved_to

    async def _lay_to_rest(self, task: Task, write: Write) -> None:
        """The second half of a replace: leave word at the old region where the record is now."""
        operation, key = task.operation, task.key
        word = replace(
            carried_of(operation, self._shelf.wall_ms()),
            kind=MOVED,
            # As long as a tombstone: the one of a delete lies where the record went, and whoever
            # was down has it here as it was, for longer than its new version lives perhaps.
            ttl_ms=self._shelf.wall_ms() + TOMBSTONE_MS,
            route=None,
            moved_to=operation.moved_to,
        )
        written = (await write([word]))[0]
        record = self._shelf.store.get(*key)
        if record is not None and record.id == word.id and record.version < word.version:
            now, here = self._runtime.now(), self._reactions.within(self._holdings.held)
            self._reactions.carry_out(self._rendezvous.forget(*key, now, here).steps, record)
            self._telling.drop(record)
        self._shelf.show(written)

    async def _renew(
        self, operation: Operation, carried: Carried, record: Record, write: Write
    ) -> None:
        until_ms, route = self._shelf.wall_ms() + operation.ttl_ms, carried.route
        newest = max(carried.version, carried.renewed)
        is_late = operation.version < newest  # what is newer was acknowledged meanwhile
        if is_late:
            until_ms = max(until_ms, carried.ttl_ms)
        if route is not None and not (is_late and _is_of_one_client(route, operation.route)):
            route = operation.route
        renewed = replace(
            carried,
            ttl_ms=until_ms,
            route=route,
            acknowledged=self._telling.watermark(operation.owner, stem_of(operation.id)),
            # What it adds is a state of its own: else no copy would take it.
            renewed=newest + 1 if is_late else operation.version,
        )
        written = (await write([renewed]))[0]
        self._shelf.show(written, record.profile)
        if self._shelf.store.get(*record.key) is None:
            return  # deleted meanwhile by another holder of a part of it
        self._telling.moved(self._shelf.record_of(written, record.profile))

    def take_in(self, carried: Carried, profile: Profile | None) -> None:
        """Show what another holder wrote.  What is answered for here as well is told of here too:
        its own share may come later, and finds it done."""
        key, now = key_of(carried), self._runtime.now()
        held = self._holdings.held
        here = self._reactions.within(held)
        known = self._shelf.store.get(*key)
        if carried.kind == MOVED:
            self._note_word(carried)
        if carried.kind in {GONE, MOVED} and self._shelf.meets(carried, held):
            self._compare(carried)
        if carried.kind == GONE and known is not None and self._shelf.lives_in(known, held):
            self._reactions.carry_out(self._rendezvous.cancel(*key, now, here).steps, known)
            self._shelf.place(carried)
            self._telling.drop(known)
            return
        record = None
        if carried.kind in {DATA, INTEREST, WATCH}:
            record = self._shelf.record_of(carried, profile)
        if record is None or not self._shelf.meets(carried, held):
            self._shelf.show(carried, profile)
            return
        arrival = self._rendezvous.accept(record, now, here)
        if arrival.outcome == "same":
            self._shelf.store.update(record)
        if arrival.outcome in {"same", "stored"}:
            self._shelf.place(carried)
        self._reactions.carry_out(arrival.steps, record)

    async def expire(self) -> None:
        """Give back what has expired, and tell watches of interests that are gone; some at a
        time, until nothing is left."""
        more = True
        while more:
            swept = self._rendezvous.sweep(
                self._runtime.now(), self._reactions.within(self._holdings.held), SWEPT_AT_ONCE
            )
            for record in swept.records:
                self._telling.drop(record)
            self._reactions.carry_out(swept.steps)
            stones = self._shelf.stones_over(SWEPT_AT_ONCE)
            await self._shelf.drop([*(record.key for record in swept.records), *stones])
            more = SWEPT_AT_ONCE in {len(swept.records), len(stones)}
            if more:
                await self._runtime.sleep(0.0)
