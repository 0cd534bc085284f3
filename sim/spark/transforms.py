"""The steps of the study, each from DataFrames to a DataFrame.

Law of this file: columns by name, explicit joins, no actions: nothing runs here.  Python runs in
`mapInArrow` alone, for what SQL has no words for: drawing and indexing profiles, growing rings,
placing and routing.  Matching and counting are the JVM's (docs/study.md says what each step moves).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from sim.spark import kernels
from sim.spark.kernels import COSTS, ROUTINGS
from sim.spark.questions import QUERY_CLASSES, Questions
from sim.spark.systems import Overlay, System
from sim.spark.workload import Workload

LOADS: Final = "system int, peer int, profiles long"
RINGS: Final = "system int, peer int, last long"
SAMPLE: Final = "drawn long, index long"
ROUTES: Final = (
    "system int, query long, peers array<int>, reached_by array<int>, "
    + ", ".join(f"{routing}_{cost} long" for routing in ROUTINGS for cost in COSTS)
)  # fmt: skip
FOUND: Final = "system int, query long, data_peers long, matches long, " + ", ".join(
    f"{routing}_matches long" for routing in ROUTINGS
)
_PAIRS_A_TASK: Final = 256


def values(attributes: int) -> list[str]:
    """The columns of a profile's attributes."""
    return [f"value{place}" for place in range(attributes)]


def profile_schema(attributes: int) -> str:
    """Of `unique_profiles`."""
    columns = ", ".join(f"{value} int" for value in values(attributes))
    return f"drawn long, {columns}, index long"


def unique_profiles(
    spark: SparkSession, workload: Workload, draws: int, tasks: int | None = None
) -> DataFrame:
    """The different profiles among so many draws; of equal ones the first."""
    drawn = spark.range(0, draws, 1, tasks)
    coded = drawn.mapInArrow(kernels.coded(workload), "drawn long, code long")
    first = coded.groupBy("code").agg(sql.min("drawn").alias("drawn")).select("drawn")
    return first.mapInArrow(kernels.indexed(workload), profile_schema(len(workload.attributes)))


def sampled(profiles: DataFrame, seed: int, one_in: int) -> DataFrame:
    """One in so many profiles, by their number alone."""
    return profiles.select("drawn", "index").mapInArrow(kernels.sampled(seed, one_in), SAMPLE)


def placed(profiles: DataFrame, overlay: Overlay, attributes: int) -> DataFrame:
    """Each profile once for each system that keeps it, with the peer that does."""
    columns = ", ".join(f"{value} int" for value in values(attributes))
    schema = f"system int, peer int, {columns}"
    return profiles.mapInArrow(kernels.placed(overlay, attributes), schema)


def loads(profiles: DataFrame, overlay: Overlay) -> DataFrame:
    """How many profiles each peer keeps that keeps any: added up in each task first."""
    counted = profiles.select("drawn", "index").mapInArrow(kernels.counted(overlay), LOADS)
    return counted.groupBy("system", "peer").agg(sql.sum("profiles").alias("profiles"))


def queries(spark: SparkSession, questions: Questions, count: int, attributes: int) -> DataFrame:
    """What each query asks."""
    ends = ", ".join(f"low{place} int, high{place} int" for place in range(attributes))
    schema = f"query long, kind string, selector string, {ends}"
    tasks = max(1, count // _PAIRS_A_TASK)
    return spark.range(0, count, 1, tasks).mapInArrow(kernels.asked(questions, attributes), schema)


def routes(
    spark: SparkSession, workload: Workload, questions: Questions, overlay: Overlay, count: int
) -> DataFrame:
    """Each query in each system: whom every way of routing reaches, and what it costs."""
    pairs = count * len(overlay.limits)
    tasks = max(1, pairs // _PAIRS_A_TASK)
    kernel = kernels.routed(workload, questions, overlay)
    return spark.range(0, pairs, 1, tasks).mapInArrow(kernel, ROUTES)


def visits(routed: DataFrame, asked: DataFrame) -> DataFrame:
    """A row for each peer that a query reaches, with what the query asks."""
    both = sql.explode(sql.arrays_zip("peers", "reached_by")).alias("visit")
    reached = routed.select("system", "query", both).select(
        "system", "query", sql.col("visit.peers").alias("peer"),
        sql.col("visit.reached_by").alias("reached_by"),
    )  # fmt: skip
    return reached.join(sql.broadcast(asked.drop("kind", "selector")), "query", "inner")


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


def truth_schema(limits: Sequence[int]) -> str:
    """Of `truth`: a column for each different limit."""
    return "query long, " + ", ".join(f"below{limit} long" for limit in sorted(set(limits)))


def truth(
    profiles: DataFrame, asked: DataFrame, limits: Sequence[int], attributes: int
) -> DataFrame:
    """Every query against every profile: how many match among the profiles of each system."""
    pairs = profiles.drop("index").crossJoin(sql.broadcast(asked.drop("kind", "selector")))
    counts = [
        sql.count(sql.when(sql.col("drawn") < limit, sql.lit(1))).alias(f"below{limit}")
        for limit in sorted(set(limits))
    ]
    return pairs.where(_matches(attributes)).groupBy("query").agg(*counts)


def true_matches(
    spark: SparkSession, counted: DataFrame, systems: Sequence[System], limits: Sequence[int]
) -> DataFrame:
    """`truth` as rows: system, query, true_matches."""
    of_system = spark.createDataFrame(
        [(system.number, int(limits[system.number])) for system in systems],
        "system int, limit long",
    )
    choice = sql.coalesce(
        *(
            sql.when(sql.col("limit") == limit, sql.col(f"below{limit}"))
            for limit in sorted(set(limits))
        )
    )
    rows = counted.crossJoin(sql.broadcast(of_system))
    return rows.select("system", "query", choice.alias("true_matches"))


def kinds(spark: SparkSession) -> DataFrame:
    """Which kinds of queries each class of the results is made of."""
    rows = [(kind, name) for name, kinds in QUERY_CLASSES.items() for kind in kinds]
    return spark.createDataFrame(rows, "kind string, query_class string")
