"""Clocks that run fast or slow, and wall clocks that are off."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chord import Contact
from sim import Kernel, MachineClock, Network, Overlay, SimRuntime
from sim.clock import EPOCH_S, ClockPlan
from sim.places import SPACE
from sim.scenario import run
from sim.scenarios import SCENARIOS


def runtime(kernel: Kernel, drift: float, name: str = "a") -> SimRuntime:
    clock = MachineClock(kernel, drift=drift)
    return SimRuntime(kernel, Network(kernel), Contact(1, name), clock)


@pytest.mark.parametrize("drift", [-0.1, -0.0001, 0.0, 0.01])
def test_a_machine_waits_by_its_own_clock(drift: float) -> None:
    kernel = Kernel(1)
    peer = runtime(kernel, drift)

    async def wait() -> float:
        began_s = peer.now()
        await peer.sleep(10.0)
        return peer.now() - began_s

    assert kernel.run_until(peer.spawn(wait())) == pytest.approx(10.0)
    assert kernel.now() == pytest.approx(10.0 / (1 + drift))


@pytest.mark.parametrize("drift", [-0.1, 0.1])
def test_a_deadline_passes_by_the_clock_of_who_set_it(drift: float) -> None:
    kernel = Kernel(1)
    peer = runtime(kernel, drift)

    async def expect() -> None:
        with pytest.raises(Exception, match="not delivered in 5"):
            await peer.expect("never", 5.0)

    kernel.run_until(peer.spawn(expect()))
    assert kernel.now() == pytest.approx(5.0 / (1 + drift))


def test_acknowledgements_are_read_by_the_clock_of_who_sent_the_frame() -> None:
    kernel = Kernel(1)
    network = Network(kernel)
    slow = SimRuntime(kernel, network, Contact(1, "s"), MachineClock(kernel, drift=-0.3))
    exact = SimRuntime(kernel, network, Contact(2, "e"))
    lost: list[str] = []
    for peer in (slow, exact):
        peer.serve(lambda *_: None, lambda _: None)
    kernel.run(until_s=1000.0)
    slow.forward([exact.contact], "message", lambda _, reason: lost.append(reason))
    kernel.run(until_s=1010.0)
    link = slow.link(exact.contact)
    assert lost == []
    assert 700.0 < link.last_heard_s < 700.1
    assert 0 < link.srtt_s < 0.01


@given(reading_s=st.floats(0, 1e6), drift=st.floats(-0.5, 0.5))
@example(reading_s=7.967834488122919, drift=-0.005236494708385399)
def test_a_reading_is_reached_at_its_time(reading_s: float, drift: float) -> None:
    """The example stood still: its time came when the clock showed the last bit less."""
    clock = MachineClock(Kernel(1), drift=drift)
    true_s = clock.true_time_of(reading_s)
    assert reading_s <= clock.reading_at(true_s) <= math.nextafter(reading_s, math.inf) + 1e-9


def test_a_clock_is_drawn_once_a_machine_and_outlives_a_crash() -> None:
    plan = ClockPlan(drift_max=0.01, wall_error_s_max=60.0)
    overlay = Overlay(4, space=SPACE, seed=3, clocks=plan)
    clocks = [peer.runtime.clock for peer in overlay.peers]
    assert len({clock.drift for clock in clocks}) == 4
    assert all(abs(clock.drift) <= 0.01 for clock in clocks)
    assert all(abs(clock.wall_error_s) <= 60.0 for clock in clocks)
    assert clocks[0].wall() == pytest.approx(EPOCH_S + clocks[0].wall_error_s + clocks[0].now())
    overlay.peers[2].crash()
    again = overlay.run(overlay.restart(overlay.peers[2])).runtime.clock
    assert (again.drift, again.wall_error_s) == (clocks[2].drift, clocks[2].wall_error_s)


def test_a_broken_clock_is_refused() -> None:
    with pytest.raises(ValueError, match="drift is a share"):
        MachineClock(Kernel(1), drift=0.6)
    with pytest.raises(ValueError, match="drift is a share"):
        MachineClock(Kernel(1), drift=float("nan"))


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"wall_error_s_max": -5}, ValueError, "wall_error_s_max: -5 is not from 0"),
        ({"wall_error_s_max": float("nan")}, ValueError, "wall_error_s_max: nan is not from 0"),
        ({"wall_error_s_max": "a"}, TypeError, "wall_error_s_max is a number, not 'a'"),
        ({"drift_max": -0.01}, ValueError, "drift_max: -0.01 is not from 0"),
        ({"drift_max": 0.6}, ValueError, "drift_max is a share from 0 to 0.5, not 0.6"),
    ],
)
def test_a_plan_of_broken_clocks_is_refused(
    wrong: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        ClockPlan(**wrong)


@pytest.mark.long
def test_a_clock_slower_than_was_declared_keeps_profiles_for_too_long() -> None:
    def slow_down(overlay: Overlay) -> None:
        for peer in overlay.peers:
            peer.runtime.clock.rate = 0.5

    scenario = replace(SCENARIOS["clocks"], storm_s=12.0)
    report = run(scenario, 1, sabotage=slow_down)
    assert any(text.startswith("lifetimes: ") for text in report.violations), report.text()
