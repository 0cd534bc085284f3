"""Figure 4.2 anew: the shares of peers that process and match, over the size of the system.

Law of this file: a table in, a picture out; matplotlib is imported on first use.  A row of panels a
placement: wildcards and ranges as in the report, with its bounds, and the messages of a query.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pandas

MIXES: Final = {"wildcard": "wildcard queries", "range": "range queries"}
BOUNDS: Final = {"processing_pct": 11.0, "matching_pct": 6.0}
"""The report's, in percent of the peers, for wildcards."""
_WAYS: Final = {
    "published": ("published Squid", "tab:gray", "s"),
    "fingers": ("Meteor, by fingers", "tab:orange", "^"),
    "first_match": ("Meteor, first match", "tab:blue", "o"),
    "floor": ("hold a match", "tab:green", "v"),
}
_T_95: Final = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
"""Student's t, 97.5 %, by degrees of freedom from 1."""


def half_interval(values: Sequence[float]) -> float:
    """Half of the 95 % confidence interval of the mean; 0 of a single value."""
    count = len(values)
    if count < 2:
        return 0.0
    mean = sum(values) / count
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    t = _T_95[count - 2] if count - 2 < len(_T_95) else 1.96
    return t * sqrt(variance / count)


def draw(table: pandas.DataFrame, path: Path) -> None:
    """As a PNG.  Raises ImportError without matplotlib."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    placements = sorted(table["placement"].unique(), reverse=True)
    height = 4.2 * len(placements)
    # Margins in inches are given: to find them by drawing takes as long again as the drawing.
    picture = Figure(figsize=(13, height))
    picture.subplots_adjust(
        left=0.75 / 13, right=1 - 0.1 / 13, wspace=0.22,
        bottom=0.5 / height, top=1 - 0.75 / height, hspace=0.27,
    )  # fmt: skip
    picture.suptitle(_title(table), y=1 - 0.25 / height, va="center")
    rows = picture.subplots(len(placements), 3, squeeze=False)
    for row, placement in zip(rows, placements, strict=True):
        placed = table[table["placement"] == placement]
        mixes = placed[placed["query_class"].isin(list(MIXES))]
        top = 1.1 * max(mixes["processing_pct"].max(), BOUNDS["processing_pct"])
        for panel, (mix, name) in zip(row, MIXES.items(), strict=False):
            _shares(panel, placed[placed["query_class"] == mix])
            panel.set(title=f"{name}, {placement} placement", ylim=(0, top))
        _messages(row[2], placed)
        row[2].set(title=f"messages, {placement} placement")
    rows[0][1].legend(fontsize="small", loc="upper right")
    rows[0][2].legend(fontsize="x-small", loc="upper left")
    picture.savefig(path, dpi=120)


def _title(table: pandas.DataFrame) -> str:
    seeds, largest = table["seed"].nunique(), table.loc[table["peers"].idxmax()]
    of_seeds = f"mean and 95 % interval of {seeds} seeds" if seeds > 1 else "one seed"
    return (
        f"Peers that take part in a query; {int(largest['profiles']):,} unique profiles "
        f"at {int(largest['peers']):,} peers; {of_seeds}"
    )


def _shares(panel: Any, table: pandas.DataFrame) -> None:
    for routing, (name, colour, mark) in _WAYS.items():
        chosen = table[table["routing"] == routing]
        _line(panel, chosen, "processing_pct", label=name, color=colour, marker=mark)
    if (table["query_class"] == "wildcard").all():
        for column, colour, verb in (
            ("processing_pct", "black", "process"), ("matching_pct", "tab:green", "hold a match"),
        ):  # fmt: skip
            panel.axhline(BOUNDS[column], color=colour, linestyle=":", linewidth=1)
            panel.annotate(
                # On short lines: between the axis and the smallest ring there is no curve.
                f"report:\nbelow {BOUNDS[column]:g} %\n{verb}", (0, BOUNDS[column]), (2, -2),
                xycoords=("axes fraction", "data"), textcoords="offset points",
                fontsize="x-small", color=colour, va="top",
            )  # fmt: skip
    panel.set(xlabel="peers", ylabel="share of all peers (%)")
    panel.set_xlim(left=0)


def _messages(panel: Any, table: pandas.DataFrame) -> None:
    for routing, (name, colour, mark) in list(_WAYS.items())[:-1]:
        chosen = table[(table["routing"] == routing) & (table["query_class"] == "wildcard")]
        look = {"color": colour, "marker": mark}
        _line(panel, chosen, "hops", label=f"{name}: all hops, lookups too", **look)
        _line(panel, chosen, "messages", label=f"{name}: shares alone", linestyle="--", **look)
    panel.set(xlabel="peers", ylabel="messages a wildcard query")
    panel.set_xlim(left=0)
    panel.set_ylim(bottom=0, top=1.45 * panel.get_ylim()[1])


def _line(panel: Any, table: pandas.DataFrame, column: str, **style: Any) -> None:
    """Mean and interval over the seeds, by number of peers."""
    by_size = {
        int(peers): some[column].tolist() for peers, some in table.groupby("peers", sort=True)
    }
    means = [sum(values) / len(values) for values in by_size.values()]
    bars = [half_interval(values) for values in by_size.values()]
    panel.errorbar(list(by_size), means, bars, capsize=3, **style)
