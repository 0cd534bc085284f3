"""When an origin hedges: never early, never out of all proportion."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chord.link import SILENCE_FLOOR_S
from chord.patience import GROWTH_MAX, RENEW_EVERY, ROUND_TRIPS, WINDOW, Patience

USUAL_S = 0.25
durations = st.lists(st.floats(0, 5, allow_nan=False), max_size=3 * WINDOW)
round_trips = st.floats(0.0001, 1.0)


@given(durations)
def test_the_p99_is_that_of_the_last_answers(took_s: list[float]) -> None:
    patience = Patience(USUAL_S)
    for duration_s in took_s:
        patience.answered(duration_s)
    seen = took_s[: len(took_s) // RENEW_EVERY * RENEW_EVERY][-WINDOW:]
    assert patience.p99_s == (sorted(seen)[-2] if seen else 0.0)


@given(durations, round_trips, st.floats(0, 0.5))
def test_the_first_attempt_waits_for_five_time_outs_or_the_p99(
    took_s: list[float], srtt_s: float, rttvar_s: float
) -> None:
    patience = Patience(USUAL_S)
    for duration_s in took_s:
        patience.answered(duration_s)
    wait_s = patience.wait_s(srtt_s, rttvar_s, attempt=0)
    time_outs_s = ROUND_TRIPS * max(SILENCE_FLOOR_S, srtt_s + 4 * rttvar_s)
    assert wait_s >= time_outs_s
    assert wait_s >= min(patience.p99_s, GROWTH_MAX * USUAL_S)
    assert wait_s <= max(time_outs_s, GROWTH_MAX * USUAL_S)


@given(round_trips)
def test_later_attempts_wait_longer_up_to_a_bound(srtt_s: float) -> None:
    waits_s = [Patience(USUAL_S).wait_s(srtt_s, 0.0, attempt) for attempt in range(10)]
    assert waits_s == sorted(waits_s)
    assert waits_s[-1] == GROWTH_MAX * max(USUAL_S, ROUND_TRIPS * srtt_s)


def test_over_a_link_that_is_not_measured_the_usual_time_counts() -> None:
    assert Patience(USUAL_S).wait_s(0.0, 0.0, 0) == USUAL_S
