"""Amendments: what renewing, cancelling and replacing by id do at a peer that holds the place.

Law of this file: order, as in `changes.py`; what is known of the record is looked at, and answered,
in one turn.  A record that was deleted stays so, one that moved is followed by word of where it is
now, and what may be a repeat, or comes later than what is newer, takes nothing back (SPEC section
4).
"""

from __future__ import annotations

from arms import DATA, Record, Rendezvous
from chord import Runtime, replace
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import GONE, MOVED, Key, Placed
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.deletes import TOMBSTONE_MS, Deletes, Write
from meteor.rendezvous.moves import Moves
from meteor.rendezvous.ownership import Ownership
from meteor.rendezvous.reactions import Reactions, carried_of, pages_of
from meteor.rendezvous.task import FOUND, OWN, Task
from meteor.rendezvous.telling import Telling, found_of
from meteor.wire.operations import Carried, Operation, Route, Summary
from meteor.wire.record_id import stem_of
from squid import covers


def living(shelf: Shelf, key: Key) -> Placed | None:
    """What is known of an identity and not over yet, a tombstone included."""
    placed = shelf.find(key)
    over = placed is None or placed.carried.ttl_ms <= shelf.wall_ms()
    return None if over else placed


def route_since(known: Route | None, come: Route | None) -> Route | None:
    """Where to tell a client of a record, as a request comes that changes nothing else of that: the
    first try of one that was repeated at another peer may come last; and who has had it before
    somebody else took it up posts it again all the same, where it may be lost."""
    if known is None or come is None:
        return come
    if known.client != come.client:
        return known if come.again and known.since > come.since else come
    return known if known.peer.id != come.peer.id and known.asked > come.asked else come


class Amendments:
    """What one peer does to a record that is named by its id."""

    def __init__(
        self,
        runtime: Runtime,
        holdings: Holdings,
        shelf: Shelf,
        rendezvous: Rendezvous,
        telling: Telling,
        reactions: Reactions,
        moves: Moves,
        ownership: Ownership,
        deletes: Deletes,
    ) -> None:
        self._runtime, self._holdings, self._shelf = runtime, holdings, shelf
        self._rendezvous, self._telling = rendezvous, telling
        self._reactions, self._moves = reactions, moves
        self._ownership, self._deletes = ownership, deletes

    async def amend(self, task: Task, part: Intervals, write: Write, *, doubtful: bool) -> Summary:
        """Renew, cancel or lay to rest one record by its id; `doubtful` says that it may be a
        repeat, by which nothing lives longer."""
        sent = task.operation
        if sent.mode != OWN:
            task = self._ownership.addressed(task)
        if sent.mode == FOUND and self._is_later(task):  # to be looked at anew, and not refused
            return Summary(0, known=True)
        refused = self._ownership.refusal(task)
        if refused:
            return Summary(0, refused=refused)
        operation, of_nobody = task.operation, sent.owner != task.operation.owner
        known = living(self._shelf, task.key)
        back = known is not None and operation.moved_to == known.carried.id
        if known is not None and known.carried.kind == GONE and not back:
            refused = "deleted" if operation.moved_to else ""
            if not refused:  # by another holder of a part of it, perhaps, whose copies are others
                await write([known.carried])
            taken = self._buried_in(part, task.mark)
            return Summary(taken, refused=refused, of_nobody=of_nobody)
        if operation.moved_to:
            return replace(await self._leave(sent, task, known, write), of_nobody=of_nobody)
        if known is None or known.carried.id != operation.id:
            return self.elsewhere(task, known)
        record = self._shelf.store.get(*task.key)
        if record is None:
            return Summary(0)
        if operation.verb == "renew":
            carried = known.carried
            if doubtful and operation.version <= max(carried.version, carried.renewed):
                return Summary(int(covers(part, known.lowest)), known=True, repeated=True)
            await self._renew(operation, known.carried, record, write)
            return Summary(int(covers(part, known.lowest)), known=True)
        await self._deletes.bury([record], task.mark, write)
        return Summary(self._buried_in(part, task.mark), known=True, of_nobody=of_nobody)

    def find(self, task: Task) -> tuple[list[bytes], Summary]:
        """The interest of an id, as it was posted; or why there is none.  A `dry_run` only asks
        whether anything is there that its sender may touch."""
        task = self._ownership.addressed(task)
        refused = self._ownership.refusal(task)
        if refused:
            return [], Summary(0, refused=refused)
        known = living(self._shelf, task.key)
        if known is None or (known.carried.id != task.operation.id and known.carried.kind != GONE):
            return [], self.elsewhere(task, known)
        if known.carried.kind == GONE:
            return [], Summary(0, refused="deleted")
        record = self._shelf.store.get(*task.key)
        if task.operation.dry_run:
            return [], Summary(int(record is not None))
        if record is None or record.kind == DATA:
            return [], Summary(0, refused="" if record is None else "no interest")
        return pages_of([found_of(self._shelf, record)]), Summary(1, known=True)

    async def _leave(
        self, sent: Operation, task: Task, known: Placed | None, write: Write
    ) -> Summary:
        """The second half of a replace: the record leaves this place, if it is here.  Else it is
        said where it went from here, and nothing is written, so that whoever asks once more hears
        the same; where nothing later is known of it, word is left for whoever looks for it here."""
        operation, told = task.operation, self.elsewhere(task, known)
        left = living(self._shelf, task.old_key)
        if left is not None and _is_word_of(operation, left.carried):
            await write([left.carried])  # by another holder, perhaps, whose copies are others
            return Summary(0, known=True)
        if known is not None and known.carried.id == operation.id:
            if known.carried.version > operation.version:
                return Summary(0, refused="older", version=known.carried.version)
            gone = replace(
                known.carried, owner=sent.owner, visible_to=sent.visible_to,
                version=operation.version,
            )  # fmt: skip
            now, is_data = self._runtime.now(), gone.kind == DATA
            self._moves.note(operation.id, operation.moved_to, gone, now, is_data=is_data)
        elif told.version >= operation.version:
            if left is None and told.moved_to:
                # At this peer alone it took the place of what was here: copies have that yet.
                later = replace(operation, version=told.version, moved_to=told.moved_to)
                await self._lay_to_rest(replace(task, operation=later), write)
            return Summary(0, refused="older", version=told.version)
        elif told.moved_to and told.version > operation.came_with:
            if left is not None:
                await write([left.carried])  # as above: a replace that is tried again finds it so
            return told  # word of what is over leads nowhere: see `outlived`
        await self._lay_to_rest(task, write)
        return Summary(0, known=_is_of(operation, known))

    def elsewhere(self, task: Task, known: Placed | None) -> Summary:
        """What is said of a record that is not here: where it went last, if that is known."""
        operation, left = task.operation, living(self._shelf, task.old_key)
        words = [] if left is None else [(left.carried.version, left.carried.moved_to)]
        if known is not None and known.carried.id not in {operation.id, operation.moved_to}:
            words.append((known.carried.version, known.carried.id))
        version, moved_to = max(words, default=(0, ""))
        return Summary(0, moved_to=moved_to, version=version)

    def _is_later(self, task: Task) -> bool:
        """Whether a later version is here than the one that was found."""
        operation, record = task.operation, self._shelf.store.get(*task.key)
        if record is None or record.id != operation.id:
            return False
        return record.version > operation.version

    def _buried_in(self, part: Intervals, operation_id: bytes) -> int:
        """How many records an operation on one identity took whose lowest cell lies in `part`."""
        return sum(covers(part, stone.lowest) for stone in self._shelf.buried(operation_id))

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
        # Whoever else renews it is not who is told; who attaches to it posts it again, and comes
        # here by a renewal only where one that had it before was the first to post it anew.
        if route is not None and _is_later_of_one(route, operation.route, is_late=is_late):
            route = route_since(route, operation.route)
        renewed = replace(
            carried,
            ttl_ms=until_ms,
            route=route,
            acknowledged=self._telling.watermark(operation.owner, stem_of(operation.id)),
            # What it adds is a state of its own: else no copy would take it.
            renewed=newest + 1 if is_late else operation.version,
        )
        written = (await write([renewed]))[0]
        there = self._shelf.store.get(*record.key)
        if there is not None and there.lives(self._runtime.now()):
            self._shelf.show(written, record.profile)
        elif self._shelf.may_show(written):
            # It ran out meanwhile: what came since did not meet it, and watches heard it go.
            self._shelf.take_in(written, record.profile)
        if self._shelf.store.get(*record.key) is None:
            return  # deleted meanwhile by another holder of a part of it
        self._telling.moved(self._shelf.record_of(written, record.profile))


def _is_of(operation: Operation, known: Placed | None) -> bool:
    """Whether what is known of a record that leaves a place is there, or where it goes to."""
    return known is not None and known.carried.id in {operation.id, operation.moved_to}


def _is_word_of(operation: Operation, word: Carried) -> bool:
    return (word.version, word.moved_to) == (operation.version, operation.moved_to)


def _is_later_of_one(known: Route, come: Route | None, *, is_late: bool) -> bool:
    """Whether a client is to be told where it says now.  Another author's clock may be ahead of
    its own: which of its requests is later it counts itself."""
    if come is None:
        return False
    if known.client != come.client:
        return come.since > known.since
    return not is_late or come.asked > known.asked
