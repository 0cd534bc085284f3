"""Chord's table of simultaneous failures, from the real protocol in virtual time.

Law of this file: a share of an ideal ring crashes at one moment, without any periodic upkeep, and
at the same moment every survivor looks up a random key, so that no lookup profits from what
another has found out.  What a lookup itself brings about (whoever meets three dead candidates looks
at its neighbours) belongs to the protocol and happens, as does what neighbours do when the link
between them closes.  All other links are cold: the dead are met as refused dials, each a time-out.
Chord (ToN 2003) section VI-D, literature.md section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from chord import ChordConfig, LookupFailed
from sim.lookup_study import LookupSample, Row, Spread, row_of
from sim.ring import Ring

PUBLISHED: Final = {
    0.0: (Spread(3.84, 2, 5), Spread(0.0, 0, 0), 0),
    0.1: (Spread(4.03, 2, 6), Spread(0.60, 0, 2), 0),
    0.2: (Spread(4.22, 2, 6), Spread(1.17, 0, 3), 0),
    0.3: (Spread(4.44, 2, 6), Spread(2.02, 0, 5), 0),
    0.4: (Spread(4.69, 2, 7), Spread(3.23, 0, 8), 0),
    0.5: (Spread(5.09, 3, 8), Spread(5.10, 0, 11), 0),
}
"""Failed share → path, time-outs, failed lookups: ToN 2003, table II; N = 1000, r = 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePlan:
    """The size of the study; the defaults are the paper's."""

    peers: int = 1000
    successors: int = 20
    lookups: int = 10_000
    """A row; rings are made until there are so many."""
    fractions: tuple[float, ...] = tuple(PUBLISHED)
    seed: int = 1

    def __post_init__(self) -> None:
        """Raises `ValueError` where nobody would be left: the study would wait for ever."""
        if any(round(one * self.peers) >= self.peers for one in self.fractions):
            raise ValueError(
                f"a share of {max(self.fractions):g} of {self.peers} peers leaves nobody to look "
                "anything up"
            )

    @property
    def config(self) -> ChordConfig:
        """The preset `lan` with the paper's lists; no lookup profits from an earlier one."""
        return replace(ChordConfig.lan(), successor_count=self.successors, arc_cache_max=0)


def study(plan: FailurePlan, progress: Callable[[str], None] = lambda _: None) -> list[Row]:
    """One row a fraction; `progress` hears a line a ring, but no more than ten of a row."""
    rows = []
    for fraction in plan.fractions:
        sample, number, said = LookupSample(), 0, 0
        while sample.count < plan.lookups:
            sample.add(crash_and_look_up(plan, fraction, plan.seed + number))
            number += 1
            if (tenths := 10 * sample.count // plan.lookups) > said:
                said = tenths
                progress(f"{fraction:g} crashed: {sample.count} lookups of at least {plan.lookups}")
        is_published = (plan.peers, plan.successors) == (1000, 20)
        rows.append(row_of(fraction, sample, PUBLISHED.get(fraction) if is_published else None))
    return rows


def crash_and_look_up(plan: FailurePlan, fraction: float, seed: int) -> LookupSample:
    """One ring: crash a share of it, and let every survivor look up one key at that moment."""
    config = plan.config
    ring = Ring(seed, config)
    stream = ring.kernel.random("study")
    ring.ideal({stream.getrandbits(config.bits) for _ in range(plan.peers)}, start=False)
    ring.settle(1.0)
    for victim in stream.sample(sorted(ring.peers), round(fraction * plan.peers)):
        ring.crash(victim)
    sample = LookupSample()

    async def look_up(node_id: int, key: int, owner_id: int) -> None:
        try:
            owner = await ring.peers[node_id].node.lookup(key)
        except LookupFailed:
            sample.unanswered += 1
        else:
            sample.paths.append(ring.visits[key])
            sample.wrong += owner.contact.id != owner_id
        sample.time_outs.append(ring.time_outs[key])

    survivors = sorted(ring.peers)
    keys = [stream.getrandbits(config.bits) for _ in survivors]
    tasks = [
        ring.kernel.spawn(look_up(node_id, key, ring.owner_of(key)))
        for node_id, key in zip(survivors, keys, strict=True)
    ]
    for task in tasks:
        ring.kernel.run_until(task)
    return sample
