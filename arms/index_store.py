"""The rows of the index: what decides exactly, once bitmaps have left few rows over.

Law of this file: a row is up to `width` intervals, each with the number of its column, and lies in
one stretch of memory; number 0 is no column.  Slots of removed rows are used again.  As long as no
row needs more than half of the width, rows have no more: they are looked at where they lie, and the
time goes by the lines of memory that they fill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from struct import Struct
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from arms.index_bits import Mask, Slots
from arms.index_vocabulary import Floats
from arms.profile import Profile

K = TypeVar("K")

Numbers = npt.NDArray[np.uint16]
Objects = npt.NDArray[np.object_]

_FIRST_CAPACITY: Final = 64
_DOUBLED_UP_TO: Final = 1 << 14
_FILLED_AT_ONCE: Final = 1 << 13
_NARROW: Final = 4
_NO_ROWS: Final = memoryview(b"")


class Intervals(NamedTuple):
    """Many intervals of one column, in order of their rows."""

    column: int
    rows: Slots
    """Counted on from the first of the new ones."""
    at: npt.NDArray[np.uint8]
    """Where in its row each stands."""
    low: Floats
    high: Floats
    """The same array where all are points."""


Span = tuple[int, int]
"""The first and the last place that a question is about."""


class RowStore(Generic[K]):
    """Rows of at most `most` intervals, whose they are, and where each of those lives."""

    def __init__(self, most: int, place_of: Callable[[K], float] | None = None) -> None:
        self.width = _NARROW if most == 2 * _NARROW else most
        self.used = self.capacity = 0
        """The slots below have been used, and for so many there is memory; a multiple of 64."""
        self.owners: Objects = np.empty(0, np.object_)
        self.profiles: Objects = np.empty(0, np.object_)
        self._place_of = place_of
        self._places: Floats = np.empty(0)
        """NaN for who lives in several: a question is about him wherever it is about."""
        self.flagged: Mask = np.zeros(0, bool)
        """Rows that do not say everything: their profile's tree decides."""
        self.flags = 0
        """How many rows are flagged."""
        self._free: list[int] = []
        """A heap: slots that lie beside each other are used again together, and cost the bitmaps
        fewer words."""
        self._form = _form_of(self.width)
        self._lines: Floats = np.zeros((0, self._form.size // 8))
        self._padding = [0] * self.width
        self._buffer = self._lines.data
        self._grow(_FIRST_CAPACITY)

    # -- changes

    def put(
        self, owner: K, profile: Profile, row: Mapping[int, tuple[float, float]], flagged: bool
    ) -> int:
        """Keep a row, by column; returns its slot."""
        size = len(row)
        if size > self.width:
            self.widen(size)
        if self._free:
            slot = heappop(self._free)
        else:
            if self.used == self.capacity:
                grown = self.capacity * (8 if self.capacity < _DOUBLED_UP_TO else 5) // 4
                self._grow((grown + 63) // 64 * 64)
            slot = self.used
            self.used += 1
        padding = self._padding[size:]
        low, high = zip(*row.values(), strict=True) if row else ((), ())
        self._form.pack_into(
            self._buffer, slot * self._form.size,
            *low, *padding, *high, *padding, *row, *padding,
        )  # fmt: skip
        self.owners[slot], self.profiles[slot] = owner, profile
        if self._place_of is not None:
            self._places[slot] = self._place_of(owner)
        if flagged:
            self.flagged[slot] = True
            self.flags += 1
        return slot

    def extend(
        self,
        owners: Sequence[K],
        profiles: Sequence[Profile | None],
        places: Floats | None = None,
    ) -> range:
        """Make rows at the end, which say everything; `fill` says what.  Returns their slots.  For
        a profile that somebody else keeps, None; for places that are not known yet, too."""
        slots = range(self.used, self.used + len(owners))
        if slots.stop > self.capacity:
            self._grow((slots.stop + 63) // 64 * 64)
        self.used = slots.stop
        self.owners[slots.start : slots.stop] = objects_of(owners)
        self.profiles[slots.start : slots.stop] = objects_of(profiles)
        if self._place_of is not None:
            if places is None:
                places = np.fromiter(map(self._place_of, owners), np.float64, len(owners))
            self._places[slots.start : slots.stop] = places
        return slots

    def widen(self, width: int) -> None:
        """Have rows of at least this width."""
        if width <= self.width:
            return
        columns, low, high = self._parts(self._lines)
        before, self.width = self.width, 2 * self.width
        assert width <= self.width, "a row lies in a table that is wide enough"
        self._form = _form_of(self.width)
        self._padding = [0] * self.width
        self._lines = np.zeros((self.capacity, self._form.size // 8))
        self._buffer = self._lines.data
        wide_columns, wide_low, wide_high = self._parts(self._lines)
        wide_columns[:, :before], wide_low[:, :before], wide_high[:, :before] = columns, low, high

    def fill(self, slots: range, intervals: Sequence[Intervals]) -> None:
        """Put intervals of several columns into new rows."""
        columns, lows, highs = self._parts(self._lines[slots.start : slots.stop])
        # Some thousand rows at a time, which stay in the processor's memory for all columns.
        bounds = [*range(0, len(slots), _FILLED_AT_ONCE), len(slots)]
        cuts = [np.searchsorted(each.rows, bounds).tolist() for each in intervals]
        for number in range(len(bounds) - 1):
            for each, cut in zip(intervals, cuts, strict=True):
                some = slice(cut[number], cut[number + 1])
                at = each.rows[some], each.at[some]
                columns[at] = each.column
                lows[at], highs[at] = each.low[some], each.high[some]

    def free(self, slot: int) -> None:
        """Forget a row."""
        self._lines[slot] = 0.0
        self.owners[slot] = self.profiles[slot] = None
        if self.flagged[slot]:
            self.flagged[slot] = False
            self.flags -= 1
        heappush(self._free, slot)

    def free_all(self, slots: Slots) -> None:
        """Forget rows."""
        self._lines[slots] = 0.0
        self.owners[slots] = self.profiles[slots] = None
        if self.flags:
            self.flags -= int(np.count_nonzero(self.flagged[slots]))
            self.flagged[slots] = False
        for slot in slots.tolist():
            heappush(self._free, slot)

    # -- questions

    def rows(self, slots: Slots) -> tuple[Numbers, Floats, Floats]:
        """The columns, beginnings and ends of rows, one line each."""
        return self._parts(self._lines.take(slots, axis=0))

    def turned(self, slots: Slots) -> tuple[Numbers, Floats, Floats]:
        """The same with a line for all first intervals, one for all second ones and so on: what is
        asked of each of them takes two thirds of the time, as a row has few."""
        lines = self._lines.take(slots, axis=0)
        columns, _, _ = self._parts(lines)
        ends = lines[:, : 2 * self.width].T.copy()
        return columns.T, ends[: self.width], ends[self.width :]

    def all_rows(self) -> tuple[Numbers, Floats, Floats]:
        """As `rows`, of every slot in use or free; a view to change them by."""
        return self._parts(self._lines[: self.used])

    def doubtful(self, slots: Slots) -> Mask | None:
        """Which of the rows are flagged; None when none is."""
        return self.flagged[slots] if self.flags else None

    def lie_within(self, slots: Slots, span: Span) -> Mask:
        """Which of the rows may be of what lives in a span: a place is rounded to a float, which
        never changes the order of two."""
        assert self._place_of is not None, "who asks for a span says where things live"
        places = self._places[slots]
        outside: Mask = (places < float(span[0])) | (places > float(span[1]))
        return ~outside

    def places(self, slots: Slots, column: int) -> Slots:
        """Where in their rows the slots have an interval in a column, which they all have."""
        columns, _, _ = self.all_rows()
        places: Slots = (columns[slots] == column).argmax(axis=1)
        return places

    def entries(self, slots: Slots, column: int) -> tuple[Floats, Floats]:
        """The beginnings and ends of the slots' intervals in a column, which they all have."""
        _, low, high = self.all_rows()
        places = self.places(slots, column)
        return low[slots, places], high[slots, places]

    def nbytes(self) -> int:
        """The bytes of all rows, and of what says whose they are."""
        arrays = (self._lines, self.owners, self.profiles, self.flagged, self._places)
        return sum(array.nbytes for array in arrays) + 8 * len(self._free)

    def _parts(self, lines: Floats) -> tuple[Numbers, Floats, Floats]:
        width = self.width
        columns: Numbers = lines[:, 2 * width :].view(np.uint16)
        return columns, lines[:, :width], lines[:, width : 2 * width]

    def _grow(self, capacity: int) -> None:
        # In place: to copy the rows of a hundred thousand profiles, or to count that each of them
        # is held twice for a moment, would hold the peer up.  Nobody keeps a view of these arrays
        # from one call to the next.
        self.capacity = capacity
        self._buffer = _NO_ROWS
        self._lines.resize((capacity, self._lines.shape[1]), refcheck=False)
        self._buffer = self._lines.data
        for array in (self.owners, self.profiles, self.flagged, self._places):
            array.resize(capacity, refcheck=False)


def objects_of(items: Sequence[object]) -> Objects:
    """An array of the items themselves, sequences among them too."""
    # One by one: to an array that is filled at once numpy would ask each whether it is one, too.
    return np.fromiter(items, np.object_, len(items))


def _form_of(width: int) -> Struct:
    return Struct(f"{2 * width}d{width}H")


def any_in_line(mask: Mask) -> Mask:
    """Whether any mark is set, for each line of four marks, or of a multiple of eight."""
    if mask.shape[1] == _NARROW:
        together = mask.view(np.uint32)[:, 0]
    else:
        together = np.bitwise_or.reduce(mask.view(np.uint64), axis=1)
    lines: Mask = np.not_equal(together, 0)
    return lines
