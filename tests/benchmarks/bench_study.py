"""The routing study's speed: index and owner beside a scalar UDF of the `hilbertcurve` package, the
figure with one seed, and ten times as much.  One JSON line each; nothing is asserted about time.

Each figure says what the machine was doing; quiet, two cores: see docs/study.md.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sim.spark import study, transforms
from sim.spark.kernels import Batches
from sim.spark.rings import Rings
from sim.spark.session import session
from squid import HilbertCurve
from tests.benchmarks.measuring import report

pytestmark = pytest.mark.benchmark
ROWS, SCALAR_ROWS = 4_000_000, 100_000
PEERS, BITS = 5000, 20


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with session() as made:
        yield made


def seconds(frame: Any, repeats: int = 3) -> float:
    """The quickest of a few runs to a sink that keeps nothing."""
    taken = []
    for _ in range(repeats):
        began_s = perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        taken.append(perf_counter() - began_s)
    return min(taken)


def drawn_ring() -> np.ndarray[Any, Any]:
    drawn = np.random.default_rng(1).integers(0, 1 << 3 * BITS, size=PEERS)
    return np.unique(drawn)


def by_arrays(ring: np.ndarray[Any, Any]) -> Callable[[Batches], Batches]:
    """Cells to index and owner, 65,536 at once."""
    curve, rings = HilbertCurve(3, BITS), Rings.of([ring], 3 * BITS)

    def run(batches: Batches) -> Batches:
        for batch in batches:
            points = np.column_stack([batch.column(place).to_numpy() for place in range(3)])
            index = curve.encode_array(points).astype(np.int64)
            owner = rings.owners_in(0, index)
            yield pa.RecordBatch.from_arrays([pa.array(index), pa.array(owner)], ["index", "owner"])

    return run


def by_package(ring: np.ndarray[Any, Any]) -> Callable[[int, int, int], int]:
    """Cells to owner, one row a call: the package's curve, and a bisection."""
    from bisect import bisect_left

    from hilbertcurve.hilbertcurve import HilbertCurve as PackagedCurve

    package, lasts = PackagedCurve(p=BITS, n=3), ring.tolist()

    def owner(x, y, z):  # without types, which Spark would take for a wish
        return bisect_left(lasts, package.distance_from_point([x, y, z])) % len(lasts)

    return owner


def test_index_and_owner_beside_a_scalar_udf(spark: Any) -> None:
    """Of 3 x 20-bit cells among 5,000 peers."""
    from pyspark.sql import functions as sql

    cells = [f"cast(pmod(xxhash64(id, {place}), {1 << BITS}) as int) as c{place}"
             for place in range(3)]  # fmt: skip
    ring = drawn_ring()
    points = spark.range(ROWS).selectExpr(*cells).persist()
    few = points.limit(SCALAR_ROWS).repartition(2).persist()
    assert (points.count(), few.count()) == (ROWS, SCALAR_ROWS)
    ours = seconds(points.mapInArrow(by_arrays(ring), "index long, owner long"))
    udf = sql.udf(by_package(ring), "int")
    scalar = seconds(few.select(udf("c0", "c1", "c2")))
    (packed,) = few.select(sql.sum(udf("c0", "c1", "c2"))).first()
    arrays = few.mapInArrow(by_arrays(ring), "index long, owner long")
    assert arrays.select(sql.sum("owner")).first()[0] == packed
    report(
        "study: index and owner", rows_per_s=int(ROWS / ours),
        scalar_udf_rows_per_s=int(SCALAR_ROWS / scalar),
        times=ROWS / ours / (SCALAR_ROWS / scalar), target_rows_per_s=2_000_000,
    )  # fmt: skip


def test_semi_join_and_counting_join(spark: Any, tmp_path: Path) -> None:
    """Matching, of profiles already placed: whether each peer holds a match, and how many."""
    from sim.spark.stages import Stages
    from sim.spark.systems import Overlay
    from sim.spark.workload import Workload

    plan = study.StudyPlan(peers=(PEERS,), profiles=1_000_000)
    workload = Workload.of("study", "zipf", 1)
    seed = study._Seed(spark, plan, workload, Stages(spark, str(tmp_path), lambda _: None))
    profiles, limits = seed._stored()
    rings, routed = seed._routed()
    overlay = Overlay(rings, limits)
    visited = transforms.visits(routed.data, 3).persist()
    stored = transforms.placed(profiles.data, workload, overlay).persist()
    visits, rows = visited.count(), stored.count()
    counted = seconds(transforms.found(visited, stored, 3), 2)
    semi = seconds(transforms.data_peers(visited, stored, 3), 2)
    every = transforms.tally(profiles.data, workload, seed._questions, plan.queries, overlay)
    crossed = seconds(every, 2)
    report(
        "study: matching", visits=visits, stored=rows, counting_join_s=counted, semi_join_s=semi,
        every_pair_s=crossed,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "target_s"),
    [
        ("figure 4.2", ["--peers", "1000", "2000", "3000", "4000", "5000"], 30),
        ("ten times", ["--peers", "50000", "--profiles", "10000000"], 150),
    ],
)
def test_the_command(tmp_path: Path, name: str, arguments: list[str], target_s: int) -> None:
    """From the command line to the last file, Spark's start included, in a process of its own."""
    began_s = perf_counter()
    command = [sys.executable, "-c", "import sys; from sim.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "study", *arguments, "--out", str(tmp_path)], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    took_s = perf_counter() - began_s
    assert done.returncode in (0, 1), done.stderr
    report(
        f"study: {name}", seconds=took_s, target_s=target_s,
        verdict=done.stdout.rstrip().splitlines()[-1],
        stages=[line.strip() for line in done.stderr.splitlines() if "rows in" in line],
    )  # fmt: skip
