"""Whom a joiner asks, which arc it takes, where that is cut: pure decisions."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Arc, Contact, LoadAnswer, placement, split_id
from chord.placement import Grants, choices, draw_of_stop, next_stop, point_of_walk, stops_of_walk

BITS, STEP = 10, 8
IDS = st.integers(0, (1 << BITS) - 1)
ARCS = st.builds(Arc, IDS, IDS)


def offer(peer_id: int, load: int, length: int = 1, *, granting: bool = False) -> LoadAnswer:
    return LoadAnswer(Contact(peer_id, "x"), load, length, granting=granting, onward=None)


# -- where an arc is cut


def owned(arc: Arc) -> list[int]:
    """The identifiers of an arc's indexes, clockwise: the dumb twin."""
    size = 1 << BITS
    clockwise = [(arc.after + way) % size for way in range(1, arc.length(BITS) + 1)]
    return [place for place in clockwise if place % STEP == 0]


@given(ARCS, st.data())
def test_a_split_halves_the_records_as_well_as_any_border_does(
    arc: Arc, data: st.DataObject
) -> None:
    indexes = owned(arc)
    keys = data.draw(st.lists(st.sampled_from(indexes), max_size=30)) if indexes else []
    place = split_id(arc, keys, BITS, STEP)
    if len(set(keys)) < 2:
        half = len(indexes) // 2
        assert place == (indexes[half - 1] if half else None)
        return
    assert place is not None
    assert place in indexes
    assert place not in (arc.last, arc.after)
    counts = [sum(key in Arc(arc.after, border) for key in keys) for border in indexes[:-1]]
    taken = sum(key in Arc(arc.after, place) for key in keys)
    assert 0 < taken < len(keys)
    possible = [count for count in counts if 0 < count < len(keys)]
    assert abs(2 * taken - len(keys)) == min(abs(2 * count - len(keys)) for count in possible)


@given(ARCS, st.lists(IDS, max_size=8))
def test_an_arc_of_one_index_is_not_split(arc: Arc, keys: list[int]) -> None:
    indexes = owned(arc)
    inside = [indexes[key % len(indexes)] for key in keys] if indexes else []
    assert (split_id(arc, inside, BITS, STEP) is None) == (len(indexes) < 2)


def test_a_peer_alone_gives_half_of_the_circle() -> None:
    assert split_id(Arc(0, 0), [], BITS, STEP) == 512
    assert split_id(Arc(3, 3), [8, 8, 16, 1016], BITS, STEP) == 8
    assert split_id(Arc(0, 0), [0, 8], BITS, STEP) == 8  # not its own identifier, which comes last


# -- which arc is taken


@given(
    st.lists(
        st.builds(
            lambda peer_id, load, length, granting: offer(
                peer_id, load, length, granting=granting
            ),
            st.integers(0, 20), st.integers(0, 50), st.integers(1, 50), st.booleans(),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_choices_are_free_heavy_and_in_order(offers: list[LoadAnswer]) -> None:
    chosen = choices(offers)
    assert not any(one.granting for one in chosen)
    assert len({one.contact.id for one in chosen}) == len(chosen)
    sizes = [(one.load, one.length) for one in chosen]
    assert sizes == sorted(sizes, reverse=True)
    known = {one.contact.id: one for one in offers}.values()
    heaviest = max((one.load / (2 if one.granting else 1) for one in known), default=0)
    assert all(one.load >= heaviest / 2 for one in chosen)
    free = [one for one in known if not one.granting and one.load >= heaviest]
    assert not free or chosen[0].load == max(one.load for one in free)


def test_one_that_is_being_split_counts_as_half_of_what_it_is() -> None:
    busy, free, light = offer(1, 100, granting=True), offer(2, 30), offer(3, 20)
    assert choices([busy, free, light]) == [free]
    assert choices([busy, light]) == []


def test_where_nobody_carries_anything_the_longest_arc_is_taken() -> None:
    assert [
        one.contact.id for one in choices([offer(1, 0, 7), offer(2, 0, 9), offer(3, 0, 2)])
    ] == [
        2,
        1,
    ]


# -- whom to ask


def test_the_number_of_probes_follows_the_logarithm_of_the_ring() -> None:
    assert stops_of_walk(successors=8, fingers=9) * placement.WALKS == 20  # 2 log2 of 1,000
    assert stops_of_walk(successors=0, fingers=0) >= 1
    counts = [stops_of_walk(8, fingers) for fingers in range(20)]
    assert counts == sorted(counts)


@given(st.lists(st.integers(), max_size=8), st.lists(st.integers(), max_size=8), st.integers(0))
def test_a_walk_goes_on_along_a_pointer(
    successors: list[int], fingers: list[int], draw: int
) -> None:
    stop = next_stop(successors, fingers, draw)
    if stop is None:
        assert not successors
        assert not fingers
    else:
        assert stop in (successors[:1] + fingers if fingers else successors)


def test_draws_follow_from_the_seed_alone_and_differ() -> None:
    draws = [draw_of_stop(7, attempt, walk, stop) for attempt in (0, 1) for walk in range(4)
             for stop in range(5)]  # fmt: skip
    assert len(set(draws)) == len(draws)
    assert draws[0] == draw_of_stop(7, 0, 0, 0) != draw_of_stop(8, 0, 0, 0)
    assert point_of_walk(7, 0, 0, BITS) < 1 << BITS


def test_walks_along_fingers_meet_every_peer_about_as_often() -> None:
    """Points drawn evenly on the circle would meet a short arc next to never."""
    count, met = 100, Counter[int]()
    for seed in range(1000):
        at = 0  # every walk begins at one place
        for stop in range(20):
            fingers = [2, 4, 8, 16, 32, 64]
            at = (at + (next_stop([1], fingers, draw_of_stop(seed, 0, 0, stop)) or 0)) % count
        met[at] += 1
    assert len(met) == count
    assert max(met.values()) < 3 * 1000 / count


# -- one change at a time


def test_a_grant_holds_until_its_change_has_come_or_time_is_over() -> None:
    grants, arc = Grants(ttl_s=10.0), Arc(1, 9)
    assert not grants.outstanding(arc, now=0.0)
    grants.expect_join(5, now=0.0)
    assert grants.outstanding(arc, now=9.9)
    assert grants.outstanding(Arc(0, 9), now=9.9)  # another peer has left meanwhile
    assert not grants.outstanding(Arc(5, 9), now=9.9)  # it has joined
    assert not grants.outstanding(Arc(7, 9), now=9.9)  # and another one behind it
    assert not grants.outstanding(arc, now=10.0)
    grants.expect_leave(1, now=10.0)
    assert grants.outstanding(arc, now=10.0)
    assert not grants.outstanding(Arc(0, 9), now=10.0)
    grants.expect_own_leave(9, now=20.0)
    assert grants.outstanding(arc, now=20.0)
    grants.give_back()
    assert not grants.outstanding(arc, now=20.0)


@given(
    st.lists(
        st.tuples(st.floats(0, 5), st.sampled_from(["split", "comes", "neighbour leaves"])),
        max_size=30,
    )
)
def test_no_identifier_is_named_twice_while_its_peer_is_on_its_way(
    steps: list[tuple[float, str]],
) -> None:
    """Against a twin that remembers whom it named: (pause, what happens then)."""
    grants, now, arc = Grants(ttl_s=10.0), 0.0, Arc(100, 900)
    named: tuple[int, float] | None = None
    last_s = -10.0
    for pause_s, event in steps:
        now += pause_s
        if event == "neighbour leaves":
            arc = Arc(max(arc.after - 7, 0), 900)
        elif event == "comes" and named is not None:
            arc, named = Arc(named[0], 900), None
        elif event == "split":
            if named is not None and now < last_s + 10.0:
                assert grants.outstanding(arc, now)
            elif now >= last_s + 10.0:
                assert not grants.outstanding(arc, now)
            if not grants.outstanding(arc, now) and arc.after < 899:
                named, last_s = ((arc.after + 900) // 2, now), now
                grants.expect_join(*named)


@pytest.mark.parametrize("last", [9, 15, 16])
def test_none_and_one_index_have_no_middle(last: int) -> None:
    assert split_id(Arc(8, last), [], BITS, STEP) is None
