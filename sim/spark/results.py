"""The table of the study: a row for each size, placement, way of routing, class and seed.

Law of this file: DataFrames to a DataFrame, no actions.  Shares are of the real number of peers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from sim.spark import transforms
from sim.spark.kernels import COSTS, ROUTINGS
from sim.spark.systems import System

KEYS: Final = ("peers", "profiles", "placement", "routing", "query_class", "seed")
COLUMNS: Final = (
    *KEYS, "queries", "processing_pct", "matching_pct", "messages", "hops", "routing_peers",
    "matches", "missed_matches", "load_max_mean", "empty_pct",
)  # fmt: skip
SCHEMA: Final = (
    "peers int, profiles long, placement string, routing string, query_class string, seed long, "
    "queries long, processing_pct double, matching_pct double, messages double, hops double, "
    "routing_peers double, matches double, missed_matches long, load_max_mean double, "
    "empty_pct double"
)
FLOOR: Final = "floor"
"""Not a way of routing: as if only the peers that hold a match were told, each in one message."""


def by_query(
    routed: DataFrame, found: DataFrame, asked: DataFrame, true_matches: DataFrame | None
) -> DataFrame:
    """A row for each system, query and way of routing, with what it cost and found."""
    keys = ["system", "query"]
    # A row a query and system: one task is quicker than any exchange.
    rows = routed.drop("peers", "reached_by").coalesce(1).join(found.coalesce(1), keys, "left")
    rows = rows.join(sql.broadcast(asked.select("query", "kind")), "query", "inner")
    if true_matches is None:
        rows = rows.withColumn("true_matches", sql.lit(None).cast("long"))
    else:
        rows = rows.join(true_matches.coalesce(1), keys, "left").fillna(0, ["true_matches"])
    counts = [name for name in found.columns if name not in keys]
    rows = rows.fillna(0, counts)
    ways = [_way(routing) for routing in ROUTINGS] + [_floor()]
    return rows.select(
        *keys, "kind", "data_peers", sql.explode(sql.array(*ways)).alias("way")
    ).select(*keys, "kind", "data_peers", "way.*")


def _way(routing: str) -> Column:
    costs = [sql.col(f"{routing}_{cost}").alias(cost) for cost in COSTS]
    return _row(routing, costs, sql.col(f"{routing}_matches"))


def _floor() -> Column:
    peers = sql.col("data_peers")
    costs = [peers.alias("processing"), peers.alias("messages"), peers.alias("hops")]
    return _row(FLOOR, [*costs, sql.lit(0).cast("long").alias("routing_peers")], sql.col("matches"))


def _row(routing: str, costs: Sequence[Column], matches: Column) -> Column:
    missed = (sql.col("true_matches") - matches).alias("missed")
    return sql.struct(sql.lit(routing).alias("routing"), *costs, matches.alias("matches"), missed)


def table(
    spark: SparkSession, rows: DataFrame, loads: DataFrame, systems: Sequence[System], seed: int
) -> DataFrame:
    """The results of one seed."""
    of_system = spark.createDataFrame(
        [(one.number, one.peers, one.profiles, one.placement) for one in systems],
        "system int, peers int, profiles long, placement string",
    )
    spread = loads.groupBy("system").agg(
        sql.max("profiles").alias("largest"), sql.count(sql.lit(1)).alias("laden")
    )
    known = sql.broadcast(of_system.join(spread, "system", "inner"))
    classed = rows.join(sql.broadcast(transforms.kinds(spark)), "kind", "inner")
    joined = classed.join(known, "system", "inner").withColumn("seed", sql.lit(seed).cast("long"))
    grouped = joined.groupBy(*KEYS).agg(
        sql.count(sql.lit(1)).alias("queries"),
        _share("processing").alias("processing_pct"),
        _share("data_peers").alias("matching_pct"),
        *(sql.avg(name).alias(name) for name in ("messages", "hops", "routing_peers", "matches")),
        sql.sum("missed").alias("missed_matches"),
        sql.first(sql.col("largest") * sql.col("peers") / sql.col("profiles")).alias(
            "load_max_mean"
        ),
        sql.first(100 * (1 - sql.col("laden") / sql.col("peers"))).alias("empty_pct"),
    )
    return grouped.select(*COLUMNS)


def _share(name: str) -> Column:
    # Whole numbers are added up, which is exact in any order; shares would not be.
    return 100 * sql.avg(name) / sql.col("peers")
