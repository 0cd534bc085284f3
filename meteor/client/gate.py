"""So many at once, the others in the order in which they came.

Law of this file: built on `Runtime.expect` and `deliver` alone, as a mailbox is.  Whoever leaves
lets in who has waited longest, so that thousands who wait cost no more than their turns.
"""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import Final

from chord import Runtime


class Gate:
    """`async with gate:`, at most `most` at a time.  Whoever is cancelled makes room."""

    def __init__(self, runtime: Runtime, most: int) -> None:
        self._runtime = runtime
        self._most: Final = most
        self._inside, self._came = 0, 0
        self._waiting: deque[tuple[Gate, int]] = deque()

    async def __aenter__(self) -> None:
        """Raises `chord.RequestTimeout` where the runtime is closed."""
        if self._inside < self._most:
            self._inside += 1
            return
        self._came += 1
        token, is_inside = (self, self._came), False
        self._waiting.append(token)
        try:
            await self._runtime.expect(token, None)
            is_inside = True
        finally:
            if token in self._waiting:
                self._waiting.remove(token)
            elif not is_inside:  # let in, and cancelled before its turn
                self._leave()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        """Give the place to who has waited longest."""
        if self._waiting:
            self._runtime.deliver(self._waiting.popleft(), None)
        else:
            self._inside -= 1
