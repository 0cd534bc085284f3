"""How long a request lay: a dumb twin that keeps all, clocks that differ, held senders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord.transit import DRIFT, DRIFT_FOR_EVER, DRIFT_S_MAX, USUAL_FOR_S, Transit

STEPS = st.lists(st.tuples(st.floats(0.001, 30.0), st.floats(0.0, 20.0)), min_size=1, max_size=40)
"""Since the request before, and how long this one lay; seconds."""
OPENED_S = 100.0
"""When the receiver's end opened, by its clock."""


def shown(came: list[tuple[float, float]]) -> list[float]:
    """What a receiver knows after each request: (when it came, the age that it says)."""
    transit, known = Transit(OPENED_S), []
    for now_s, age_s in came:
        transit.came(age_s, now_s)
        known.append(transit.late_s)
    return known


def twin(came: list[tuple[float, float]]) -> list[float]:
    """The same from all that came: the least lag of the present stretch and of the one before."""
    stretches = [[(OPENED_S, OPENED_S)]]
    known = []
    for now_s, age_s in came:
        if now_s - stretches[-1][0][0] > USUAL_FOR_S:
            stretches.append([])
        stretches[-1].append((now_s, now_s - age_s))
        usual = [min(lag_s for _, lag_s in stretches[-1])]
        if len(stretches) > 1:
            idle_s = now_s - stretches[-2][0][0]
            allowed_s = min(DRIFT * idle_s, DRIFT_S_MAX) + DRIFT_FOR_EVER * idle_s
            usual.append(min(lag_s for _, lag_s in stretches[-2]) + allowed_s)
        known.append(max(0.0, now_s - age_s - min(usual)))
    return known


@given(STEPS, st.floats(-1000.0, 1000.0))
def test_it_is_what_all_that_came_shows(steps: list[tuple[float, float]], apart_s: float) -> None:
    came, now_s = [], OPENED_S
    for pause_s, lay_s in steps:
        now_s += pause_s
        came.append((now_s, now_s - OPENED_S - lay_s + apart_s))
    assert shown(came) == pytest.approx(twin(came))


@given(STEPS, st.floats(-DRIFT_FOR_EVER, DRIFT_FOR_EVER))
def test_what_did_not_lie_never_seems_to_have(
    steps: list[tuple[float, float]], drift: float
) -> None:
    came, now_s = [], OPENED_S
    for pause_s, _ in steps:
        now_s += pause_s
        came.append((now_s, (now_s - OPENED_S) * (1 - drift)))
    assert max(shown(came)) < 0.01


def test_what_lay_over_a_cut_is_told_from_what_came_before_and_behind_it() -> None:
    came = [(OPENED_S + t, t - 0.001) for t in (1.0, 2.0, 3.0, 10.0)]
    came += [(OPENED_S + 16.3, 12.0), (OPENED_S + 16.3, 15.8), (OPENED_S + 16.4, 16.399)]
    assert shown(came) == pytest.approx([0, 0, 0, 0, 4.3, 0.5, 0], abs=0.15)


def test_the_first_request_of_a_link_shows_it_as_well() -> None:
    assert shown([(OPENED_S + 25.0, 4.0)]) == pytest.approx([21.0], abs=0.6)


def test_a_link_that_was_idle_for_an_hour_shows_it_too() -> None:
    came = [(OPENED_S + 1.0, 1.0), (OPENED_S + 3600.0, 3596.0), (OPENED_S + 3600.0, 3600.0)]
    assert shown(came) == pytest.approx([0.0, 4.0, 0.0], abs=1.3)


def test_what_says_nothing_is_taken_for_new() -> None:
    """A peer of before does not say how old its end is."""
    transit = Transit(OPENED_S)
    transit.came(4.0, OPENED_S + 25.0)
    transit.unknown()
    assert transit.late_s == 0.0


def test_who_was_held_with_his_clock_is_late_no_longer_than_it_takes_to_know() -> None:
    """A machine that was suspended for a minute: its clock says nothing of that."""
    came = [(OPENED_S + t / 10, t / 10) for t in range(100)]
    came += [(OPENED_S + 70.0 + t / 10, 10.0 + t / 10) for t in range(100)]
    late = shown(came)
    assert late[100] > 58.0
    assert all(late_s < 0.1 for late_s in late[100 + int(20 * USUAL_FOR_S) + 2 :])
