"""A ring scenario tells of a bug as the others do: by its report, with the line that repeats it."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from chord import ChordNode
from sim.cli import VIOLATED, main
from sim.ring_scenario import RingScenario
from sim.scenarios import EVERY


async def raise_while_leaving(_: ChordNode) -> None:
    raise ZeroDivisionError("a bug in a node")


async def log_while_leaving(node: ChordNode) -> None:
    logging.getLogger("chord.anything").error("this cannot be")
    node.stop()


@pytest.mark.parametrize(
    ("bug", "named"),
    [
        (raise_while_leaving, "ZeroDivisionError: a bug in a node"),
        (log_while_leaving, "logged as ERROR: this cannot be"),
    ],
)
def test_a_bug_in_a_node_is_a_violation_of_its_run(
    bug: Callable[..., object], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChordNode, "leave", bug)
    report, trace = RingScenario(events=30).play(1)
    assert named in report.violations
    assert report.digest == trace.digest()


def test_a_swarm_goes_on_behind_a_bug_and_prints_what_repeats_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ChordNode, "leave", raise_while_leaving)
    monkeypatch.setitem(EVERY, "zave", RingScenario(events=30))
    assert main(["scenario", "zave", "--seeds", "1..2", "--traces", str(tmp_path)]) == VIOLATED
    printed = capsys.readouterr().out
    assert "2 runs, 2 failed" in printed
    assert all(f"meteor-sim scenario zave --seed {seed}" in printed for seed in (1, 2))
