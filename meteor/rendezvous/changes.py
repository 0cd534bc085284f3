"""Changes: what storing does at a peer that holds the place, and what the other holders write.

Law of this file: order.  Decide, make it durable here and at every copy, then insert and match in
one step without an await, in the order of the numbers; so of every pair the later arrival finds the
earlier exactly once.  A post that is tried again after a lost report answers as before: it is known
by its version.  What is deleted by a selector is in `deletes.py`, what is done by an id in
`amendments.py` (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nextafter

from arms import DATA, INTEREST, WATCH, Profile, Record, Rendezvous, Steps, Tell
from chord import Runtime, replace
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.out_of_reach import gives_way
from meteor.keeping.placement import GONE, MOVED, Key, Placed, key_of
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.amendments import Amendments, living, route_since
from meteor.rendezvous.deletes import TOMBSTONE_MS, Deletes, Write
from meteor.rendezvous.ended import Ended
from meteor.rendezvous.halfway import Halfway, newest_of
from meteor.rendezvous.moves import KEPT_S, Moves
from meteor.rendezvous.ownership import DELEGATION, Ownership
from meteor.rendezvous.reactions import Reactions, carried_of
from meteor.rendezvous.task import OVER, Task, refusal
from meteor.rendezvous.telling import Telling
from meteor.wire.operations import Carried, Summary
from meteor.wire.record_id import stem_of

SWEPT_AT_ONCE = 32
"""Records, or tombstones, that are given back in one turn: some 20 microseconds each, and for an
interest a look at the watches."""
ERASED_AT_ONCE = 1000
"""Rows of the journal, of what ran out while this peer was down: all in one transaction."""
COMPARED_AT_ONCE = 256
"""Words that are looked at in one turn: a microsecond or two each."""


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
        halfway: Halfway,
    ) -> None:
        self._runtime, self._holdings, self._shelf = runtime, holdings, shelf
        self._rendezvous, self._telling = rendezvous, telling
        self._reactions, self._moves, self._halfway = reactions, moves, halfway
        self._ownership = Ownership(shelf)
        self.ended = Ended(runtime, shelf, rendezvous, reactions)
        """Interests that went a moment ago."""
        self.deletes = Deletes(runtime, holdings, shelf, rendezvous, telling, reactions, self.ended)
        """What is deleted by a selector."""
        amendments = Amendments(
            runtime, holdings, shelf, rendezvous, telling, reactions, moves, self._ownership,
            self.deletes,
        )  # fmt: skip
        self.amend, self.find = amendments.amend, amendments.find
        self._elsewhere = amendments.elsewhere
        self.deleted_where_it_was: Callable[[Carried, int], object] = lambda _, __: None
        """Hears the word of a move away from here of what was deleted here as it was before, and a
        version that is later than any that it has come to elsewhere."""
        self.on_outvoted: Callable[[Carried, int], object] = lambda _, __: None
        """Hears of a word that is over as a later one led elsewhere: see `Reconciling`."""
        shelf.displaced = self._note_move
        shelf.take_in = self.take_in

    def _note_move(self, old: Carried, new: Carried) -> None:
        """A query may have passed the one place too early, and come to the other too late."""
        if old.kind == new.kind and new.kind not in {GONE, MOVED}:
            now = self._runtime.now()
            self._moves.note(old.id, new.id, new, now, is_data=new.kind == DATA)
            if new.kind == DATA:
                self._halfway.note(old, now)
        elif new.kind == GONE and old.kind == DATA and (
            self._halfway.deleted(old, new)
            # One's own copies of that have no part in the place where it was deleted.
            or (old.id != new.id and self._shelf.meets(old, self._holdings.held))
        ):
            word = replace(new, kind=MOVED, version=old.version, moved_to=old.id)
            self.deleted_where_it_was(word, newest_of(word, self._shelf.issued_ms()))

    def _note_word(self, word: Carried) -> None:
        """Who knew of a move may answer no query any more: whoever has its word knows of it too."""
        age_ms = self._shelf.wall_ms() + TOMBSTONE_MS - word.ttl_ms
        left = self._shelf.store.get(word.owner, stem_of(word.id))
        is_data = None if left is None else left.kind == DATA
        now = self._runtime.now()
        if word.moved_to and age_ms < KEPT_S * 1000:
            self._moves.note(word.id, word.moved_to, word, now, is_data=is_data)
        elif word.moved_to:
            self._moves.known.forgot(now - age_ms / 1000)

    def _compare(self, one: Carried) -> None:
        """Two sides of a partition may have said so of one record: the delete wins, wherever."""
        known = self._shelf.find((one.owner, one.id if one.kind == GONE else stem_of(one.id)))
        if known is not None:
            stone, word = (one, known.carried) if one.kind == GONE else (known.carried, one)
            if stone.kind == GONE and stone.id == word.id and stone.version < word.version:
                self.deleted_where_it_was(word, newest_of(word, self._shelf.issued_ms()))

    async def compare_in(self, part: Intervals, stones: Sequence[Key]) -> None:
        """The same of all of these that lies in a part that is answered for here from now on: it
        came as this peer had it for others, and the one that had it fell, or was passed over."""
        for at, key in enumerate(stones, 1):
            placed = self._shelf.find(key)
            word = None if placed is None else placed.carried
            if word is not None and word.kind == MOVED and self._shelf.meets(word, part):
                self._compare(word)
            if at % COMPARED_AT_ONCE == 0:
                await self._runtime.sleep(0.0)

    async def keep(
        self, task: Task, part: Intervals, write: Write, *, is_over: bool
    ) -> tuple[list[bytes], Summary]:
        """Store a record, match it with the other kinds, tell whom it concerns; nothing new where
        it `is_over` already."""
        carried = carried_of(task.operation, self._shelf.wall_ms())
        known = living(self._shelf, task.key)
        left = living(self._shelf, task.old_key)
        refused = refusal(carried, known) or refusal(carried, left)
        refused = refused or self._ownership.beyond_limit(task)
        if refused or (is_over and known is None):
            return [], Summary(0, refused=refused or OVER)
        if known is not None and known.carried.version == carried.version:
            # Its time runs since it came first: a repeat may have lain before a peer that was held.
            kept = known.carried
            route = route_since(kept.route, carried.route)
            carried = replace(carried, ttl_ms=kept.ttl_ms, renewed=kept.renewed, route=route)
        elif left is not None and left.carried.version == carried.version:
            # It ran out: in the state of its first post it would be what the word keeps away.
            carried = replace(carried, renewed=left.carried.renewed)
        went = self._went(task, known)
        carried = (await write([carried]))[0]
        if refused := refusal(carried, living(self._shelf, task.old_key)):
            return [], Summary(0, refused=refused)  # word came meanwhile, by another holder
        known = living(self._shelf, task.key)
        if known is not None and gives_way(carried, known.carried):
            await self._take_back(task, carried, write)
            return [], Summary(0, refused=DELEGATION, moved_to=known.carried.id)
        self._make_way(task.key, carried)
        record = self._shelf.record_of(carried, task.profile)
        # What ran out as it was written meets what is there all the same, as if in time.
        now = min(self._runtime.now(), nextafter(record.expires_s, -inf))
        belongs = self._reactions.within(part)
        arrival = self._rendezvous.accept(record, now, self._belongs(part, task))
        if arrival.outcome not in {"stored", "same"}:
            await self._take_back(task, carried, write)
            return [], Summary(0, refused=arrival.outcome)
        self._shelf.place(carried)
        steps = self._unless_met(arrival.steps, record)
        if arrival.outcome == "stored":
            self.ended.came(record.kind, record.key)
        if arrival.outcome == "same":
            self._shelf.store.update(record)
            steps = self._rendezvous.meet(record, now, belongs)
        if record.kind != DATA:
            self._telling.moved(record)
        following = await self._reactions.follow(steps, record)
        return following.pages.all(), replace(went, matches=following.pairs, known=True)

    def _went(self, task: Task, known: Placed | None) -> Summary:
        """Where a record is, or was last, that went away from here and is posted here again: it is
        to leave that place.  Not where another version was here since; a repeat is told the same,
        as whoever was asked first may have fallen before it left."""
        elsewhere, newest = self._elsewhere(task, known), task.operation.version
        if known is None or known.carried.id != task.operation.id:
            return elsewhere
        is_back = elsewhere.version <= known.carried.version < newest
        return Summary(0) if is_back else elsewhere

    async def _take_back(self, task: Task, carried: Carried, write: Write) -> None:
        """What counts no more now that it is durable, as it was deleted, or went on, at another
        place meanwhile: the copies have it, and nobody else would tell them."""
        known = living(self._shelf, task.key)
        if known is None or known.carried.id == carried.id:
            return
        word = replace(
            carried,
            kind=MOVED,
            version=carried.version + 1,
            ttl_ms=self._shelf.wall_ms() + TOMBSTONE_MS,
            blob=b"",
            route=None,
            limit=b"",
            moved_to=known.carried.id,
        )
        self._shelf.show((await write([word]))[0])

    def take_in(self, carried: Carried, profile: Profile | None) -> None:
        """Show what another holder wrote.  What is answered for here as well is told of here too:
        its own share may come later, and finds it done."""
        held = self._holdings.held
        is_held = self._shelf.meets(carried, held)
        leaves = self._leaving(carried, held)
        key, now, here = key_of(carried), self._runtime.now(), self._reactions.within(held)
        self._make_way(key, carried)
        known = self._shelf.store.get(*key)
        if known is None or known.version < carried.version:
            self.ended.came(carried.kind, key)
        if not is_held and leaves is None and carried.kind not in {GONE, MOVED}:
            self._shelf.show(carried, profile)
            return
        if carried.kind == GONE and known is not None:
            self.ended.note(known)
        if carried.kind == MOVED:
            self._note_word(carried)
            if over := self._shelf.outvoted(carried):  # nobody who merges it sees that any more
                self.on_outvoted(*over)
        if carried.kind in {GONE, MOVED} and is_held:
            self._compare(carried)
        if carried.kind == GONE and known is not None and self._shelf.lives_in(known, held):
            self._reactions.carry_out(self._rendezvous.cancel(*key, now, here).steps, known)
            self._shelf.place(carried)
            self._telling.drop(known)
            return
        record = None
        if carried.kind in {DATA, INTEREST, WATCH}:
            record = self._shelf.record_of(carried, profile)
        if record is None:
            if leaves is not None and carried.kind == MOVED and self._shelf.may_show(carried):
                gone = self._rendezvous.forget(*leaves.key, now, here)
                self._reactions.carry_out(gone.steps, leaves)
                self._telling.drop(leaves)
            self._shelf.show(carried, profile)
            return
        arrival = self._rendezvous.accept(record, now, here)
        if arrival.outcome == "same":
            self._shelf.store.update(record)
        if arrival.outcome in {"same", "stored"}:
            self._shelf.place(carried)
        self._reactions.carry_out(self._unless_met(arrival.steps, record), record)

    def _make_way(self, key: Key, carried: Carried) -> None:
        """A delegate's record goes where something comes that is out of his reach."""
        if (gone := self._shelf.make_way(key, carried)) is not None:
            now, here = self._runtime.now(), self._reactions.within(self._holdings.held)
            self._reactions.carry_out(self._rendezvous.left(gone, now, here), gone)
            self._telling.drop(gone)

    def _unless_met(self, steps: Steps, record: Record) -> Steps:
        """A watch that what follows elsewhere meets as well hears of that from there: an interest
        that moved is not one that went, unless it had run out before."""
        for step in steps:
            goes_on = isinstance(step, Tell) and self._goes_on(step, record)
            yield None if goes_on else step

    def _goes_on(self, told: Tell, record: Record) -> bool:
        watch, before = told.to, told.about
        if told.kind != "gone" or before is record or not before.lives(self._runtime.now()):
            return False
        matches = record.profile.matches(watch.profile)
        return matches and self._shelf.lowest_common(watch, record) is not None

    def _belongs(self, part: Intervals, task: Task) -> Callable[[Record, Record], bool]:
        """Whether a pair of what is stored is told of for this part.  That its former version is
        gone is told of wherever that is answered for here: no other share comes to hear it."""
        within, here = self._reactions.within(part), self._reactions.within(self._holdings.held)
        before = self._shelf.store.get(*task.key)
        return lambda asker, asked: (here if asked is before else within)(asker, asked)

    def _leaving(self, carried: Carried, held: Intervals) -> Record | None:
        """The interest that leaves its place here with what another holder wrote: watches hear of
        it from who answers for that, be the word of it, or what follows it elsewhere, a copy."""
        known = self._shelf.store.get(carried.owner, stem_of(carried.id))
        if known is None or known.kind != INTEREST or known.version >= carried.version:
            return None
        if (known.id == carried.id) is not (carried.kind == MOVED):
            return None
        return known if self._shelf.lives_in(known, held) else None

    async def expire(self) -> None:
        """Give back what has expired, and tell watches of interests that are gone; some at a
        time, until nothing is left."""
        more = True
        while more:
            swept = self._rendezvous.sweep(
                self._runtime.now(), self._reactions.within(self._holdings.held), SWEPT_AT_ONCE
            )
            for record in swept.records:
                self.ended.note(record)
                self._telling.drop(record)
            self._reactions.carry_out(swept.steps)
            stones = self._shelf.stones_over(SWEPT_AT_ONCE)
            await self._shelf.drop([*(record.key for record in swept.records), *stones])
            more = SWEPT_AT_ONCE in {len(swept.records), len(stones)}
            if more:
                await self._runtime.sleep(0.0)
        await self._shelf.erase_over(ERASED_AT_ONCE)
