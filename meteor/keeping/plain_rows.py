"""The journal's rows that have a front, read all at once.

Law of this file: pure, and nothing for each row that numpy or one built-in call does for all.  A
row that is in any way unusual is left to whoever reads rows one by one: no front, that of another
curve, or one of so many shapes that to take each by itself would be slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar, overload

import numpy as np
import numpy.typing as npt

from arms import Kind, PlainColumns
from meteor.journal.journal import Entries
from meteor.journal.stretches import Bytes, Slots, Stretch, Stretches, lines_of
from meteor.keeping.placement import Key
from meteor.keeping.record_front import FORM, HEAD, IS_HIDDEN, IS_POINT, KINDS, index_words
from squid import HilbertCurve

Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
T = TypeVar("T")
Item = TypeVar("Item", bound=np.generic)
Heads = npt.NDArray[np.void]
"""Lines of `record_front.HEAD`."""

AT_ONCE: Final = 1 << 12
"""Rows that are copied into one stretch of memory: few, so that it stays in the processor's."""
_FEW_SHAPES: Final = 64
_ROWS_A_SHAPE: Final = 4
_SIZE_BITS: Final = 16
_MOST_SIZE: Final = (1 << _SIZE_BITS) - 1
"""Of the sizes in a head."""


class Indexes(Sequence[int]):
    """Indexes as lines of words: each becomes a number when it is asked for."""

    __slots__ = ("_words",)

    def __init__(self, words: Words) -> None:
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

    @overload
    def __getitem__(self, at: int) -> int: ...

    @overload
    def __getitem__(self, at: slice) -> list[int]: ...

    def __getitem__(self, at: int | slice) -> int | list[int]:
        if isinstance(at, slice):
            return [_number_of(line) for line in self._words[at]]
        return _number_of(self._words[at])

    def as_floats(self) -> npt.NDArray[np.float64]:
        """Each as the nearest float, as Python rounds it."""
        if self._words.shape[1] == 1:
            return self._words[:, 0].astype(np.float64)
        return np.fromiter(map(float, self), np.float64, len(self))


def _number_of(line: Words) -> int:
    number = 0
    for word in line.tolist():
        number = number << 64 | word
    return number


@dataclass(frozen=True, slots=True)
class PlainRows:
    """Records in the form of the journal, in its order; what has expired is left out."""

    keys: Sequence[Key]
    values: Sequence[bytes]
    kinds: npt.NDArray[np.uint8]
    """Places in `record_front.KINDS`."""
    ttl_ms: npt.NDArray[np.int64]
    """In Unix time."""
    numbers: npt.NDArray[np.int64]
    fingerprints: Words
    lowest: Indexes
    """The lowest index of each ..."""
    words: Words
    """... and the same as a line of 64-bit words, the highest first."""
    points: Mask
    hidden: Mask
    columns: Mapping[Kind, tuple[Slots, PlainColumns]]
    """Which of the records are of a kind, and their profiles, numbered in that order."""
    over: Sequence[Key] = ()
    """What has expired."""


def read_plain(entries: Entries, curve: HilbertCurve, now_ms: int) -> tuple[PlainRows, Entries]:
    """The rows that can be read together, and those that are to be read one by one."""
    reader = _Reader(curve)
    first = 0
    for stretch in _stretches(entries.values):
        reader.take(first, stretch)
        first += len(stretch)
    taken, heads, words = reader.taken()
    keys = _keys_of(_picked(entries.keys, taken))
    if keys is None:
        return _rows_of([], [], heads[:0], words[:0], {}), entries
    others = np.ones(len(entries), bool)
    others[taken] = False
    lives = heads["ttl_ms"] > now_ms
    living = np.flatnonzero(lives)
    chosen = _lines_at(taken, living)
    rank = np.full(len(entries), -1, np.intp)
    columns: dict[Kind, tuple[Slots, PlainColumns]] = {}
    for number, kind in enumerate(KINDS):
        of_kind = np.flatnonzero(_lines_at(heads["kind"], living) == number)
        rank[chosen[of_kind]] = np.arange(len(of_kind))
        if len(of_kind):
            columns[kind] = of_kind, reader.columns(number, rank)
    rows = _rows_of(
        _picked(keys, living), _picked(entries.values, chosen),
        _lines_at(heads, living), _lines_at(words, living), columns,
        _picked(keys, np.flatnonzero(~lives)),
    )  # fmt: skip
    left = np.flatnonzero(others)
    return rows, Entries(_picked(entries.keys, left), _picked(entries.values, left))


def _picked(items: Sequence[T], places: Slots) -> Sequence[T]:
    """The items at these places, which are different and in order."""
    if isinstance(items, Stretch | Stretches) and len(places) < len(items):
        return items.picked(places)  # type: ignore[return-value]  # they are bytes
    return items if len(places) == len(items) else [items[at] for at in places.tolist()]


def _lines_at(lines: npt.NDArray[Item], places: Slots) -> npt.NDArray[Item]:
    """The lines at these places, which are different and in order; not to be written to."""
    return lines if len(places) == len(lines) else lines[places]


def _stretches(values: Sequence[bytes]) -> Iterator[Stretch]:
    """All values, some thousand at a time, in one stretch of memory each."""
    if isinstance(values, Stretches):
        yield from values.parts
        return
    for first in range(0, len(values), AT_ONCE):
        some = values[first : first + AT_ONCE]
        lengths = np.fromiter(map(len, some), np.intp, len(some))
        buffer = np.frombuffer(b"".join(some), np.uint8)
        yield Stretch(buffer, np.cumsum(lengths) - lengths, lengths)


def _rows_of(
    keys: Sequence[Key],
    values: Sequence[bytes],
    heads: Heads,
    words: Words,
    columns: Mapping[Kind, tuple[Slots, PlainColumns]],
    over: Sequence[Key] = (),
) -> PlainRows:
    flags = heads["flags"]
    return PlainRows(
        keys, values, heads["kind"], heads["ttl_ms"], heads["number"], heads["fingerprint"],
        Indexes(words), words, flags & IS_POINT > 0, flags & IS_HIDDEN > 0, columns, over,
    )  # fmt: skip


def _keys_of(written: Sequence[bytes]) -> list[Key] | None:
    """Owner and stem of each key of the journal; None where one is of another form."""
    keys: list[Key] = []
    names: dict[str, str] = {}
    for first in range(0, len(written), AT_ONCE):
        some = written[first : first + AT_ONCE]
        if isinstance(some, Stretch):
            parts = some.joined(0)[:-1].tobytes().decode().split("\0")
        else:
            parts = b"\0".join(some).decode().split("\0")
        owners, stems = parts[::2], parts[1::2]
        names.update((owner, owner[len(_BEGINNING) :]) for owner in sorted(set(owners)))
        if len(parts) != 2 * len(some):
            return None
        keys.extend(zip(map(names.__getitem__, owners), stems, strict=True))
    return keys if all(owner.startswith(_BEGINNING) for owner in names) else None


_BEGINNING: Final = "r:"


@dataclass(slots=True)
class _Reader:
    """Takes fronts out of rows."""

    curve: HilbertCurve
    _rows: list[Slots] = field(default_factory=list)
    _heads: list[Heads] = field(default_factory=list)
    _words: list[Words] = field(default_factory=list)
    _ends: dict[tuple[int, bytes], list[tuple[Slots, Bytes]]] = field(default_factory=dict)
    """By kind and shape: of which rows, and their ends as lines."""

    def taken(self) -> tuple[Slots, Heads, Words]:
        """The rows that were taken, in order, with their heads and lowest indexes.  To be asked
        once."""
        none = np.zeros((0, index_words(self.curve)), np.uint64)
        rows = np.concatenate([np.zeros(0, np.intp), *self._rows])
        heads = np.concatenate([np.zeros(0, HEAD), *self._heads])
        words = np.concatenate([none, *self._words])
        for parts in (self._rows, self._heads, self._words):
            parts.clear()  # what comes next is put into their memory
        return rows, heads, words

    def columns(self, kind: int, rank: Slots) -> PlainColumns:
        """The profiles of a kind, by the rank that each row was given; none for those below 0.
        To be asked once."""
        columns = PlainColumns()
        for of_kind, shape in [each for each in self._ends if each[0] == kind]:
            parts = self._ends.pop((of_kind, shape))  # its memory is what the next one is put into
            numbers = rank[np.concatenate([rows for rows, _ in parts])]
            ends = np.concatenate([ends for _, ends in parts])
            there = np.flatnonzero(numbers >= 0)
            columns.add(shape, _lines_at(numbers, there), _lines_at(ends, there))
        return columns

    def take(self, first: int, values: Stretch) -> None:
        """Take what can be taken of rows that are counted on from `first`."""
        buffer, starts, lengths = values.buffer, values.starts, values.lengths
        index_bytes = 8 * index_words(self.curve)
        behind = HEAD.itemsize + index_bytes
        rows = np.flatnonzero(lengths > behind)
        rows = rows[buffer[starts[rows]] == FORM]
        heads = lines_of(buffer, starts[rows], HEAD.itemsize).view(HEAD)[:, 0]
        fits = heads["dimensions"] == self.curve.dimensions
        fits &= (heads["bits"] == self.curve.bits) & (heads["kind"] < len(KINDS))
        ends_at = behind + heads["shape_bytes"].astype(np.intp) + heads["ends_bytes"]
        fits &= (heads["shape_bytes"] > 0) & (ends_at < lengths[rows])
        fitting = np.flatnonzero(fits)
        rows, heads = _lines_at(rows, fitting), _lines_at(heads, fitting)
        is_taken = np.zeros(len(rows), bool)
        for shape, at, ends in _by_shape(buffer, starts[rows] + behind, heads):
            is_taken[at] = True
            kind = int(heads["kind"][at[0]])
            self._ends.setdefault((kind, shape), []).append((first + rows[at], ends))
        taken = np.flatnonzero(is_taken)
        rows, heads = _lines_at(rows, taken), _lines_at(heads, taken)
        self._rows.append(first + rows)
        self._heads.append(heads)
        words = lines_of(buffer, starts[rows] + HEAD.itemsize, index_bytes).view(">u8")
        self._words.append(words.astype(np.uint64))


def _by_shape(buffer: Bytes, starts: Slots, heads: Heads) -> Iterator[tuple[bytes, Slots, Bytes]]:
    """Shapes that stand at these places, which rows are of each, and the ends behind them."""
    marks = heads["shape_sum"].astype(np.uint64) | heads["kind"].astype(np.uint64) << np.uint64(32)
    order = np.argsort(marks, kind="stable")
    firsts = np.flatnonzero(np.diff(marks[order], prepend=~marks[order[:1]]))
    if len(firsts) > _FEW_SHAPES and len(firsts) * _ROWS_A_SHAPE > len(order):
        return
    sizes = heads["shape_bytes"].astype(np.intp) << _SIZE_BITS | heads["ends_bytes"]
    for group in np.split(order, firsts[1:]) if len(order) else ():
        size = int(sizes[group[0]])
        shape_bytes, ends_bytes = size >> _SIZE_BITS, size & _MOST_SIZE
        at = group[sizes[group] == size]
        shapes = lines_of(buffer, starts[at], shape_bytes)
        shape = shapes[0].tobytes()
        if shapes.tobytes() != shape * len(at):  # two that have one sum
            at = at[(shapes == shapes[0]).all(axis=1)]
        yield shape, at, lines_of(buffer, starts[at] + shape_bytes, ends_bytes)
