"""A scenario that no run can be made of is refused when it is made; a run takes a scenario, and a
seed that is a number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sim
from sim.scenario import traced_run
from sim.workload_plan import WorkloadPlan

NAN = float("nan")


def made(**changed: Any) -> sim.Scenario:
    return sim.Scenario(**{"name": "few", "summary": "", **changed})


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"storm_s": -1}, ValueError, "storm_s: -1 is not from 0"),
        ({"storm_s": NAN}, ValueError, "storm_s: nan is not from 0"),
        ({"storm_s": "a"}, TypeError, "storm_s is a number, not 'a'"),
        ({"peers": 0}, ValueError, "peers: 0 is not above 0"),
        ({"peers": -1}, ValueError, "peers: -1 is not above 0"),
        ({"peers": 2.5}, TypeError, "peers is a whole number, not 2.5"),
        ({"peers": 2}, ValueError, "peers: 2 are fewer than the 3 that the workload's clients"),
        ({"copies": 0}, ValueError, "copies: 0 is not between 1 and"),
        ({"copies": "a"}, TypeError, "copies is a whole number, not 'a'"),
        ({"workload": 5}, TypeError, "workload: give a WorkloadPlan, not 5"),
        ({"weather": None}, TypeError, "weather: give a WeatherPlan, not None"),
        ({"disks": 5}, TypeError, "disks: give a DiskPlan, or leave it out, not 5"),
    ],
)
def test_a_scenario_of_no_run_is_refused(
    wrong: dict[str, Any], error: type[Exception], said: str
) -> None:
    """It was a violation of whatever ran, or nothing at all."""
    with pytest.raises(error, match=said):
        made(**wrong)
    with pytest.raises(error, match=said):
        replace(sim.SCENARIOS["calm"], **wrong)


@pytest.mark.parametrize(
    ("peers", "workload"),
    [
        (1, {"clients": 0, "watchers": 0}),
        (2, {"clients": 1, "watchers": 1, "twice": 0.2}),
        (3, {"clients": 1, "watchers": 2, "first_peer": 1}),
    ],
)
def test_so_many_peers_are_enough_and_one_fewer_are_not(
    peers: int, workload: dict[str, Any]
) -> None:
    plan = WorkloadPlan(**workload)
    report = sim.run(made(peers=peers, workload=plan, storm_s=1.0), 1)
    assert not report.violations, report.text()
    with pytest.raises(ValueError, match="peers: "):
        made(peers=peers - 1, workload=plan)


@pytest.mark.parametrize(
    ("args", "options", "said"),
    [
        (("calm", 1), {}, r"""as sim\.SCENARIOS\["calm"\] is, not 'calm'"""),
        ((None, 1), {}, "scenario: give a sim.Scenario"),
        ((made(), "a"), {}, "seed is a whole number, not 'a'"),
        ((made(), None), {}, "seed is a whole number, not None"),
        ((made(), NAN), {}, "seed is a whole number, not nan"),
        ((made(), 1), {"codec": 5}, "codec: give a meteor.wire_codec"),
    ],
)
def test_a_run_takes_a_scenario_and_a_seed(
    args: tuple[Any, Any], options: dict[str, Any], said: str
) -> None:
    for run in (sim.run, traced_run):
        with pytest.raises(TypeError, match=said):
            run(*args, **options)


def test_a_seed_of_numpy_is_the_same_seed() -> None:
    scenario, seed = made(peers=3, storm_s=0.5), np.int64(2)
    report = sim.run(scenario, seed)  # type: ignore[arg-type]
    assert report.digest == sim.run(scenario, 2).digest
    assert type(report.seed) is int


def test_every_kernel_looks_at_its_seed() -> None:
    for wrong in (NAN, None, [1], "a", True):
        seed: Any = wrong
        with pytest.raises(TypeError, match="seed is a whole number, not"):
            sim.Kernel(seed)
