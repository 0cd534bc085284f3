"""The table of the study: a row for each size, placement, way of routing, class and seed.

Law of this file: DataFrames to a DataFrame, no actions.  Shares are of the real number of peers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from sim.spark.kernels import COSTS, ROUTINGS
from sim.spark.questions import KINDS, QUERY_CLASSES
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


def by_query(routed: DataFrame, found: DataFrame, tally: DataFrame, *, checked: bool) -> DataFrame:
    """A row for each system, query and way of routing, with what it cost and found."""
    keys = ["system", "query"]
    # A row a query and system: one task and no exchange are quickest.
    costs = routed.drop("peers", "reached_by", *_ends_of(routed)).coalesce(1)
    rows = costs.join(found.coalesce(1).hint("shuffle_hash"), keys, "left")
    counts = [name for name in found.columns if name not in keys]
    if checked:
        wanted = tally.where("query is not null").withColumnRenamed("number", "true_matches")
        wanted = wanted.select(*keys, "true_matches")
        rows = rows.join(wanted.coalesce(1).hint("shuffle_hash"), keys, "left")
        counts.append("true_matches")
    else:
        rows = rows.withColumn("true_matches", sql.lit(None).cast("long"))
    rows = rows.fillna(0, counts)
    ways = [_way(routing) for routing in ROUTINGS] + [_floor()]
    return rows.select(
        *keys, "kind", "data_peers", sql.explode(sql.array(*ways)).alias("way")
    ).select(*keys, "kind", "data_peers", "way.*")


def _ends_of(routed: DataFrame) -> list[str]:
    return [name for name in routed.columns if name.startswith(("low", "high"))]


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


def table(rows: DataFrame, tally: DataFrame, systems: Sequence[System], seed: int) -> DataFrame:
    """The results of one seed."""
    spread = tally.where("peer is not null").coalesce(1).groupBy("system").agg(
        sql.max("number").alias("largest"), sql.count(sql.lit(1)).alias("laden")
    )  # fmt: skip
    classed = rows.select("*", sql.explode(_classes()).alias("query_class"))
    joined = classed.join(spread.hint("shuffle_hash"), "system", "inner").select(
        "*", *(_of_system(systems, name) for name in ("peers", "profiles", "placement")),
        sql.lit(seed).cast("long").alias("seed"),
    )  # fmt: skip
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


def _classes() -> Column:
    """The classes that a query of this kind is of."""
    names = {
        kind: [name for name, kinds in QUERY_CLASSES.items() if kind in kinds] for kind in KINDS
    }
    pairs = [
        part for kind, of in names.items() for part in (sql.lit(kind), sql.array(*map(sql.lit, of)))
    ]
    return sql.create_map(*pairs)[sql.col("kind")]


def _of_system(systems: Sequence[System], name: str) -> Column:
    """What the systems are, by their numbers, which are their places."""
    values = [sql.lit(getattr(system, name)) for system in systems]
    cast = "string" if name == "placement" else "int" if name == "peers" else "long"
    return sql.array(*values)[sql.col("system")].cast(cast).alias(name)


def _share(name: str) -> Column:
    # Whole numbers are added up, which is exact in any order; shares would not be.
    return 100 * sql.avg(name) / sql.col("peers")
