"""Ring arithmetic against a dumb twin that walks the circle step by step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Arc, between, distance, identifier

BITS = 4
SIZE = 1 << BITS
ids = st.integers(0, SIZE - 1)


def walk(after: int, last: int) -> list[int]:
    """The identifiers met from `after`, without it, until `last`, with it: at least one step."""
    met = [(after + 1) % SIZE]
    while met[-1] != last:
        met.append((met[-1] + 1) % SIZE)
    return met


@given(ids, ids, ids)
def test_between_is_what_a_walk_meets_before_its_end(after: int, key: int, before: int) -> None:
    assert between(after, key, before) == (key in walk(after, before)[:-1])


@given(ids, ids)
def test_distance_counts_the_steps(start: int, end: int) -> None:
    assert distance(start, end, BITS) == (0 if start == end else len(walk(start, end)))


@given(ids, ids, ids)
def test_an_arc_holds_what_a_walk_meets(after: int, last: int, key: int) -> None:
    assert (key in Arc(after, last)) == (key in walk(after, last))


@given(ids, ids)
def test_length_and_segments_of_an_arc_are_those_of_the_walk(after: int, last: int) -> None:
    arc, met = Arc(after, last), walk(after, last)
    assert arc.length(BITS) == len(met)
    segments = arc.segments(BITS)
    assert [key for low, high in segments for key in range(low, high + 1)] == sorted(met)
    assert all(low <= high for low, high in segments)
    assert arc.is_whole == (len(met) == SIZE)


@given(ids, ids, ids, ids)
def test_arcs_overlap_when_the_walks_meet(a: int, b: int, c: int, d: int) -> None:
    assert Arc(a, b).overlaps(Arc(c, d)) == bool({*walk(a, b)} & {*walk(c, d)})


def test_identifiers_are_spread_and_have_the_width_asked_for() -> None:
    assert identifier("temperature") == identifier(b"temperature")
    assert identifier("temperature", 8) == identifier("temperature") >> 152
    assert all(0 <= identifier(str(n), BITS) < SIZE for n in range(100))
    assert {identifier(str(n), BITS) for n in range(200)} == set(range(SIZE))


@pytest.mark.parametrize("bits", [0, 257])
def test_an_impossible_width_is_refused(bits: int) -> None:
    with pytest.raises(ValueError, match="1 to 256"):
        identifier("x", bits)
