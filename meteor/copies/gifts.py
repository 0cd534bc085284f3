"""Waiting until a taker has begun with what it was given.

Law of this file: it waits, and decides nothing.  Until then the copies of the giver's view are all
that there is of the part beside the giver, and they let go of it by any change of that view; should
giver and taker die together, they have it (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from chord import Runtime
from meteor.keeping.views import Views
from meteor.wire.view import ViewKey

BEGINS_S: Final = 5.0
"""A taker that was not heard of for so long has begun without this peer, or never will: whoever is
the next to have the interval has asked for it by then."""
LOOK_S: Final = 0.05


class Gifts:
    """What one peer gave and what is not known to have begun."""

    def __init__(self, runtime: Runtime, views: Views) -> None:
        self._runtime, self._views = runtime, views
        self._seen_s: dict[ViewKey, float] = {}
        """When each was seen to be open first."""

    def are_open(self) -> bool:
        """Whether anything that this peer gave is still waited for."""
        now = self._runtime.now()
        self._seen_s = {key: self._seen_s.get(key, now) for key in self._views.open_gifts()}
        return any(now - seen_s < BEGINS_S for seen_s in self._seen_s.values())

    async def begun(self, is_pressing: Callable[[], bool] = lambda: False) -> None:
        """Wait until all that this peer gave is known to have begun, or was taken over by others;
        no longer than nothing else is pressing."""
        while self.are_open() and not is_pressing():
            await self._runtime.sleep(LOOK_S)
