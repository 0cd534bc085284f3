"""Anti-entropy: the primary of a holding and its copies find out what one of them has lost.

Law of this file: assembly and the peer's own course.  Writes reach every copy before they are
acknowledged; this is for what goes wrong afterwards, damage above all.  It is slow at rest, and
never decides who wins: `Source.admit` merges, as for every record that comes (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Mapping

from chord import CallError, Contact, Fault, Handler, RemoteFault, RequestTimeout, Runtime
from meteor.copies.entropy_answers import EntropyAnswers
from meteor.copies.entropy_comparison import Comparison, Differences
from meteor.copies.entropy_forms import INTERVALS_MAX, Malformed
from meteor.copies.entropy_schedule import CompareSchedule, EntropyConfig, Outcome
from meteor.copies.entropy_source import MOVED_FAULT, Source, Target
from squid import HilbertCurve, Intervals, merge


class AntiEntropy:
    """One peer's comparisons: with its copies, and as the copy of others."""

    def __init__(
        self,
        runtime: Runtime,
        curve: HilbertCurve,
        source: Source,
        config: EntropyConfig | None = None,
    ) -> None:
        self._runtime, self._curve, self._source = runtime, curve, source
        self._config = config or EntropyConfig()
        self._answers = EntropyAnswers(runtime, curve, source)
        self._schedule = CompareSchedule(self._config, runtime.random)

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return self._answers.handlers

    async def compare(self, copy: Contact, intervals: Intervals) -> Differences:
        """Compare with one copy and exchange what either lacks.

        Raises `chord.CallError` when the copy does not answer or refuses, `Malformed` when what it
        answers cannot be, and what `Source.admit` raises; what was exchanged before stays."""
        found = Differences()
        parts = merge(intervals)
        for at in range(0, len(parts), INTERVALS_MAX):
            found += await Comparison(
                self._runtime, self._curve, self._source, self._config, copy,
                parts[at : at + INTERVALS_MAX],
            ).run()  # fmt: skip
        return found

    async def watch_over(self) -> None:
        """Compare with the source's targets, one after another, for ever."""
        while True:
            self._schedule.follow(self._source.targets(), self._runtime.now())
            first = self._schedule.first()
            wait_s = self._config.look_s
            if first is not None:
                wait_s = min(wait_s, first[1] - self._runtime.now())
            if first is None or wait_s > 0:
                await self._wait(wait_s)
                continue
            outcome = await self._outcome(first[0])
            self._schedule.concluded(first[0], outcome, self._runtime.now())

    def stir(self) -> None:
        """The targets changed: look at once."""
        self._runtime.deliver(self._wake_token, None)

    @property
    def _wake_token(self) -> tuple[str, str]:
        return ("entropy", "wake")

    async def _wait(self, wait_s: float) -> None:
        try:
            await self._runtime.expect(self._wake_token, wait_s)
        except RequestTimeout:
            return

    async def _outcome(self, target: Target) -> Outcome:
        try:
            found = await self.compare(target.copy, target.intervals)
        except RemoteFault as fault:
            if fault.kind == MOVED_FAULT:
                await self._source.disowned(target)
            return "failed"
        except (CallError, Malformed, Fault):
            return "failed"
        if found.sent or found.received or not found.whole:
            return "healed"
        return "fruitless" if found.seen else "equal"
