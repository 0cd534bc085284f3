"""What a peer remembers of what was done: since when, how much, and of which part."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from meteor.keeping.holdings import Intervals
from meteor.rendezvous.recall import GAINS_MAX, Recall
from meteor.rendezvous.repeats import REMEMBERED_MAX, REMEMBERED_S, Ran, Repeats
from meteor.security.verifying import WINDOW_S
from meteor.wire.operations import Operation, Summary
from squid import covers


def test_a_peer_knows_since_when_it_remembers_what() -> None:
    recall = Recall(1000)
    low, high = ((0, 9),), ((10, 19),)
    recall.gained(low, 5000)
    recall.gained((), 9000)
    assert [recall.since_ms(part) for part in (low, high, ((5, 15),))] == [5000, 1000, 5000]
    recall.forgot(3000)
    assert [recall.since_ms(part) for part in (low, high)] == [5000, 3000]
    for at in range(3 * GAINS_MAX):
        recall.gained(((at, at),), 10_000 + at)
    assert len(recall._gains) == GAINS_MAX
    assert recall.since_ms(((3 * GAINS_MAX - 1, 3 * GAINS_MAX - 1),)) == 10_000 + 3 * GAINS_MAX - 1
    assert all(recall.since_ms(((at, at),)) >= 10_000 + at for at in range(3 * GAINS_MAX))


def test_what_is_forgotten_too_early_is_said() -> None:
    told: list[float] = []
    repeats, ran = Repeats(told.append), Ran(told.append)
    for number in range(REMEMBERED_MAX + 2):
        repeats.note(operation(number, 1), b"a", ((0, 1),), Summary(1), now=number / 1000)
        ran.begin("alice", f"s{number}", 1, now=number / 1000)
    assert len(told) == 4
    assert all(abs(ago_s - REMEMBERED_MAX / 1000) < 0.1 for ago_s in told)
    repeats.note(operation(-1, 1), b"a", ((0, 1),), Summary(1), now=2 * REMEMBERED_S)
    ran.begin("bob", "s", 1, now=2 * REMEMBERED_S)
    assert len(told) == 4


def operation(version: int, issued_ms: int) -> Operation:
    return Operation("store", "x.y", version, "owner", 1000, issued_ms=issued_ms)


@given(st.integers(0, 2**32))
def test_the_memory_against_a_list(seed: int) -> None:
    """Whole parts, several versions and issue times: the twin keeps all that was said."""
    drawn = random.Random(seed)
    repeats = Repeats()
    said: dict[tuple[int, int], tuple[int, int]] = {}
    for number in range(30):
        version, issued, first_index = drawn.randrange(3), drawn.randrange(4), drawn.choice((0, 10))
        part = ((first_index, first_index + 9),)
        one, name = operation(version, issued + 1), b"%d" % issued
        known = said.get((version, first_index))
        first = repeats.first_summary(one, name, part, _beginning)
        if known is not None and known[0] > issued:
            assert first is not None
            assert first.matches == known[1]
            continue
        assert first is None
        for other in (0, 10):  # what is done anew forgets what was said elsewhere before
            if said.get((version, other), (issued, 0))[0] != issued:
                del said[version, other]
        said[version, first_index] = (issued, number)
        repeats.note(one, name, part, Summary(number), now=0.0)


def _beginning(part: Intervals) -> int:
    return part[0][0]


def test_what_was_done_in_one_piece_is_counted_in_the_pieces_of_a_repeat() -> None:
    """At the peer that the request came to it had the whole holding, by way of another one it comes
    for what the selector meets: nothing had been counted there."""
    repeats, one = Repeats(), operation(1, 1)

    def lowest_in(part: Intervals) -> int | None:
        return min((at for at in (25, 28) if covers(part, at)), default=None)

    repeats.note(one, b"a", ((0, 9), (20, 29)), Summary(3), now=0.0)
    counts = []
    for piece in (((25, 27),), ((28, 40),)):
        first = repeats.first_summary(one, b"b", piece, lowest_in)
        assert first is not None
        counts.append(first.matches)
    assert counts == [3, 0]
    repeats.note(operation(2, 1), b"a", ((0, 26),), Summary(3), now=0.0)
    assert repeats.first_summary(operation(2, 1), b"b", ((26, 29),), lowest_in) is None


def test_the_memory_is_bounded_and_short() -> None:
    repeats = Repeats()
    for number in range(REMEMBERED_MAX + 10):
        repeats.note(operation(number, 1), b"a", ((0, 1),), Summary(1), now=0.0)
    assert len(repeats) == REMEMBERED_MAX
    repeats.note(operation(-1, 1), b"a", ((0, 1),), Summary(1), now=REMEMBERED_S + 1)
    assert len(repeats) == 1
    assert REMEMBERED_S > 2 * WINDOW_S


def test_the_memory_of_runs_is_bounded_and_short() -> None:
    ran = Ran()
    assert ran.begin("alice", "s", 1, now=0.0)
    assert not ran.begin("alice", "s", 1, now=REMEMBERED_S)
    assert ran.begin("bob", "s", 1, now=REMEMBERED_S)
    assert ran.begin("alice", "s", 1, now=2 * REMEMBERED_S), "the window is over"
    assert ran.begin("", "s", 1, now=0.0)
    assert ran.begin("", "s", 1, now=0.0), "nobody signed it: it is no repeat"
    for number in range(REMEMBERED_MAX + 1):
        ran.begin("alice", f"s{number}", 1, now=2 * REMEMBERED_S)
    assert len(ran) == REMEMBERED_MAX


def test_what_nobody_signed_or_what_was_refused_is_not_remembered() -> None:
    repeats = Repeats()
    repeats.note(operation(1, 0), b"a", ((0, 1),), Summary(1), now=0.0)
    repeats.note(operation(2, 1), b"a", ((0, 1),), Summary(0, refused="older"), now=0.0)
    assert len(repeats) == 0
