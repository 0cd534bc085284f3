"""Zave's invariant after every event of a ring under joins, leaves and crashes.

Law of this file: runs stay inside the assumptions of the proof (literature.md section 3.3): they
start from an ideal ring of more than r members (A4); a member fails only if every list keeps two
living entries (A1; one more than the proof asks, as answers take time here while its steps are
atomic) and if more than r + 2 principals remain (A2); links are reliable and failures are seen
truthfully (A3).  Latencies have long tails, so that second steps and notifications arrive late and
at peers long dead.  An exception anywhere in a node fails the run, and so does a log record of
level ERROR.
"""

from __future__ import annotations

import random
import traceback
from dataclasses import dataclass
from typing import Final

from chord import ChordConfig, ChordNode, MeteorError
from sim.checkers import convergence, zave
from sim.checkers.convergence import IDEAL_WITHIN_S, Pointers
from sim.error_log import error_log
from sim.network import TailedLatency
from sim.replaying import line_that_repeats
from sim.report import Report
from sim.ring import Ring
from sim.trace import Trace

BITS: Final = 10
"""Identifiers are so few that neighbours often are direct neighbours."""
TOLD_LINES: Final = 4
"""Of the traceback of a bug."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RingScenario:
    """A ring of nodes alone; one seed of it is one run."""

    name: str = "zave"
    summary: str = "Zave's invariant of the ring after every event, inside its assumptions"
    events: int = 120
    """Joins, leaves and crashes that are tried."""
    pause_s: float = 0.35
    """Mean time between two: some round trips, less than a stabilisation interval."""

    def play(self, seed: int, *, keep_trace: bool = False) -> tuple[Report, Trace]:
        """Run one seed; the report, and the trace if it is to be kept."""
        stage = _Stage(self, seed, keep_trace=keep_trace)
        report, ring = stage.report, stage.ring
        with error_log() as logged:
            try:
                stage.churn()
                stage.rest()
            except Exception as error:
                told = traceback.format_exception(error)[-TOLD_LINES:]
                report.violations += [line.strip() for line in told]
        report.violations += logged
        report.events = sum(report.counts.values())
        report.finish(ring.kernel)
        return report, ring.kernel.trace


class _Stage:
    """One run."""

    def __init__(self, scenario: RingScenario, seed: int, *, keep_trace: bool) -> None:
        self._scenario = scenario
        self._draw = random.Random(seed)
        config = ChordConfig(
            bits=BITS, successor_count=3 + seed % 3, call_timeout_s_min=2.0,
            call_timeout_s_initial=2.0, silence_s=60.0,
        )  # fmt: skip
        self.report = Report(scenario.name, seed, line_that_repeats(scenario, seed))
        self.ring = Ring(seed, config, latency=TailedLatency(0.005, 0.03), keep_trace=keep_trace)
        self._ids = self._draw.sample(range(1 << BITS), scenario.events + 16)
        first = config.successor_count + self._draw.randint(1, 6)
        self.ring.ideal([self._ids.pop() for _ in range(first)], start=True)
        self._seen: dict[int, list[int]] = {}
        self.ring.kernel.watch(self._check)

    def churn(self) -> None:
        """Joins, and whatever failures the assumptions allow."""
        ring, draw = self.ring, self._draw
        for _ in range(self._scenario.events):
            ring.settle(draw.expovariate(1 / self._scenario.pause_s))
            chosen = draw.choice(ring.members)
            what = draw.random()
            if what < 0.5:
                self._count("joins")
                node = ring.add(self._ids.pop())
                ring.peers[node.contact.id].runtime.spawn(self._join(node, chosen))
            elif self._may_fail(chosen.contact.id):
                if what < 0.8:
                    self._count("crashes")
                    ring.crash(chosen.contact.id)
                else:
                    self._count("leaves")
                    ring.kernel.spawn(ring.leave(chosen.contact.id))

    def rest(self) -> None:
        """No churn any more: the ring becomes ideal."""
        ring, began_s = self.ring, self.ring.kernel.now()
        ring.settle(0.0)  # the last event begins: a ring that is ideal ends here
        while flaws := self._flaws():
            if ring.kernel.now() - began_s > IDEAL_WITHIN_S:
                self.report.violations += flaws
                return
            ring.settle(0.25)
        self.report.ideal_after_s = ring.kernel.now() - began_s

    async def _join(self, node: ChordNode, known: ChordNode) -> None:
        try:
            await node.join([known.contact])
        except MeteorError:
            self.ring.crash(node.contact.id)  # who fails to join stays outside
            return
        node.start()

    def _flaws(self) -> list[str]:
        members = {
            peer.node.contact: Pointers(peer.node.predecessor, peer.node.successors)
            if peer.node.joined
            else None
            for _, peer in sorted(self.ring.peers.items())
        }
        return convergence.flaws(members, self.ring.config.successor_count)

    def _snapshot(self) -> dict[int, list[int]]:
        return {
            node.contact.id: [entry.id for entry in node.successors] for node in self.ring.members
        }

    def _check(self) -> None:
        """After an event: is the invariant true of the lists, if one has changed?"""
        snapshot = self._snapshot()
        if snapshot == self._seen:
            return
        self._seen = snapshot
        found = zave.violations(snapshot, self.ring.config.successor_count)
        now_s = self.ring.kernel.now()
        self.report.violations += [f"zave: at {now_s:.3f} s: {text}" for text in found]

    def _may_fail(self, victim: int) -> bool:
        """Whether the assumptions allow this member to fail now."""
        snapshot = self._snapshot()
        living = set(snapshot) - {victim}
        if any(len(living.intersection(entries)) < 2 for entries in snapshot.values()):
            return False
        left = {member: entries for member, entries in snapshot.items() if member != victim}
        return len(zave.principals(left)) > self.ring.config.successor_count + 2

    def _count(self, what: str) -> None:
        self.report.counts[what] = self.report.counts.get(what, 0) + 1
