"""What one end of a link decides: round trips, silence, cumulative acknowledgement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Contact, FrameKind, LinkEnd
from chord.link import (
    ACKNOWLEDGE_WITHIN_S,
    SILENCE_CEILING_S,
    SILENCE_DIAL_S,
    SILENCE_FIRST_S,
    SILENCE_FLOOR_S,
    Forwarded,
    LoopBack,
    RoundTrip,
)


class QuietLink(LinkEnd):
    """An end whose frames go nowhere."""

    def settle(self, now_s: float) -> None: ...
    def transmit(
        self, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None: ...


def a_link() -> QuietLink:
    return QuietLink(Contact(1, "a:1"))


def tracked(link: LinkEnd, message: object, now_s: float) -> Forwarded:
    forwarded = Forwarded(message, (), lambda *_: None)
    link.track(forwarded, now_s)
    return forwarded


def test_the_estimate_follows_rfc_6298() -> None:
    estimate = RoundTrip()
    assert estimate.silence_s() == SILENCE_FIRST_S
    estimate.sample(0.100)
    assert (estimate.srtt_s, estimate.rttvar_s) == (0.100, 0.050)
    estimate.sample(0.200)
    assert estimate.rttvar_s == pytest.approx(0.75 * 0.050 + 0.25 * 0.100)
    assert estimate.srtt_s == pytest.approx(0.875 * 0.100 + 0.125 * 0.200)
    expected = estimate.srtt_s + 4 * estimate.rttvar_s + ACKNOWLEDGE_WITHIN_S
    assert estimate.silence_s() == pytest.approx(expected)


@given(st.lists(st.floats(-1, 10), max_size=50), st.integers(0, 10))
def test_silence_is_never_judged_below_the_floor_nor_awaited_above_the_ceiling(
    samples: list[float], times: int
) -> None:
    estimate = RoundTrip()
    for sample in samples:
        estimate.sample(sample)
    before = estimate.silence_s()
    for _ in range(times):
        estimate.back_off()
    assert SILENCE_FLOOR_S <= before <= estimate.silence_s() <= SILENCE_CEILING_S
    estimate.sample(0.001)
    assert estimate.backoff == 1


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.lists(st.integers(0, 35), max_size=20),
)
def test_acknowledgements_are_cumulative(gaps: list[float], numbers: list[int]) -> None:
    """Against a dumb twin: the set of numbers that are still waited for."""
    link, waiting, now_s = a_link(), [], 0.0
    for number, gap in enumerate(gaps, 1):
        now_s += gap
        assert link.track(Forwarded(number, (), lambda *_: None), now_s) == number
        waiting.append(number)
    for number in numbers:
        link.acknowledge(number, 0.0, now_s)
        waiting = [kept for kept in waiting if kept > number]
        assert [frame.number for frame in link.unacknowledged] == waiting
    assert [forwarded.message for forwarded in link.take_unacknowledged()] == waiting
    assert link.unacknowledged == []


def test_the_round_trip_is_measured_without_the_time_that_the_other_side_held_it() -> None:
    link = a_link()
    tracked(link, "a", 1.000)
    tracked(link, "b", 1.001)
    link.acknowledge(2, 0.002, 1.004)
    assert link.round_trip.srtt_s == pytest.approx(0.001)


def test_silence_is_counted_from_the_oldest_frame_or_from_what_was_heard_since() -> None:
    link = a_link()
    assert link.silent_at_s() is None
    tracked(link, "a", 1.0)
    tracked(link, "b", 2.0)
    assert link.silent_at_s() == 1.0 + SILENCE_FIRST_S
    link.last_heard_s = 1.1
    assert link.silent_at_s() == 1.1 + SILENCE_FIRST_S


def test_a_frame_that_did_not_leave_is_not_waited_for() -> None:
    link = a_link()
    first = tracked(link, "a", 1.0)
    tracked(link, "b", 1.0)
    link.untrack()
    assert link.take_unacknowledged() == [first]


def test_candidates_are_tried_once_each_in_order() -> None:
    contacts = (Contact(1, "a"), Contact(2, "b"))
    forwarded = Forwarded("m", contacts, lambda *_: None)
    assert [forwarded.next_candidate() for _ in range(4)] == [*contacts, None, None]


def test_the_link_to_oneself_delivers_later() -> None:
    later: list[tuple[object, ...]] = []
    link = LoopBack(Contact(1, "a"), lambda *call: later.append(call), lambda *_: None)
    link.transmit(FrameKind.SEND, 0, 0.0, "m")
    assert later[0][1:] == (link, FrameKind.SEND, 0, 0.0, "m")
    link.settle(1.0)


@given(st.lists(st.floats(0.0001, 3.0), max_size=20))
def test_a_link_not_yet_measured_is_judged_by_the_others(first_s: list[float]) -> None:
    typical, link = RoundTrip(), RoundTrip()
    link.elsewhere = typical
    for round_trip_s in first_s:
        other = RoundTrip()
        other.elsewhere = typical
        other.sample(round_trip_s)
        other.sample(round_trip_s)
    silence_s = link.silence_s()
    if not first_s:
        assert silence_s == SILENCE_FIRST_S
    assert SILENCE_DIAL_S <= silence_s <= SILENCE_FIRST_S
    assert silence_s >= min(SILENCE_FIRST_S, 2 * typical.srtt_s)


@pytest.mark.parametrize("sign", ["frame", "acknowledgement", "late acknowledgement"])
def test_any_sign_of_life_takes_the_suspicion_back(sign: str) -> None:
    link = a_link()
    tracked(link, "m", 0.0)
    link.suspect()
    assert link.suspected
    assert link.round_trip.backoff == 2
    if sign == "late acknowledgement":
        link.take_unacknowledged()
    if sign == "frame":
        assert link.heard(1.0) == link.last_heard_s == 1.0
    else:
        link.acknowledge(1, 0.0, 1.0)
    assert not link.suspected


def test_a_silence_makes_the_next_wait_twice_as_long_once() -> None:
    """With 16 questions at a time each frame to who had fallen waited twice as long as the one
    before, up to two seconds, and who stood next to it told nobody meanwhile."""
    link = a_link()
    for silences in range(1, 9):
        link.suspect()
        assert (link.silences, link.round_trip.backoff) == (silences, 2)
    link.heard(1.0)
    link.suspect()
    assert link.round_trip.backoff == 4
