"""From when on a peer knows all that left its places."""

from __future__ import annotations

from meteor.rendezvous.known_since import APART_S, AT_ONCE_S, PARTS_MAX, KnownSince

LOW, HIGH = ((0, 7),), ((8, 15),)


def test_what_was_gained_later_is_known_since_then() -> None:
    known = KnownSince(5.0)
    assert known.of(LOW, 6.0) == 5.0
    known.gained(LOW, 7.0)
    assert known.of(LOW, 8.0) == 7.0
    assert known.of(HIGH, 8.0) == 5.0
    assert known.of(((7, 8),), 8.0) == 7.0


def test_what_is_forgotten_may_have_left_from_anywhere() -> None:
    known = KnownSince(5.0)
    known.gained(LOW, 7.0)
    known.forgot(6.0)
    assert known.of(LOW, 8.0) == 7.0
    assert known.of(HIGH, 8.0) == 6.0 + AT_ONCE_S
    known.forgot(1.0)
    assert known.of(HIGH, 8.0) == 6.0 + AT_ONCE_S


def test_parts_that_were_gained_long_ago_have_no_time_of_their_own() -> None:
    """Every question looks at those that have: the later time counts, on the safe side."""
    known = KnownSince(0.0)
    known.gained(LOW, 10.0)
    assert known.of(HIGH, 10.0 + APART_S) == 0.0
    assert known.of(HIGH, 11.0 + APART_S) == 10.0
    for at in range(PARTS_MAX + 1):
        known.gained(LOW, 100.0 + at / 10)
    assert len(known._gains) == PARTS_MAX
    assert known.of(HIGH, 200.0) > 10.0
