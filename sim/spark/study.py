"""The routing study of the report's figure 4.2, on Spark.

Law of this file: it puts the steps of `sim.spark.transforms` in order and holds nothing of size:
the driver sees rings (8 bytes a peer and system) and results.  No RDD and no context, so that it
runs on a laptop, under `spark-submit` and over Spark Connect alike.  Steps that do not wait for
each other run together.  What it leaves out: time, churn and latency; `sim.Overlay` has those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from sim.spark import results, transforms
from sim.spark.attributes import Source
from sim.spark.figure import draw
from sim.spark.questions import Questions
from sim.spark.rings import Numbers, Rings
from sim.spark.stages import Done, Progress, Stages
from sim.spark.systems import Overlay, System, systems_of
from sim.spark.together import together
from sim.spark.workload import SpaceName, Workload

if TYPE_CHECKING:
    import pandas

PAIRS_CHECKED_MAX: Final = 2_500_000_000
"""Queries times profiles up to which what was found is held against every pair."""
_BUCKETS: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What is studied; the profiles are those of the largest system."""

    peers: Sequence[int] = (1000, 2000, 3000, 4000, 5000)
    profiles: int = 1_000_000
    queries: int = 200
    seeds: Sequence[int] = (1,)
    fixed_profiles: bool = False
    """Whether smaller systems keep all profiles, not their share."""
    space: SpaceName = "study"
    words: Source = "real"
    tasks: int | None = None
    """In how many pieces profiles are drawn; None: a quarter of a million each.  Never part of a
    result."""

    def __post_init__(self) -> None:
        if self.profiles < 1 or self.queries < 1 or not self.seeds:
            raise ValueError("a study needs at least one profile, one query and one seed")

    @property
    def systems(self) -> list[System]:
        """All of them; raises ValueError where there are none."""
        return systems_of(self.peers, self.profiles, fixed_profiles=self.fixed_profiles)


def run(
    spark: SparkSession,
    *,
    peers: Sequence[int],
    profiles: int,
    queries: int,
    seeds: int | Iterable[int] = 1,
    fixed_profiles: bool = False,
    space: SpaceName = "study",
    words: Source = "real",
    out: str | None = None,
    tasks: int | None = None,
    progress: Progress = lambda _: None,
) -> DataFrame:
    """The results, one row for each of `results.KEYS`.

    `profiles` are those of the largest of `peers`; smaller systems keep as many a peer, or all with
    `fixed_profiles`.  `seeds`: so many from 1, or which.  `space`: the report's two words and a
    number, or the words alone of the Squid papers; `words`: real English words and frequencies, or
    made-up ones with Zipf's.  `out` is a folder, on any store that Spark writes to, in which stages
    are kept and found again; `tasks` cuts the drawing of profiles into so many pieces, which are of
    a quarter of a million otherwise.  Raises ValueError for what cannot be studied, ImportError
    where real words are not installed."""
    chosen = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    plan = StudyPlan(
        peers=tuple(peers), profiles=profiles, queries=queries, seeds=chosen,
        fixed_profiles=fixed_profiles, space=space, words=words, tasks=tasks,
    )  # fmt: skip
    workload = Workload.of(space, words, chosen[0])
    stages = Stages(spark, out, progress)
    tables = [_Seed(spark, plan, workload.with_seed(seed), stages).table() for seed in chosen]
    return reduce(lambda left, right: left.unionByName(right), tables)


def plot(found: DataFrame | pandas.DataFrame, path: str | Path) -> None:
    """Draw the results like figure 4.2, mean and interval over the seeds, as a PNG.  Raises
    ImportError without matplotlib."""
    draw(found.toPandas() if isinstance(found, DataFrame) else found, Path(path))


class _Seed:
    """The study of one seed."""

    def __init__(
        self, spark: SparkSession, plan: StudyPlan, workload: Workload, stages: Stages
    ) -> None:
        self._spark, self._plan, self._workload, self._stages = spark, plan, workload, stages
        self._systems = plan.systems
        # Queries are made on the first draws, which every system keeps.
        self._questions = Questions(workload, min(one.profiles for one in self._systems))

    def table(self) -> DataFrame:
        """The results of the seed."""
        arguments = {
            **self._of_workload, "systems": [asdict(one) for one in self._systems],
            "queries": self._plan.queries,
        }  # fmt: skip
        return self._do("results", results.SCHEMA, arguments, self._table).data

    def _do(
        self, name: str, schema: str, arguments: Mapping[str, object], make: Callable[[], DataFrame]
    ) -> Done:
        return self._stages.do(f"seed{self._workload.seed}-{name}", schema, arguments, make)

    def _table(self) -> DataFrame:
        (profiles, limits), (rings, routed) = together(self._stored, self._routed)
        overlay = Overlay(rings, limits)
        found, tally = together(
            lambda: self._found(profiles, routed, overlay),
            lambda: self._tally(profiles, routed, overlay),
        )
        rows = results.by_query(routed.data, found.data, tally.data, checked=self._checked)
        return results.table(rows, tally.data, self._systems, self._workload.seed)

    def _stored(self) -> tuple[Done, Numbers]:
        """At least as many different profiles as the largest system keeps, and how far those of
        each system go."""
        draws = self._workload.draws_for(max(system.profiles for system in self._systems))
        done = self._do("profiles", transforms.PROFILES, {**self._of_workload, "draws": draws}, (
            lambda: transforms.unique_profiles(
                self._spark, self._workload, draws, self._plan.tasks
            )
        ))  # fmt: skip
        return done, self._limits(done.data)

    def _limits(self, profiles: DataFrame) -> Numbers:
        """By system: the draw behind the last profile that it keeps, so that it keeps exactly as
        many as it should.  Counted by stretches of draws first, then in the few that matter."""
        wanted = np.array([system.profiles for system in self._systems])
        width = max(1024, self._workload.draws_for(int(wanted.max())) // _BUCKETS)
        stretch = sql.floor(sql.col("drawn") / width).cast("long").alias("stretch")
        counted = profiles.groupBy(stretch).agg(sql.count(sql.lit(1)).alias("profiles")).toArrow()
        order = np.argsort(counted["stretch"].to_numpy())
        stretches = counted["stretch"].to_numpy()[order]
        through = np.cumsum(counted["profiles"].to_numpy()[order])
        if through[-1] < wanted.max():
            raise ValueError(f"{through[-1]:,} different profiles were drawn, not {wanted.max():,}")
        at = np.searchsorted(through, wanted)
        chosen = profiles.where(stretch.isin([int(each) for each in np.unique(stretches[at])]))
        drawn = np.sort(chosen.select("drawn").toArrow()["drawn"].to_numpy())
        begins = np.searchsorted(drawn, stretches[at] * width)
        before = np.where(at > 0, through[at - 1], 0)
        limits: Numbers = drawn[begins + wanted - before - 1] + 1
        return limits

    def _routed(self) -> tuple[Rings, Done]:
        """The rings of all systems, and every query in each; no profile is needed for it."""
        arguments = {**self._of_workload, "systems": [asdict(one) for one in self._systems]}
        grown = self._do("rings", transforms.RINGS, arguments, lambda: transforms.rings(
            self._spark, self._workload, self._systems
        ))  # fmt: skip
        table = grown.data.toArrow()
        system, last = table["system"].to_numpy(), table["last"].to_numpy()
        lasts = [np.sort(last[system == one.number]) for one in self._systems]
        rings = Rings.of(lasts, self._workload.space.curve.index_bits)
        schema = transforms.routes_schema(len(self._workload.attributes))
        of_queries = {"rings": grown.identity, "queries": self._plan.queries}
        return rings, self._do("routes", schema, of_queries, lambda: transforms.routes(
            self._spark, self._workload, self._questions, rings, self._plan.queries
        ))  # fmt: skip

    def _found(self, profiles: Done, routed: Done, overlay: Overlay) -> Done:
        """What the peers find that every query reaches."""
        attributes = len(self._workload.attributes)
        arguments = self._of_stored(profiles, routed, overlay)
        return self._do("found", transforms.FOUND, arguments, lambda: transforms.found(
            transforms.visits(routed.data, attributes),
            transforms.placed(profiles.data, self._workload, overlay),
            attributes,
        ))  # fmt: skip

    def _tally(self, profiles: Done, routed: Done, overlay: Overlay) -> Done:
        """What each peer keeps; and, where that can be afforded, what every query should find."""
        arguments = {**self._of_stored(profiles, routed, overlay), "checked": self._checked}
        count = self._plan.queries if self._checked else 0
        return self._do("tally", transforms.TALLY, arguments, lambda: transforms.tally(
            profiles.data, self._workload, self._questions, count, overlay
        ))  # fmt: skip

    @property
    def _checked(self) -> bool:
        pairs = self._plan.queries * max(one.profiles for one in self._systems)
        return pairs <= PAIRS_CHECKED_MAX

    @property
    def _of_workload(self) -> dict[str, object]:
        """What says which profiles there are."""
        return {
            "space": self._plan.space, "words": self._plan.words, "seed": self._workload.seed,
        }  # fmt: skip

    @staticmethod
    def _of_stored(profiles: Done, routed: Done, overlay: Overlay) -> dict[str, object]:
        return {
            "profiles": profiles.identity, "routes": routed.identity,
            "limits": overlay.limits.tolist(),
        }  # fmt: skip
