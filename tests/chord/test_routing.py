"""The routing decision against a dumb twin, and greedy walks over ideal rings of all shapes."""

from __future__ import annotations

from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chord import Arc, Contact, Finger, distance, ideal_ring
from chord.routing import RoutingTable

BITS = 12
ids = st.integers(0, (1 << BITS) - 1)
rings = st.lists(ids, min_size=2, max_size=40, unique=True)
skewed_rings = st.builds(
    lambda base, steps: sorted({(base + 2**step + step) % (1 << BITS) for step in steps} | {base}),
    ids,
    st.lists(st.integers(0, BITS - 1), min_size=1, max_size=BITS, unique=True),
)


def tables(node_ids: list[int], successor_count: int) -> dict[int, RoutingTable]:
    places = ideal_ring([Contact(i, f"p{i}:1") for i in node_ids], successor_count)
    return {
        place.contact.id: RoutingTable(place.contact.id, BITS, place.successors, place.fingers)
        for place in places
    }


def owner_of(key: int, node_ids: list[int]) -> int:
    return min(node_ids, key=lambda node_id: distance(key, node_id, BITS))


def walk(key: int, start: int, node_ids: list[int], by_id: dict[int, RoutingTable]) -> int:
    """The hops of a greedy walk to the key's owner."""
    owner, here, hops = owner_of(key, node_ids), start, 0
    while here != owner:
        route = by_id[here].route(key)
        there = route.candidates[0].id
        if route.to_owner:
            assert there == owner
        else:
            assert key not in Arc(here, there)
        here, hops = there, hops + 1
    return hops


@given(rings | skewed_rings, st.integers(1, 8), ids)
def test_greedy_walks_arrive_within_log2_of_the_ring_whatever_the_ids(
    node_ids: list[int], successor_count: int, key: int
) -> None:
    by_id = tables(node_ids, successor_count)
    if len(node_ids) > 1:
        limit = ceil(log2(len(node_ids)))
        assert max(walk(key, start, node_ids, by_id) for start in node_ids) <= max(1, limit)


@given(rings, st.integers(1, 8), ids, st.data())
def test_without_the_owner_the_first_candidate_is_the_nearest_known_before_the_key(
    node_ids: list[int], successor_count: int, key: int, data: st.DataObject
) -> None:
    own, *others = node_ids
    contacts = [Contact(i, f"p{i}:1") for i in sorted(others, key=lambda i: (i - own) % 4096)]
    fingers = [Finger(contact) for contact in data.draw(st.lists(st.sampled_from(contacts)))]
    avoid = set(data.draw(st.lists(st.sampled_from(contacts))))
    route = RoutingTable(own, BITS, (), fingers).route(key, avoid)
    known = {finger.contact for finger in fingers} - avoid
    away = distance(own, key, BITS)
    before = [c for c in known if distance(own, c.id, BITS) < away]
    assert not route.to_owner
    assert len(route.candidates) == min(3, len(known))
    assert not avoid & {*route.candidates}
    if before:
        assert route.candidates[0] == max(before, key=lambda c: distance(own, c.id, BITS))


def test_a_finger_whose_predecessor_is_known_is_known_to_own_what_lies_between() -> None:
    far = Contact(100, "far:1")
    table = RoutingTable(0, BITS, (Contact(5, "near:1"),), (Finger(far, predecessor_id=90),))
    assert table.route(95).candidates == (far, Contact(5, "near:1"))
    assert table.route(95).to_owner
    assert table.route(90).candidates[0] == Contact(5, "near:1")
    assert not table.route(90).to_owner


def test_a_predecessor_said_to_lie_behind_us_claims_nothing() -> None:
    table = RoutingTable(50, BITS, (), (Finger(Contact(100, "far:1"), predecessor_id=40),))
    assert not table.route(60).to_owner


def test_an_owner_to_be_avoided_is_no_owner() -> None:
    near, next_one = Contact(5, "near:1"), Contact(9, "next:1")
    route = RoutingTable(0, BITS, (near, next_one)).route(3, avoid={near})
    assert route.candidates == (next_one,)
    assert not route.to_owner


@pytest.mark.parametrize("behind_id", [29, 32])
def test_instead_of_an_owner_comes_who_is_next_to_it_and_no_finger_far_behind(
    behind_id: int,
) -> None:
    """From there a key would go round the ring, come back, and go round again."""
    before, owner, behind = (Contact(i, f"p{i}:1") for i in (20, 29, 33))
    fingers = [Finger(before, 19), Finger(owner, 20), Finger(behind, behind_id)]
    table = RoutingTable(1, BITS, [], fingers)
    assert table.route(25).candidates[0] == owner
    first = table.route(25, avoid=[owner]).candidates[0]
    assert first == (behind if behind_id == owner.id else before)


def test_the_search_for_a_predecessor_never_names_the_key_itself() -> None:
    table = RoutingTable(0, BITS, tuple(Contact(i, f"p{i}:1") for i in (5, 9, 12)))
    assert [c.id for c in table.closest_preceding(9)] == [5]
    assert [c.id for c in table.closest_preceding(10)] == [9, 5]
    assert [c.id for c in table.closest_preceding(0)] == [12, 9, 5]


def test_two_contacts_of_one_identifier_make_no_ideal_ring() -> None:
    with pytest.raises(ValueError, match="same identifier"):
        ideal_ring([Contact(1, "a:1"), Contact(1, "b:1")], 8)
