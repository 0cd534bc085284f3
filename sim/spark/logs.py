"""Event logs of peers, read with Spark into the measures of the study.

Law of this file: DataFrames to DataFrames; the same transform for a directory read once and for one
that grows and is read file by file (`trigger(availableNow=True)`: what is new since the last time,
then it ends).  What a line may hold is said in `meteor.rendezvous.event_log`; a line that is none
is left out, as one that a dying peer wrote half.  So a live overlay and the simulated one stand
side by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import compute, csv
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from sim.tables import aligned

EVENTS: Final = (
    "event string, time double, peer string, operation string, action string, axes string, "
    "to string, hops int, matches long, complete boolean, peers int, "
    "data long, interests long, watches long, arc double"
)
FILES: Final = "*.jsonl"
COLUMNS: Final = (
    "peers", "profiles", "query_class", "queries", "incomplete", "processing_pct", "matching_pct",
    "messages", "depth", "routing_peers", "matches", "seconds", "load_max_mean", "empty_pct",
)  # fmt: skip
"""Those of the study that a log can say (`hops` it cannot: lookups are not logged; by fingers there
are none, and hops are the messages), and what only a real overlay has: queries that came back
incomplete, the longest chain of hand-ons, and the seconds from post to reply, as means."""

BESIDE: Final = (
    "peers", "profiles", "query_class", "placement", "routing", "queries", "processing_pct",
    "matching_pct", "messages", "routing_peers", "matches", "load_max_mean", "empty_pct",
)  # fmt: skip
"""The columns of a study that can stand beside measures."""
_MEANS: Final = ("messages", "depth", "routing_peers", "matches", "seconds")


def read(spark: SparkSession, directory: str) -> DataFrame:
    """All events that are whole in a directory now."""
    return _known(spark.read.schema(EVENTS).option("pathGlobFilter", FILES).json(directory))


def collect_new(spark: SparkSession, directory: str, store: str) -> DataFrame:
    """Move the events of files that are new since the last call into the Parquet of `store`, which
    remembers what it has read; all events there.

    Raises what Spark raises where a directory cannot be read."""
    folder = store.rstrip("/")
    events = _known(spark.readStream.schema(EVENTS).option("pathGlobFilter", FILES).json(directory))
    query = (
        events.writeStream.format("parquet")
        .option("checkpointLocation", f"{folder}/read")
        .trigger(availableNow=True)
        .start(f"{folder}/events")
    )
    query.awaitTermination()
    return spark.read.schema(EVENTS).parquet(f"{folder}/events")


def _known(events: DataFrame) -> DataFrame:
    return events.where(sql.col("event").isNotNull() & sql.col("peer").isNotNull())


def by_query(events: DataFrame) -> DataFrame:
    """A row a query that was asked and has ended: its class, and what it cost and found.

    `processing` counts the peers that were handed a share, the one asked included, as the study
    does; `matching` those that held a match."""
    rows = (
        events.where(sql.col("operation").isNotNull())
        .groupBy("operation")
        .agg(
            sql.max(_at("post", "action")).alias("action"),
            sql.max(_at("post", "axes")).alias("axes"),
            sql.max(_at("reply", "complete")).alias("complete"),
            sql.max(_at("reply", "matches")).alias("matches"),
            (sql.max(_at("reply", "time")) - sql.max(_at("post", "time"))).alias("seconds"),
            sql.collect_set(sql.coalesce(_at("post", "peer"), _at("route", "to"))).alias("reached"),
            sql.collect_set(sql.when(sql.col("matches") > 0, _at("match", "peer"))).alias(
                "holders"
            ),
            sql.collect_set(_at("route", "peer")).alias("senders"),
            sql.count(_at("route", "to")).alias("messages"),
            sql.coalesce(sql.max(_at("route", "hops")), sql.lit(0)).alias("depth"),
        )
    )
    ended = (sql.col("action") == "retrieve") & sql.col("complete").isNotNull()
    return rows.where(ended).select(
        "operation", query_class(sql.col("axes")).alias("query_class"), "complete", "matches",
        sql.size("reached").alias("processing"), sql.size("holders").alias("matching"),
        "messages", "depth", sql.size("senders").alias("routing_peers"), "seconds",
    )  # fmt: skip


def query_class(axes: Column) -> Column:
    """`wildcard` where a whole axis is asked for, `range` where a part of one, else `point`."""
    return (
        sql.when(axes.contains("*"), sql.lit("wildcard"))
        .when(axes.contains("<"), sql.lit("range"))
        .otherwise(sql.lit("point"))
    )


def loads(events: DataFrame) -> DataFrame:
    """What each peer that wrote anything said last of what lives there; null where it said
    nothing."""
    newest = [
        sql.max_by(_at("load", name), _at("load", "time")).alias(name)
        for name in ("data", "interests", "watches", "arc")
    ]
    return events.groupBy("peer").agg(*newest)


def measures(events: DataFrame) -> DataFrame:
    """The measures of the study, a row a class of queries.  Shares are of the peers that wrote
    anything."""
    known = sql.broadcast(
        loads(events).agg(
            sql.count(sql.lit(1)).alias("peers"),
            sql.coalesce(sql.sum("data"), sql.lit(0)).alias("profiles"),
            sql.max("data").alias("largest"),
            sql.sum(sql.when(sql.col("data") == 0, 1).otherwise(0)).alias("empty"),
        )
    )
    fullest = sql.col("largest") * sql.col("peers") / sql.col("profiles")
    grouped = (
        by_query(events)
        .crossJoin(known)
        .groupBy("query_class", "peers", "profiles")
        .agg(
            sql.count(sql.lit(1)).alias("queries"),
            sql.sum(sql.when(sql.col("complete"), 0).otherwise(1)).alias("incomplete"),
            sql.avg(100 * sql.col("processing") / sql.col("peers")).alias("processing_pct"),
            sql.avg(100 * sql.col("matching") / sql.col("peers")).alias("matching_pct"),
            *(sql.avg(name).alias(name) for name in _MEANS),
            sql.first(sql.when(sql.col("profiles") > 0, fullest)).alias("load_max_mean"),
            sql.first(100 * sql.col("empty") / sql.col("peers")).alias("empty_pct"),
        )
    )
    return grouped.select(*COLUMNS).orderBy("query_class")


def _at(event: str, name: str) -> Column:
    """A field of one kind of event; null elsewhere."""
    return sql.when(sql.col("event") == event, sql.col(name))


def read_study(path: Path) -> pa.Table:
    """The results of a study; raises `ValueError` for another file."""
    table = csv.read_csv(path)
    for name in BESIDE:
        if name not in table.column_names:
            raise ValueError(f"{path}: no column {name!r}: no results.csv of a study")
    sizes = table.column("peers")
    named = [table.column(name).type for name in ("query_class", "routing")]
    if sizes.null_count or not pa.types.is_integer(sizes.type) or set(named) != {pa.string()}:
        raise ValueError(f"{path}: damaged, or no results.csv of a study")
    return table


def nearest(study: pa.Table, measured: pa.Table) -> pa.Table:
    """The rows of a study that can stand beside measures: of the size nearest to theirs, of the
    classes that logs tell apart, handed on by fingers as peers do, and the floor."""
    sizes = set(study.column("peers").to_pylist())
    wanted = max(measured.column("peers").to_pylist(), default=1)
    size = min(sizes, key=lambda peers: (abs(peers - wanted), peers), default=0)
    chosen = (
        compute.field("peers").isin([size])
        & compute.field("query_class").isin(["wildcard", "range"])
        & compute.field("routing").isin(["fingers", "floor"])
    )
    return study.filter(chosen).select(BESIDE).sort_by("query_class")


def as_text(table: pa.Table) -> str:
    """The measures for people."""
    head = [name.replace("_", " ").replace(" pct", " %") for name in table.column_names]
    rows = [[_shown(row[name]) for name in table.column_names] for row in table.to_pylist()]
    return "\n".join(aligned([head, *rows]))


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def files_in(directory: Path) -> int:
    """How many whole files of events a local directory has."""
    return sum(1 for _ in directory.glob(FILES))
