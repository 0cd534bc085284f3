"""The report's figure 4.1, drawn from our points.

Law of this file: one function a picture, axes labelled with units, claims of the report in the
title.  matplotlib is imported on first use (the extra `plot`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sim.measure.lookups import LookupPoint
from sim.measure.matching import MatchingPoint
from sim.measure.routing import QUERY_SETS, RoutingPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS: Final = {"wildcards": "#c44e52", "ranges": "#4c72b0", "both": "#55a868"}
_STYLES: Final = {"fingers": "o-", "first match": "s--"}


def draw_lookups(points: Sequence[LookupPoint], path: Path) -> None:
    """Figure 4.1 (a): latency and hops over peers.  Raises `ImportError` without matplotlib."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(9, 4), layout="constrained")
    figure.suptitle("Figure 4.1 (a): lookup of a random destination; the report: flat")
    left, right = figure.subplots(1, 2)
    for name, label in (("off", "hop by hop"), ("on", "with the arc cache, as shipped")):
        line = sorted((p for p in points if p.arc_cache == name), key=lambda p: p.peers)
        sizes = [point.peers for point in line]
        drawn = left.plot(sizes, [p.p50_ms for p in line], "o-", label=f"{label}, median")[0]
        left.plot(
            sizes, [p.p99_ms for p in line], ":", color=drawn.get_color(),
            label=f"{label}, 99th percentile",
        )  # fmt: skip
        right.plot(sizes, [p.hops for p in line], "o-", color=drawn.get_color(), label=label)
    left.set(ylabel="latency, ms")
    right.set(ylabel="peers that a lookup is handed to, mean")
    for axes in (left, right):
        _over_peers(axes, points)
    figure.savefig(path, dpi=120)


def draw_routing(points: Sequence[RoutingPoint], path: Path) -> None:
    """Figure 4.1 (b): overhead a peer and latency over peers, a colour a set of keyword tuples.
    Raises `ImportError` without matplotlib."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    figure.suptitle(
        "Figure 4.1 (b): routing overhead; the report: grows far slower than the system"
    )
    left, right = figure.subplots(1, 2)
    for name in QUERY_SETS:
        for way, style in _STYLES.items():
            line = sorted(
                (p for p in points if (p.queries, p.addressing) == (name, way)),
                key=lambda p: p.peers,
            )
            sizes = [point.peers for point in line]
            label, colour = f"{name}, {way}", _COLOURS[name]
            if line and all(point.overhead_us is not None for point in line):
                cost = [point.overhead_us or 0.0 for point in line]
                left.plot(sizes, cost, style, color=colour, label=label)
            right.plot(sizes, [p.p50_ms for p in line], style, color=colour, label=label)
    left.set(ylabel="processor time a peer and query, us")
    right.set(ylabel="latency of a query, median, ms")
    for axes in (left, right):
        _over_peers(axes, points)
    figure.savefig(path, dpi=120)


def draw_matching(points: Sequence[MatchingPoint], path: Path) -> None:
    """Figure 4.1 (c): overhead against stored profiles, a line a way and share.  Raises
    `ImportError` without matplotlib."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    names = {"ours": ("Meteor", "o-"), "sql": ("SQL, a row an attribute", "s--")}
    for place, share in enumerate(sorted({point.share for point in points})):
        for way, (name, style) in names.items():
            line = sorted(
                (p for p in points if (p.way, p.share) == (way, share)), key=lambda p: p.stored
            )
            if line:
                axes.plot(
                    [p.stored for p in line], [p.overhead_us / 1000 for p in line], style,
                    color=f"C{place}", label=f"{name}, {share:.2%} match",
                )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="interests stored at the peer")
    axes.set_ylabel("matching and building the notifications, ms")
    axes.set_title("Figure 4.1 (c): matching overhead, action notify")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def _over_peers(axes: Axes, points: Sequence[LookupPoint | RoutingPoint]) -> None:
    sizes = sorted({point.peers for point in points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_xlabel("peers, each a process")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
