"""The line under which a run is told: it repeats that run, and no other."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import sim
from meteor.wire.codec import wire_codec
from sim.replaying import line_that_repeats
from sim.report import VIOLATIONS_MAX, Report, first_of_each_kind, kind_of
from sim.ring_scenario import RingScenario
from sim.scenario import Scenario
from sim.scenarios import EVERY

CALM = sim.SCENARIOS["calm"]
OWN = Scenario(name="mine", summary="my own", peers=4, storm_s=0.5)


@pytest.mark.parametrize(
    ("scenario", "given", "line"),
    [
        (CALM, (), "meteor-sim scenario calm --seed 7"),
        (EVERY["zave"], (), "meteor-sim scenario zave --seed 7"),
        (
            replace(CALM, storm_s=1.0, peers=4), (),
            "replace(sim.SCENARIOS['calm'], peers=4, storm_s=1.0).play(7)",
        ),
        (RingScenario(events=9), (), "replace(sim.scenarios.EVERY['zave'], events=9).play(7)"),
        (OWN, (), "<the Scenario 'mine' of your program>.play(7)"),
        (replace(OWN, name="zave"), (), "<the Scenario 'zave' of your program>.play(7)"),
        (CALM, ("sabotage",), "sim.run(sim.SCENARIOS['calm'], 7, sabotage=...)"),
        (
            replace(CALM, peers=4), ("codec", "sabotage"),
            "sim.run(replace(sim.SCENARIOS['calm'], peers=4), 7, codec=..., sabotage=...)",
        ),
    ],
)  # fmt: skip
def test_a_line_says_what_differs_from_the_scenario_of_that_name(
    scenario: Scenario | RingScenario, given: tuple[str, ...], line: str
) -> None:
    assert line_that_repeats(scenario, 7, *given) == line


@pytest.mark.parametrize("scenario", [replace(CALM, storm_s=0.5, peers=4), RingScenario(events=9)])
def test_the_line_of_a_run_plays_that_run(scenario: Scenario | RingScenario) -> None:
    report, _ = scenario.play(5)
    again, _ = eval(report.replay, {"sim": sim, "replace": replace})
    assert (again.digest, again.replay) == (report.digest, report.replay)


def test_a_run_with_a_fault_or_a_codec_does_not_say_that_a_command_repeats_it() -> None:
    short = replace(CALM, storm_s=0.5, peers=4)
    run = sim.run(short, 5, codec=wire_codec(), sabotage=lambda _: None)
    assert run.replay.endswith(", 5, codec=..., sabotage=...)")
    assert run.text().splitlines()[0] == run.replay


@pytest.mark.processes
def test_the_command_of_a_run_repeats_it_in_another_process() -> None:
    report, _ = EVERY["zave"].play(3)
    command = report.replay.replace("meteor-sim", "sim").split()
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert re.search(rf"digest {report.digest}$", done.stdout.strip())


def test_thousands_of_one_kind_do_not_hide_the_one_of_another() -> None:
    """A planted fault was named 4,859 times by one checker: what others said was not shown."""
    violations = [f"recall: w{number} is not there" for number in range(4859)]
    violations += ["lifetimes: w7 is shown too late", "30 s after healing: a gap", "a bug"]
    text = Report("calm", 1, "line", violations).text().splitlines()
    shown = [line.strip() for line in text[1:-1]]
    assert len(shown) == VIOLATIONS_MAX
    assert shown[-3:] == violations[-3:]
    assert shown[:17] == violations[:17]
    assert text[-1] == "  and 4842 more (recall 4842); --json has all"


@pytest.mark.parametrize(
    ("violation", "kind"),
    [
        ("recall: x", "recall"),
        ("closing round: by 10.0.0.31:7400: Incomplete: no", "closing round"),
        ("30 s after healing: a gap", "others"),
        ("at 1.25 s: a and b both hold it", "others"),
        ("a bug", "others"),
    ],
)
def test_a_violation_begins_with_its_kind(violation: str, kind: str) -> None:
    assert kind_of(violation) == kind


@pytest.mark.parametrize("count_max", [0, 1, 4, 5, 20])
def test_of_each_kind_about_as_many_are_shown(count_max: int) -> None:
    violations = [f"{kind}: {number}" for kind in "abc" for number in range(5)]
    shown = first_of_each_kind(violations, count_max)
    assert shown == [one for one in violations if one in shown]
    assert len(shown) == min(count_max, 15)
    counts = Counter(map(kind_of, shown))
    assert max(counts.values(), default=0) - min(counts[kind] for kind in "abc") <= 1
