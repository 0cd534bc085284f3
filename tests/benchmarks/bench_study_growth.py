"""How the study's cost grows: profiles at a fixed number of peers, and peers with few profiles.

One JSON line a size; a picture too where METEOR_BENCH_OUT names a folder (docs).  The largest sizes
take minutes; METEOR_BENCH_SMALL=1 leaves them out.  Nothing is asserted about time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from measuring import report

from sim.spark import study
from sim.spark.session import session

pytestmark = pytest.mark.benchmark
SMALL = bool(os.environ.get("METEOR_BENCH_SMALL"))
PROFILES = (100_000, 1_000_000, 10_000_000)[: 2 if SMALL else 3]
PEERS = (5_000, 50_000, 500_000)[: 2 if SMALL else 3]
QUERIES = 50


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    before = dict(os.environ)
    with session() as made:
        yield made
    os.environ.clear()
    os.environ.update(before)


def stages_of(spark: Any, folder: Path, **options: Any) -> dict[str, float]:
    """Seconds of each stage, and of all."""
    found: dict[str, float] = {}

    def note(line: str) -> None:
        name, _, rest = line.partition(": ")
        found[name.split("-")[1]] = float(rest.rsplit(" in ", 1)[1].split()[0])

    began_s = perf_counter()
    study.run(
        spark, queries=QUERIES, seeds=1, words="zipf", out=str(folder), progress=note, **options
    ).collect()
    return {**found, "all": perf_counter() - began_s}


def test_growth(spark: Any, tmp_path: Path) -> None:
    stages_of(spark, tmp_path / "warm", peers=[100], profiles=1000)
    by_profiles = {
        profiles: stages_of(spark, tmp_path / f"p{profiles}", peers=[5000], profiles=profiles)
        for profiles in PROFILES
    }
    by_peers = {
        peers: stages_of(spark, tmp_path / f"n{peers}", peers=[peers], profiles=1_000_000)
        for peers in PEERS
    }
    for what, sizes in (("profiles", by_profiles), ("peers", by_peers)):
        for size, taken in sizes.items():
            report(f"study: growth with {what}", **{what: size}, **taken)
    if "METEOR_BENCH_OUT" in os.environ:
        draw(by_profiles, by_peers, Path(os.environ["METEOR_BENCH_OUT"]) / "study_growth.png")


def draw(
    by_profiles: dict[int, dict[str, float]], by_peers: dict[int, dict[str, float]], path: Path
) -> None:
    """Seconds of each stage, on logarithmic axes, beside a line of slope one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    figure.suptitle(f"The routing study, {QUERIES} queries, two placements, two cores")
    pairs = (("profiles (5,000 peers)", by_profiles), ("peers (10^6 profiles)", by_peers))
    for panel, (label, sizes) in zip(figure.subplots(1, 2), pairs, strict=True):
        for stage in ("profiles", "rings", "routes", "found", "all"):
            panel.plot(list(sizes), [taken[stage] for taken in sizes.values()], "o-", label=stage)
        first, last = min(sizes), max(sizes)
        begin = sizes[first]["all"]
        panel.plot([first, last], [begin, begin * last / first], "k:", label="slope 1")
        panel.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds")
        panel.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
