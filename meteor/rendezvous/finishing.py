"""Finishing: a replace whose client's peer came halfway is carried out by who has its first half.

Law of this file: conversations, of which each step may be repeated, also by several peers: the same
version is stored once, and refused where a later one, or a delete, came since, as it is for a
client; word of a move is left once.  What went on here meanwhile is let be.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from arms import DATA
from chord import Runtime
from meteor.errors import MeteorError, Refused
from meteor.keeping.holdings import Intervals
from meteor.keeping.placement import GONE, key_of
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.halfway import Half, Halfway, newest_of
from meteor.rendezvous.task import Task
from meteor.wire.entropy_messages import RecordState
from meteor.wire.operations import Carried, Operation
from squid import Outcome, Wanted

Finish = Callable[[Operation, str, float, Wanted], Awaitable[None]]
Bury = Callable[[Carried, int], Awaitable[None]]
Order = Callable[[Operation], Awaitable[Outcome]]

WITHIN_S: Final = 10.0
"""How long both halves may take; then it is tried again."""

AT_ONCE: Final = 16
"""So many are finished at a time: after a cut there may be a thousand."""
WAITED_S: Final = 0.5
"""How long a question waits for the second half: milliseconds, where all can be reached."""
LOOKED_FIRST_S: Final = 0.01
"""Then it is looked after twice as long each time."""


async def finished(runtime: Runtime, halfway: Halfway, task: Task, part: Intervals) -> None:
    """Return when nothing that is asked for is halfway to another place, or may be for long."""
    until_s, pause_s = runtime.now() + WAITED_S, LOOKED_FIRST_S
    while halfway and halfway.untold(task, part, runtime.now() - WAITED_S):
        left_s = until_s - runtime.now()
        if left_s <= 0:
            return
        await runtime.sleep(min(pause_s, left_s))
        pause_s *= 2


class Finishing:
    """What one peer finishes."""

    def __init__(
        self,
        runtime: Runtime,
        shelf: Shelf,
        halfway: Halfway,
        finish: Finish,
        bury: Bury,
        order: Order,
    ) -> None:
        """`finish` carries an operation out as its client's peer would, and lets the record leave
        the place of an id, within a time and while it is wanted; `bury` leaves word where a record
        is no more, under a version that is later than any there; `order` lets one place go."""
        self._runtime, self._shelf, self._halfway = runtime, shelf, halfway
        self._carry_out, self._bury, self._order = finish, bury, order
        self._under_way: set[Half] = set()

    def outlived(self, state: RecordState, by: Carried) -> None:
        """Another holder has a former version at its place.  An interest's may leave that at once:
        its client sees to the new one, wherever that is incomplete."""
        if state.kind == DATA:
            self._halfway.found(state, by, self._runtime.now())
        elif state.kind == by.kind and len(self._under_way) < AT_ONCE:
            self._runtime.spawn(self._let_go(state.id, by))

    async def _let_go(self, old_id: str, new: Carried) -> None:
        half = Half(key_of(new), old_id)
        if half not in self._under_way:
            self._under_way.add(half)
            try:
                with suppress(MeteorError):  # a hostile peer describes what is nowhere
                    await self._order(self._leave(old_id, new))
            finally:
                self._under_way.discard(half)

    def _leave(self, old_id: str, new: Carried) -> Operation:
        return Operation("cancel", old_id, new.version, new.owner, 0, moved_to=new.id)

    def look(self) -> None:
        """Begin to finish what is due."""
        for half, new in self._halfway.due(self._runtime.now()):
            if len(self._under_way) >= AT_ONCE:
                return
            if half not in self._under_way:
                self._under_way.add(half)
                self._runtime.spawn(self._finish(half, new.carried))

    async def _finish(self, half: Half, new: Carried) -> None:
        try:
            with suppress(MeteorError):  # it was deleted meanwhile, or went on
                if new.kind != GONE:
                    await self._complete(half, new)
                elif (word := self._halfway.word_back(half, new)) is not None:
                    await self._bury(word, newest_of(word, self._shelf.issued_ms()))
        finally:
            self._under_way.discard(half)
            self._halfway.put_off(half)

    async def _complete(self, half: Half, new: Carried) -> None:
        async def is_wanted() -> bool:
            return self._halfway.is_open(half, new)

        keep = Operation(
            verb=new.action,
            id=new.id,
            version=new.version,
            owner=new.owner,
            ttl_ms=max(new.ttl_ms - self._shelf.wall_ms(), 1),
            document=new.blob,
            route=new.route,
            visible_to=new.visible_to,
            limit=new.limit,
        )
        try:
            await self._carry_out(keep, half.old_id, WITHIN_S, is_wanted)
        except Refused as error:
            # Others keep the new place by now: it went on from there, or was deleted there.
            if error.rule in {"older", "deleted"} and await is_wanted():
                await self._order(self._leave(half.old_id, new))
