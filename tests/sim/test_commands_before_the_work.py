"""What cannot be done is said by `meteor-sim` before the work, in a line; and a reader that has
seen enough of a table is no failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim.cli import BAD_INPUT, DONE, INTERRUPTED, main
from sim.measure.matching import read_points
from sim.report import Report
from sim.scenario import Scenario
from sim.trace import Trace

Printed = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "arguments",
    [
        ["study", "--out"],
        ["logs", ".", "--out"],
        ["measure", "matching", "--stored", "100", "--out"],
        ["measure", "chapter4", "--out"],
    ],
)
def test_results_that_cannot_be_written_are_refused(
    arguments: list[str], tmp_path: Path, capsys: Printed
) -> None:
    (tmp_path / "file").touch()
    assert main([*arguments, str(tmp_path / "file" / "results" / "one")]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == "", "nothing was done yet"
    assert "the folder cannot be made" in printed.err


@pytest.mark.parametrize(
    ("option", "value"), [("--peers", "10"), ("--profiles", "5"), ("--fixed-profiles", None)]
)
def test_sizes_beside_those_of_the_papers_are_refused(
    option: str, value: str | None, tmp_path: Path, capsys: Printed
) -> None:
    """They were passed over without a word."""
    given = [option, value] if value else [option]
    assert main(["study", "--papers", *given, "--out", str(tmp_path)]) == BAD_INPUT
    assert f"{option} and --papers: these have sizes of their own" in capsys.readouterr().err


@pytest.mark.processes
def test_a_reader_that_has_seen_enough_of_figures_is_no_failure() -> None:
    """`python -m sim measure matching | head -1` said "Broken pipe" and exited with 2."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sim", "measure", "matching", "--stored", "100"],
        cwd=Path(__file__).parents[2], stdout=writer, stderr=subprocess.PIPE, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    os.close(writer)
    assert "Error" not in done.stderr
    assert done.returncode == DONE


def test_a_swarm_of_any_size_begins_at_once(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its runs were all listed first: ten billion of them do not fit into any memory."""

    def interrupted(_: Scenario, __: int, *, keep_trace: bool = False) -> tuple[Report, Trace]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Scenario, "play", interrupted)
    assert main(["scenario", "calm", "--seeds", "1..10000000000"]) == INTERRUPTED
    assert "0 of 10000000000 runs, interrupted" in capsys.readouterr().out
    assert main(["scenario", "calm", "--seeds", f"1..{10**30}"]) == BAD_INPUT
    assert "more seeds than can be counted" in capsys.readouterr().err


def test_churn_in_which_time_would_stand_still_is_refused(capsys: Printed) -> None:
    arguments = ["--peers", "9", "--successors", "4", "--lookups", "9", "--copies", ""]
    assert main(["churn", *arguments, "--rates", "1,1e9"]) == BAD_INPUT
    printed = capsys.readouterr()
    assert "a rate of 1e+09 is all of 9 peers within less than a second" in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("line", ["ours,100\n", 'ours,"100'])
def test_points_that_are_damaged_are_explained(line: str, tmp_path: Path) -> None:
    """A line that ends too soon was a `TypeError`."""
    file = tmp_path / "figure-4.1c.csv"
    file.write_text(f"way,stored,share,matched,matching_us,overhead_us\n{line}")
    with pytest.raises(ValueError, match="csv: damaged: "):
        read_points(file)
