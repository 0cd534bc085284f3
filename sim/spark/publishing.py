"""What the command writes: tables as CSV and Parquet, the figure, the verdict.

Law of this file: results only, a few hundred rows, on the driver's own disk; stages are written by
Spark (`sim.spark.stages`).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession

from sim import plot
from sim.spark import papers as squid_papers
from sim.spark import results, verdict
from sim.spark.attributes import Source
from sim.spark.stages import Progress
from sim.spark.study import plot as plot_results
from sim.spark.study import run
from sim.spark.workload import SpaceName

Beside = Callable[[Callable[[], None]], None]
"""Has something done while the caller goes on."""


def study(
    spark: SparkSession,
    out: Path,
    folder: str,
    *,
    progress: Progress,
    beside: Beside = lambda work: work(),
    **options: Any,
) -> tuple[str, bool]:
    """Run the study with its stages in `folder`, and write the results to `out`, of which the
    figure needs no Spark and is drawn `beside`; the verdict, and whether it is a pass."""
    table = _sorted(run(spark, out=folder, progress=progress, **options))
    out.mkdir(parents=True, exist_ok=True)
    pyarrow.csv.write_csv(table, out / "results.csv")
    pyarrow.parquet.write_table(table, out / "results.parquet")
    found = table.to_pandas()
    if plot.is_available():
        beside(lambda: plot_results(found, out / "figure42.png"))
    sentences = verdict.judge(found)
    text = verdict.as_text(sentences)
    (out / "verdict.txt").write_text(text + "\n")
    progress(f"wrote {out}")
    return text, verdict.passes(sentences)


def papers(
    spark: SparkSession,
    out: Path,
    folder: str,
    *,
    queries: int,
    seeds: int,
    words: Source,
    progress: Progress,
    profiles: int = squid_papers.PROFILES,
) -> tuple[str, bool]:
    """Run the sizes of the Squid papers, and write squid_papers.csv; the table, and whether no
    match was missed."""
    tables: dict[SpaceName, Any] = {}
    spaces: tuple[SpaceName, ...] = ("words2", "words3")
    for space in spaces:
        found = run(
            spark, peers=squid_papers.sizes(space), profiles=profiles, queries=queries,
            seeds=seeds, words=words, space=space, out=folder, progress=progress,
        )  # fmt: skip
        tables[space] = found.toPandas()
    rows = list(squid_papers.rows_of(tables))
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "squid_papers.csv", rows)
    checks = [table["missed_matches"].dropna() for table in tables.values()]
    missed, checked = sum(int(each.sum()) for each in checks), sum(map(len, checks))
    every = sum(map(len, tables.values()))
    text = (
        f"{squid_papers.as_text(rows)}\n{missed} matches missed, {checked} of {every} rows checked"
    )
    (out / "squid_papers.txt").write_text(text + "\n")
    return text, missed == 0


def _sorted(found: DataFrame) -> pa.Table:
    keys = [(name, "ascending") for name in results.KEYS]
    return found.toArrow().sort_by(keys)


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(squid_papers.COLUMNS)
        writer.writerows([cell.replace(",", "") for cell in row] for row in rows)
