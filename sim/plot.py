"""Plots of studies, where matplotlib is installed (the extra `plot`).

Law of this file: the only one that knows matplotlib, imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.data_study import DataRow
    from sim.lookup_study import Row, Spread

HOW_TO_GET = "no plot: matplotlib is missing, pip install 'meteor-rendezvous[plot]'"

BESIDE = 0.012
"""Of the axis, that the published points stand beside ours: their bars would hide each other."""


def is_available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def plot_rows(title: str, varied: str, rows: Sequence[Row], path: Path) -> None:
    """Path lengths and time-outs over what was varied, measured and published, as a PNG.

    Raises `ImportError` without matplotlib."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(9, 4), layout="constrained")
    figure.suptitle(title)
    left, right = figure.subplots(1, 2)
    pairs = (
        (left, "path length", [(row.path, row.published_path) for row in rows]),
        (right, "time-outs a lookup", [(row.time_outs, row.published_time_outs) for row in rows]),
    )
    for axes, label, spreads in pairs:
        xs = [row.varied for row in rows]
        measured = [spread for spread, _ in spreads]
        axes.errorbar(xs, [s.mean for s in measured], _bars(measured), fmt="o-", label="measured")
        published = [
            (x, spread) for x, (_, spread) in zip(xs, spreads, strict=True) if spread is not None
        ]
        if published:
            told, beside = [spread for _, spread in published], BESIDE * (max(xs) - min(xs))
            axes.errorbar(
                [x + beside for x, _ in published], [s.mean for s in told], _bars(told),
                fmt="s--", label="published",
            )  # fmt: skip
        axes.set_xlabel(varied)
        axes.set_ylabel(f"{label} (1st to 99th percentile)")
        axes.legend(loc="upper left")
    figure.savefig(path, dpi=120)


def plot_losses(title: str, varied: str, rows: Sequence[DataRow], path: Path) -> None:
    """The share of profiles lost, measured and p^k, over what was varied, as a PNG.

    Raises `ImportError` without matplotlib."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(6, 4), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots()
    for copies in sorted({row.copies for row in rows}):
        chosen = [row for row in rows if row.copies == copies]
        xs = [row.varied for row in chosen]
        line = axes.plot(xs, [row.lost_share for row in chosen], "o-", label=f"k = {copies}")[0]
        expected = [row.expected_share for row in chosen]
        axes.plot(xs, expected, "--", color=line.get_color(), label=f"p^{copies}")
    axes.set_xlabel(varied)
    axes.set_ylabel("share of profiles lost")
    axes.legend(loc="upper left")
    figure.savefig(path, dpi=120)


def _bars(spreads: Sequence[Spread]) -> list[list[float]]:
    """How far the percentiles lie below and above the means."""
    return [
        [max(0.0, spread.mean - spread.p1) for spread in spreads],
        [max(0.0, spread.p99 - spread.mean) for spread in spreads],
    ]
