"""The Hilbert curve: cells of the keyword space to indexes and back, and questions about boxes.

Law of this file: it checks what comes in; the work is done by a codec and by the refinement tree.
The curve is Skilling's (2004), the first dimension the most significant bit of each digit, bit
for bit that of the `hilbertcurve` package (report section 3.2, figures 3.3 and 3.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import index as plain_integer
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from squid import clusters
from squid.array_codec import ArrayCodec
from squid.errors import CurveError
from squid.index_keys import WORD_BITS, Keys, key_bytes
from squid.reference_curve import ReferenceCodec
from squid.refinement import Refinement
from squid.region import Box, Interval
from squid.scalar_codec import ScalarCodec

MOST_DIMENSIONS: Final = 8
MOST_BITS: Final = 32
INDEXES_KEPT: Final = 1024
"""Points whose index is remembered: one exact post asks for the same point a dozen times."""

CodecName = Literal["native", "reference"]
Points = npt.NDArray[np.integer] | Sequence[Sequence[int]]
"""Cells, one a row."""


class ArrayCoding(Protocol):
    """Checked arrays of cells to keys and back."""

    def encode_array(self, points: npt.NDArray[np.uint32]) -> Keys:
        """The indexes of cells, one a row."""

    def decode_array(self, keys: Keys) -> npt.NDArray[np.uint32]:
        """The cells at indexes, one a row."""


class HilbertCurve:
    """A curve through all cells of a cube.

    `dimensions` is 1 to 8, `bits` (of each coordinate) 1 to 32; `codec` is "native" or
    "reference" (the `hilbertcurve` package; slower, the same indexes).  Raises CurveError for
    other values."""

    __slots__ = ("_arrays", "_hash", "_index_of", "_scalars", "_tree", "bits", "codec",
                 "dimensions", "index_bits", "side", "size")  # fmt: skip

    def __init__(self, dimensions: int, bits: int, codec: CodecName = "native") -> None:
        if not (1 <= dimensions <= MOST_DIMENSIONS and 1 <= bits <= MOST_BITS):
            raise CurveError(
                f"a curve has 1 to {MOST_DIMENSIONS} dimensions of 1 to {MOST_BITS} bits, "
                f"not {dimensions} of {bits}"
            )
        self.dimensions, self.bits, self.codec = dimensions, bits, codec
        self.index_bits = dimensions * bits
        self.side, self.size = 1 << bits, 1 << self.index_bits
        self._hash = hash((dimensions, bits))  # a store asks for it some twenty times
        self._tree = Refinement(dimensions, bits)
        self._scalars: ScalarCodec | ReferenceCodec
        self._arrays: ArrayCoding
        if codec == "native":
            self._scalars = ScalarCodec(dimensions, bits)
            self._arrays = ArrayCodec(dimensions, bits)
        elif codec == "reference":
            self._scalars = self._arrays = ReferenceCodec(dimensions, bits)
        else:
            raise CurveError(f'codec is "native" or "reference", not {codec!r}')
        self._index_of = lru_cache(maxsize=INDEXES_KEPT)(self._checked_index)

    def __repr__(self) -> str:
        return f"HilbertCurve(dimensions={self.dimensions}, bits={self.bits}, codec={self.codec!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HilbertCurve):
            return NotImplemented
        return (self.dimensions, self.bits) == (other.dimensions, other.bits)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[HilbertCurve], tuple[object, ...]]:
        return HilbertCurve, (self.dimensions, self.bits, self.codec)

    def encode(self, point: Sequence[int]) -> int:
        """The index of a cell.  Raises CurveError when it has other dimensions than the curve, or
        lies outside."""
        return self._index_of(tuple(map(plain_integer, point)))

    def _checked_index(self, cells: tuple[int, ...]) -> int:
        if len(cells) != self.dimensions or min(cells) < 0 or max(cells) >= self.side:
            raise CurveError(
                f"cell {cells} is not on a curve of {self.dimensions} dimensions "
                f"with cells 0 to {self.side - 1}"
            )
        return self._scalars.encode(cells)

    def decode(self, index: int) -> tuple[int, ...]:
        """The cell at an index.  Raises CurveError when the index is not on the curve."""
        if not 0 <= index < self.size:
            raise CurveError(f"index {index} is not on a curve of indexes 0 to {self.size - 1}")
        return self._scalars.decode(plain_integer(index))

    def encode_array(self, points: Points) -> Keys:
        """The indexes of many cells: `uint64` up to 64 index bits, else big-endian `uint8` rows
        (see `squid.index_keys`).  Raises CurveError as `encode` does."""
        cells = np.asarray(points)
        if cells.ndim != 2 or cells.shape[1] != self.dimensions or cells.dtype.kind not in "iu":
            raise CurveError(
                f"cells come as an integer array of shape (n, {self.dimensions}), "
                f"not {cells.dtype} of shape {cells.shape}"
            )
        if cells.size and (int(cells.min()) < 0 or int(cells.max()) >= self.side):
            raise CurveError(f"cells are 0 to {self.side - 1}, not {cells.min()} to {cells.max()}")
        return self._arrays.encode_array(cells.astype(np.uint32, copy=False))

    def decode_array(self, keys: Keys) -> npt.NDArray[np.uint32]:
        """The cells at many indexes, given as `encode_array` returns them; shape (n, dimensions).
        Raises CurveError for another type or shape, or indexes not on the curve."""
        width = key_bytes(self.index_bits)
        words = self.index_bits <= WORD_BITS
        kind, shape = ("uint64", ()) if words else ("uint8", (width,))
        if keys.dtype.name != kind or keys.shape[1:] != shape:
            raise CurveError(
                f"indexes of {self.index_bits} bits come as "
                + ("uint64 of shape (n,)" if words else f"uint8 of shape (n, {width})")
            )
        spare_bits = (WORD_BITS if words else 8 * width) - self.index_bits
        if keys.size and spare_bits:
            top = int(keys.max()) if words else int(keys[:, 0].max())
            if top >> (self.index_bits if words else 8 - spare_bits):
                raise CurveError(f"some index is not on a curve of 0 to {self.size - 1}")
        return self._arrays.decode_array(keys)

    def next_match(self, box: Box, index: int) -> int | None:
        """The smallest index not below `index` whose cell lies in the box; None when there is
        none.  Raises CurveError when the box is not of this curve."""
        if box.low == box.high:
            only = self._index_of(box.low)
            return only if only >= index else None
        self._check(box)
        return None if index >= self.size else self._tree.next_match(box, max(index, 0))

    def has_match(self, box: Box, first: int, last: int) -> bool:
        """Whether the cell of some index from `first` to `last`, both included, lies in the box.
        Raises CurveError when the box is not of this curve."""
        if box.low == box.high:
            return first <= self._index_of(box.low) <= last
        self._check(box)
        first, last = max(first, 0), min(last, self.size - 1)
        return first <= last and self._tree.has_match(box, first, last)

    def clusters(
        self, box: Box | Sequence[tuple[int, int]], limit: int | None = None
    ) -> list[Interval]:
        """The runs of indexes that the box covers, `(first, last)` in curve order.

        `box` may be one inclusive `(low, high)` a dimension.  Without `limit` the list is exact,
        and as long as the box's surface.  With it, at most so many runs that together hold the
        box, exact where that many suffice for a small box; the work is bounded too.  Raises
        CurveError for a box of another curve, or a limit below 1."""
        region = Box.of(box)
        self._check(region)
        if limit is None:
            return list(clusters.exact_clusters(self._tree, region))
        if limit < 1:
            raise CurveError(f"limit is {limit}; a box needs at least one cluster")
        return clusters.limited_clusters(self._tree, region, limit)

    def _check(self, box: Box) -> None:
        if len(box.low) != self.dimensions or max(box.high) >= self.side:
            raise CurveError(
                f"box {box.low} to {box.high} is not on a curve of {self.dimensions} dimensions "
                f"with cells 0 to {self.side - 1}"
            )
