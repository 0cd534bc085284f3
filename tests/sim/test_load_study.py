"""The study of load in small: its numbers, its table and its command."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from meteor import KeywordSpace, Word
from meteor.wire.codec import wire_codec
from sim import Overlay, load_table, plot
from sim.cli import BAD_INPUT, DONE, VIOLATED, main
from sim.load_study import TARGETS, LoadPlan, LoadRow, Spread, drawn_keys, study
from sim.vocabulary import LETTERS_MAX, LETTERS_MIN, vocabulary

Printed = pytest.CaptureFixture[str]
SMALL = LoadPlan(peers=60, records=6000, vocabulary=2000, at_once=16, seeds=(1,))


def test_a_spread_is_largest_gini_and_empty() -> None:
    assert Spread.of([5, 5, 5, 5]) == Spread(1.0, 0.0, 0.0)
    assert Spread.of([0, 0, 0, 8]) == Spread(4.0, 0.75, 0.75)
    with pytest.raises(ValueError, match="no load"):
        Spread.of([0, 0])


def test_words_are_distinct_and_the_same_for_one_seed() -> None:
    words = vocabulary(500, seed=1)
    assert len(set(words)) == 500
    assert words == vocabulary(500, seed=1) != vocabulary(500, seed=2)
    assert all(LETTERS_MIN <= len(word) <= LETTERS_MAX and word.isalpha() for word in words)
    assert len({word[0] for word in words}) > 10


def test_frequent_words_repeat() -> None:
    distinct, step = drawn_keys(SMALL, "distinct", 1)
    zipf, _ = drawn_keys(SMALL, "zipf", 1)
    assert len(distinct) == len(zipf) == SMALL.records
    assert all(key % step == 0 for key in distinct)
    assert len(set(zipf)) < len(set(distinct))


def test_load_aware_placement_meets_the_targets_where_hash_placement_does_not() -> None:
    rows = study(SMALL)
    assert len(rows) == 8
    assert all(row.meets_target for row in rows)
    for row in rows:
        if row.case == "hash":
            assert row.settled.largest > 1.5 * TARGETS[row.words]
            assert row.moves == 0
        else:
            assert row.settled.largest <= row.joined.largest
            assert row.settled.empty <= 0.05
    (late,) = [row for row in rows if (row.words, row.case) == ("zipf", "ring first")]
    assert late.joined.largest > TARGETS["zipf"]
    assert late.handed_over_by_joins == 0 < late.moves
    assert 0 < late.handed_over_by_moves < 3 * SMALL.records


def test_the_study_is_a_function_of_its_seed() -> None:
    tiny = LoadPlan(peers=20, records=500, vocabulary=300, seeds=(4,))
    assert study(tiny) == study(tiny)


def test_a_record_has_about_the_bytes_that_the_study_counts() -> None:
    names = ("first", "second", "third")
    space = KeywordSpace("triples", [Word(name) for name in names])
    overlay = Overlay(peers=1, space=space)
    client = overlay.client()
    profile = "first=temperature second=humidity third=building"
    overlay.run(client.store(profile, b"x" * 200))
    shelf = overlay.peers[0].core.shelf
    (record,) = shelf.store.records()
    encoded = len(wire_codec().encode(shelf.placed(record).carried))
    assert encoded == pytest.approx(SMALL.record_bytes, rel=0.15)


def row(case: str, largest: float) -> LoadRow:
    spread = Spread(largest, 0.1, 0.0)
    return LoadRow("distinct", case, 1, spread, spread, 3, 100, 50, 2)  # type: ignore[arg-type]


def test_the_table_stands_beside_what_is_asked_for() -> None:
    text = load_table.as_text(SMALL, [row("hash", 9.0), row("data first", 2.0)]).splitlines()
    assert " ".join(text[1].split()) == "distinct hash 9.00 9.00 - 10.7 0.10 0.64 0.0% 3 2 0 0"
    assert text[2].split()[3:7] == ["2.00", "2.00", "2.5", "2.0"]
    lines = list(csv.DictReader(io.StringIO(load_table.as_csv(SMALL, [row("ring first", 2.0)]))))
    assert lines[0]["bytes_by_moves"] == str(50 * SMALL.record_bytes)
    assert lines[0]["at_most"] == "2.5"


def test_a_peer_that_carries_too_much_is_a_violation() -> None:
    assert row("data first", 2.5).meets_target
    assert not row("data first", 2.51).meets_target
    assert row("hash", 100.0).meets_target


ARGUMENTS = ["load", "--peers", "40", "--records", "3000", "--at-once", "8"]


def test_load_prints_its_table_and_writes_it(tmp_path: Path, capsys: Printed) -> None:
    words = tmp_path / "words"
    words.write_text("\n".join([*vocabulary(400, seed=1), "it's", ""]))
    out = tmp_path / "new"
    assert main([*ARGUMENTS, "--words", str(words), "--out", str(out)]) == DONE
    printed = capsys.readouterr()
    assert printed.out.startswith("load: 40 peers, 3,000 records, seed 1\n")
    assert "ring first" in printed.out
    assert "zipf words, at once, seed 1" in printed.err
    assert (out / "load.csv").read_text().count("\n") == 9
    if plot.is_available():
        assert (out / "load.png").stat().st_size > 1000
    else:
        assert plot.HOW_TO_GET in printed.err


def test_a_missed_target_shows_in_the_exit_code(tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text("one\ntwo\n")  # eight places for forty peers: some carry an eighth each
    few = ["load", "--peers", "40", "--records", "400"]
    assert main([*few, "--words", str(words)]) == VIOLATED
    words.write_text("1\n2\n")
    assert main([*few, "--words", str(words)]) == BAD_INPUT
    words.write_bytes(b"\xff\xfe\x00")
    assert main([*few, "--words", str(words)]) == BAD_INPUT


@pytest.mark.long
def test_the_full_study_meets_its_targets() -> None:
    """1,000 peers, 300,000 records, three seeds, 64 joins at once, ring first with moves."""
    for done in study(LoadPlan()):
        assert done.meets_target, done
        if done.case != "hash":
            assert done.settled.empty <= 0.02, done
        if done.case == "ring first":
            assert done.handed_over_by_moves <= 2 * 300_000, done
