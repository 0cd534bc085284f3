"""The study on Spark, in small: one session for all, and every figure beside a plain count."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.cli import BAD_INPUT, DONE, VIOLATED, main
from sim.spark.questions import QUERY_CLASSES, Questions
from sim.spark.results import COLUMNS, KEYS, SCHEMA
from sim.spark.workload import Workload

pytestmark = pytest.mark.xdist_group("spark")
Printed = pytest.CaptureFixture[str]
SMALL: dict[str, Any] = {"peers": [40, 80], "profiles": 4000, "queries": 16, "words": "zipf"}

FINGERPRINT = "b4184bdf01a3524c"
"""Of the results of SMALL and seed 1: PySpark 4.0.5 under spark-submit gave it first."""


@pytest.fixture(scope="module")
def kept(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], Any]:
    """A study with its stages kept: their folder, what was said, and the results."""
    from sim.spark import study

    folder, said = tmp_path_factory.mktemp("study"), []
    found = study.run(spark, **SMALL, seeds=1, tasks=3, out=str(folder), progress=said.append)
    return folder, said, found.toPandas()


def fingerprint(table: Any) -> str:
    text = table[list(COLUMNS)].sort_values(list(KEYS)).to_csv(index=False)
    return sha256(text.encode()).hexdigest()[:16]


def test_the_table_has_a_row_for_every_key(kept: tuple[Path, list[str], Any]) -> None:
    table = kept[2]
    assert tuple(table.columns) == COLUMNS
    assert ", ".join(COLUMNS) == ", ".join(part.split()[0] for part in SCHEMA.split(", "))
    assert len(table) == 2 * 2 * 4 * len(QUERY_CLASSES)
    assert not table.duplicated(list(KEYS)).any()
    assert set(table["routing"]) == {"first_match", "fingers", "published", "floor"}
    assert set(table["placement"]) == {"hash", "load-aware"}
    assert table.groupby("peers")["profiles"].first().to_dict() == {40: 2000, 80: 4000}
    assert (table[table["query_class"] == "wildcard"]["queries"] == 8).all()
    assert not table.isna().any().any()
    assert fingerprint(table) == FINGERPRINT


def test_what_is_found_is_what_a_plain_count_finds(kept: tuple[Path, list[str], Any]) -> None:
    """Of each class and size, all matches, by numpy on unique draws; and no way of routing misses
    any."""
    table = kept[2]
    assert (table["missed_matches"] == 0).all()
    workload = Workload.of("study", "zipf", 1)
    ranks = workload.ranks(np.arange(workload.draws_for(4000)))
    _, first = np.unique(workload.codes(ranks), return_index=True)
    first.sort()
    for peers, profiles in [(40, 2000), (80, 4000)]:
        stored = [rank[first[:profiles]] for rank in ranks]
        questions = Questions(workload, 2000)
        found: dict[str, list[int]] = {}
        for number in range(16):
            question = questions[number]
            inside = np.ones(profiles, dtype=bool)
            for rank, given in zip(stored, question.given, strict=True):
                inside &= (rank >= given.ranks[0]) & (rank <= given.ranks[1])
            assert inside.any()
            found.setdefault(question.kind, []).append(int(inside.sum()))
        for name, kinds in QUERY_CLASSES.items():
            counts = [count for kind in kinds for count in found[kind]]
            rows = table[(table["peers"] == peers) & (table["query_class"] == name)]
            assert rows["matches"].unique().tolist() == [np.mean(counts)]


def test_shares_and_loads_stand_in_order(kept: tuple[Path, list[str], Any]) -> None:
    table = kept[2]
    by_way = table.pivot(
        index=["peers", "placement", "query_class"], columns="routing", values="processing_pct"
    )
    assert (by_way["floor"] <= by_way["first_match"]).all()
    assert (by_way["first_match"] <= by_way["fingers"]).all()
    assert (by_way["first_match"] <= by_way["published"]).all()
    floor = table[table["routing"] == "floor"]
    assert (floor["processing_pct"] == floor["matching_pct"]).all()
    load = table.groupby(["peers", "placement"])[["load_max_mean", "empty_pct"]].first()
    for peers in (40, 80):
        assert load.loc[peers, "load-aware"]["load_max_mean"] <= 2.5
        assert load.loc[peers, "hash"]["load_max_mean"] > 2.5
        assert load.loc[peers, "load-aware"]["empty_pct"] == 0


@pytest.mark.long
def test_the_semi_join_names_the_peers_that_hold_a_match(spark: Any) -> None:
    from sim.spark import transforms

    visited = spark.createDataFrame(
        [(0, 1, 5, 1, 2, 4), (0, 1, 6, 1, 2, 4), (0, 2, 5, 3, 9, 9), (1, 1, 5, 1, 0, 9)],
        "system int, query long, peer int, reached_by int, low0 int, high0 int",
    )
    stored = spark.createDataFrame(
        [(0, 5, 2), (0, 5, 4), (0, 6, 5), (0, 7, 3), (1, 6, 3)], "system int, peer int, value0 int"
    )
    (row,) = transforms.data_peers(visited, stored, 1).collect()
    assert tuple(row) == (0, 1, 5)
    (row,) = transforms.found(visited, stored, 1).collect()
    assert row.asDict() == {
        "system": 0, "query": 1, "data_peers": 1, "matches": 2,
        "first_match_matches": 2, "fingers_matches": 0, "published_matches": 0,
    }  # fmt: skip


@pytest.mark.long
def test_partitions_change_nothing(spark: Any, kept: tuple[Path, list[str], Any]) -> None:
    """The same fingerprint with 17 partitions as with 3, none of which Spark joins again, and with
    any PySpark from 4.0 on: `make test-spark-floor`."""
    from sim.spark import study

    settings = {
        "spark.sql.shuffle.partitions": "17",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "777",
    }
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    again = study.run(spark, **SMALL, seeds=[1], tasks=17).toPandas()
    for name, value in before.items():
        spark.conf.set(name, value)
    assert fingerprint(again) == FINGERPRINT


@pytest.mark.long
def test_done_stages_are_found_again_and_others_never_taken_for_them(
    spark: Any, kept: tuple[Path, list[str], Any], tmp_path: Path
) -> None:
    """Of a run that was cut off behind its rings, only what came after is done again."""
    import shutil

    from sim.spark import study

    folder, said, table = kept
    told = [line.split(":")[0].removeprefix("seed1-") for line in said]
    assert sorted(told) == ["found", "profiles", "results", "rings", "routes", "tally"]
    assert told[-1] == "results"
    assert told.index("rings") < told.index("routes")  # profiles go beside them
    assert {told.index("found"), told.index("tally")} == {3, 4}
    cut_off = tmp_path / "stages"
    shutil.copytree(folder / "stages", cut_off)
    for path in sorted(cut_off.iterdir()):
        name = path.name.split("-")[1]
        if name in ("found", "tally", "results"):
            shutil.rmtree(path)
        elif name == "routes" and path.suffix == ".note":
            shutil.rmtree(path)  # its data is half written: without a note it does not count
    again: list[str] = []
    found = study.run(spark, **SMALL, seeds=1, out=str(tmp_path), progress=again.append)
    done = {line.split(":")[0] for line in again if line.endswith("done before")}
    assert (done, len(again)) == ({"seed1-profiles", "seed1-rings"}, 6)
    assert fingerprint(found.toPandas()) == fingerprint(table)
    for changed in ({"queries": 12}, {"seeds": 2}, {"profiles": 4001}, {"peers": [40, 81]}):
        options: dict[str, Any] = {**SMALL, "seeds": 1, **changed}
        stage = {f"seed{seed}-results" for seed in range(1, options["seeds"] + 1)}
        others = _results_told(spark, options, tmp_path)
        assert stage & set(others), changed


def _results_told(spark: Any, options: dict[str, Any], folder: Path) -> list[str]:
    """The result stages that are not found done, without doing them."""
    from sim.spark import stages, study

    class Asked(stages.Stages):
        def do(self, name: str, schema: str, arguments: Any, make: Any) -> Any:
            def note() -> Any:
                open_.append(name)
                return spark.createDataFrame([], schema)

            return super().do(name, schema, arguments, note)

    open_: list[str] = []
    plan = study.StudyPlan(**{**options, "seeds": tuple(range(1, options["seeds"] + 1))})
    for seed in plan.seeds:
        workload = Workload.of(plan.space, plan.words, seed)
        study._Seed(spark, plan, workload, Asked(spark, str(folder), lambda _: None)).table()
    return open_


def test_the_command_writes_tables_figure_and_verdict(
    spark: Any, tmp_path: Path, capsys: Printed
) -> None:
    arguments = ["--profiles", "2000", "--queries", "8", "--words", "zipf", "--out", str(tmp_path)]
    status = main(["study", "--peers", "20", "40", *arguments])
    printed = capsys.readouterr()
    assert status in (DONE, VIOLATED)
    assert "no match is missed: 0 missed" in printed.out
    assert printed.out.rstrip().splitlines()[-1].startswith("verdict: ")
    assert "seed1-found" in printed.err
    lines = (tmp_path / "results.csv").read_text().splitlines()
    assert lines[0].replace('"', "").split(",") == list(COLUMNS)
    assert len(lines) == 81
    for name in ("results.parquet", "figure42.png", "verdict.txt"):
        assert (tmp_path / name).stat().st_size > 500, name


def test_what_cannot_be_studied_is_said(spark: Any, tmp_path: Path, capsys: Printed) -> None:
    few = ["--profiles", "1", "--queries", "1", "--words", "zipf", "--out", str(tmp_path)]
    assert main(["study", "--peers", "1", "1000", *few]) == BAD_INPUT
    assert "are none for a ring of 1 peers" in capsys.readouterr().err


@pytest.mark.long
def test_the_papers_table_stands_beside_the_published_figures(spark: Any, tmp_path: Path) -> None:
    from sim.spark import publishing

    text, nothing_missed = publishing.papers(
        spark, tmp_path, str(tmp_path), queries=4, seeds=1, words="zipf", profiles=5400,
        progress=lambda _: None,
    )  # fmt: skip
    assert nothing_missed
    lines = text.splitlines()
    assert len(lines) == 1 + 4 * 5 * 2 + 3
    first = lines[1].split()
    assert first[:5] == ["words2", "Q1", "1,050", "hash", "6.40"]
    assert lines[-2].startswith("What differs")
    assert lines[-1] == "0 matches missed, 400 of 400 rows checked"
    assert (tmp_path / "squid_papers.csv").read_text().count("\n") == 41
