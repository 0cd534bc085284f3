"""Levelling: who has come to hold something has all that it shows there with its copies as well.

Law of this file: one conversation at a time, when somebody needs it.  A primary may fall in the
middle of a change that came to one copy alone; so may who was given what it had, or who holds the
same for others.  Whoever goes on there answers by what it has: what it finds done, deleted, or had
by another holder already, need not be with its own copies.  Nothing of that is promised before
these were compared once; what it writes itself comes to all of them anyway (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from chord import CallError, Contact, Fault, RemoteFault, Runtime
from meteor.copies.entropy_comparison import Differences
from meteor.copies.entropy_forms import Malformed
from meteor.copies.entropy_source import MOVED_FAULT
from meteor.copies.turns import Mutex
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Keep, Kept
from meteor.wire.view import View
from squid import Intervals, intersect, merge, subtract

AGAIN_S: Final = 0.05
"""After a comparison that came to nothing."""
OPEN_MAX: Final = 64
"""Of more than so many beginnings it is not known apart any more what of it is compared already."""

Compare = Callable[[Contact, Intervals], Awaitable[Differences]]


async def _alike(_: Contact, __: Intervals) -> Differences:
    return Differences()


class Levelling:
    """What one peer came to hold and has not compared with its copies yet."""

    def __init__(
        self,
        runtime: Runtime,
        views: Views,
        ask: Callable[[Contact, object], Awaitable[object]],
        evict: Callable[..., Awaitable[None]],
        passed_over: Callable[[tuple[View, ...]], None],
    ) -> None:
        self._runtime, self._views = runtime, views
        self._ask, self._evict, self._passed_over = ask, evict, passed_over
        self.compare: Compare = _alike
        """Makes a copy equal; who assembles the peer sets it."""
        self._turn = Mutex(runtime, "levelling")
        self._open: dict[int, Intervals] = {}
        """What is to be compared, by when it began."""
        self._begun = 0

    def note_begun(self, part: Intervals) -> None:
        """It is held from now on."""
        self._begun += 1
        self._open[self._begun] = part
        if len(self._open) > OPEN_MAX:
            self._open = {self._begun: intersect(merge(*self._open.values()), self._views.held())}

    def note_come(self, part: Intervals) -> None:
        """Records of it came in past the copies, of which some may be held here by now: somebody
        gave it meanwhile."""
        if held := intersect(part, self._views.held()):
            self.note_begun(held)

    def is_open(self, part: Intervals) -> bool:
        """Whether copies may lack anything of what is here."""
        return any(intersect(of, part) for of in self._open.values())

    async def until(self, part: Intervals, ends_s: float) -> bool:
        """Compare until nothing of `part` is open, or the time is up; whether nothing is."""
        while self.is_open(part):
            if self._runtime.now() > ends_s:
                return False
            if not await self._level(part, ends_s):
                await self._runtime.sleep(AGAIN_S)
        return True

    async def _level(self, part: Intervals, ends_s: float) -> bool:
        await self._turn.enter()
        try:
            if self._runtime.now() > ends_s:
                return False  # nobody waits for it any more, and others may behind this one
            held = self._views.held()
            still = {at: intersect(of, held) for at, of in self._open.items()}
            self._open = {at: of for at, of in still.items() if of}
            for view in self._views.touching(part):
                if self.is_open(view.intervals):
                    before = list(self._open)
                    if not await self._is_level(view):
                        return False
                    self._close(before, view.intervals)
            return True
        finally:
            self._turn.leave()

    def _close(self, before: list[int], part: Intervals) -> None:
        """Not what began meanwhile: it may have been another's for a moment.  Nor what is not known
        apart from that any more."""
        for at in before:
            if left := subtract(self._open.pop(at, ()), part):
                self._open[at] = left

    async def _is_level(self, view: View) -> bool:
        """Whether each copy has all that is here now.  Who becomes one later is given all."""
        for copy in view.copies:
            reply = await self._ask(copy, Keep(view.intervals, ()))
            if isinstance(reply, Kept) and reply.newer:
                self._passed_over(reply.newer)
                return False
            if not isinstance(reply, Kept) or not reply.known:
                await self._evict(copy)
                return False
            try:
                if not (await self.compare(copy, view.intervals)).whole:
                    return False
            except RemoteFault as fault:
                if fault.kind == MOVED_FAULT:
                    await self._evict(copy)
                return False
            except (CallError, Malformed, Fault):
                return False
        return True
