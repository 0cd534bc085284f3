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
from arms.values import WILDCARD

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
    slots = table.store.extend(owners, profiles)
    for (name, axis), (places, low, high) in cells.items():
        number = table.column_for("/" + name, axis)
        column = table.columns[number]
        assert column is not None, "a number in use has a column"
        table.store.fill(
            slots, np.array(places), number, *_stored(table, number, column, low, high)
        )
    table.learn_all(slots)
    return slots


def _cells_of(rows: Sequence[list[PlainTest]], width: int) -> dict[tuple[str, int], _Cells]:
    cells: dict[tuple[str, int], _Cells] = {}
    first = 0
    for row in rows:
        place = first
        for name, axis, low, high in row:
            column = cells.get((name, axis))
            if column is None:
                column = cells[name, axis] = ([], [], [])
            column[0].append(place)
            column[1].append(low)
            column[2].append(high)
            place += 1
        first += width
    return cells


def _stored(
    table: Table[K], number: int, column: Column, low: Ends, high: Ends
) -> tuple[Floats, Floats]:
    """The ends as they are kept: numbers themselves, labels of words."""
    if column.axis <= WILDCARD:
        return np.full(len(low), -np.inf), np.full(len(high), np.inf)
    words = column.vocabulary
    if words is None:
        return np.array(low, np.float64), np.array(high, np.float64)
    different = sorted({str(end) for ends in (low, high) for end in ends} - OUTERMOST.keys())
    for word in different:
        if words.learn(word) is None:
            table.relabel(number, column)
            words.learn(word)
    labels = {word: words.lowest_at(word) for word in different} | OUTERMOST
    return np.array([labels[str(end)] for end in low]), np.array([labels[str(end)] for end in high])
