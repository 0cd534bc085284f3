"""Event logs in Spark: the measures of hand-written events, a directory read in steps, and a
simulated overlay's log beside the study of the very same queries."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from meteor import KeywordSpace, Number, Word
from sim import Overlay
from sim.cli import BAD_INPUT, commands

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")
SPACE = KeywordSpace("logs", [Word("what"), Word("where"), Number("size", 0, 100)], bits=20)


def line(event: str, peer: str, **fields: Any) -> str:
    return json.dumps({"event": event, "peer": peer, "time": fields.pop("time", 1.0), **fields})


HAND_WRITTEN = [
    # One query: a asks, hands shares to b and c, c hands one to d; b and d hold matches.
    line("post", "a", operation="1", action="retrieve", axes="*<=", time=10.0),
    line("route", "a", operation="1", to="b", hops=1),
    line("route", "a", operation="1", to="c", hops=1),
    line("route", "c", operation="1", to="d", hops=2),
    line("match", "b", operation="1", matches=2, hops=1),
    line("match", "d", operation="1", matches=1, hops=2),
    line("match", "c", operation="1", matches=0, hops=1),
    line("reply", "a", operation="1", complete=True, peers=3, hops=2, matches=3, time=10.5),
    # One that never ended, one that is no query, one that found what it asked at its own peer.
    line("post", "b", operation="2", action="retrieve", axes="**<"),
    line("post", "b", operation="3", action="store", axes="==="),
    line("reply", "b", operation="3", complete=True, peers=1, hops=1, matches=0),
    line("post", "d", operation="4", action="retrieve", axes="===", time=11.0),
    line("match", "d", operation="4", matches=1, hops=0),
    line("reply", "d", operation="4", complete=False, peers=1, hops=0, matches=1, time=11.0),
    # Loads: only the newest of each peer counts.
    line("load", "a", data=9, interests=0, watches=0, arc=0.25, time=1.0),
    *(
        line("load", peer, data=data, interests=0, watches=0, arc=0.25, time=2.0)
        for peer, data in (("a", 0), ("b", 6), ("c", 0), ("d", 2))
    ),
    '{"event": "route", "peer": "a", "oper',
]


@pytest.mark.long
def test_measures_of_hand_written_events(spark: SparkSession, tmp_path: Path) -> None:
    from sim.spark import logs

    (tmp_path / "a-00000000.jsonl").write_text("\n".join(HAND_WRITTEN))
    (tmp_path / "a.part").write_text(line("load", "nobody", data=1))
    events = logs.read(spark, str(tmp_path))
    rows = {row["query_class"]: row.asDict() for row in logs.measures(events).collect()}
    assert set(rows) == {"wildcard", "point"}
    shared = {"peers": 4, "profiles": 8, "load_max_mean": 3.0, "empty_pct": 50.0}
    assert rows["wildcard"] == {
        "query_class": "wildcard", "queries": 1, "incomplete": 0, "processing_pct": 100.0,
        "matching_pct": 50.0, "messages": 3.0, "depth": 2.0, "routing_peers": 2.0, "matches": 3.0,
        "seconds": 0.5, **shared,
    }  # fmt: skip
    assert rows["point"] == {
        "query_class": "point", "queries": 1, "incomplete": 1, "processing_pct": 25.0,
        "matching_pct": 25.0, "messages": 0.0, "depth": 0.0, "routing_peers": 0.0, "matches": 1.0,
        "seconds": 0.0, **shared,
    }  # fmt: skip


@pytest.mark.long
def test_a_directory_that_grows_is_read_once_and_comes_to_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    from sim.spark import logs

    directory, store = tmp_path / "logs", str(tmp_path / "store")
    directory.mkdir()
    for number, (first, last, known) in enumerate(((0, 5, 5), (5, 9, 9), (9, 20, 19))):
        part = "\n".join(HAND_WRITTEN[first:last])
        (directory / f"a-{number:08}.jsonl").write_text(part)
        events = logs.collect_new(spark, str(directory), store)
        assert events.count() == known  # the last line is cut in two
    streamed = logs.measures(events).collect()
    assert streamed == logs.measures(logs.read(spark, str(directory))).collect()
    for path in directory.iterdir():
        path.unlink()  # rotated away: what was read stays
    assert logs.measures(logs.collect_new(spark, str(directory), store)).collect() == streamed


def test_a_simulated_overlays_log_is_what_its_clients_saw(
    spark: SparkSession, tmp_path: Path
) -> None:
    from sim.spark import logs

    drawn, seed = random.Random(4), 4
    overlay = Overlay(peers=0, space=SPACE, seed=seed, copies=1)
    lines: list[bytes] = []
    overlay.events = lines.append
    for _ in range(20):
        overlay.run(overlay.add_peer())
    client = overlay.client()
    for size in range(60):
        word = drawn.choice(("alarm", "lamp", "meter", "sensor"))
        overlay.run(client.store(f"what={word} where=hall size={size}", b""))
    overlay.run_for(6.0)
    asked = ("what=a* where=*", "what=* where=h* size=20..40", "what=* where=* size=5..9")
    receipts = []
    for selector in asked:
        answer = client.retrieve(selector)
        matches = overlay.run(answer.all())
        receipts.append((len(matches), answer.receipt))
    (tmp_path / "sim-00000000.jsonl").write_bytes(b"".join(lines))
    events = logs.read(spark, str(tmp_path))
    (row,) = logs.measures(events).collect()
    assert row["peers"] == 20
    assert row["profiles"] == 60
    assert row["queries"] == 3
    assert row["incomplete"] == 0
    assert row["matches"] == pytest.approx(sum(found for found, _ in receipts) / 3)
    assert row["depth"] == pytest.approx(sum(receipt.hops for _, receipt in receipts) / 3)
    assert 100 * max(r.peers for _, r in receipts) / 20 <= 100
    assert row["processing_pct"] >= 100 * sum(r.peers for _, r in receipts) / 3 / 20


def test_an_empty_directory_is_explained(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(commands, ["logs", str(tmp_path)])
    assert "no *.jsonl" in outcome.output


def test_the_study_of_the_nearest_size_stands_beside() -> None:
    import pyarrow as pa

    from sim.spark import logs

    rows = [
        {"peers": peers, "routing": routing, "query_class": name, "placement": "hash"}
        for peers in (10, 30, 1000)
        for routing in ("fingers", "first_match", "floor")
        for name in ("wildcard", "range", "Q1")
    ]
    study = pa.Table.from_pylist(rows)
    for name in logs.BESIDE:
        if name not in study.column_names:
            study = study.append_column(name, pa.nulls(len(study), pa.float64()))
    chosen = logs.nearest(study, pa.table({"peers": [20, 20]}))
    assert set(chosen.column("peers").to_pylist()) == {10}
    assert chosen.column("query_class").to_pylist() == ["range", "range", "wildcard", "wildcard"]
    assert set(chosen.column("routing").to_pylist()) == {"fingers", "floor"}
    assert len(logs.as_text(chosen).splitlines()) == 5


@pytest.mark.parametrize("damage", ["other columns", "no rows", "no sizes"])
def test_what_is_no_study_is_refused_before_the_work(damage: str, tmp_path: Path) -> None:
    """Its rows were looked for when Spark had read everything, and were a `KeyError`."""
    from sim.spark import logs

    head, word = ",".join(logs.BESIDE), ",".join("x" for _ in logs.BESIDE)
    text = {"other columns": "a,b\n1,2\n", "no rows": f"{head}\n", "no sizes": f"{head}\n{word}\n"}[
        damage
    ]
    (tmp_path / "one.jsonl").touch()
    (tmp_path / "results.csv").write_text(text)
    outcome = CliRunner().invoke(
        commands, ["logs", str(tmp_path), "--beside", str(tmp_path / "results.csv")],
        standalone_mode=False,
    )  # fmt: skip
    assert (outcome.exception, outcome.return_value) == (None, BAD_INPUT)
    assert "no results.csv of a study" in outcome.output
    assert "files in" not in outcome.output, "nothing was read yet"
