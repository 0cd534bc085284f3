"""The study's command, killed in the middle and given again: a process of its own each time."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "import sys; from sim.cli import main; sys.exit(main())", "study"]
SMALL = ["--peers", "40", "80", "--profiles", "4000", "--queries", "16", "--words", "zipf"]


def rows(folder: Path) -> list[list[str]]:
    with (folder / "results.csv").open() as file:
        return list(csv.reader(file))


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("stage", ["profiles", "routes"])
def test_a_killed_study_goes_on_where_it_was(tmp_path: Path, stage: str) -> None:
    """SIGKILL as soon as a stage is told done, so in the midst of the next."""
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [*COMMAND, *SMALL, "--out", str(killed)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if f"seed1-{stage}: " in line:
                running.kill()
                break
    assert running.returncode == -9
    assert not (killed / "results.csv").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode in (0, 1), again.stderr
    assert "seed1-profiles: " in again.stderr
    assert "done before" in again.stderr.split("seed1-profiles: ")[1].splitlines()[0]
    once = [*COMMAND, *SMALL, "--out", str(whole)]
    subprocess.run(once, capture_output=True, text=True, check=False)
    assert rows(killed) == rows(whole)
