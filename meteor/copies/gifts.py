"""What was given, and until when the giver's copies keep it: until the taker has begun.

Law of this file: it waits and remembers, and changes nothing.  Until then the copies of the giver's
view are all that there is of the part beside the giver, and they let go of it by any later epoch of
that view; should giver and taker die together, they have it.  So a change that cannot wait, as that
a copy is silent, leaves the view as it is to them, and goes on with the rest under another number;
of the part they are told once it has begun (DESIGN section 5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from chord import Runtime
from meteor.keeping.views import GIFTS_MAX, Views
from meteor.wire.view import View, ViewKey

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
        self._numbers: dict[ViewKey, frozenset[int]] = {}
        """Of which own views each is part."""
        self._left: deque[int] = deque(maxlen=GIFTS_MAX)

    def note(self, key: ViewKey, parts: Sequence[View]) -> None:
        """These parts of own views are given, and begin under that key."""
        self._numbers[key] = frozenset(one.number for one in parts)

    def are_open(self) -> bool:
        """Whether anything that this peer gave is still waited for."""
        return bool(self._open())

    def are_open_of(self, number: int) -> bool:
        """Whether anything is that was part of that view: its copies know it with that part."""
        return any(number in self._numbers.get(key, ()) for key in self._open())

    def note_left(self, number: int) -> None:
        """A view went on under another number: its copies keep what was given of it under this."""
        self._left.append(number)

    def was_left(self, number: int) -> bool:
        """Whether they do."""
        return number in self._left

    def _open(self) -> list[ViewKey]:
        now = self._runtime.now()
        self._seen_s = {key: self._seen_s.get(key, now) for key in self._views.open_gifts()}
        self._numbers = {key: of for key, of in self._numbers.items() if key in self._seen_s}
        return [key for key, seen_s in self._seen_s.items() if now - seen_s < BEGINS_S]

    async def begun(self, is_pressing: Callable[[], bool] = lambda: False) -> None:
        """Wait until all that this peer gave is known to have begun, or was taken over by others;
        no longer than nothing else is pressing."""
        while self.are_open() and not is_pressing():
            await self._runtime.sleep(LOOK_S)
