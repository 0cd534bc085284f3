"""What a peer tells the origin of a share: pages of what it found, then its report.

Law of this file: nothing is decided here.  The origin counts a report once it has all its pages;
what a peer tells itself it knows in the same turn, as nobody needs a message to know what he did.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from chord import Contact, Handler, Runtime, replace
from squid.intervals import Intervals, merge, subtract
from squid.messages import HandOn, Report, ResultFrame
from squid.observer import RouteObserver
from squid.worker import Work

FRAMES_AT_ONCE: Final = 8
"""Pages that are sent in one turn: at most half a megabyte is encoded, and leaves as one."""


class Reporting:
    """The telling side of one router."""

    def __init__(self, runtime: Runtime, take_frame: Handler, take_report: Handler) -> None:
        self._runtime, self._take_frame, self._take_report = runtime, take_frame, take_report
        self._parts = 0
        self.observer: RouteObserver | None = None

    def tell(
        self, share: HandOn, work: Work, mine: Intervals, handed: int
    ) -> Callable[[], Awaitable[None]] | None:
        """Tell what is there, all in this turn; what brings the rest, where there is one."""
        part = self._next_part()
        for number, body in enumerate(work.frames):
            self._send_frame(share, part, number, body)
        bring = work.rest
        if bring is None:
            self._report(share, work, mine, handed, part)
            return None

        async def tell_rest() -> None:
            rest = await bring()
            await self._send_frames(share, part, len(work.frames), rest.frames)
            frames = (*work.frames, *rest.frames)
            done = replace(work, frames=frames, body=rest.body, speaks_for_s=rest.speaks_for_s)
            self._report(share, done, mine, handed, part)

        return tell_rest

    async def tell_all(self, share: HandOn, work: Work, mine: Intervals, handed: int) -> None:
        """Tell what is there, pages some at a time."""
        part = self._next_part()
        await self._send_frames(share, part, 0, work.frames)
        self._report(share, work, mine, handed, part)

    async def _send_frames(
        self, share: HandOn, part: int, first: int, frames: Sequence[bytes]
    ) -> None:
        for number, body in enumerate(frames, first):
            self._send_frame(share, part, number, body)
            if (number - first + 1) % FRAMES_AT_ONCE == 0:
                await self._runtime.sleep(0.0)

    def _next_part(self) -> int:
        self._parts += 1
        return self._parts

    def _send_frame(self, share: HandOn, part: int, number: int, body: bytes) -> None:
        self._say(share.origin, ResultFrame(share.operation, share.attempt, part, number, body))

    def _report(self, share: HandOn, work: Work, mine: Intervals, handed: int, part: int) -> None:
        self.saw(share, work)
        done = subtract(mine, work.undone) if work.undone else mine
        if not done:
            return
        open_here = bool(work.missing or work.doubted)
        report = Report(
            operation=share.operation,
            attempt=share.attempt,
            part=part,
            covered=subtract(done, merge(work.missing, work.doubted)) if open_here else done,
            missing=subtract(work.missing, work.doubted) if work.doubted else work.missing,
            frames=len(work.frames),
            hops=share.hops,
            body=work.body,
            handed=handed,
            speaks_for_s=work.speaks_for_s,
        )
        self._say(share.origin, report)

    def saw(self, share: HandOn, work: Work) -> None:
        """Let whoever looks on know of it."""
        if self.observer is not None:
            self.observer.worked(share, work)

    def _say(self, origin: Contact, word: ResultFrame | Report) -> None:
        if origin != self._runtime.contact:
            self._runtime.send(origin, word)
        elif isinstance(word, Report):
            self._take_report(origin, word, 0.0)
        else:
            self._take_frame(origin, word, 0.0)
