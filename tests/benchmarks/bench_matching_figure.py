"""The report's figure 4.1 (c) with the report's own way beside ours: what a peer spends on matching
and building the notifications, by how many interests it stores and the share of them that match.

The report asked MySQL; here that is one SQL row an attribute on SQLite, with an index on each value
and the very same notifications built.  Prints one JSON line a point.  With `METEOR_FIGURES=DIR` the
points are written to DIR/figure-4.1c.csv, which `meteor-sim measure` takes, and drawn as
DIR/figure-4.1c.png where matplotlib is installed.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest

from arms import Profile, ProfileIndex
from sim import plot
from sim.measure.drawing import draw_matching
from sim.measure.matching import FILE_NAME, SHARES, MatchingPoint, overhead, write_points
from tests.benchmarks.matching_workload import interest, reading
from tests.benchmarks.measuring import report
from tests.benchmarks.sql_matcher import SqlMatcher

pytestmark = pytest.mark.benchmark
SEED = 1
MOST = int(os.environ.get("METEOR_BENCH_PROFILES", "100000"))
SIZES = [size for size in (100, 1_000, 10_000, 100_000, 1_000_000) if size <= MOST]
SQL_MOST = 100_000
ASKED = 20


def test_figure_4_1_c():
    points = [point for share in SHARES for size in SIZES for point in measured(size, share)]
    folder = os.environ.get("METEOR_FIGURES")
    if folder:
        write(points, Path(folder))


def measured(stored: int, share: float) -> list[MatchingPoint]:
    """Both ways at one size and share."""
    random = Random(SEED)
    interests = [interest(random, share).at_rest() for _ in range(stored)]
    arriving = [reading(random) for _ in range(ASKED)]
    index = ProfileIndex[int]("selectors")
    for id, profile in enumerate(interests):
        index.add(id, profile)
    ways: dict[str, Callable[[Profile], list[int]]] = {"ours": index.match_subject}
    if stored <= SQL_MOST:
        ways["sql"] = SqlMatcher(interests).match_subject
    points = []
    gc.collect()
    gc.disable()
    for way, match in ways.items():
        point = overhead(way, stored, share, match, arriving)
        report("figure 4.1 (c)", **asdict(point))
        points.append(point)
    gc.enable()
    return points


def write(points: list[MatchingPoint], folder: Path) -> None:
    """The points as CSV, and drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    write_points(points, folder / FILE_NAME)
    if plot.is_available():
        draw_matching(points, folder / "figure-4.1c.png")
    else:
        print(plot.HOW_TO_GET)
