"""What the report claims in chapter 4, and whether our points bear it out.

Law of this file: pure; a claim is a sentence of the report and a condition on numbers, so that
nobody reads a verdict out of a picture.  The plots of the report are not in our copy: its text is
what we compare with (WINLAB-TR-252, sections 4.1 and 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sim.measure.lookups import LookupPoint
from sim.measure.matching import MatchingPoint
from sim.measure.routing import QUERY_SETS, RoutingPoint

FLAT: Final = 3.0
"""A latency that grows less than so often while peers grow thirtyfold is "not affected"; log2 64
hops of a small ring are three times those of the smallest."""
SUBSTANTIALLY: Final = 2.0
"""A cost of so many times another, where the report says "substantially"."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim of the report, what we measured, and whether that agrees."""

    claim: str
    ours: str
    holds: bool
    otherwise: str = ""
    """What it means where it does not hold, if that is no fault."""

    def __str__(self) -> str:
        text = f"{'yes' if self.holds else 'NO '}  {self.claim}\n     ours: {self.ours}"
        return text if self.holds or not self.otherwise else f"{text}\n     {self.otherwise}"


def lookup_verdicts(points: Sequence[LookupPoint]) -> list[Verdict]:
    """Figure 4.1 (a), as peers are shipped."""
    shipped = sorted((p for p in points if p.arc_cache == "on"), key=lambda p: p.peers)
    if len(shipped) < 2:
        return []
    first, last = shipped[0], shipped[-1]
    return [
        Verdict(
            "4.1 (a): lookup latency is not affected by the growth of the system",
            f"{first.p50_ms:.2f} ms at {first.peers} peers, {last.p50_ms:.2f} ms at {last.peers}",
            last.p50_ms <= FLAT * first.p50_ms,
        )
    ]


def routing_verdicts(points: Sequence[RoutingPoint], addressing: str) -> list[Verdict]:
    """Figure 4.1 (b), of one way of handing on."""
    known = [p for p in points if p.addressing == addressing and p.overhead_us is not None]
    sizes = sorted({point.peers for point in known})
    if len(sizes) < 2:
        return []
    cost = {(p.queries, p.peers): p.overhead_us or 0.0 for p in known}
    small, large = sizes[0], sizes[-1]
    growth = {name: cost[name, large] / max(cost[name, small], 1e-9) for name in QUERY_SETS}
    dearest = max(QUERY_SETS, key=lambda name: cost[name, large])
    return [
        Verdict(
            "4.1 (b): routing overhead per peer grows far slower than the system",
            ", ".join(f"{name} x {growth[name]:.2g}" for name in QUERY_SETS)
            + f", peers x {large / small:g}",
            all(factor < large / small for factor in growth.values()),
        ),
        Verdict(
            "4.1 (b): wildcards are dearest",
            ", ".join(f"{name} {cost[name, large]:.0f} us" for name in QUERY_SETS)
            + f" a peer and query at {large} peers",
            dearest == "wildcards",
        ),
    ]


def matching_verdicts(points: Sequence[MatchingPoint]) -> list[Verdict]:
    """Figure 4.1 (c): ours should beat the jump that the report saw."""
    ours = {(p.share, p.stored): p.overhead_us for p in points if p.way == "ours"}
    verdicts = []
    low = [cost for (_, stored), cost in ours.items() if stored <= 10_000]
    if low:
        verdicts.append(
            Verdict(
                "4.1 (c): matching overhead is very low up to 10,000 stored profiles",
                f"at most {max(low) / 1000:.2f} ms", max(low) < 10_000,
            )
        )  # fmt: skip
    shares = sorted({share for share, stored in ours if stored == 100_000})
    if shares and (shares[0], 10_000) in ours:
        least = shares[0]
        verdicts.append(
            Verdict(
                "4.1 (c): substantially more at 100,000",
                f"{ours[least, 10_000] / 1000:.2f} ms at 10,000 and "
                f"{ours[least, 100_000] / 1000:.2f} ms at 100,000, {least:.2%} match",
                ours[least, 100_000] >= SUBSTANTIALLY * ours[least, 10_000],
                "a cost that the report found is not there: the index never looks at what cannot "
                "match",
            )
        )  # fmt: skip
    return verdicts
