"""The `hilbertcurve` package as a codec: the definition of our index, and the oracle of our own.

Law of this file: arguments are already checked by `squid.hilbert`, as the package itself lets
points and indexes out of range pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hilbertcurve.hilbertcurve import HilbertCurve as PackagedCurve

from squid.index_keys import Keys, indexes_from_keys, keys_from_indexes


class ReferenceCodec:
    """The packaged curve behind the interface of the native codec."""

    __slots__ = ("_curve", "_index_bits")

    def __init__(self, dimensions: int, bits: int) -> None:
        self._curve = PackagedCurve(p=bits, n=dimensions)
        self._index_bits = dimensions * bits

    def encode(self, point: Sequence[int]) -> int:
        """The index of a cell."""
        return int(self._curve.distance_from_point(list(point)))

    def decode(self, index: int) -> tuple[int, ...]:
        """The cell at an index."""
        return tuple(int(cell) for cell in self._curve.point_from_distance(index))

    def encode_array(self, points: npt.NDArray[np.uint32]) -> Keys:
        """The indexes of cells, one a row."""
        return keys_from_indexes([self.encode(row) for row in points.tolist()], self._index_bits)

    def decode_array(self, keys: Keys) -> npt.NDArray[np.uint32]:
        """The cells at indexes, one a row."""
        rows = [self.decode(index) for index in indexes_from_keys(keys)]
        return np.array(rows, dtype=np.uint32).reshape(len(rows), self._curve.n)
