"""Order among conversations of one peer: one at a time, and in the order in which they began.

Law of this file: no time-outs and no cleverness; both hold over any runtime.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from chord import RequestTimeout, Runtime

GAINED: Final = ("handoff", "gained")
"""Delivered whenever a peer answers for more than before, or knows of more that it is elsewhere."""


class Mutex:
    """Lets one conversation in at a time, first come first served."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime, self._name = runtime, name
        self._drawn = self._served = 0

    @property
    def is_busy(self) -> bool:
        """Whether a conversation is in."""
        return self._drawn != self._served

    async def enter(self) -> None:
        """Wait for one's turn; `leave` afterwards, whatever happens."""
        ticket = self._drawn
        self._drawn += 1
        if ticket != self._served:
            await self._runtime.expect((self._name, ticket), None)

    def leave(self) -> None:
        """Let the next one in."""
        self._served += 1
        self._runtime.deliver((self._name, self._served), None)


class Sequence:
    """Lets conversations that end in any order go on in the order in which they began."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime: Final = runtime
        self._name: Final = name
        self._open: OrderedDict[int, None] = OrderedDict()
        self._drawn = 0

    def begin(self) -> int:
        """A ticket; `end` it afterwards, whatever happens."""
        self._drawn += 1
        self._open[self._drawn] = None
        return self._drawn

    async def reached(self, ticket: int) -> None:
        """Wait until all earlier tickets have ended."""
        while (first := next(iter(self._open), ticket)) < ticket:
            await self._runtime.expect((self._name, first), None)

    def end(self, ticket: int) -> None:
        """Let the next one go on; harmless when it was ended."""
        self._open.pop(ticket, None)
        self._runtime.deliver((self._name, ticket), None)

    async def barrier(self) -> None:
        """Wait until everything begun before has ended."""
        await self.reached(self._drawn + 1)


class Bell:
    """Wakes one conversation that goes round: a ring while it works is not lost."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime, self._name = runtime, name
        self._rung = False

    def ring(self) -> None:
        """There is something to do."""
        self._rung = True
        self._runtime.deliver((self._name, "bell"), None)

    async def wait(self, timeout_s: float) -> None:
        """Wait until it has rung since the last wait, or the time is up."""
        if not self._rung:
            try:
                await self._runtime.expect((self._name, "bell"), timeout_s)
            except RequestTimeout:
                return
        self._rung = False
