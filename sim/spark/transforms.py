"""The steps of the study, each from DataFrames to a DataFrame.

Law of this file: columns by name, explicit joins, no actions: nothing runs here.  Python runs in
`mapInArrow` alone, for what SQL has no words for: drawing and placing profiles, growing rings,
routing; and for the check, which is to share nothing with what it checks.  Matching is the JVM's
(docs/study.md says what each step moves).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from sim.spark import kernels
from sim.spark.kernels import COSTS, ROUTINGS
from sim.spark.questions import Questions
from sim.spark.rings import Rings
from sim.spark.systems import Overlay, System
from sim.spark.workload import Workload

_DRAWS_A_TASK: Final = 262_144
PROFILES: Final = "drawn long"
"""A profile is known by its draw: what it consists of is a function of that, and drawn again more
quickly than read."""
RINGS: Final = "system int, peer int, last long"
TALLY: Final = "system int, query long, peer int, number long"
"""A row a peer that keeps profiles, and a row a query and system that has matches there."""
FOUND: Final = "system int, query long, data_peers long, matches long, " + ", ".join(
    f"{routing}_matches long" for routing in ROUTINGS
)


def unique_profiles(
    spark: SparkSession, workload: Workload, draws: int, tasks: int | None = None
) -> DataFrame:
    """The different profiles among so many draws; of equal ones the first."""
    drawn = spark.range(0, draws, 1, tasks or 1 + draws // _DRAWS_A_TASK)
    coded = drawn.mapInArrow(kernels.coded(workload), "drawn long, code long")
    return coded.groupBy("code").agg(sql.min("drawn").alias("drawn")).select("drawn")


def rings(spark: SparkSession, workload: Workload, systems: Sequence[System]) -> DataFrame:
    """The rings of all systems, each grown by a task; the largest first, as they take longest."""
    order = sorted(systems, key=lambda system: -system.peers)
    ones = spark.range(0, len(order), 1, len(order))
    return ones.mapInArrow(kernels.grown(workload, order), RINGS)


def placed(profiles: DataFrame, workload: Workload, overlay: Overlay) -> DataFrame:
    """Each profile once for each system that keeps it, with the peer that does."""
    columns = ", ".join(f"value{place} int" for place in range(len(workload.attributes)))
    schema = f"system int, peer int, {columns}"
    return profiles.mapInArrow(kernels.placed(workload, overlay), schema)


def tally(
    profiles: DataFrame, workload: Workload, questions: Questions, count: int, overlay: Overlay
) -> DataFrame:
    """How many profiles each peer keeps that keeps any, and, every query held against every
    profile, how many match in each system: added up in each task first."""
    counted = profiles.mapInArrow(kernels.tallied(workload, questions, count, overlay), TALLY)
    return counted.groupBy("system", "query", "peer").agg(sql.sum("number").alias("number"))


def routes_schema(attributes: int) -> str:
    """Of `routes`."""
    ends = ", ".join(f"{end} int" for end in kernels.ends(attributes))
    costs = ", ".join(f"{routing}_{cost} long" for routing in ROUTINGS for cost in COSTS)
    return (
        f"system int, query long, kind string, {ends}, peers array<int>, reached_by array<int>, "
        + costs
    )


def routes(
    spark: SparkSession, workload: Workload, questions: Questions, rings: Rings, count: int
) -> DataFrame:
    """Each query in each system: what it asks, whom every way of routing reaches, what it costs."""
    pairs = count * len(rings.counts)
    # Rounded up: one task more than cores that take turns would be a turn of its own.
    tasks = min(pairs, -(-count * len(rings.lasts) // kernels.PEERS_AT_ONCE))
    kernel = kernels.routed(workload, questions, rings)
    schema = routes_schema(len(workload.attributes))
    return spark.range(0, pairs, 1, tasks).mapInArrow(kernel, schema)


def visits(routed: DataFrame, attributes: int) -> DataFrame:
    """A row for each peer that a query reaches, with what the query asks."""
    both = sql.explode(sql.arrays_zip("peers", "reached_by")).alias("visit")
    asked = kernels.ends(attributes)
    return routed.select("system", "query", *asked, both).select(
        "system", "query", *asked, sql.col("visit.peers").alias("peer"),
        sql.col("visit.reached_by").alias("reached_by"),
    )  # fmt: skip


def found(visited: DataFrame, stored: DataFrame, attributes: int) -> DataFrame:
    """What each query finds: the peers that hold a match, and the matches, of all ways of routing
    together and of each.

    Only peers that a query reaches look into what they keep, as in the real system: the join is one
    of equal (system, peer), and what the query asks is judged on what meets there."""
    same = ["system", "peer"]
    # By hash, built of the visits: less work than sorting both, and visits are the smaller side.
    met = visited.hint("shuffle_hash").join(stored, same, "inner").where(_matches(attributes))
    peers = met.groupBy("system", "query", "peer", "reached_by").agg(
        sql.count(sql.lit(1)).alias("matches")
    )
    by_way = [
        sql.sum(sql.when(_reached(bit), sql.col("matches")).otherwise(sql.lit(0)))
        .cast("long")
        .alias(f"{routing}_matches")
        for bit, routing in enumerate(ROUTINGS)
    ]
    return peers.groupBy("system", "query").agg(
        sql.count(sql.lit(1)).alias("data_peers"), sql.sum("matches").alias("matches"), *by_way
    )


def data_peers(visited: DataFrame, stored: DataFrame, attributes: int) -> DataFrame:
    """The peers that hold a match, by the semi-join: it stops at a peer's first match, and is what
    `found` becomes where nobody wants to know how many there are."""
    here, there = visited.alias("here"), stored.alias("there")
    same = (sql.col("here.system") == sql.col("there.system")) & (
        sql.col("here.peer") == sql.col("there.peer")
    )
    holding = here.join(there, same & _matches(attributes), "left_semi")
    return holding.select("system", "query", "peer")


def _matches(attributes: int) -> Column:
    condition = sql.lit(True)
    for place in range(attributes):
        value = sql.col(f"value{place}")
        condition &= value.between(sql.col(f"low{place}"), sql.col(f"high{place}"))
    return condition


def _reached(bit: int) -> Column:
    return sql.col("reached_by").bitwiseAND(sql.lit(1 << bit)) > 0
