"""Paying: what another holder wrote here, and is answered for here as well, comes to one's copies.

Law of this file: one conversation at a time, beside tending, which it may have to wait for.  Who
acknowledges anything about such a record brings it along first (`Copying.keep_for_client`); this is
for what nobody asks about.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from chord import Runtime
from meteor.copies.copying import Superseded
from meteor.copies.replication import Replication
from meteor.keeping.holdings import Holdings
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from squid import merge

WITHIN_S: Final = 10.0
"""How long it is tried; then it is still owed."""
AT_ONCE: Final = 256
"""Changes that are brought together."""


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
            own = [view.intervals for view in self._views.own.values()]
            part = merge(*(one for one in own if not self._holdings.is_frozen(one)))
            some, ends_s = self._shelf.owed_in(part)[:AT_ONCE], self._runtime.now() + WITHIN_S
            if some:
                with suppress(Superseded):
                    await self._replication.keep(some, part, ends_s)
        finally:
            self._is_paying = False
