"""Chapter 4 of the report: claims judged by numbers, tables, plots; and, small, real processes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sim.cli import BAD_INPUT, DONE, VIOLATED, commands
from sim.measure import claims, drawing, ring
from sim.measure.lookups import LookupPoint
from sim.measure.matching import (
    MatchingPoint,
    measure_matching,
    read_points,
    write_points,
)
from sim.measure.report import as_csv, as_text
from sim.measure.routing import QUERY_SETS, RoutingPoint, selectors

LOOKUPS = [
    LookupPoint(size, cache, 100, 1.0, 0.5 + size / 100, 2.0)
    for size in (2, 64)
    for cache in ("off", "on")
]
ROUTING = [
    RoutingPoint(size, name, way, 50, 100.0 * (3 - place) + size, 1.0, 2.0, size / 2, 3.0)
    for size in (2, 64)
    for place, name in enumerate(QUERY_SETS)
    for way in ("fingers", "first match")
]
MATCHING = [
    MatchingPoint(way, stored, 0.001, stored / 1000, stored / 10, stored / 8 * (way == "sql" or 1))
    for way in ("ours", "sql")
    for stored in (1000, 10_000, 100_000)
]


def test_claims_are_judged_by_numbers() -> None:
    assert [verdict.holds for verdict in claims.lookup_verdicts(LOOKUPS)] == [True]
    slow = [*LOOKUPS[:3], LookupPoint(64, "on", 100, 6.0, 9.0, 20.0)]
    assert [verdict.holds for verdict in claims.lookup_verdicts(slow)] == [False]
    assert [verdict.holds for verdict in claims.routing_verdicts(ROUTING, "fingers")] == [
        True, True,
    ]  # fmt: skip
    dear = [
        RoutingPoint(64, "ranges", "fingers", 50, 5e6, 1.0, 2.0, 3.0, 3.0)
        if (point.peers, point.queries, point.addressing) == (64, "ranges", "fingers")
        else point
        for point in ROUTING
    ]
    assert [verdict.holds for verdict in claims.routing_verdicts(dear, "fingers")] == [
        False, False,
    ]  # fmt: skip
    assert all(verdict.holds for verdict in claims.matching_verdicts(MATCHING))
    assert "never looks" not in str(claims.matching_verdicts(MATCHING)[1])
    flat = [replace(point, overhead_us=100.0) for point in MATCHING]
    low, jump = claims.matching_verdicts(flat)
    assert (low.holds, jump.holds) == (True, False)
    assert str(jump).startswith("NO ")
    assert "never looks" in str(jump)
    assert "4.1 (a)" in str(claims.lookup_verdicts(LOOKUPS)[0])


def test_one_size_says_nothing_of_growth() -> None:
    assert not claims.lookup_verdicts(LOOKUPS[:2])
    assert not claims.routing_verdicts(ROUTING[:6], "fingers")


def test_tables_are_for_people_and_programs() -> None:
    text = as_text(ROUTING)
    assert len({len(line) for line in text.splitlines()}) == 1
    assert "overhead us" in text
    assert as_csv(LOOKUPS).splitlines()[1] == "2,off,100,1.0,0.52,2.0"
    assert as_text([]) == "nothing was measured"


def test_every_plot_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawing.draw_lookups(LOOKUPS, tmp_path / "a.png")
    drawing.draw_routing(ROUTING, tmp_path / "b.png")
    drawing.draw_matching(MATCHING, tmp_path / "c.png")
    assert all(path.stat().st_size > 10_000 for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 3


def test_the_shares_that_match_are_those_wanted(tmp_path: Path) -> None:
    points = measure_matching([1000], [0.01, 0.1])
    assert [point.share for point in points] == [0.01, 0.1]
    for point in points:
        assert 0.3 * point.share < point.matched / point.stored < 3 * point.share
        assert point.overhead_us >= point.matching_us > 0
    write_points(points, tmp_path / "points.csv")
    assert read_points(tmp_path / "points.csv") == points
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no column 'way'"):
        read_points(tmp_path / "other.csv")


def test_queries_are_the_same_for_the_same_seed() -> None:
    for name in QUERY_SETS:
        assert selectors(name, 20, seed=3) == selectors(name, 20, seed=3)
        assert selectors(name, 20, seed=3) != selectors(name, 20, seed=4)
    assert all("*" in text for text in selectors("wildcards", 20, seed=1))
    assert not any("*" in text for text in selectors("ranges", 20, seed=1))
    assert all("*" in text and ".." in text for text in selectors("both", 20, seed=1))


@pytest.mark.long
def test_lookups_and_routing_on_real_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three peers, of which two are processes: as the commands run, with few questions."""
    others = children_of_ours()  # of tests before this one: Spark's Java
    monkeypatch.setattr(ring, "FINGERS_S", 0.05)
    monkeypatch.setattr("sim.measure.routing.REST_S", 0.1)
    for arguments in (
        ["lookup", "--peers", "2", "3", "--lookups", "12"],
        ["routing", "--peers", "3", "--queries", "4"],
    ):
        outcome = CliRunner().invoke(commands, ["measure", *arguments, "--out", str(tmp_path)])
        assert outcome.exception is None, outcome.output
    assert {path.name for path in tmp_path.iterdir()} == {
        "figure-4.1a.csv", "figure-4.1a.png", "figure-4.1b.csv", "figure-4.1b.png",
    }  # fmt: skip
    rows = (tmp_path / "figure-4.1b.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * 2
    assert children_of_ours() <= others


def test_chapter_4_ends_with_which_figures_bear_the_report_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the figures come to, all of them are made."""
    codes = {"lookup": DONE, "routing": DONE, "matching": VIOLATED, "study": BAD_INPUT}
    for name, code in codes.items():
        step = click.Command(name, callback=lambda code=code, **_: code)
        monkeypatch.setattr(f"sim.cli.measure.{name}", step)
    outcome = CliRunner().invoke(commands, ["measure", "chapter4", "--out", str(tmp_path)])
    assert outcome.output.rstrip().splitlines()[-4:] == [
        "all hold            Figure 4.1 (a): lookup latency",
        "all hold            Figure 4.1 (b): routing overhead",
        "one does not hold   Figure 4.1 (c): matching overhead",
        "it was not measured Figure 4.2: the scale of routing",
    ]


def children_of_ours() -> set[str]:
    """Processes of ours that still live."""
    return {path.name for path in Path("/proc").glob("[0-9]*") if _parent(path) == os.getpid()}


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
