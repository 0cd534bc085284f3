"""Work under way: a second try of what is still being done waits for the first.

Law of this file: no time of its own.  A router asks again when a second has passed without a
report; a peer that is slow, as much is asked of it, must not begin the same work once more each
time, and be slower still.  Whoever comes later gets the outcome of the first, if there is one; what
the first left undone he does himself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from chord import RequestTimeout, Runtime
from squid import Work

Ends = Callable[[], float]
"""When nobody waits for a work any more, as far as is known now."""


class UnderWay:
    """What one rendezvous point is doing, by the operation and its part."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._outcomes: dict[Hashable, Awaitable[Any] | None] = {}
        """Awaited by those who came later; None where nobody did."""
        self._ends_s: dict[Hashable, float] = {}
        """When the last of those who asked for it waits no more."""

    def __len__(self) -> int:
        return len(self._outcomes)

    async def once(
        self, name: Hashable, ends_s: float, do: Callable[[Ends], Awaitable[Work]]
    ) -> Work | None:
        """Do it, or wait for who does; None when the time is up.  Raises what `do` raises, which is
        given the time at which nobody waits any more: others may come meanwhile."""
        while name in self._outcomes:
            self._ends_s[name] = max(self._ends_s[name], ends_s)
            work = await self._outcome(name, ends_s)
            if work is not None and not work.undone:
                return work
            if self._runtime.now() >= ends_s:
                return None
        self._outcomes[name], self._ends_s[name] = None, ends_s
        work = None
        try:
            work = await do(lambda: self._ends_s[name])
        finally:
            del self._ends_s[name]
            if self._outcomes.pop(name) is not None:
                self._runtime.deliver((self, name), work)
        return work

    async def _outcome(self, name: Hashable, ends_s: float) -> Work | None:
        outcome = self._outcomes[name]
        if outcome is None:
            left_s = max(ends_s - self._runtime.now(), 0.0)
            outcome = self._outcomes[name] = self._runtime.expect((self, name), left_s)
        try:
            work: Work | None = await outcome
        except RequestTimeout:
            if self._outcomes.get(name) is outcome:
                self._outcomes[name] = None
            return None
        return work
