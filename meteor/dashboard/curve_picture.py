"""The keyword space as a picture: two of its dimensions, and the curve through them.

Law of this file: pure; every cell, index and tick is computed by `squid`, none drawn from a second
idea of the curve.  With more than two dimensions the picture is a slice: the others stand still,
and where the curve leaves the slice the line is interrupted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from operator import itemgetter
from typing import Any, Final

import numpy as np

from chord import MeteorError
from meteor.client.explanation import arcs_of
from meteor.errors import SpaceError
from meteor.wire.messages import Neighbour
from squid import (
    Box,
    Choice,
    Dimension,
    KeywordSpace,
    Number,
    NumberInterval,
    Time,
    Whole,
    WordInterval,
    indexes_from_keys,
)

ORDER_MAX: Final = 5
"""Of a picture: 32 x 32 cells; a finer line cannot be followed, and costs a peer's turn."""
TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class Plane:
    """Which dimensions are drawn, how finely, and where the others stand."""

    x: int
    y: int | None
    """None in a space of one dimension."""
    order: int
    at: tuple[int, ...]
    """A cell of each dimension; those of the drawn ones do not count."""


def plane_of(
    space: KeywordSpace, x: str | None, y: str | None, order: int, box: Box | None
) -> Plane:
    """The plane of two named dimensions, through the middle of a box or of the space; raises
    `SpaceError` for names that are none."""
    names = space.names
    first = _place(names, x, 0)
    rest = [place for place in range(len(names)) if place != first]
    second = _place(names, y, rest[0]) if rest else None
    if second == first:
        raise SpaceError(f"x and y are both {names[first]}: choose two dimensions")
    shown = box or Box.whole(space.curve)
    middle = tuple((low + high) // 2 for low, high in zip(shown.low, shown.high, strict=True))
    return Plane(first, second, max(1, min(order, ORDER_MAX, space.bits)), middle)


def _place(names: Sequence[str], name: str | None, default: int) -> int:
    if name is None:
        return default
    if name not in names:
        raise SpaceError(f"{name!r} is no dimension of this space, which has {', '.join(names)}")
    return list(names).index(name)


def draw(
    space: KeywordSpace, plane: Plane, peers: Sequence[Neighbour], id_bits: int, box: Box | None
) -> dict[str, Any]:
    """The picture for JSON: cells in the order of the curve, whose they are, and what a box
    touches.  Places are fractions of the axis, 0 to 1."""
    cells = _cells(space, plane)
    owners = _owners(space, peers, id_bits)
    width = space.curve.side >> plane.order  # of a coarse cell
    fine = len(space.names) * (space.bits - plane.order)
    return {
        "x": _axis(space, plane.x),
        "y": None if plane.y is None else _axis(space, plane.y),
        "order": plane.order,
        "side": 1 << plane.order,
        "exact": len(space.names) <= 2,
        "slice": [
            {"name": name, "at": plane.at[place] / space.curve.side}
            for place, name in enumerate(space.names)
            if place not in (plane.x, plane.y)
        ],
        "cells": [
            {
                "x": cell.low[plane.x] // width,
                "y": 0 if plane.y is None else cell.low[plane.y] // width,
                "index": prefix,
                "peer": owners(prefix << fine),
                "touched": box is not None and cell.intersection(box) is not None,
            }
            for prefix, cell in cells
        ],
        "box": None if box is None else _fractions(space, plane, box),
        "peers": [
            {"id": f"{peer.contact.id:x}", "address": peer.contact.address} for peer in peers
        ],
    }  # fmt: skip


def place_on(space: KeywordSpace, plane: Plane, box: Box) -> tuple[float, float]:
    """The middle of a box on the picture."""
    place = middle_of(space, box)
    return place[plane.x], 0.5 if plane.y is None else place[plane.y]


def middle_of(space: KeywordSpace, box: Box) -> tuple[float, ...]:
    """The middle of a box, as a fraction of each dimension's axis."""
    side = space.curve.side
    return tuple((low + high + 1) / 2 / side for low, high in zip(box.low, box.high, strict=True))


@lru_cache(maxsize=32)
def _cells(space: KeywordSpace, plane: Plane) -> tuple[tuple[int, Box], ...]:
    """The coarse cells of the plane with the prefix of their indexes, in the curve's order.

    Cached: a page that is open asks for the same plane again and again."""
    fine = space.bits - plane.order
    shift = len(space.names) * fine
    side = 1 << plane.order
    corners = []
    for column, row in product(range(side), range(1 if plane.y is None else side)):
        low = [cell >> fine << fine for cell in plane.at]
        low[plane.x] = column << fine
        if plane.y is not None:
            low[plane.y] = row << fine
        corners.append(tuple(low))
    indexes = indexes_from_keys(space.curve.encode_array(np.array(corners, np.uint32)))
    rest = (1 << fine) - 1
    boxes = (Box(low, tuple(cell | rest for cell in low)) for low in corners)
    prefixes = (index >> shift for index in indexes)
    return tuple(sorted(zip(prefixes, boxes, strict=True), key=itemgetter(0)))


def _owners(
    space: KeywordSpace, peers: Sequence[Neighbour], id_bits: int
) -> Callable[[int], int]:
    """From a curve index to the place in `peers` of whose arc it lies in; -1 for nobody's."""
    arcs = sorted(
        (last, first, number)
        for number, held in enumerate(arcs_of(peers, space, id_bits))
        for first, last in held
    )
    lasts = [last for last, _, _ in arcs]

    def owner(index: int) -> int:
        place = bisect_left(lasts, index)
        if place == len(arcs) or index < arcs[place][1]:
            return -1
        return arcs[place][2]

    return owner


def _fractions(space: KeywordSpace, plane: Plane, box: Box) -> dict[str, tuple[float, float]]:
    side = space.curve.side

    def ends(place: int | None) -> tuple[float, float]:
        if place is None:
            return 0.0, 1.0
        return box.low[place] / side, (box.high[place] + 1) / side

    return {"x": ends(plane.x), "y": ends(plane.y)}


def _axis(space: KeywordSpace, place: int) -> dict[str, Any]:
    dimension = space.dimensions[place]
    unit = dimension.unit if isinstance(dimension, Number) else None
    ticks = [
        {"at": cell / space.curve.side, "label": label}
        for label, term in _ticks(dimension)
        if (cell := _cell(space, place, term)) is not None
    ]
    return {"name": dimension.name, "kind": dimension.kind, "unit": unit, "ticks": ticks}


def _cell(space: KeywordSpace, place: int, term: NumberInterval | WordInterval) -> int | None:
    """Where a tick stands, by the coder that routes."""
    try:
        terms = dict.fromkeys(space.names, Whole()) | {space.names[place]: term}
        return space.box(terms).low[place]
    except MeteorError:
        return None


def _ticks(dimension: Dimension) -> list[tuple[str, NumberInterval | WordInterval]]:
    """Values worth a mark on an axis, with the terms that place them."""
    if isinstance(dimension, Number):
        low, high = float(dimension.low), float(dimension.high)
        values = [low + (high - low) * step / (TICKS - 1) for step in range(TICKS)]
        if dimension.scale == "log":
            values = [low * (high / low) ** (step / (TICKS - 1)) for step in range(TICKS)]
        return [(f"{value:.4g}", NumberInterval(value, value)) for value in values]
    if isinstance(dimension, Time):
        low_ms, high_ms = dimension.low_ms, dimension.high_ms
        ends = [(str(dimension.low), low_ms), (str(dimension.high), high_ms)]
        return [(label[:16], NumberInterval(at, at)) for label, at in ends]
    if isinstance(dimension, Choice):
        return [
            (value, NumberInterval(rank, rank)) for rank, value in enumerate(dimension.values[:12])
        ]
    marks = [each for each in dimension.alphabet if each.isalnum()]
    step = max(1, len(marks) // TICKS)
    return [(mark, WordInterval(mark, mark)) for mark in marks[::step]]
