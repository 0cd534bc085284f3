"""Whether the results bear out what the report says of figure 4.2.

Law of this file: a table in, sentences out, each with the figures that it is judged by.  The
report's sentences: with wildcards below 11 % of the peers process a query and below 6 % have
matches; both shares fall as the system grows; ranges are cheaper (report section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sim.spark.figure import BOUNDS

if TYPE_CHECKING:
    import pandas

OURS: Final = ("first_match", "fingers")
BASELINE: Final = "published"
_NAMES: Final = {"processing_pct": "process", "matching_pct": "hold a match"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One thing that should be true of one way of routing in one placement."""

    placement: str
    routing: str
    text: str
    holds: bool
    figures: str
    """What it is judged by."""
    baseline_holds: bool = True
    """Whether it is true of published Squid on the same workload."""

    def __str__(self) -> str:
        mark = "pass" if self.holds else "FAIL"
        line = f"{mark}  {self.placement:10}  {self.routing:11}  {self.text}: {self.figures}"
        if not self.holds and not self.baseline_holds:
            line += " (published Squid fails it too on this workload)"
        return line


def judge(table: pandas.DataFrame) -> list[Sentence]:
    """Every sentence for each placement and each of Meteor's ways of routing."""
    found = []
    for placement in sorted(table["placement"].unique()):
        placed = table[table["placement"] == placement]
        baseline = list(_sentences(_means(placed, BASELINE)))
        for routing in OURS:
            for ours, theirs in zip(_sentences(_means(placed, routing)), baseline, strict=True):
                text, holds, figures = ours
                found.append(Sentence(placement, routing, text, holds, figures, theirs[1]))
    missed = table["missed_matches"].dropna()
    figures = f"{int(missed.sum())} missed, {len(missed)} of {len(table)} rows checked"
    found.append(Sentence("all", "all", "no match is missed", bool((missed == 0).all()), figures))
    return found


def passes(sentences: list[Sentence]) -> bool:
    """Whether all of them hold: in both placements, for both of Meteor's ways of routing."""
    return all(sentence.holds for sentence in sentences)


def as_text(sentences: list[Sentence]) -> str:
    """For people: a line a sentence, and the verdict."""
    verdict = "PASS" if passes(sentences) else "FAIL"
    failed = [sentence for sentence in sentences if not sentence.holds]
    note = f"{len(sentences) - len(failed)} of {len(sentences)} hold"
    if shared := sum(not one.baseline_holds for one in failed):
        note += f"; {shared} of the others do not hold of published Squid either"
    return "\n".join([*map(str, sentences), f"verdict: {verdict} ({note})"])


def _means(table: pandas.DataFrame, routing: str) -> pandas.DataFrame:
    """Means over the seeds, by class and size."""
    chosen = table[table["routing"] == routing]
    return chosen.groupby(["query_class", "peers"])[list(_NAMES)].mean().sort_index()


def _sentences(means: pandas.DataFrame) -> Iterator[tuple[str, bool, str]]:
    """Text, whether it holds, and the figures."""
    wildcard, ranged = means.loc["wildcard"], means.loc["range"]
    for column, bound in BOUNDS.items():
        values = wildcard[column]
        figures = f"{values.min():.1f} to {values.max():.1f} %"
        yield f"below {bound:g} % {_NAMES[column]} (wildcards)", bool(values.max() < bound), figures
    for column, verb in _NAMES.items():
        values = wildcard[column]
        falls = bool((values.diff().dropna() < 0).all())
        figures = ", ".join(f"{value:.1f}" for value in values) + " %"
        yield f"the share that {verb} falls with the peers (wildcards)", falls, figures
    cheaper = (ranged["processing_pct"] < wildcard["processing_pct"]).all()
    pairs = zip(ranged["processing_pct"], wildcard["processing_pct"], strict=True)
    figures = ", ".join(f"{less:.1f} < {more:.1f}" for less, more in pairs)
    yield "ranges are below wildcards", bool(cheaper), f"{figures} %"
