"""How much a peer answers for, counted in turns that nobody notices.

Law of this file: it counts, and changes nothing.  Copies that the peer keeps for others do not
count, nor what not everybody may see.  A picture of the ring asks every peer, once a second where
somebody looks on: a hundred thousand records in one turn held the event loop for 0.2 s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from arms import DATA, INTEREST, WATCH, Kind
from chord import Runtime
from meteor.keeping.holdings import Holdings
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.operations import State

KINDS: Final[tuple[Kind, ...]] = (DATA, INTEREST, WATCH)
A_TURN: Final = 1_000
"""Records that are looked at in one turn: a millisecond or two."""


class Census:
    """The counts of one peer."""

    def __init__(
        self,
        runtime: Runtime,
        shelf: Shelf,
        holdings: Holdings,
        views: Views,
        forgotten: Callable[[], int],
    ) -> None:
        self._runtime, self._shelf, self._holdings, self._views = runtime, shelf, holdings, views
        self._forgotten = forgotten

    def at_once(self) -> State:
        """The counts, in this turn: for whoever stops the world anyway."""
        counts: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        for _ in self._steps(counts):
            continue
        return self._state(counts)

    async def in_turns(self) -> State:
        """The counts, in as many turns as they take; what comes or goes meanwhile may be left out
        or in."""
        counts: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        for _ in self._steps(counts):
            await self._runtime.sleep(0.0)
        return self._state(counts)

    def _steps(self, counts: dict[Kind, int]) -> Iterator[None]:
        """Count, and stop between one turn's records and the next."""
        for kind in KINDS:
            records = self._shelf.store.all_of(kind)
            for first in range(0, len(records), A_TURN):
                if first:
                    yield
                held = self._holdings.held
                counts[kind] += sum(
                    not record.visible_to
                    and record.key in self._shelf.table
                    and self._shelf.lives_in(record, held)
                    for record in records[first : first + A_TURN]
                )

    def _state(self, counts: dict[Kind, int]) -> State:
        copies = [1 + len(view.copies) for view in self._views.own.values()]
        return State(
            counts[DATA], counts[INTEREST], counts[WATCH],
            self._views.lost(), min(copies, default=-1), self._forgotten(),
        )  # fmt: skip
