"""Brief views: what begins as many fall counts only once it has settled (DESIGN section 5).

Law of this file: conversations.  Nothing is kept under a view that stands for an earlier one
(`View.settled`), so that nobody who remembers the earlier one lacks anything.  It settles in a next
epoch: by the first change that waits for it, else once it has its copies and nobody falls any more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from chord import Runtime
from meteor.copies.config import CopiesConfig
from meteor.copies.turns import Mutex
from meteor.keeping.views import Views
from meteor.wire.view import View


class Settling:
    """Of one peer's own views."""

    def __init__(
        self,
        runtime: Runtime,
        views: Views,
        config: CopiesConfig,
        *,
        change: Callable[..., Awaitable[bool]],
        may_fall: Callable[[], bool],
    ) -> None:
        self._runtime, self._views, self._config = runtime, views, config
        self._change, self._may_fall = change, may_fall
        self._turn = Mutex(runtime, "settling")
        self._since_s: dict[int, float] = {}
        """Since when nothing is kept under a view, by its number."""

    async def settle(self, views: Iterable[View], *, patient: bool = False) -> None:
        """Let something be kept under those of these that are still brief: one epoch for all who
        wait for it.  Who is `patient` leaves it where something that was given has not begun."""
        for view in views:
            await self._turn.enter()
            try:
                now = self._views.own.get(view.number)
                if now is not None and now.is_brief:
                    await self._change(now.number, settled=True, patient=patient)
            finally:
                self._turn.leave()

    async def look(self) -> None:
        """Settle what need not be brief any more, or has been so for long; not what too few hold,
        as nothing is kept under that."""
        now, may_fall = self._runtime.now(), self._may_fall()
        brief = [
            view for view in self._views.own.values()
            if view.is_brief and not self._config.is_small(view)
        ]  # fmt: skip
        self._since_s = {one.number: self._since_s.get(one.number, now) for one in brief}
        due = [
            view for view in brief
            if now - self._since_s[view.number] >= self._config.falling_s
            or not (may_fall or len(view.copies) < self._config.copies - 1)
        ]  # fmt: skip
        await self.settle(due, patient=True)
