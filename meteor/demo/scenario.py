"""What happens in the demo, and whether every answer was right.

Law of this file: one conversation from top to bottom; every answer goes through `judge`, which
compares it as a set and by counts with the plain filter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import meteor
from meteor.demo.building import Plan, Question, selector
from meteor.demo.clients import (
    Actuator,
    Listener,
    Record,
    post_all,
    stem_of,
    together,
)
from meteor.demo.plain_filter import Between, Difference, Row, difference, wanted
from meteor.demo.readings import Reading

SETTLE_TIMEOUT_S = 15.0
"""How long notifications that are still under way may take after the last post."""

Answer = list[tuple[str, bytes]]
"""Names and data, as they came."""
Feed = Callable[[str, Answer], Answer]
"""Between an answer and its judge; the identity, but in the test that corrupts one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer, judged."""

    label: str
    kind: str
    """`notified` or `retrieved`."""
    count: int
    difference: Difference
    peers: int = 0


@dataclass
class Outcome:
    """What the final table shows."""

    record: Record = field(default_factory=Record)
    verdicts: list[Verdict] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What went wrong beside answers: a busy idle actuator, counts that do not add up."""
    stored: list[int] = field(default_factory=list)
    """Data held, peer by peer, in ring order."""
    hops: list[int] = field(default_factory=list)
    posting_s: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether everything was as the plain filter says."""
        return not self.faults and not any(verdict.difference for verdict in self.verdicts)


class Scenario:
    """The building's night: readings, interests, alarms, questions."""

    def __init__(
        self,
        plan: Plan,
        posters: Sequence[meteor.Client],
        listeners: Sequence[meteor.Client],
        progress: Callable[[], None],
        feed: Feed = lambda _, answer: answer,
    ) -> None:
        self.outcome = Outcome()
        self._plan = plan
        self._posters, self._clients = posters, listeners
        self._progress, self._feed = progress, feed
        self._record = self.outcome.record
        self._rows: dict[str, Row] = {reading.name: reading.row() for reading in plan.readings}
        self._data = {reading.name: reading.data() for reading in plan.readings}

    async def run(self) -> Outcome:
        """Play it from the first interest to the last question."""
        plan, held = self._plan, set(self._plan.held_back)
        live = [Listener(question, self._record) for question in plan.live]
        for at, listener in enumerate(live):
            await listener.listen(self._clients[at % len(self._clients)])
        late = Listener(plan.late, self._record)
        alarms = Listener(
            Question("alarm", {"kind": "alarm", "temperature": Between(plan.alarm_at, None)}),
            self._record,
        )
        actuator = Actuator(self._clients[-1], plan.alarm_at, self._record)
        await actuator.open()
        work = asyncio.create_task(actuator.work())
        try:
            readings = [reading for reading in plan.readings if reading not in held]
            quarter, half = len(readings) // 4, len(readings) // 2
            await self._post(readings[:quarter])
            self._expect_idle(actuator, "before anybody was interested")
            await alarms.listen(self._clients[0])
            await self._post(readings[quarter:half])
            await late.listen(self._clients[1 % len(self._clients)])
            await self._post(readings[half:])
            sounded = await self._alarms_settle(alarms, actuator)
            await self._post(plan.held_back)
            self._expect_idle(actuator, "when nobody was interested any more", sounded)
            await _settled({one: len(self._wanted(one.question)) for one in [*live, late]})
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        await self._ask_all(actuator)
        self._judge_listeners([*live, late])
        await self._count_stored(len(self._rows) + len(actuator.sounded))
        return self.outcome

    async def _post(self, readings: Sequence[Reading]) -> None:
        began_s = perf_counter()
        await post_all(self._posters, readings, self._record, self._progress)
        self.outcome.posting_s += perf_counter() - began_s

    # -- alarms ------------------------------------------------------------------------------

    def _expect_idle(self, actuator: Actuator, when: str, sounded: int = 0) -> None:
        if actuator.working or len(actuator.sounded) != sounded:
            self.outcome.faults.append(f"the actuator worked {when}")

    def _hot(self) -> dict[str, bytes]:
        """The alarms that are to sound: one for each hot reading that is not held back."""
        hot = wanted(self._rows, {"temperature": Between(self._plan.alarm_at, None)})
        held = {reading.name for reading in self._plan.held_back}
        return {
            f"alarm-{name}": f"fire in {self._rows[name]['room']}".encode() for name in hot - held
        }

    async def _alarms_settle(self, alarms: Listener, actuator: Actuator) -> int:
        """Wait for the alarms, then lose interest; how many had sounded."""
        expected = self._hot()
        await _settled({alarms: len(expected)})
        await alarms.stop()
        try:
            await asyncio.wait_for(actuator.idle(), SETTLE_TIMEOUT_S)
        except TimeoutError:
            self.outcome.faults.append("the actuator was never told that nobody is interested")
        self._judge("alarm", "notified", alarms.came, expected)
        return len(actuator.sounded)

    # -- notifications -----------------------------------------------------------------------

    def _judge_listeners(self, listeners: Sequence[Listener]) -> None:
        for listener in listeners:
            expected = self._wanted(listener.question)
            self._judge(listener.question.label, "notified", listener.came, expected)

    def _wanted(self, question: Question) -> dict[str, bytes]:
        """What the plain filter finds among all readings, with their data."""
        names = wanted(self._rows, question.conditions)
        return {name: self._data[name] for name in names}

    # -- questions ---------------------------------------------------------------------------

    async def _ask_all(self, actuator: Actuator) -> None:
        """The final questions, several clients at once."""
        gate = asyncio.Semaphore(len(self._clients))

        async def ask(at: int, question: Question, expected: Mapping[str, bytes]) -> None:
            async with gate:
                await self._ask(self._clients[at % len(self._clients)], question, expected)
            self._progress()

        alarms = Question("alarms", {"kind": "alarm"}, everywhere=True)
        await together(
            [
                *(ask(at, one, self._wanted(one)) for at, one in enumerate(self._plan.final)),
                ask(0, alarms, actuator.sounded),
            ]
        )

    async def _ask(
        self, client: meteor.Client, question: Question, expected: Mapping[str, bytes]
    ) -> None:
        began_s = perf_counter()
        answer = client.retrieve(
            selector(question.conditions), everywhere=question.everywhere, timeout=20
        )
        came = [(stem_of(match.id), match.data) async for match in answer]
        self._record.retrieve_s.append(perf_counter() - began_s)
        receipt = answer.receipt
        if receipt is not None:
            self.outcome.hops.append(receipt.hops)
        peers = 0 if receipt is None else receipt.peers
        self._judge(question.label, "retrieved", came, expected, peers)

    def _judge(
        self,
        label: str,
        kind: str,
        came: Answer,
        expected: Mapping[str, bytes],
        peers: int = 0,
    ) -> None:
        """Compare with the plain filter, as sets and by counts."""
        answer = self._feed(label, came)
        found = difference(answer, set(expected), expected)
        self.outcome.verdicts.append(Verdict(label, kind, len(answer), found, peers))

    # -- the ring ----------------------------------------------------------------------------

    async def _count_stored(self, expected: int) -> None:
        """Every peer says what it holds: of everything there is one copy."""
        picture = await self._clients[0].ring()
        self.outcome.stored = [peer.data for peer in picture.peers]
        if not picture.closed or sum(self.outcome.stored) != expected:
            self.outcome.faults.append(
                f"the peers hold {sum(self.outcome.stored)} records, {expected} were posted"
            )


async def _settled(counts: Mapping[Listener, int]) -> None:
    """Wait until every listener has as many as that, or time is up: what is missing then, the
    judge will say."""
    try:
        async with asyncio.timeout(SETTLE_TIMEOUT_S):
            for listener, count in counts.items():
                await listener.reached(count)
    except TimeoutError:
        return
