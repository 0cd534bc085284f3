"""Many plain profiles into a table at once: how a peer has its index back after a restart.

Law of this file: the same rows as one by one, several times as quick.  Plain are profiles whose
elements all stand at the root, under different names: one row says everything, in either role.
The others go the ordinary way.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, TypeVar

import numpy as np

from arms.index_column import OUTERMOST, Column
from arms.index_table import MOST_COLUMNS, Table
from arms.index_vocabulary import Floats
from arms.profile import Profile
from arms.profile_pack import PlainTest
from arms.values import NUMBERS, WILDCARD

K = TypeVar("K", bound=Hashable)

Ends = list[float | str]
_Cells = tuple[list[int], Ends, Ends]
"""Of one column: where in the table its intervals stand, and their ends."""

SPARE_COLUMNS: Final = 64


def insert_many(
    table: Table[K],
    owners: Sequence[K],
    profiles: Sequence[Profile],
    rows: Sequence[list[PlainTest]],
) -> range | None:
    """Keep plain rows that the table's width allows; returns their slots.  None, and nothing is
    kept, where there may not be a column for every path."""
    cells = _cells_of(rows, table.store.width)
    if len(table.columns) + len(cells) + SPARE_COLUMNS > MOST_COLUMNS:
        return None
    table.settle()
    intervals = []
    for (name, axis), (places, low, high) in cells.items():
        number = table.column_for("/" + name, axis)
        ends = _stored(table, number, low, high)
        if ends is None:
            return None
        intervals.append((number, np.array(places), *ends))
    slots = table.store.extend(owners, profiles)
    for number, at, first, last in intervals:
        table.store.fill(slots, at, number, first, last)
    table.learn_all(slots)
    return slots


def _cells_of(rows: Sequence[list[PlainTest]], width: int) -> dict[tuple[str, int], _Cells]:
    cells: dict[tuple[str, int], _Cells] = {}
    first = 0
    for row in rows:
        place = first
        for test in row:
            column = cells.get((test.name, test.axis))
            if column is None:
                column = cells[test.name, test.axis] = ([], [], [])
            column[0].append(place)
            column[1].append(test.low)
            column[2].append(test.high)
            place += 1
        first += width
    return cells


def _stored(table: Table[K], number: int, low: Ends, high: Ends) -> tuple[Floats, Floats] | None:
    """The ends as they are kept, numbers themselves or labels of words; None for what are no
    intervals."""
    column = table.columns[number]
    assert column is not None, "a number in use has a column"
    if column.axis <= WILDCARD:
        return np.full(len(low), -np.inf), np.full(len(high), np.inf)
    points = low == high
    if {*map(type, low), *map(type, high)} != {float if column.axis == NUMBERS else str}:
        return None
    if column.axis == NUMBERS:
        first = np.array(low, np.float64)
        last = first if points else np.array(high, np.float64)
    else:
        labels = _labels(table, number, column, {*low} if points else {*low, *high})
        first = np.array([labels[end] for end in low])
        last = first if points else np.array([labels[end] for end in high])
    return (first, last) if bool((first <= last).all()) else None


def _labels(
    table: Table[K], number: int, column: Column, ends: set[float | str]
) -> dict[float | str, float]:
    words = column.vocabulary
    assert words is not None, "a column of words has a vocabulary"
    different = sorted({str(end) for end in ends} - OUTERMOST.keys())
    for word in different:
        if words.learn(word) is None:
            table.relabel(number, column)
            words.learn(word)
    labels: dict[float | str, float] = {word: words.lowest_at(word) for word in different}
    return labels | {str(word): label for word, label in OUTERMOST.items()}
