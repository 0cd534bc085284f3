"""Many plain profiles into a table at once: how a peer has its index back after a restart.

Law of this file: the same rows as one by one, many times as quick.  The profiles come by column
(`arms.plain_columns`), and each column is put into the table in one step.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from arms.index_bits import Mask, Slots
from arms.index_column import OUTERMOST, Column
from arms.index_store import Intervals
from arms.index_table import MOST_COLUMNS, Table
from arms.index_vocabulary import Floats
from arms.plain_columns import Ends, Part, PlainColumns
from arms.profile import Profile
from arms.values import NUMBERS, WILDCARD

K = TypeVar("K", bound=Hashable)
Item = TypeVar("Item", bound=np.generic)

SPARE_COLUMNS: Final = 64
_OBJECTS_AT_ONCE: Final = 1 << 12
_MOSTLY_THERE: Final = 2
"""A column that one row in so many has is put in order by its rows."""


def insert_many(
    table: Table[K],
    owners: Sequence[K],
    profiles: Sequence[Profile | None],
    columns: PlainColumns,
    places: Floats | None = None,
) -> range | None:
    """Keep plain rows, which `columns` numbers in the order of their owners; returns their slots.
    None, and nothing is kept, where there may not be a column for every path."""
    if len(table.columns) + len(columns) + SPARE_COLUMNS > MOST_COLUMNS:
        return None
    table.store.widen(1 + max(part.at for _, _, parts in columns for part in parts))
    table.settle()
    intervals: list[Intervals] = []
    for name, axis, parts in columns:
        number = table.column_for("/" + name, axis)
        ends = _stored(table, number, parts)
        if ends is None:
            return None
        intervals.append(_in_order(number, parts, *ends))
    slots = table.store.extend(owners, profiles, places)
    table.store.fill(slots, intervals)
    table.load(slots, intervals)
    return slots


def _in_order(number: int, parts: Sequence[Part], low: Floats, high: Floats) -> Intervals:
    """The intervals of a column by row."""
    rows = np.concatenate([part.rows for part in parts])
    at = np.repeat(
        np.array([part.at for part in parts], np.uint8), [len(part.rows) for part in parts]
    )
    if len(parts) == 1:
        return Intervals(number, rows, at, low, high)
    most = int(rows.max()) + 1
    if _MOSTLY_THERE * len(rows) >= most:
        # Each is put where it belongs: to sort so many would take three times as long.
        here = np.zeros(most, bool)
        here[rows] = True
        first = _put(low, rows, here)
        last = first if high is low else _put(high, rows, here)
        return Intervals(number, np.flatnonzero(here), _put(at, rows, here), first, last)
    order = np.argsort(rows, kind="stable")
    first = low[order]
    return Intervals(number, rows[order], at[order], first, first if high is low else high[order])


def _put(items: npt.NDArray[Item], rows: Slots, here: Mask) -> npt.NDArray[Item]:
    """The items in the order of their rows, which are those that are `here`."""
    put = np.empty(len(here), items.dtype)
    put[rows] = items
    return put if len(rows) == len(here) else put[here]


def _stored(table: Table[K], number: int, parts: Sequence[Part]) -> tuple[Floats, Floats] | None:
    """The ends as they are kept, numbers themselves or labels of words, one array where all are
    points; None for what are no intervals."""
    column = table.columns[number]
    assert column is not None, "a number in use has a column"
    if column.axis <= WILDCARD:
        count = sum(len(part.rows) for part in parts)
        return np.full(count, -np.inf), np.full(count, np.inf)
    points = all(part.high is part.low for part in parts)
    lows, highs = [part.low for part in parts], [part.high for part in parts]
    first: Floats
    last: Floats
    if column.axis == NUMBERS:
        first = np.concatenate(lows)
        last = first if points else np.concatenate(highs)
    else:
        different: set[float | bytes] = set()
        for some in _a_few_at_once(lows if points else lows + highs):
            different.update(some)
        labels = _labels(table, number, column, different)
        first = _labelled(lows, labels)
        last = first if points else _labelled(highs, labels)
    return (first, last) if bool((first <= last).all()) else None


def _labelled(parts: Sequence[Ends], labels: dict[float | bytes, float]) -> Floats:
    found = (map(labels.__getitem__, some) for some in _a_few_at_once(parts))
    return np.fromiter(chain.from_iterable(found), np.float64, sum(map(len, parts)))


def _a_few_at_once(parts: Sequence[Ends]) -> Iterator[list[float | bytes]]:
    """The ends as objects, some thousand at a time: those of a million rows would fill a hundred
    megabytes only to be looked up."""
    for ends in parts:
        for first in range(0, len(ends), _OBJECTS_AT_ONCE):
            yield ends[first : first + _OBJECTS_AT_ONCE].tolist()


def _labels(
    table: Table[K], number: int, column: Column, ends: set[float | bytes]
) -> dict[float | bytes, float]:
    """The label of each word, in UTF-8."""
    words = column.vocabulary
    assert words is not None, "a column of words has a vocabulary"
    outermost = {word.encode(): label for word, label in OUTERMOST.items()}
    different = sorted(end for end in ends if isinstance(end, bytes) and end not in outermost)
    spelt = [word.decode() for word in different]
    if not words:
        found: Iterable[float] = words.load(spelt)
    else:
        for word in spelt:
            if words.learn(word) is None:
                table.relabel(number, column)
                words.learn(word)
        found = map(words.lowest_at, spelt)
    labels: dict[float | bytes, float] = dict(outermost.items())
    labels.update(zip(different, found, strict=True))
    return labels
