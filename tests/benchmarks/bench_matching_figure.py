"""The report's figure 4.1 (c): what a peer spends on matching and building the notifications,
against how many interests it stores, by the share of them that match; action notify.

The report asked MySQL; beside the index stands one SQL row an attribute on SQLite, with an index on
each value and the very same notifications built.  Prints one JSON line a point.  With
`METEOR_FIGURES=DIR` the points are written to DIR/figure-4.1c.csv, and drawn as
DIR/figure-4.1c.png where matplotlib is installed.
"""

from __future__ import annotations

import csv
import gc
import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from time import thread_time

import pytest

from arms import Profile, ProfileIndex
from chord import Contact
from meteor import codec
from meteor.document import encode_document, pack_profile
from meteor.messages import Document, Found, Notice
from sim import plot
from tests.benchmarks.matching_workload import interest, reading
from tests.benchmarks.sql_matcher import SqlMatcher

pytestmark = pytest.mark.benchmark
SEED = 1
MOST = int(os.environ.get("METEOR_BENCH_PROFILES", "100000"))
SIZES = [size for size in (100, 1_000, 10_000, 100_000, 1_000_000) if size <= MOST]
SQL_MOST = 100_000
SHARES = (0.0001, 0.001, 0.01, 0.1)
ASKED = 20

Point = dict[str, float | str]


def test_figure_4_1_c():
    points = [point for share in SHARES for size in SIZES for point in measured(size, share)]
    folder = os.environ.get("METEOR_FIGURES")
    if folder:
        write(points, Path(folder))


def measured(stored: int, share: float) -> list[Point]:
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
        matched, (matching_us, whole_us) = overhead(match, arriving)
        point: Point = {
            "way": way, "stored": stored, "share": share, "matched": matched,
            "matching_us": matching_us, "overhead_us": whole_us,
        }  # fmt: skip
        print(json.dumps({"benchmark": "figure 4.1 (c)", **point}), flush=True)
        points.append(point)
    gc.enable()
    return points


def overhead(
    match: Callable[[Profile], list[int]], arriving: list[Profile]
) -> tuple[float, tuple[float, float]]:
    """How many match, and the medians of the time for matching and for it with the notifications,
    in us of processor time."""
    peer = Contact(1, "127.0.0.1:7400")
    found = 0
    times = []
    for turn in range(3):
        for number, data in enumerate(arriving):
            start = thread_time()
            ids = match(data)
            matched = thread_time()
            frames = notifications(ids, data, number, peer)
            times.append((matched - start, thread_time() - start))
            found += len(frames) if not turn else 0
    matching, whole = (round(median(one) * 1e6, 1) for one in zip(*times, strict=True))
    return found / len(arriving), (matching, whole)


def notifications(ids: list[int], data: Profile, number: int, peer: Contact) -> list[bytes]:
    """One notification for each interest, as it goes to the client."""
    if not ids:
        return []
    blob = encode_document(Document("store", pack_profile(data), b"21.5"))
    found = Found(f"d{number}.aaaaaaaaaaaaaa", 1, "", 3_600_000, blob)
    return [
        codec.encode(Notice(f"i{id}:d{number}:1", f"i{id}", "match", found, peer)) for id in ids
    ]


def write(points: list[Point], folder: Path) -> None:
    """The points as CSV, and drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "figure-4.1c.csv").open("w", newline="") as file:
        lines = csv.DictWriter(file, list(points[0]))
        lines.writeheader()
        lines.writerows(points)
    if plot.is_available():
        draw(points, folder / "figure-4.1c.png")
    else:
        print(plot.HOW_TO_GET)


def draw(points: list[Point], path: Path) -> None:
    """Overhead against stored profiles, a line for each way and share."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    styles = {"ours": "o-", "sql": "s--"}
    names = {"ours": "Meteor", "sql": "SQL, a row an attribute"}
    for place, share in enumerate(SHARES):
        for way, style in styles.items():
            line = [p for p in points if (p["way"], p["share"]) == (way, share)]
            axes.plot(
                [p["stored"] for p in line], [float(p["overhead_us"]) / 1000 for p in line], style,
                color=f"C{place}", label=f"{names[way]}, {share:.2%} match",
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="interests stored at the peer")
    axes.set_ylabel("matching and building the notifications, ms")
    axes.set_title("Matching overhead (report, figure 4.1 (c)), action notify")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
