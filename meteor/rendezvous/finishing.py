"""Finishing: a replace whose client's peer came halfway is carried out by who has its first half.

Law of this file: conversations, of which each step may be repeated: the same version is stored
once, and refused where a later one, or a delete, came since; word of a move is left once.
"""

from __future__ import annotations

from typing import Final

from chord import Runtime
from meteor.keeping.holdings import Holdings, Intervals
from meteor.keeping.placement import Placed
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.halfway import Half, Halfway
from meteor.rendezvous.task import Task
from meteor.wire import codec
from meteor.wire.operations import Operation
from meteor.wire.record_id import split_id
from squid import HilbertCurve, Router

WITHIN_S: Final = 10.0
"""How long each half may take; then it is tried again."""

AT_ONCE: Final = 16
"""So many are finished at a time: after a cut there may be a thousand."""
WAITED_S: Final = 0.5
"""How long a question waits for the second half: milliseconds, where all can be reached."""
LOOKED_EVERY_S: Final = 0.01


async def finished(runtime: Runtime, halfway: Halfway, task: Task, part: Intervals) -> None:
    """Return when nothing that is asked for is halfway to another place, or may be for long."""
    until_s = runtime.now() + WAITED_S
    while halfway and halfway.untold(task, part) and runtime.now() < until_s:
        await runtime.sleep(LOOKED_EVERY_S)


class Finishing:
    """What one peer finishes."""

    def __init__(
        self,
        runtime: Runtime,
        router: Router,
        curve: HilbertCurve,
        holdings: Holdings,
        shelf: Shelf,
        halfway: Halfway,
    ) -> None:
        self._runtime, self._router, self._curve = runtime, router, curve
        self._holdings, self._shelf, self._halfway = holdings, shelf, halfway
        self._under_way: set[Half] = set()

    def look(self) -> None:
        """Begin to finish what is due."""
        for half, new in self._halfway.due(self._holdings.held, self._runtime.now()):
            if len(self._under_way) >= AT_ONCE:
                return
            if half not in self._under_way:
                self._under_way.add(half)
                self._runtime.spawn(self._finish(half, new))

    async def _finish(self, half: Half, new: Placed) -> None:
        try:
            carried = new.carried
            keep = Operation(
                verb=carried.action,
                id=carried.id,
                version=carried.version,
                owner=carried.owner,
                ttl_ms=max(carried.ttl_ms - self._shelf.wall_ms(), 1),
                document=carried.blob,
                route=carried.route,
                visible_to=carried.visible_to,
            )
            body = codec.encode(keep)
            kept = await self._router.disseminate(new.box, body, timeout_s=WITHIN_S)
            if not kept.complete:
                return
            leave = Operation(
                "cancel", half.old_id, carried.version, carried.owner, 0, moved_to=carried.id
            )
            _, box = split_id(half.old_id, self._curve)
            await self._router.disseminate(box, codec.encode(leave), timeout_s=WITHIN_S)
        finally:
            self._under_way.discard(half)
