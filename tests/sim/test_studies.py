"""The tables of the Chord papers, in small, and how they are printed."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from sim import Overlay, data_study, plot
from sim.checkers.copies import Loss
from sim.churn_study import ChurnStudyPlan, look_up_under_churn
from sim.cli import BAD_INPUT, DONE, main
from sim.data_study import DataPlan, DataRow, under_churn, under_failures
from sim.failure_study import PUBLISHED, FailurePlan, study
from sim.lookup_study import LookupSample, Row, Spread, row_of
from sim.tables import as_csv, as_text, data_as_csv, data_as_text, losses_as_csv

Printed = pytest.CaptureFixture[str]


def test_a_spread_is_mean_and_percentiles() -> None:
    assert Spread.of([]) == Spread(0, 0, 0)
    assert Spread.of([3]) == Spread(3, 3, 3)
    assert Spread.of(list(range(101))) == Spread(50, 1, 99)
    assert str(Spread(3.844, 2, 5)) == "3.84 (2, 5)"


def test_no_lookup_fails_however_many_crash_at_once() -> None:
    rows = study(FailurePlan(peers=120, successors=14, lookups=200, fractions=(0.0, 0.2, 0.5)))
    assert [row.failed for row in rows] == [0, 0, 0]
    paths = [row.path.mean for row in rows]
    time_outs = [row.time_outs.mean for row in rows]
    assert paths == sorted(paths)
    assert time_outs == sorted(time_outs)
    assert time_outs[0] == 0 < time_outs[1]
    assert all(row.lookups >= 200 for row in rows)
    assert all(row.published_path is None for row in rows)


def test_lookups_under_churn_find_the_owner() -> None:
    plan = ChurnStudyPlan(peers=60, successors=10, lookups=150, warm_up_s=60.0)
    sample = look_up_under_churn(plan, rate=0.05)
    assert sample.failed == 0
    assert sample.count >= 149
    assert 1 < Spread.of(sample.paths).mean < 5
    assert look_up_under_churn(plan, rate=0.05) == sample


def test_a_wrong_and_a_missing_answer_are_failures() -> None:
    sample = LookupSample(paths=[1, 2], time_outs=[0, 1, 2], unanswered=1, wrong=1)
    row = row_of(0.1, sample, None)
    assert (row.failed, row.lookups) == (2, 3)
    assert row.failed_of_10000 == pytest.approx(6666.7, abs=0.1)


ROWS = [
    row_of(0.5, LookupSample(paths=[4, 6], time_outs=[1, 3]), PUBLISHED[0.5]),
    Row(0.6, Spread(7, 1, 9), Spread(8, 0, 9), 1, 1000, None, None, None),
]


def test_the_table_stands_beside_the_published_figures() -> None:
    lines = as_text("failed share", ROWS).splitlines()
    assert "5.00 (4, 6)  5.09 (3, 8)  2.00 (1, 3)  5.10 (0, 11)" in lines[1]
    assert " ".join(lines[2].split()) == "0.6 7.00 (1, 9) - 8.00 (0, 9) - 1 1,000 -"
    assert len({len(line) for line in lines[:3]}) == 1


def test_csv_has_a_line_a_row() -> None:
    head, first, second = csv.reader(io.StringIO(as_csv("failed_share", ROWS)))
    assert dict(zip(head, first, strict=True))["published_path_mean"] == "5.0900"
    assert dict(zip(head, second, strict=True))["published_path_mean"] == ""


SMALL = ["--peers", "30", "--successors", "6", "--lookups", "30", "--copies", ""]


def test_failures_prints_its_table_and_writes_it(tmp_path: Path, capsys: Printed) -> None:
    arguments = ["failures", *SMALL, "--fractions", "0,0.3", "--out", str(tmp_path / "new")]
    assert main(arguments) == DONE
    printed = capsys.readouterr()
    assert printed.out.startswith("simultaneous failures: 30 peers")
    assert "preset lan: bits 160, successor_count 8," in printed.err
    assert "but here: successor_count 6, arc_cache_max 0" in printed.err
    assert (tmp_path / "new" / "failures.csv").read_text().count("\n") == 3
    if plot.is_available():
        assert (tmp_path / "new" / "failures.png").stat().st_size > 1000
    else:
        assert plot.HOW_TO_GET in printed.err


def test_churn_prints_its_table(capsys: Printed) -> None:
    assert main(["churn", *SMALL, "--rates", "0.02"]) == DONE
    printed = capsys.readouterr()
    assert "joins and leaves a second" in printed.out
    assert "stabilise_interval_s 30.0" in printed.err, "the paper's pace, not the preset's"


def test_a_row_says_ten_times_how_far_it_is() -> None:
    """A ring of few has few lookups: a line for each would be hundreds."""
    said: list[str] = []
    study(FailurePlan(peers=6, successors=4, lookups=200, fractions=(0.5,)), said.append)
    assert len(said) == 10
    assert said[-1] == "0.5 crashed: 201 lookups of at least 200"


def test_profiles_are_lost_with_their_copies_alone() -> None:
    plan = DataPlan(peers=24, successors=8, profiles=80, copies=(2, 3))
    two, three = under_failures(plan, [0.5])
    assert (two.violations, three.violations) == ([], [])
    assert len(three.losses) < len(two.losses) < 40
    assert {len(loss.copies) for loss in two.losses} == {2}
    assert {len(loss.copies) for loss in three.losses} <= {3}
    assert (three.profiles, three.expected_share) == (80, 0.5**3)


def test_profiles_under_churn_are_accounted_for() -> None:
    plan = DataPlan(peers=16, successors=8, profiles=40, copies=(3,), churn_s=8.0)
    (row,) = under_churn(plan, [1.0])
    assert row.violations == []
    assert row.losses == []
    assert under_churn(plan, [1.0]) == [row]


def test_a_profile_that_no_dead_copy_explains_is_a_violation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forget(overlay: Overlay) -> list[str]:
        """A peer loses what it has, and nobody sees it."""
        peer = max(overlay.living, key=lambda one: one.core.state().data)
        for record in list(peer.core.shelf.store.records()):
            peer.core.shelf.store.remove(record.owner, record.stem)
        return []

    monkeypatch.setattr(data_study, "ring_flaws", forget)
    (row,) = under_failures(DataPlan(peers=12, successors=8, profiles=40, copies=(1,)), [0.0])
    assert row.violations
    assert all("though a copy of it was always up" in text for text in row.violations)


LOST = DataRow(0.5, 3, 1000, 0.5, [Loss("p7", 9.0, (("a:1", 8.5), ("b:1", 9.0)))])


def test_the_tables_of_data_have_p_to_the_k_and_name_the_copies() -> None:
    head, row, note = data_as_text("failed share", [LOST]).splitlines()
    assert row.split() == ["0.5", "3", "1,000", "1", "0.00100", "0.50000", "0.12500", "0"]
    assert "lost share" in head
    assert "all its copies" in note
    assert data_as_csv("f", [LOST]).splitlines()[1] == "0.5,3,1000,1,0.001000,0.500000,0.125000,0"
    assert losses_as_csv("f", [LOST]).splitlines()[1] == "0.5,3,p7,9.000,a:1@8.500 b:1@9.000"


def test_failures_with_data_names_what_was_lost(tmp_path: Path, capsys: Printed) -> None:
    small = ["--peers", "16", "--successors", "8", "--lookups", "10", "--profiles", "40"]
    varied = ["--fractions", "0.5", "--copies", "2"]
    arguments = ["failures", *small, *varied, "--out", str(tmp_path)]
    assert main(arguments) == DONE
    assert "profiles after simultaneous failures" in capsys.readouterr().out
    assert (tmp_path / "failures-data.csv").read_text().count("\n") > 1
    assert (tmp_path / "failures-losses.csv").read_text().startswith("failed_share,copies,profile")


@pytest.mark.parametrize(
    "arguments",
    [
        ["failures", "--copies", "x"],
        ["failures", "--copies", "0"],
        ["failures", "--fractions", "1"],
        ["failures", "--fractions", "0.99", "--peers", "5"],
        ["failures", "--fractions", "a"],
        ["failures", "--fractions", "-0.1"],
        ["churn", "--rates", "0"],
        ["churn", "--peers", "1"],
        ["failures", "--peers", "9", "--lookups", "9", "--successors", "8", "--copies", "3,5"],
        ["churn", "--peers", "9", "--lookups", "9", "--successors", "8", "--copies", "5"],
    ],
)
def test_bad_numbers_are_refused(arguments: list[str], capsys: Printed) -> None:
    assert main(arguments) == BAD_INPUT
    printed = capsys.readouterr()
    assert "Error" in printed.err
    assert printed.out == "", "nothing was studied yet"


def test_as_many_copies_as_the_lists_allow_are_studied() -> None:
    (row,) = under_failures(DataPlan(peers=9, successors=8, profiles=9, copies=(4,)), [0.0])
    assert (row.losses, row.violations) == ([], [])
    with pytest.raises(ValueError, match="5 copies need lists of 10 successors, not of 8"):
        DataPlan(successors=8, copies=(3, 5))


def test_of_few_peers_all_but_the_steady_may_crash() -> None:
    plan = DataPlan(peers=3, successors=8, profiles=9, copies=(3,), churn_s=9.0)
    (row,) = under_churn(plan, [2.0])
    assert (row.losses, row.violations) == ([], [])


@pytest.mark.parametrize(
    ("peers", "seed"),
    [(2, 1), *(pytest.param(*one, marks=pytest.mark.long) for one in ((2, 4), (4, 2)))],
)
def test_of_few_peers_the_last_one_stays(peers: int, seed: int) -> None:
    """In the last draw one leaves while the only other one is in and does not know it yet."""
    plan = ChurnStudyPlan(peers=peers, successors=4, lookups=20, warm_up_s=60.0, seed=seed)
    sample = look_up_under_churn(plan, rate=20.0)
    assert 0 < sample.count <= plan.lookups


@pytest.mark.parametrize("command", ["failures", "churn", "load"])
def test_a_folder_that_cannot_be_made_is_refused_before_the_study(
    command: str, tmp_path: Path, capsys: Printed
) -> None:
    (tmp_path / "file").touch()
    assert main([command, "--out", str(tmp_path / "file" / "results")]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "the folder cannot be made" in printed.err
    assert printed.err.count("\n") <= 5, "nothing was studied yet"


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plot, "find_spec", lambda _: None)
    assert main(["failures", *SMALL, "--fractions", "0", "--out", str(tmp_path)]) == DONE
    assert "pip install 'meteor-rendezvous[plot]'" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.long
def test_the_published_table_of_failures_is_met() -> None:
    """N = 1000, r = 20: no failed lookup, time-outs within a quarter, paths within 15 %."""
    for row in study(FailurePlan(lookups=2000)):
        assert row.failed == 0
        assert row.published_path is not None
        assert row.published_time_outs is not None
        assert row.path.mean <= 1.15 * row.published_path.mean
        assert row.time_outs.mean <= 1.25 * row.published_time_outs.mean
