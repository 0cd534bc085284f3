"""Paying: what another holder wrote here, and is answered for here as well, comes to one's copies.

Law of this file: one conversation at a time, beside tending, which it may have to wait for.  Who
acknowledges anything about such a record sees to it first (`Copying.enough`); this is for what
nobody asks about.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Final

from chord import Runtime
from meteor.copies.copying import Superseded
from meteor.copies.replication import Replication
from meteor.keeping.holdings import Holdings
from meteor.keeping.shelf import OWED_AT_ONCE, Shelf
from meteor.keeping.views import Views
from meteor.wire.view import View
from squid import Intervals, merge

WITHIN_S: Final = 10.0
"""How long it is tried; then it is still owed."""


class Paying:
    """How one peer's own copies get what they lack of others' changes."""

    def __init__(
        self,
        runtime: Runtime,
        views: Views,
        holdings: Holdings,
        shelf: Shelf,
        replication: Replication,
    ) -> None:
        self._runtime, self._views, self._holdings = runtime, views, holdings
        self._shelf, self._replication = shelf, replication
        self._is_paying = False

    def look(self) -> None:
        """Begin, where anything is owed."""
        if self._shelf.owed and not self._is_paying:
            self._is_paying = True
            self._runtime.spawn(self._pay())

    async def _pay(self) -> None:
        try:
            await self._forget_given()
            part = merge(*map(self._payable, self._views.own.values()))
            ends_s = self._runtime.now() + WITHIN_S
            with suppress(Superseded):
                await self._replication.copying.pay(self._shelf.owed_in(part), part, ends_s)
        finally:
            self._is_paying = False

    def _payable(self, view: View) -> Intervals:
        """Not what is being given, nor what waits for copies: these are filled with everything."""
        waits = view.is_brief or self._replication.lacks(view)
        return () if waits or self._holdings.is_frozen(view.intervals) else view.intervals

    async def _forget_given(self) -> None:
        keys = iter(self._shelf.owed)
        while some := list(islice(keys, OWED_AT_ONCE)):
            self._shelf.owes_within(some, self._holdings.held)
            await self._runtime.sleep(0.0)
