"""What lookups cost: path lengths, time-outs and failures, as the Chord papers count them.

Law of this file: plain values and sums; no protocol.  A *path* is the peers that a lookup was
handed to, a *time-out* a peer that it was sent to and that was gone, a *failure* a lookup that
brought no owner in time or a wrong one (Chord, ToN 2003, sections VI-D and VI-E).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, 1st and 99th percentile."""

    mean: float
    p1: float
    p99: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of a sample; zeros if it is empty."""
        if not values:
            return cls(0.0, 0.0, 0.0)
        ordered = sorted(values)
        last = len(ordered) - 1
        mean = sum(ordered) / len(ordered)
        return cls(mean, ordered[round(0.01 * last)], ordered[round(0.99 * last)])

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.p1:g}, {self.p99:g})"


@dataclass(slots=True)
class LookupSample:
    """The lookups of one row of a table."""

    paths: list[int] = field(default_factory=list)
    """Of the answered ones."""
    time_outs: list[int] = field(default_factory=list)
    """Of all."""
    unanswered: int = 0
    wrong: int = 0
    """Answered by who does not own the key."""

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self.time_outs)

    @property
    def failed(self) -> int:
        """How many brought no owner, or a wrong one."""
        return self.unanswered + self.wrong

    def add(self, other: LookupSample) -> None:
        """Take in another sample of the same row."""
        self.paths += other.paths
        self.time_outs += other.time_outs
        self.unanswered += other.unanswered
        self.wrong += other.wrong


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: what was varied, measured and published."""

    varied: float
    path: Spread
    time_outs: Spread
    failed: int
    lookups: int
    published_path: Spread | None
    published_time_outs: Spread | None
    published_failed: int | None
    """Of 10,000."""

    @property
    def failed_of_10000(self) -> float:
        """Failures scaled to the published number of lookups."""
        return 10_000 * self.failed / self.lookups if self.lookups else 0.0


def row_of(
    varied: float, sample: LookupSample, published: tuple[Spread, Spread, int] | None
) -> Row:
    """Sum a sample up, beside what the paper has for the same."""
    path, time_outs, failed = published if published is not None else (None, None, None)
    return Row(
        varied, Spread.of(sample.paths), Spread.of(sample.time_outs), sample.failed, sample.count,
        path, time_outs, failed,
    )  # fmt: skip
