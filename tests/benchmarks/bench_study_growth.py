"""How the study's cost grows: profiles at a fixed number of peers, and peers with few profiles.

One JSON line a size, in seconds and in CPU seconds of all processes together, which say more on a
shared machine; a picture of the latter where METEOR_BENCH_OUT names a folder (docs).  Stages run
one after the other here, so that what each takes can be told apart.  The largest sizes take
minutes; METEOR_BENCH_SMALL=1 leaves them out.  Nothing is asserted about time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from sim.spark import study
from sim.spark.session import session
from tests.benchmarks.measuring import report

pytestmark = pytest.mark.benchmark
SMALL = bool(os.environ.get("METEOR_BENCH_SMALL"))
PROFILES = (100_000, 1_000_000, 10_000_000)[: 2 if SMALL else 3]
PEERS = (5_000, 50_000, 500_000)[: 2 if SMALL else 3]
QUERIES = 50
Taken = dict[str, float]
"""By stage, and `all`: CPU seconds; `seconds`: by the clock."""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with session() as made:
        yield made


def cpu_s() -> float:
    """CPU seconds of this process and all below it, those that have ended included (Linux)."""
    parents, used = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        parents[int(folder.name)] = int(fields[1])
        used[int(folder.name)] = sum(map(int, fields[11:15]))
    total = 0
    for process in used:
        ancestor = process
        while ancestor not in (0, os.getpid()):
            ancestor = parents.get(ancestor, 0)
        total += used[process] if ancestor else 0
    return total / os.sysconf("SC_CLK_TCK")


def measured(spark: Any, folder: Path, **options: Any) -> Taken:
    """What a study takes."""
    found: Taken = {}
    began_s = perf_counter()
    first_s = last_s = cpu_s()

    def note(line: str) -> None:
        nonlocal last_s
        now_s = cpu_s()
        found[line.split(":")[0].split("-")[1]] = now_s - last_s
        last_s = now_s

    study.run(
        spark, queries=QUERIES, seeds=1, words="zipf", out=str(folder), progress=note, **options
    ).collect()
    return {**found, "all": cpu_s() - first_s, "seconds": perf_counter() - began_s}


def test_growth(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "together", lambda first, second: (first(), second()))
    measured(spark, tmp_path / "warm", peers=[100], profiles=1000)
    by_profiles, by_peers = {}, {}
    for profiles in PROFILES:
        folder = tmp_path / f"profiles{profiles}"
        by_profiles[profiles] = measured(spark, folder, peers=[5000], profiles=profiles)
        report("study: growth with profiles", size=profiles, **by_profiles[profiles])
    for peers in PEERS:
        folder = tmp_path / f"peers{peers}"
        by_peers[peers] = measured(spark, folder, peers=[peers], profiles=1_000_000)
        report("study: growth with peers", size=peers, **by_peers[peers])
    if "METEOR_BENCH_OUT" in os.environ:
        draw(by_profiles, by_peers, Path(os.environ["METEOR_BENCH_OUT"]) / "study_growth.png")


def draw(by_profiles: dict[int, Taken], by_peers: dict[int, Taken], path: Path) -> None:
    """CPU seconds of each stage, on logarithmic axes, beside a line of slope one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    figure.suptitle(f"The routing study, {QUERIES} queries, two placements")
    pairs = (("profiles (5,000 peers)", by_profiles), ("peers (10⁶ profiles)", by_peers))
    for panel, (label, sizes) in zip(figure.subplots(1, 2), pairs, strict=True):
        for stage in ("profiles", "rings", "routes", "found", "tally", "all"):
            panel.plot(list(sizes), [taken[stage] for taken in sizes.values()], "o-", label=stage)
        first, last = min(sizes), max(sizes)
        begin = sizes[first]["all"]
        panel.plot([first, last], [begin, begin * last / first], "k:", label="slope 1")
        panel.set(xscale="log", yscale="log", xlabel=label, ylabel="CPU seconds, all processes")
        panel.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
