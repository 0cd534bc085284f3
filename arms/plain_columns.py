"""Plain profiles by column: the form in which a hundred thousand come back at once.

Law of this file: the same values as in the trees, and nothing where a tree says more.  Plain are
profiles whose elements all stand at the root, under different names: one row of the index says
everything about them, in either role.  A *shape* names the columns of a profile and how much room
their ends take, so that all profiles of one shape have the same value at the same place, and numpy
takes it from all of them in one step.  Words have 8 to 64 bytes of room; what has longer ones, or
more columns than the narrowest rows of the index, is not plain.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from arms.profile_pack import PlainTest
from arms.values import NUMBERS, WILDCARD, WORDS
from arms.written import GROUP

MOST_PLAIN: Final = 8
"""Columns of a plain profile."""
_SHAPES_KEPT: Final = 1024
_FORMS_KEPT: Final = 256
_ROOM: Final = (8, 16, 32, 64)
"""For a word; few sizes, so that there are few shapes."""
_MOST_ROOM: Final = _ROOM[-1]
_ROOM_FOR: Final = [min(room for room in _ROOM if length <= room) for length in range(65)]
"""By the length of a word."""
_RANGE: Final = 4
"""Set in a column's kind beside the axis: the low end is not the high one."""
_NUL: Final = 0
_NUMBER_BYTES: Final = 8

Bytes = npt.NDArray[np.uint8]
Slots = npt.NDArray[np.intp]
Ends = npt.NDArray[np.float64] | npt.NDArray[np.bytes_]
"""Numbers, or words in UTF-8."""

_Tree = tuple[
    Literal[""],
    Literal[0],
    Annotated[list[PlainTest], msgspec.Meta(min_length=1, max_length=MOST_PLAIN)],
]
_TREE: Final = msgspec.msgpack.Decoder(_Tree)
_PROFILE: Final = msgspec.msgpack.Decoder(tuple[msgspec.Raw, msgspec.Raw, _Tree])
"""Text, digest, and of these only the tree."""


class PlainForm(NamedTuple):
    """One plain profile."""

    shape: bytes
    ends: bytes


class _Kind(NamedTuple):
    """A column as a shape has it."""

    name: str
    axis: int
    is_range: bool
    room: int
    """Bytes of a word."""


@lru_cache(maxsize=_FORMS_KEPT)
def plain_form(packed: bytes) -> PlainForm | None:
    """The form of a profile, given in msgpack of what `Profile.pack` gives; None where it is not
    plain, or no profile at all.  Cached: the holders of a record may live in one process."""
    try:
        return _form_of(_PROFILE.decode(packed)[2][2])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def plain_form_of_tree(packed: bytes) -> PlainForm | None:
    """The same, of a packed tree alone."""
    try:
        return _form_of(_TREE.decode(packed)[2])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _form_of(tests: list[PlainTest]) -> PlainForm | None:
    kinds: list[tuple[str, int, int]] = []
    numbers: list[float] = []
    words = b""
    for test in tests:
        axis, low, high = test.axis, test.low, test.high
        kind, room = axis, 0
        if axis == NUMBERS:
            if not (type(low) is type(high) is float and low <= high):
                return None
            numbers.append(low)
            if low != high:
                kind |= _RANGE
                numbers.append(high)
        elif axis == WORDS:
            if not (type(low) is type(high) is str and low <= high):
                return None
            first = low.encode()
            last = first if low == high else high.encode()
            longest = max(len(first), len(last))
            if longest > _MOST_ROOM or _NUL in first or _NUL in last:
                return None
            room = _ROOM_FOR[longest]
            words += first.ljust(room, b"\0")
            if last is not first:
                kind |= _RANGE
                words += last.ljust(room, b"\0")
        kinds.append((test.name, kind, room))
    shape = _shape_of(tuple(kinds))
    return PlainForm(shape, struct.pack(f"<{len(numbers)}d", *numbers) + words) if shape else None


@lru_cache(maxsize=_SHAPES_KEPT)
def _shape_of(kinds: tuple[tuple[str, int, int], ...]) -> bytes:
    """Empty for names that a plain profile does not have."""
    names = {name for name, _, _ in kinds}
    if len(names) < len(kinds) or GROUP in names or any("\0" in name for name in names):
        return b""
    return b"".join(name.encode() + bytes((_NUL, kind, room)) for name, kind, room in kinds)


@lru_cache(maxsize=_SHAPES_KEPT)
def _kinds_of(shape: bytes) -> tuple[_Kind, ...]:
    kinds: list[_Kind] = []
    while shape:
        name, _, rest = shape.partition(b"\0")
        kinds.append(_Kind(name.decode(), rest[0] & ~_RANGE, bool(rest[0] & _RANGE), rest[1]))
        shape = rest[2:]
    return tuple(kinds)


class Part(NamedTuple):
    """Intervals of one column: in which rows, at which place of each, and their ends."""

    rows: Slots
    at: int
    low: Ends
    high: Ends


class PlainColumns:
    """The columns of many plain profiles, by row numbers that the caller chose."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, int], list[Part]] = {}

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[tuple[str, int, list[Part]]]:
        """Name, axis and intervals of each column."""
        for (name, axis), parts in self._parts.items():
            yield name, axis, parts

    def add(self, shape: bytes, rows: Slots, ends: Bytes) -> None:
        """Take in profiles of one shape: the number of each, and its `ends` as a line."""
        kinds = _kinds_of(shape)
        doubles = sum(1 + kind.is_range for kind in kinds if kind.axis == NUMBERS)
        number, word = 0, _NUMBER_BYTES * doubles
        numbers = np.ascontiguousarray(ends[:, :word]).view("<f8")
        for at, kind in enumerate(kinds):
            low: Ends = _NO_ENDS
            high: Ends = _NO_ENDS
            if kind.axis == NUMBERS:
                low = numbers[:, number]
                high = numbers[:, number + 1] if kind.is_range else low
                number += 1 + kind.is_range
            elif kind.axis == WORDS:
                low = high = _words(ends[:, word : word + kind.room])
                if kind.is_range:
                    word += kind.room
                    high = _words(ends[:, word : word + kind.room])
                word += kind.room
            self._parts.setdefault((kind.name, kind.axis), []).append(Part(rows, at, low, high))


_NO_ENDS: Final = np.zeros(0)
"""Of what has no value, or any."""
assert WILDCARD < NUMBERS < WORDS < _RANGE, "an axis and the mark of a range share a byte"


def _words(room: Bytes) -> npt.NDArray[np.bytes_]:
    """The words that stand in a column's room; numpy leaves the zeros behind them away."""
    words: npt.NDArray[np.bytes_] = np.ascontiguousarray(room).view(f"S{room.shape[1]}")[:, 0]
    return words


def columns_of(forms: list[PlainForm]) -> PlainColumns:
    """The columns of profiles, numbered in their order."""
    by_shape: dict[bytes, list[int]] = {}
    for row, form in enumerate(forms):
        by_shape.setdefault(form.shape, []).append(row)
    columns = PlainColumns()
    for shape, rows in by_shape.items():
        ends = np.frombuffer(b"".join([forms[row].ends for row in rows]), np.uint8)
        columns.add(
            shape, np.array(rows, np.intp), ends.reshape(len(rows), len(forms[rows[0]].ends))
        )
    return columns
