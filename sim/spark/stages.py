"""Stages: a piece of work done once, kept as Parquet under the arguments that it was done for.

Law of this file: DataFrames in and out, and files only through Spark, so that a folder may be on
any store that Spark reads.  A stage's name holds a digest of all its arguments, those of the stages
before it included: a changed argument is another stage.  Its note is written after its data, and is
what says that it is done: what a killed run left half written has none, and is done again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sql

from sim.spark.session import elapsed_s

Progress = Callable[[str], None]
FORMAT: Final = 3
"""Counted up when a stage comes to mean something else by the same arguments."""
_NOTE_SCHEMA: Final = "stage string, arguments string, rows long"


@dataclass(frozen=True, slots=True)
class Done:
    """A stage that is done."""

    data: DataFrame
    identity: str
    """Of its arguments; for the stages that build on it."""


class Stages:
    """The stages in one folder, or of one session only where there is none."""

    def __init__(self, spark: SparkSession, folder: str | None, progress: Progress) -> None:
        self._spark, self._folder, self._progress = spark, folder, progress

    def do(
        self,
        name: str,
        schema: str,
        arguments: Mapping[str, object],
        make: Callable[[], DataFrame],
    ) -> Done:
        """The data of a stage, read where it is done, made and kept where it is not."""
        text = json.dumps({"format": FORMAT, **arguments}, sort_keys=True, default=str)
        identity = blake2b(f"{name} {text}".encode(), digest_size=8).hexdigest()
        if self._folder is None:
            return Done(make().persist(), identity)
        path = f"{self._folder.rstrip('/')}/stages/{name}-{identity}"
        rows = self._rows(path)
        if rows is None:
            rows = self._keep(path, make(), name, text)
        else:
            self._progress(f"{name}: {rows:,} rows, done before")
        return Done(self._spark.read.schema(schema).parquet(path), identity)

    def _rows(self, path: str) -> int | None:
        """How many rows a finished stage has; None where it is not finished.

        Asked for twice: a single path that is not there Spark looks at on its own first, and then
        warns with its whole stack under `spark-submit`."""
        note = f"{path}.note"
        try:
            notes = self._spark.read.schema(_NOTE_SCHEMA).json([note, note]).take(1)
        except AnalysisException:  # no such folder
            return None
        return int(notes[0]["rows"]) if notes else None

    def _keep(self, path: str, data: DataFrame, name: str, arguments: str) -> int:
        began_s = elapsed_s()
        counted = Observation()
        observed = data.observe(counted, sql.count(sql.lit(1)).alias("rows"))
        observed.write.mode("overwrite").parquet(path)
        rows = counted.get.get("rows")
        if rows is None:  # over Spark Connect 4.0 a write does not say what was observed
            rows = self._spark.read.schema(data.schema).parquet(path).count()
        note = self._spark.range(0, 1, 1, 1).select(
            sql.lit(name).alias("stage"), sql.lit(arguments).alias("arguments"),
            sql.lit(rows).cast("long").alias("rows"),
        )  # fmt: skip
        note.write.mode("overwrite").json(f"{path}.note")
        self._progress(f"{name}: {rows:,} rows in {elapsed_s(began_s):.1f} s")
        return rows
