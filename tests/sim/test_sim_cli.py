"""The command `meteor-sim`: what it prints, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sim.cli import BAD_INPUT, COMMANDS, DONE, INTERRUPTED, VIOLATED, main
from sim.report import Report
from sim.scenario import Scenario
from sim.scenarios import EVERY
from sim.trace import Trace

Printed = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calm = EVERY["calm"]
    assert isinstance(calm, Scenario)
    monkeypatch.setitem(EVERY, "calm", replace(calm, storm_s=1.0, peers=4))
    monkeypatch.chdir(tmp_path)


def test_the_scenarios_are_listed(capsys: Printed) -> None:
    assert main(["scenario", "--list"]) == DONE
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == len(EVERY)
    assert all(scenario.summary in printed for scenario in EVERY.values())


def test_help_names_the_commands(capsys: Printed) -> None:
    assert main(["--help"]) == DONE
    printed = capsys.readouterr().out
    assert all(command in printed for command in COMMANDS)


@pytest.mark.parametrize(
    "arguments", [[], ["nothing"], ["calm", "--seed", "x"], ["calm", "--seeds", "3..1"]]
)
def test_bad_input_is_explained(arguments: list[str], capsys: Printed) -> None:
    assert main(["scenario", *arguments]) == BAD_INPUT
    assert "Error" in capsys.readouterr().err


@pytest.mark.processes
def test_without_simpy_the_extra_is_named() -> None:
    """Whoever installed Meteor without extras has the command all the same."""
    code = (
        "import sys; sys.modules['simpy'] = None; import sim.cli; "
        "sys.exit(sim.cli.main(['churn', '--peers', '4']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "[sim]" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_seed_prints_one_line(capsys: Printed) -> None:
    assert main(["scenario", "calm", "--seed", "3"]) == DONE
    printed = capsys.readouterr()
    assert printed.out.startswith("calm seed 3: ok")
    assert printed.out.count("\n") == 1
    assert printed.err == ""


def test_a_swarm_shows_its_progress_and_a_summary(capsys: Printed) -> None:
    assert main(["scenario", "calm", "--seeds", "1..3"]) == DONE
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1].startswith("3 runs, 0 failed: ")
    assert printed.err.splitlines()[-1] == "[3/3, 0 failed]"


def test_json_is_one_object_a_run(capsys: Printed) -> None:
    assert main(["scenario", "calm", "--seeds", "1..2", "--json"]) == DONE
    runs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["seed"] for one in runs] == [1, 2]
    assert all(one["violations"] == [] for one in runs)


def test_a_failure_prints_the_line_that_replays_it_and_keeps_its_trace(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Scenario.play

    def fails(self: Scenario, seed: int, *, keep_trace: bool = False) -> tuple[Report, Trace]:
        report, trace = play(self, seed, keep_trace=keep_trace)
        report.violations += [] if seed == 1 else ["recall: w7 is not there"]
        return report, trace

    monkeypatch.setattr(Scenario, "play", fails)
    assert main(["scenario", "calm", "--seeds", "1..2"]) == VIOLATED
    lines = capsys.readouterr().out.splitlines()
    assert "meteor-sim scenario calm --seed 2" in lines
    assert "  recall: w7 is not there" in lines
    events = Path("traces/calm-2.jsonl").read_text().splitlines()
    assert f"  trace: {Path('traces/calm-2.jsonl')}" in lines
    assert len(events) > 100
    assert len(json.loads(events[0])) == 5
    assert lines[-1] == "  meteor-sim scenario calm --seed 2"


def test_a_scenario_has_to_be_named(capsys: Printed) -> None:
    assert main(["scenario"]) == BAD_INPUT
    said = capsys.readouterr().err
    assert "name a scenario" in said
    assert "None" not in said


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    """`python -m sim scenario --list | head -1` exited with 1, "something was violated"."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sim", "scenario", "--list"],
        cwd=Path(__file__).parents[2], stdout=writer, stderr=subprocess.PIPE, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (DONE, "")


def failing(monkeypatch: pytest.MonkeyPatch, *, interrupted_at: int = 0) -> None:
    """Every run of a scenario fails; whoever asks for this seed presses Ctrl-C in it."""
    play = Scenario.play

    def fails(self: Scenario, seed: int, *, keep_trace: bool = False) -> tuple[Report, Trace]:
        if seed == interrupted_at:
            raise KeyboardInterrupt
        report, trace = play(self, seed, keep_trace=keep_trace)
        report.violations += [f"recall: w{number} is not there" for number in range(30)]
        return report, trace

    monkeypatch.setattr(Scenario, "play", fails)


def test_a_swarm_that_is_interrupted_says_what_it_found(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, interrupted_at=2)
    assert main(["scenario", "calm", "--seeds", "1..3"]) == INTERRUPTED
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].startswith("1 of 3 runs, interrupted, 1 failed: ")
    assert lines[-1] == "  meteor-sim scenario calm --seed 1"


def full(*_: object) -> Path:
    """As a disk would."""
    raise OSError(28, "No space left on device")


def test_a_trace_that_cannot_be_written_does_not_end_a_swarm(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch)
    monkeypatch.setattr("sim.cli.scenario.keep_trace", full)
    assert main(["scenario", "calm", "--seeds", "1..2"]) == VIOLATED
    printed = capsys.readouterr().out
    assert printed.count("  trace: not written, ") == 2
    assert printed.count("  and 10 more (recall 10); --json has all") == 2
    assert "2 runs, 2 failed" in printed


def test_where_no_trace_could_be_kept_nothing_is_run(capsys: Printed, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "traces")
    assert main(["scenario", "calm", "--traces", folder]) == BAD_INPUT
    said = capsys.readouterr()
    assert f"{folder}: nothing can be written into {tmp_path / 'file'}" in said.err
    assert said.out == ""


def test_a_reader_that_has_seen_enough_hides_no_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`meteor-sim scenario calm | head -1` exited with 0 where it had failed, without its trace."""

    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    failing(monkeypatch)
    monkeypatch.setattr("click.echo", closed)
    monkeypatch.setattr("sim.cli.scenario.to_nobody", monkeypatch.undo)
    assert main(["scenario", "calm", "--seed", "2"]) == VIOLATED
    assert (tmp_path / "traces" / "calm-2.jsonl").exists()
