"""The study of load as a table, as CSV and as a plot.

Law of this file: values in, text or a picture out; the worst of the seeds counts.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.load_study import SKETCHED, TARGETS, Case, LoadPlan, LoadRow, Words


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """One words and case over all seeds."""

    words: Words
    case: Case
    rows: Sequence[LoadRow]

    @property
    def joined(self) -> float:
        """Largest load over the mean before any move, at worst."""
        return max(row.joined.largest for row in self.rows)

    @property
    def settled(self) -> float:
        """The same after the last move."""
        return max(row.settled.largest for row in self.rows)

    @property
    def gini(self) -> float:
        """After the last move, at worst."""
        return max(row.settled.gini for row in self.rows)

    @property
    def empty(self) -> float:
        """Share of peers that carry nothing after the last move, at worst."""
        return max(row.settled.empty for row in self.rows)

    @property
    def moves(self) -> int:
        """Peers that moved, at worst."""
        return max(row.moves for row in self.rows)

    @property
    def looks(self) -> int:
        """After how many looks of each peer the last one moved, at worst."""
        return max(row.looks for row in self.rows)

    def bytes_by_joins(self, plan: LoadPlan) -> int:
        """Bytes that new peers took over, at worst."""
        return plan.record_bytes * max(row.handed_over_by_joins for row in self.rows)

    def bytes_by_moves(self, plan: LoadPlan) -> int:
        """Bytes that moves handed over, at worst."""
        return plan.record_bytes * max(row.handed_over_by_moves for row in self.rows)


def summaries(rows: Sequence[LoadRow]) -> list[LoadSummary]:
    """The rows by words and case, in their order."""
    kinds = dict.fromkeys((row.words, row.case) for row in rows)
    return [
        LoadSummary(words, case, [row for row in rows if (row.words, row.case) == (words, case)])
        for words, case in kinds
    ]


def as_text(plan: LoadPlan, rows: Sequence[LoadRow]) -> str:
    """The table for people, beside what is asked for and what a first sketch reached."""
    head = [
        "words", "case", "joined", "settled", "at most", "sketch", "gini", "sketch", "empty",
        "moves", "looks", "MB by joins", "MB by moves",
    ]  # fmt: skip
    lines = [head, *_cells(plan, rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    text = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    seeds = f"the worst of {len(plan.seeds)} seeds" if len(plan.seeds) > 1 else "one seed"
    meaning = f"joined, settled: largest load over the mean, {seeds}; a look a minute\n"
    meaning += "sketch: a first sketch's figures, of 1,000 peers and 300,000 records"
    return "\n".join([*text, meaning])


def _cells(plan: LoadPlan, rows: Sequence[LoadRow]) -> Iterator[list[str]]:
    for one in summaries(rows):
        sketch = SKETCHED.get((one.words, one.case))
        yield [
            one.words, one.case, f"{one.joined:.2f}", f"{one.settled:.2f}",
            "-" if one.case == "hash" else f"{TARGETS[one.words]:.1f}",
            "-" if sketch is None else f"{sketch[0]:.1f}",
            f"{one.gini:.2f}", "-" if sketch is None else f"{sketch[1]:.2f}",
            f"{one.empty:.1%}", str(one.moves), str(one.looks),
            f"{one.bytes_by_joins(plan) / 1e6:.0f}", f"{one.bytes_by_moves(plan) / 1e6:.0f}",
        ]  # fmt: skip


def as_csv(plan: LoadPlan, rows: Sequence[LoadRow]) -> str:
    """Every run, for programs."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([
        "words", "case", "seed", "joined_largest", "joined_gini", "joined_empty",
        "settled_largest", "settled_gini", "settled_empty", "moves", "bytes_by_joins",
        "bytes_by_moves", "looks", "at_most",
    ])  # fmt: skip
    for row in rows:
        spreads = [
            f"{value:.4f}"
            for spread in (row.joined, row.settled)
            for value in (spread.largest, spread.gini, spread.empty)
        ]
        writer.writerow([
            row.words, row.case, row.seed, *spreads, row.moves,
            plan.record_bytes * row.handed_over_by_joins,
            plan.record_bytes * row.handed_over_by_moves, row.looks,
            "" if row.case == "hash" else TARGETS[row.words],
        ])  # fmt: skip
    return text.getvalue()


def plot(title: str, rows: Sequence[LoadRow], path: Path) -> None:
    """Largest load over the mean for each case, with the sketch and what is asked for, as a PNG.

    Raises `ImportError` without matplotlib."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(10, 4), layout="constrained")
    figure.suptitle(title)
    panels = figure.subplots(1, len(TARGETS), sharey=True)
    for panel, (words, target) in zip(panels, TARGETS.items(), strict=True):
        shown = [one for one in summaries(rows) if one.words == words]
        places = range(len(shown))
        panel.bar([at - 0.2 for at in places], [one.joined for one in shown], 0.4, label="joined")
        panel.bar([at + 0.2 for at in places], [one.settled for one in shown], 0.4, label="settled")
        sketched = [
            (at, SKETCHED[words, one.case][0])
            for at, one in enumerate(shown)
            if (words, one.case) in SKETCHED
        ]
        panel.plot(
            [at for at, _ in sketched], [value for _, value in sketched], "kx", label="sketch"
        )
        panel.axhline(target, linestyle="--", label=f"at most {target:g}")
        panel.set(title=f"{words} words", yscale="log", ylabel="largest load over the mean")
        panel.set_ylim(bottom=1)
        panel.set_xticks(list(places), [one.case for one in shown])
        panel.legend()
    figure.savefig(path, dpi=120)
