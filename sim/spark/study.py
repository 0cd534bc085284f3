"""The routing study of the report's figure 4.2, on Spark.

Law of this file: it puts the steps of `sim.spark.transforms` in order and holds nothing of size:
the driver sees rings (8 bytes a peer and system), a sample of 64 records a peer by which they grow,
and results.  No RDD and no context, so that it runs on a laptop, under `spark-submit` and over
Spark Connect alike.  What it leaves out: time, churn and latency; `sim.Overlay` has those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from sim.spark import kernels, results, transforms
from sim.spark.attributes import Source
from sim.spark.figure import draw
from sim.spark.growth import KEYS_A_PEER
from sim.spark.questions import Questions
from sim.spark.rings import Numbers
from sim.spark.stages import Done, Progress, Stages
from sim.spark.systems import Overlay, System, systems_of
from sim.spark.workload import SpaceName, Workload

if TYPE_CHECKING:
    import pandas

PAIRS_CHECKED_MAX: Final = 500_000_000
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
    """In how many pieces profiles are drawn; None lets Spark decide.  Never part of a result."""

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
    are kept and found again; `tasks` cuts the drawing of profiles into so many pieces, where Spark
    should not decide.  Raises ValueError for what cannot be studied, ImportError where real
    words are not installed."""
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
        self._systems, self._attributes = plan.systems, len(workload.attributes)

    def table(self) -> DataFrame:
        """The results of the seed."""
        arguments = {
            "space": self._plan.space, "words": self._plan.words, "seed": self._workload.seed,
            "systems": [(one.peers, one.profiles) for one in self._systems],
            "queries": self._plan.queries,
        }  # fmt: skip
        return self._do("results", results.SCHEMA, arguments, self._table).data

    def _do(
        self, name: str, schema: str, arguments: Mapping[str, object], make: Callable[[], DataFrame]
    ) -> Done:
        return self._stages.do(f"seed{self._workload.seed}-{name}", schema, arguments, make)

    def _table(self) -> DataFrame:
        profiles = self._profiles()
        limits = self._limits(profiles.data)
        overlay, rings = self._overlay(profiles, limits)
        questions = Questions(self._workload, int(limits.min()))
        asked = transforms.queries(
            self._spark, questions, self._plan.queries, self._attributes
        ).persist()
        of_queries = {"rings": rings, "queries": self._plan.queries}
        routed = self._do("routes", transforms.ROUTES, of_queries, lambda: transforms.routes(
            self._spark, self._workload, questions, overlay, self._plan.queries,
        ))  # fmt: skip
        found = self._do("found", transforms.FOUND, {"routes": routed.identity}, lambda: (
            transforms.found(
                transforms.visits(routed.data, asked),
                transforms.placed(profiles.data, overlay, self._attributes),
                self._attributes,
            )
        ))  # fmt: skip
        checked = self._truth(profiles, asked, limits)
        loads = transforms.loads(profiles.data, overlay)
        rows = results.by_query(routed.data, found.data, asked, checked)
        return results.table(self._spark, rows, loads, self._systems, self._workload.seed)

    def _profiles(self) -> Done:
        """At least as many different profiles as the largest system keeps."""
        wanted = max(system.profiles for system in self._systems)
        draws = self._workload.draws_for(wanted)
        arguments = {
            "space": self._plan.space, "words": self._plan.words, "seed": self._workload.seed,
            "draws": draws,
        }  # fmt: skip
        schema = transforms.profile_schema(self._attributes)
        return self._do("profiles", schema, arguments, lambda: transforms.unique_profiles(
            self._spark, self._workload, draws, self._plan.tasks,
        ))  # fmt: skip

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

    def _overlay(self, profiles: Done, limits: Numbers) -> tuple[Overlay, str]:
        """The rings of all systems, grown one a task."""
        arguments = {
            "profiles": profiles.identity, "limits": limits.tolist(),
            "systems": [(one.peers, one.placement) for one in self._systems],
        }  # fmt: skip
        index_bits = self._workload.space.curve.index_bits
        done = self._do("rings", transforms.RINGS, arguments, lambda: self._rings(
            profiles.data, limits, index_bits
        ))  # fmt: skip
        table = done.data.toArrow()
        system, last = table["system"].to_numpy(), table["last"].to_numpy()
        lasts = [np.sort(last[system == one.number]) for one in self._systems]
        return Overlay.of(lasts, limits.tolist(), index_bits), done.identity

    def _rings(self, profiles: DataFrame, limits: Numbers, index_bits: int) -> DataFrame:
        kept = max(system.profiles for system in self._systems)
        peers = max(system.peers for system in self._systems)
        one_in = max(1, kept // (KEYS_A_PEER * peers))
        sample = transforms.sampled(profiles, self._workload.seed, one_in).toArrow()
        kernel = kernels.grown(
            self._systems, limits.tolist(), sample["drawn"].to_numpy(),
            sample["index"].to_numpy(), self._workload.seed, index_bits,
        )  # fmt: skip
        count = len(self._systems)
        return self._spark.range(0, count, 1, count).mapInArrow(kernel, transforms.RINGS)

    def _truth(self, profiles: Done, asked: DataFrame, limits: Numbers) -> DataFrame | None:
        """What every query should find, where that can be afforded."""
        if self._plan.queries * max(one.profiles for one in self._systems) > PAIRS_CHECKED_MAX:
            return None
        every = [int(limit) for limit in limits]
        arguments = {
            "profiles": profiles.identity, "queries": self._plan.queries, "limits": every,
        }  # fmt: skip
        done = self._do("truth", transforms.truth_schema(every), arguments, lambda: (
            transforms.truth(profiles.data, asked, every, self._attributes)
        ))  # fmt: skip
        return transforms.true_matches(self._spark, done.data, self._systems, every)
