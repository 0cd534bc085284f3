"""Many byte strings in few stretches of memory: no object for each, until somebody asks for it.

Law of this file: the same bytes as in a list of them.  Numpy looks at all of them at once, where
they lie; a stretch most of whose strings nobody needs any more makes room.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import overload

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Slots = npt.NDArray[np.intp]


def lines_of(buffer: Bytes, starts: Slots, width: int) -> Bytes:
    """So many bytes from each place, one line each."""
    if not len(starts) or not width:
        return np.zeros((len(starts), width), np.uint8)
    return _as_items(buffer, width)[starts].view(np.uint8).reshape(len(starts), width)


def _as_items(buffer: Bytes, width: int) -> npt.NDArray[np.void]:
    # Each stretch as one item: numpy copies it at once, byte by byte would take twice as long.
    return np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, strides=(1,))


class Stretch(Sequence[bytes]):
    """Strings in one stretch of memory, wherever each lies."""

    __slots__ = ("buffer", "lengths", "starts")

    def __init__(self, buffer: Bytes, starts: Slots, lengths: Slots) -> None:
        self.buffer, self.starts, self.lengths = buffer, starts, lengths

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, at: int) -> bytes: ...

    @overload
    def __getitem__(self, at: slice) -> Stretch: ...

    def __getitem__(self, at: int | slice) -> bytes | Stretch:
        if isinstance(at, slice):
            return Stretch(self.buffer, self.starts[at], self.lengths[at])
        start = self.starts[at]
        return self.buffer[start : start + self.lengths[at]].tobytes()

    def picked(self, places: Slots) -> Stretch:
        """Those at these places."""
        return Stretch(self.buffer, self.starts[places], self.lengths[places])

    def joined(self, mark: int) -> Bytes:
        """All of them, with this byte behind each."""
        ends = np.cumsum(self.lengths + 1)
        out = np.full(int(ends[-1]) if len(ends) else 0, mark, np.uint8)
        begins = ends - self.lengths - 1
        for length in np.flatnonzero(np.bincount(self.lengths)).tolist():
            if length:
                of_it = np.flatnonzero(self.lengths == length)
                items = _as_items(self.buffer, length)[self.starts[of_it]]
                _as_items(out, length)[begins[of_it]] = items
        return out


class Stretches(Sequence[bytes]):
    """Strings in several stretches, one after the other."""

    __slots__ = ("_firsts", "_forgotten", "_kept", "_left", "parts")

    def __init__(self, parts: Sequence[Stretch]) -> None:
        self.parts = list(parts)
        self._firsts = [0, *accumulate(map(len, self.parts))]
        self._forgotten = bytearray(len(self))
        self._left = [len(part) for part in self.parts]
        """How many of each stretch somebody may ask for ..."""
        self._kept = self._left.copy()
        """... and how many it holds."""

    def __len__(self) -> int:
        return self._firsts[-1]

    @overload
    def __getitem__(self, at: int) -> bytes: ...

    @overload
    def __getitem__(self, at: slice) -> list[bytes]: ...

    def __getitem__(self, at: int | slice) -> bytes | list[bytes]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        part = bisect_right(self._firsts, at) - 1
        return self.parts[part][at - self._firsts[part]]

    def picked(self, places: Slots) -> Stretches:
        """Those at these places, which are in order."""
        cuts = np.searchsorted(places, self._firsts).tolist()
        return Stretches([
            part.picked(places[low:high] - first)
            for part, first, low, high in zip(
                self.parts, self._firsts, cuts[:-1], cuts[1:], strict=False
            )
            if low < high
        ])  # fmt: skip

    def forget(self, at: int) -> None:
        """Nobody asks for this one any more.  Of a stretch of which half is needed no more the
        rest is copied: some thousand strings, as there are no more in one."""
        if self._forgotten[at]:
            return
        self._forgotten[at] = 1
        number = bisect_right(self._firsts, at) - 1
        self._left[number] -= 1
        if 2 * self._left[number] <= self._kept[number]:
            self._kept[number] = self._left[number]
            self.parts[number] = self._thinned(number)

    def _thinned(self, number: int) -> Stretch:
        part, first = self.parts[number], self._firsts[number]
        starts, lengths = np.zeros(len(part), np.intp), np.zeros(len(part), np.intp)
        gone = np.frombuffer(self._forgotten, np.uint8)[first : first + len(part)]
        left = np.flatnonzero(gone == 0)
        kept = part.picked(left)
        lengths[left] = kept.lengths
        starts[left] = np.cumsum(kept.lengths) - kept.lengths
        memory, ends = part.buffer.data, kept.starts + kept.lengths
        places = zip(kept.starts.tolist(), ends.tolist(), strict=True)
        joined = b"".join([memory[start:end] for start, end in places])
        return Stretch(np.frombuffer(joined, np.uint8), starts, lengths)
