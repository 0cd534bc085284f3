"""Pictures of rings, curves, boxes and routes, for notebooks and pages: matplotlib axes in and out.

Law of this file: it draws what it is given and computes no protocol; every picture labels its axes,
or says in its title what they are.  matplotlib is imported on first use (the extra `plot`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from squid import Box, HilbertCurve, Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#30343f"
ACCENT: Final = "#c44e52"
QUIET: Final = "#b8bec9"


def canvas(
    width_in: float = 8, height_in: float = 4, columns: int = 1, rows: int = 1
) -> tuple[Figure, Any]:
    """A figure with its axes, of a size in inches."""
    from matplotlib import pyplot  # noqa: PLC0415 (an extra)

    figure, axes = pyplot.subplots(
        rows, columns, figsize=(width_in, height_in), layout="constrained"
    )
    return figure, axes


def place(peer_id: int, bits: int, radius: float = 1.0) -> tuple[float, float]:
    """Where an identifier sits on the circle: 0 at the top, rising clockwise."""
    angle = 2 * pi * peer_id / (1 << bits)
    return radius * sin(angle), radius * cos(angle)


def draw_ring(
    axes: Axes,
    ids: Iterable[int],
    bits: int,
    *,
    marked: Mapping[int, str] | None = None,
    title: str = "identifiers, 0 at the top, rising clockwise",
) -> None:
    """Peers on the identifier circle; those in `marked` have a colour of their own."""
    around = np.linspace(0, 2 * pi, 361)
    axes.plot(np.sin(around), np.cos(around), color=QUIET, linewidth=1, zorder=0)
    for peer_id in ids:
        colour = (marked or {}).get(peer_id, INK)
        axes.plot(*place(peer_id, bits), "o", color=colour, markersize=6)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(title, fontsize="medium")


def draw_chords(
    axes: Axes, start: int, ends: Iterable[int], bits: int, colour: str = ACCENT, label: str = ""
) -> None:
    """Arrows from one peer to others, as fingers and hand-ons are."""
    for number, end in enumerate(ends):
        axes.annotate(
            "", xy=place(end, bits, 0.97), xytext=place(start, bits, 0.97),
            arrowprops={"arrowstyle": "-|>", "color": colour, "alpha": 0.75, "shrinkB": 2},
        )  # fmt: skip
        if label and not number:
            axes.plot([], [], color=colour, label=label)


def draw_curve(axes: Axes, curve: HilbertCurve, colour: str = INK, width: float = 1.5) -> None:
    """A two-dimensional curve through all of its cells."""
    points = np.array([curve.decode(index) for index in range(curve.size)])
    axes.plot(points[:, 0], points[:, 1], color=colour, linewidth=width)
    frame_cells(axes, curve)


def frame_cells(
    axes: Axes, curve: HilbertCurve, names: Sequence[str] = ("first keyword", "second keyword")
) -> None:
    """Axes that count cells."""
    axes.set(
        xlim=(-0.5, curve.side - 0.5), ylim=(-0.5, curve.side - 0.5),
        xlabel=f"{names[0]}, cell", ylabel=f"{names[1]}, cell", aspect="equal",
    )  # fmt: skip


def draw_box(axes: Axes, box: Box, colour: str = ACCENT, label: str = "the query's box") -> None:
    """A box of cells in two dimensions."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 (an extra)

    width, height = (high - low + 1 for low, high in zip(box.low, box.high, strict=True))
    corner = (box.low[0] - 0.5, box.low[1] - 0.5)
    axes.add_patch(
        Rectangle(corner, width, height, fill=False, edgecolor=colour, linewidth=2.5, label=label)
    )


def draw_arcs(axes: Axes, curve: HilbertCurve, lasts: Sequence[int]) -> None:
    """Each cell in the colour of the peer that owns it; `lasts` are the last indexes of the peers,
    rising, the first of which also owns what lies beyond the last."""
    owners = np.zeros((curve.side, curve.side))
    for index in range(curve.size):
        x, y = curve.decode(index)
        owners[y, x] = int(np.searchsorted(lasts, index)) % len(lasts)
    axes.imshow(owners, origin="lower", cmap="tab20", alpha=0.55)
    frame_cells(axes, curve)


def draw_strip(
    axes: Axes,
    curve: HilbertCurve,
    clusters: Iterable[Interval],
    lasts: Sequence[int] = (),
) -> None:
    """The curve pulled straight: the clusters of a query on it, and the borders of arcs."""
    spans = [(first - 0.5, last - first + 1) for first, last in clusters]
    axes.broken_barh([(-0.5, curve.size)], (0, 1), color=QUIET, alpha=0.4)
    axes.broken_barh(spans, (0, 1), color=ACCENT)
    for last in lasts:
        axes.axvline(last + 0.5, color=INK, linewidth=1)
    axes.set(xlim=(-0.5, curve.size - 0.5), ylim=(0, 1), yticks=[])
    axes.set_xlabel("index on the curve; lines are the ends of the peers' arcs")


@dataclass(frozen=True, slots=True)
class RouteStep:
    """A share that one peer handed to another."""

    sender: int
    receiver: int
    hops: int


def steps_of(lines: Iterable[bytes]) -> list[RouteStep]:
    """The hand-ons in the lines of an event log, in order."""
    events = [json.loads(line) for line in lines]
    return [
        RouteStep(int(event["peer"], 16), int(event["to"], 16), event["hops"])
        for event in events
        if event["event"] == "route"
    ]


def draw_route(axes: Axes, steps: Sequence[RouteStep], ids: Sequence[int], bits: int) -> None:
    """Hand-ons on the ring, a colour a depth: who got the query from whom."""
    from matplotlib import colormaps, colors  # noqa: PLC0415 (an extra)

    deepest = max((step.hops for step in steps), default=1)
    reached = {step.receiver: ACCENT for step in steps}
    draw_ring(axes, ids, bits, marked=reached)
    for depth, count in sorted(Counter(step.hops for step in steps).items()):
        colour = colors.to_hex(colormaps["viridis"](0.85 * (depth - 1) / deepest))
        for number, step in enumerate(one for one in steps if one.hops == depth):
            label = "" if number else f"hand-on {depth}: {count} peers"
            draw_chords(axes, step.sender, [step.receiver], bits, colour, label)
    axes.legend(loc="center", fontsize="small", framealpha=0.9)
