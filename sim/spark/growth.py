"""The rings of the study: peers by hash, and peers that joined where the ring wanted them.

Law of this file: pure, no Spark; every decision of a joiner is that of `chord.placement`, as
`sim.load_model` takes it and real peers do (tests/sim/test_load_model.py).  Only counting differs:
`Growing` keeps the number of records before each peer, so that a ring of 50,000 grows in seconds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, Literal, cast

import numpy as np

from chord import identifier, placement
from sim.load_model import LoadModel
from sim.spark.draws import Stream, words
from sim.spark.rings import Numbers

Placement = Literal["hash", "load-aware"]
PLACEMENTS: Final[tuple[Placement, ...]] = ("hash", "load-aware")
KEYS_A_PEER: Final = 64
"""Records by which a ring grows, a peer: a sample, as medians of arcs need no more, and there
is room for it."""
_SPARE: Final = 16
"""Peers drawn beyond those wanted: two hashes may fall on one index."""


class Growing(LoadModel):
    """A `LoadModel` whose records stay as they are while peers join, as one sorted array.

    `keys` are the indexes under which records lie, sorted; identifiers are as wide as indexes."""

    def __init__(self, keys: Numbers, index_bits: int) -> None:
        super().__init__(bits=index_bits)
        self._sorted = keys
        self._through: list[int] = []
        """By peer: records at or before its identifier."""

    @property
    def last_indexes(self) -> Numbers:
        """By rising identifier: the last index that each peer owns."""
        return np.array(self.ids, dtype=np.int64)

    def put(self, keys: Iterable[int]) -> None:  # noqa: ARG002 (the signature of `LoadModel`)
        """Raises TypeError: peers join where the records are."""
        raise TypeError("a growing ring has its records from the start")

    def load(self, at: int) -> int:
        """How many records lie there."""
        through = self._through[at] - self._through[at - 1] if at else self._first_load()
        return through if len(self.ids) > 1 else len(self._sorted)

    def _first_load(self) -> int:
        """Of the peer whose arc runs over 0."""
        return self._through[0] + len(self._sorted) - self._through[-1]

    def join_at(self, peer_id: int) -> None:
        """A peer joins under an identifier chosen elsewhere."""
        at = bisect_left(self.ids, peer_id)
        self.ids.insert(at, peer_id)
        self._through.insert(at, int(np.searchsorted(self._sorted, peer_id, "right")))

    def _split(self, at: int) -> int | None:
        offsets = self._offsets(at)
        return placement.split_id_of_sorted(self.arc(at), offsets, self._bits, self._step)

    def _offsets(self, at: int) -> Sequence[int]:
        """How far the records of a peer lie from the start of its arc, in rising order."""
        after = self.ids[at - 1]
        if at:
            keys = self._sorted[self._through[at - 1] : self._through[at]] - after
        else:
            behind = self._sorted[: self._through[0]] + (1 << self._bits)
            keys = np.concatenate([self._sorted[self._through[-1] :], behind]) - after
        return cast("Sequence[int]", keys)  # an array is as good: it is bisected and looked up


def hashed_ring(peers: int, seed: int, index_bits: int) -> Numbers:
    """The last index of each peer where identifiers are hashes.  Raises ValueError where so many
    peers do not find indexes of their own."""
    numbers = np.arange(peers + _SPARE)
    drawn = (words(numbers, seed, Stream.PEER) >> np.uint64(64 - index_bits)).astype(np.int64)
    lasts, places = np.unique(drawn, return_index=True)
    if len(lasts) < peers:
        raise ValueError(f"{peers:,} peers on a curve of {index_bits} bits")
    return np.sort(drawn[np.sort(places)[:peers]])


def load_aware_ring(peers: int, seed: int, index_bits: int, keys: Numbers) -> Numbers:
    """The last index of each peer where peers join one after the other, each where it is wanted,
    and the founder has all records; `keys` are their indexes, sorted."""
    ring = Growing(keys, index_bits)
    for number in range(peers):
        name = identifier(f"{seed}/peer {number}")
        if number == 0 or ring.join(name) is None:  # as a peer that is told no place
            ring.join_at(name >> 160 - index_bits)
    return ring.last_indexes
