"""Chord's table of lookups under churn, from the real protocol in virtual time.

Law of this file: nodes join and leave politely at one Poisson rate each, lookups come at another;
upkeep runs at the paper's pace, a look at the successor every 30 s, give or take a quarter (the
paper: half), and one finger in as much, all ten together every 300 s; nobody is remembered, and
nobody looks at its place from afar.  What else the protocol does beyond the paper happens: joins
and leaves tell their neighbours at once, and a leaver's links close, which whoever points at it
sees.  An answer is right if it names the owner at the time of the question or of the answer.  Chord
(ToN 2003) section VI-E, literature.md section 2.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from chord import ChordConfig, ChordNode, LookupFailed, MeteorError, NotJoined
from sim.lookup_study import LookupSample, Row, Spread, row_of
from sim.ring import Ring

NEVER_S: Final = 1e9

PUBLISHED: Final = {
    0.05: (Spread(3.90, 1, 9), Spread(0.05, 0, 2), 0),
    0.10: (Spread(3.83, 1, 9), Spread(0.11, 0, 2), 0),
    0.15: (Spread(3.84, 1, 9), Spread(0.16, 0, 2), 2),
    0.20: (Spread(3.81, 1, 9), Spread(0.23, 0, 3), 5),
    0.25: (Spread(3.83, 1, 9), Spread(0.30, 0, 3), 6),
    0.30: (Spread(3.91, 1, 9), Spread(0.34, 0, 4), 8),
    0.35: (Spread(3.94, 1, 10), Spread(0.42, 0, 4), 16),
    0.40: (Spread(4.06, 1, 10), Spread(0.46, 0, 5), 15),
}
"""Joins a second, and as many leaves → path, time-outs, failures of 10,000: ToN 2003, table III."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnStudyPlan:
    """The size of the study; the defaults are the paper's."""

    peers: int = 1000
    successors: int = 20
    lookups: int = 10_000
    """A row."""
    rates: tuple[float, ...] = tuple(PUBLISHED)
    """Joins a second; the leaves are as many."""
    lookups_per_s: float = 1.0
    stabilise_interval_s: float = 30.0
    warm_up_s: float = 300.0
    """Churn before the first lookup."""
    seed: int = 1

    @property
    def config(self) -> ChordConfig:
        """The ring's constants at the paper's pace."""
        return ChordConfig(
            successor_count=self.successors,
            arc_cache_max=0,
            stabilise_interval_s=self.stabilise_interval_s,
            finger_interval_s_min=10 * self.stabilise_interval_s,
            finger_interval_s_max=10 * self.stabilise_interval_s,
            departed_s=2 * self.stabilise_interval_s,
            remembered_max=0,
            place_check_interval_s=NEVER_S,
        )


def study(plan: ChurnStudyPlan, progress: Callable[[str], None] = lambda _: None) -> list[Row]:
    """One row a rate; `progress` hears a line a row."""
    rows = []
    for rate in plan.rates:
        sample = look_up_under_churn(plan, rate)
        progress(f"R = {rate:g} a second: {sample.count} lookups")
        is_published = (plan.peers, plan.successors) == (1000, 20)
        rows.append(row_of(rate, sample, PUBLISHED.get(rate) if is_published else None))
    return rows


def look_up_under_churn(plan: ChurnStudyPlan, rate: float) -> LookupSample:
    """One ring under churn of that rate, and its lookups."""
    world = _World(plan, rate)
    ring, sample = world.ring, world.sample
    for events in (world.joins(), world.leaves()):
        ring.kernel.spawn(events)
    ring.settle(plan.warm_up_s)
    lookups = ring.kernel.spawn(world.lookups())
    ring.kernel.run_until(lookups)
    ring.settle(plan.config.lookup_timeout_s)
    return sample


class _World:
    """One ring under churn."""

    def __init__(self, plan: ChurnStudyPlan, rate: float) -> None:
        self._plan, self._rate = plan, rate
        self.ring = Ring(plan.seed, plan.config)
        self.sample = LookupSample()
        stream = self.ring.kernel.random("ids")
        ids = {stream.getrandbits(plan.config.bits) for _ in range(plan.peers)}
        self.ring.ideal(ids, start=True)

    async def joins(self) -> None:
        """New nodes, each by way of some member."""
        stream = self.ring.kernel.random("joins")
        while True:
            await self.ring.kernel.sleep(stream.expovariate(self._rate))
            self.ring.kernel.spawn(self._join(stream))

    async def leaves(self) -> None:
        """Members that go politely."""
        stream = self.ring.kernel.random("leaves")
        while True:
            await self.ring.kernel.sleep(stream.expovariate(self._rate))
            leaver = self.ring.any_member(stream)
            if not self._is_last(leaver):
                self.ring.kernel.spawn(self.ring.leave(leaver.contact.id))

    async def lookups(self) -> None:
        """Random keys from random members."""
        stream = self.ring.kernel.random("lookups")
        for _ in range(self._plan.lookups):
            await self.ring.kernel.sleep(stream.expovariate(self._plan.lookups_per_s))
            node = self.ring.any_member(stream)
            key = stream.getrandbits(self._plan.config.bits)
            self.ring.kernel.spawn(self._look_up(node, key))

    async def _join(self, stream: random.Random) -> None:
        known = self.ring.any_member(stream).contact
        node = self.ring.add(stream.getrandbits(self._plan.config.bits))
        try:
            await node.join([known])
        except MeteorError:
            if node.contact.id not in self.ring.peers:
                return  # it left before it heard that it is in
            if not self._is_last(node):
                self.ring.crash(node.contact.id)
                return
        node.start()

    def _is_last(self, node: ChordNode) -> bool:
        """Whether there is no other member: who comes next needs somebody to join."""
        return self.ring.members == [node]

    async def _look_up(self, node: ChordNode, key: int) -> None:
        sample, ring = self.sample, self.ring
        right = {ring.owner_of(key)}
        try:
            owner = await node.lookup(key)
        except NotJoined:
            return  # it left while it was asking
        except LookupFailed:
            sample.unanswered += 1
        else:
            sample.paths.append(ring.visits[key])
            sample.wrong += owner.contact.id not in right | {ring.owner_of(key)}
        sample.time_outs.append(ring.time_outs[key])
