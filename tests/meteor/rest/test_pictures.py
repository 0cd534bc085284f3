"""Explanations and pictures say what routing does: against the definition, cell by cell."""

from __future__ import annotations

import random

import pytest

import meteor
from chord import Contact
from meteor.client.explanation import arcs_of, explain
from meteor.dashboard.curve_picture import draw, plane_of
from meteor.wire.messages import Neighbour, RingPicture
from squid import Box, covers

ID_BITS = 32
SMALL = meteor.KeywordSpace("small", [meteor.Number("x", 0, 16), meteor.Number("y", 0, 16)], bits=4)
THREE = meteor.KeywordSpace(
    "three",
    [meteor.Word("word"), meteor.Number("n", 0, 10), meteor.Choice("c", ("a", "b"))],
    bits=8,
)


def ring_of(*ids: int) -> RingPicture:
    ordered = sorted(ids)
    peers = [
        Neighbour(Contact(id, f"h:{place + 1}"), (ordered[place - 1] + 1) % 2**ID_BITS, 1, True)
        for place, id in enumerate(ordered)
    ]
    return RingPicture(tuple(peers), closed=True)


def drawn_ring(seed: int, peers: int) -> RingPicture:
    drawn = random.Random(seed)
    return ring_of(*drawn.sample(range(2**ID_BITS), peers))


@pytest.mark.parametrize("seed", range(20))
def test_the_touched_peers_are_those_whose_arc_has_a_cell_of_the_box(seed: int) -> None:
    drawn = random.Random(seed)
    ring = drawn_ring(seed, 9)
    low, high = sorted(drawn.sample(range(16), 2))
    found = explain(f"x={low}..{high} y>={drawn.randrange(16)}", SMALL, ring, ID_BITS)
    curve = SMALL.curve
    arcs = arcs_of(ring.peers, SMALL, ID_BITS)
    cells = [index for index in range(curve.size) if found.box.contains(curve.decode(index))]
    expected = [
        peer.contact
        for peer, arc in zip(ring.peers, arcs, strict=True)
        if any(covers(arc, index) for index in cells)
    ]
    assert [one.contact for one in found.touched] == expected
    assert found.is_exact
    assert {i for a, z in found.clusters for i in range(a, z + 1)} == set(cells)
    assert found.share == len(cells) / curve.size


@pytest.mark.parametrize("seed", range(10))
def test_the_arcs_are_the_whole_curve_once(seed: int) -> None:
    ring = drawn_ring(seed, 7)
    arcs = arcs_of(ring.peers, SMALL, ID_BITS)
    counted = [sum(covers(arc, index) for arc in arcs) for index in range(SMALL.curve.size)]
    assert counted == [1] * SMALL.curve.size


def test_a_lone_peer_has_everything() -> None:
    ring = RingPicture((Neighbour(Contact(5, "h:1"), 0, 0, True),), closed=True)
    assert arcs_of(ring.peers, SMALL, ID_BITS) == [((0, 255),)]
    assert len(explain("x=3", SMALL, ring, ID_BITS).touched) == 1


def test_a_selector_of_everything_is_explained_and_marked() -> None:
    ring = drawn_ring(1, 4)
    found = explain("x=*", SMALL, ring, ID_BITS)
    assert found.needs_everywhere
    assert len(found.touched) == 4
    assert found.as_object(SMALL)["share"] == 1.0
    with pytest.raises(meteor.SelectorError):
        explain("x==", SMALL, ring, ID_BITS)


def test_in_two_dimensions_the_picture_is_the_curve() -> None:
    ring = drawn_ring(3, 5)
    box = Box((2, 5), (9, 7))
    plane = plane_of(SMALL, None, None, 4, box)
    picture = draw(SMALL, plane, ring.peers, ID_BITS, box)
    assert picture["exact"]
    assert [cell["index"] for cell in picture["cells"]] == list(range(256))
    assert [(cell["x"], cell["y"]) for cell in picture["cells"]] == [
        SMALL.curve.decode(index) for index in range(256)
    ]
    arcs = arcs_of(ring.peers, SMALL, ID_BITS)
    for cell in picture["cells"]:
        assert covers(arcs[cell["peer"]], cell["index"])
        assert cell["touched"] == box.contains((cell["x"], cell["y"]))
    assert picture["box"] == {"x": (2 / 16, 10 / 16), "y": (5 / 16, 8 / 16)}


def test_a_coarse_picture_goes_through_coarse_cells_in_the_same_order() -> None:
    ring = drawn_ring(3, 5)
    picture = draw(SMALL, plane_of(SMALL, None, None, 2, None), ring.peers, ID_BITS, None)
    visited = []
    for index in range(256):
        cell = tuple(coordinate >> 2 for coordinate in SMALL.curve.decode(index))
        if cell not in visited:
            visited.append(cell)
    assert [(cell["x"], cell["y"]) for cell in picture["cells"]] == visited


def test_with_more_dimensions_it_is_a_slice_through_the_box() -> None:
    ring = drawn_ring(3, 5)
    box = explain("word=w* n=5..6 c=b", THREE, ring, ID_BITS).box
    plane = plane_of(THREE, "n", "word", 3, box)
    picture = draw(THREE, plane, ring.peers, ID_BITS, box)
    assert not picture["exact"]
    assert [one["name"] for one in picture["slice"]] == ["c"]
    assert box.low[2] / THREE.curve.side <= picture["slice"][0]["at"] <= 1
    assert any(cell["touched"] for cell in picture["cells"])
    assert picture["y"]["name"] == "word"
    assert all(0 <= tick["at"] <= 1 for tick in picture["y"]["ticks"] + picture["x"]["ticks"])


def test_one_dimension_is_a_strip() -> None:
    space = meteor.KeywordSpace("one", [meteor.Time("at", 0, 1000)])
    ring = drawn_ring(3, 5)
    picture = draw(space, plane_of(space, None, None, 3, None), ring.peers, ID_BITS, None)
    assert picture["y"] is None
    assert [cell["x"] for cell in picture["cells"]] == list(range(8))


def test_unknown_dimensions_are_refused() -> None:
    for x, y in (("z", None), (None, "z"), ("x", "x")):
        with pytest.raises(meteor.SpaceError):
            plane_of(SMALL, x, y, 4, None)
