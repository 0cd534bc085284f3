"""WINLAB-TR-252 figure 3.2: five peers on a ring of 2^4 (ids not given there: ours)."""

from __future__ import annotations

from typing import Any

IDS = (1, 4, 7, 11, 14)
OWNED = {
    1: {15, 0, 1},
    4: {2, 3, 4},
    7: {5, 6, 7},
    11: {8, 9, 10, 11},
    14: {12, 13, 14},
}


def report_fingers(node_id: int) -> list[int]:
    """The report's fingers, Chord's: the first peer at or after n + 2^i."""
    starts = [(node_id + 2**i) % 16 for i in range(4)]
    return [next((i for i in IDS if i >= start), IDS[0]) for start in starts]


def test_each_peer_stores_the_segment_between_its_predecessor_and_itself(sim_ring: Any) -> None:
    ring = sim_ring(seed=32, bits=4)
    ring.grow(IDS, start=False)
    assert ring.flaws() == []
    for node in ring.members:
        assert {key for key in range(16) if node.owns(key)} == OWNED[node.contact.id]
        assert {key for key in range(16) if key in node.arc} == OWNED[node.contact.id]


def test_a_lookup_from_any_peer_finds_the_successor_of_the_key(sim_ring: Any) -> None:
    ring = sim_ring(seed=32, bits=4)
    ring.grow(IDS, start=False)
    for node in ring.members:
        for key in range(16):
            owner = ring.run(node.lookup(key))
            assert key in OWNED[owner.contact.id]
            assert owner.hops == (0 if node.contact.id == owner.contact.id else 1)


def test_our_fingers_stand_by_node_distance_beside_those_of_the_report(sim_ring: Any) -> None:
    ring = sim_ring(seed=32, bits=4)
    ring.grow(IDS)
    ring.settle(5.0)
    ours = {
        node.contact.id: [
            node.successors[0].id,
            *(finger.contact.id for finger in node.fingers),
        ]
        for node in ring.members
    }
    # Ours: 1, 2 and 4 peers away.  The report's: 1, 2, 4 and 8 identifiers away.
    assert ours == {1: [4, 7, 14], 4: [7, 11, 1], 7: [11, 14, 4], 11: [14, 1, 7], 14: [1, 4, 11]}
    assert {node_id: report_fingers(node_id) for node_id in IDS} == {
        1: [4, 4, 7, 11],
        4: [7, 7, 11, 14],
        7: [11, 11, 11, 1],
        11: [14, 14, 1, 4],
        14: [1, 1, 4, 7],
    }
