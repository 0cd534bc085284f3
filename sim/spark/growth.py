"""The rings of the study: peers by hash, and peers that joined where the ring wanted them.

Law of this file: pure, no Spark; every decision of a joiner is that of `chord.placement`, as
`sim.load_model` takes it and real peers do (tests/sim/test_load_model.py).  Only counting differs:
the number of records before each peer is kept, and all that one joiner asks is looked up at once.
So the ring is the model's, identifier for identifier, and a join among half a million peers takes
as long as one among thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, cast

import numpy as np

from chord import Arc, Contact, LoadAnswer, identifier, placement
from sim.load_model import ATTEMPTS_MAX, SUCCESSORS, Ways
from sim.spark.draws import Stream, words
from sim.spark.rings import Numbers
from sim.spark.seating import Seating

Placement = Literal["hash", "load-aware"]
PLACEMENTS: Final[tuple[Placement, ...]] = ("hash", "load-aware")
KEYS_A_PEER: Final = 64
"""Records by which a ring grows, a peer: a sample, as medians of arcs need no more, and there
is room for it."""
_SPARE: Final = 16
"""Peers drawn beyond those wanted: two hashes may fall on one index."""


class Asked(NamedTuple):
    """Some peers, by place in the ring, and what they answer a joiner."""

    ids: Numbers
    after: Numbers
    """The identifiers before theirs."""
    before: Numbers
    """Records up to there, from index 0 on."""
    through: Numbers
    """Records up to their own identifiers."""
    loads: Numbers
    lengths: Numbers
    """Of their arcs; 0 is the whole circle."""


class _Walks(NamedTuple):
    """Where the walks of some joiners lead: one row a joiner, one column a walk."""

    points: Numbers
    merged_before: Numbers
    """Of the peers that are merged, those before each point."""
    steps: Numbers
    """How many peers behind the owner of the point each peer is that a walk asks."""


class Growing:
    """A ring in which peers join while its records stay as they are.

    `keys` are the indexes under which records lie, sorted; identifiers are as wide as indexes.
    The founder joins under its identifier, the others by `join`."""

    def __init__(self, keys: Numbers, index_bits: int, founder: int) -> None:
        self._keys, self._bits = keys, index_bits
        self._peers = Seating()
        """Beside each peer: records at or before its identifier."""
        self.join_at(founder)

    @property
    def last_indexes(self) -> Numbers:
        """By rising identifier: the last index that each peer owns."""
        return self._peers.all()[0]

    @property
    def loads(self) -> Numbers:
        """By rising identifier: how many records each peer has."""
        return self._asked(np.arange(len(self._peers))).loads

    def join_at(self, peer_id: int) -> None:
        """A peer joins under an identifier chosen elsewhere."""
        self._peers.add(peer_id, int(np.searchsorted(self._keys, peer_id, "right")))

    def join(self, seeds: Sequence[int]) -> Iterator[int | None]:
        """Peers join one after the other, each where the ring wants it; where that is, and None
        for one that found no place and did not join."""
        done = 0
        while done < len(seeds):
            self._peers.merge()
            count = len(self._peers)
            same_ways = (1 << (count - 1).bit_length()) - count + 1
            some = seeds[done : done + min(same_ways, self._peers.newest_max)]
            yield from self._join_some(some)
            done += len(some)

    def _join_some(self, seeds: Sequence[int]) -> Iterator[int | None]:
        """Peers join while `Ways` stay the same and nothing is merged."""
        walks = self._walks(seeds, 0)
        for number, seed in enumerate(seeds):
            place = self._place(self._reached(walks, number))
            attempt = 1
            while place is None and attempt < ATTEMPTS_MAX:
                place = self._place(self._reached(self._walks([seed], attempt), 0))
                attempt += 1
            if place is not None:
                self.join_at(place)
            yield place

    # -- whom a joiner asks

    def _walks(self, seeds: Sequence[int], attempt: int) -> _Walks:
        ways = Ways.of(len(self._peers))
        walks, stops = range(placement.WALKS), range(ways.stops - 1)
        points = np.array([
            [placement.point_of_walk(seed, attempt, walk, self._bits) for walk in walks]
            for seed in seeds
        ])  # fmt: skip
        draws = np.array([
            [placement.draw_of_stop(seed, attempt, walk, stop) for walk in walks for stop in stops]
            for seed in seeds
        ], dtype=np.int64)  # fmt: skip
        width = 1 + len(ways.fingers)
        on = np.array([placement.next_stop(ways.successors, ways.fingers, way) or 0
                       for way in range(width)])  # fmt: skip
        steps = np.zeros((len(seeds), len(walks), ways.stops), dtype=np.int64)
        steps[..., 1:] = on[draws % width].reshape(len(seeds), len(walks), -1).cumsum(axis=2)
        return _Walks(points, self._peers.merged_before(points), steps)

    def _reached(self, walks: _Walks, number: int) -> Asked:
        count = len(self._peers)
        if count <= SUCCESSORS:
            return self._asked(np.arange(count))
        starts = walks.merged_before[number] + self._peers.newest_before(walks.points[number])
        return self._asked((starts[:, None] + walks.steps[number]).ravel() % count)

    def _asked(self, places: Numbers) -> Asked:
        ids, through = self._peers.of(places)
        after, before = self._peers.of((places - 1) % len(self._peers))
        over_zero = np.where(places == 0, len(self._keys), 0)
        lengths = (ids - after) & ((1 << self._bits) - 1)
        return Asked(ids, after, before, through, through - before + over_zero, lengths)

    # -- which arc it takes

    def _place(self, asked: Asked) -> int | None:
        """The first place among `placement.choices` of what was asked."""
        # The longest of the heaviest comes first, and nearly always it can be split.
        heaviest = np.flatnonzero(asked.loads == asked.loads.max())
        lengths = asked.lengths[heaviest]
        for some in (heaviest[lengths == lengths.max()], np.arange(len(asked.ids))):
            peers = {int(asked.ids[at]): at for at in some.tolist()}
            for offer in placement.choices(self._answer(asked, at) for at in peers.values()):
                place = self._split(asked, peers[offer.contact.id])
                if place is not None:
                    return place
        return None

    def _answer(self, asked: Asked, at: int) -> LoadAnswer:
        length = int(asked.lengths[at]) or 1 << self._bits
        contact = Contact(int(asked.ids[at]), "")
        return LoadAnswer(contact, int(asked.loads[at]), length, granting=False, onward=None)

    def _split(self, asked: Asked, at: int) -> int | None:
        after, last = int(asked.after[at]), int(asked.ids[at])
        before, through = int(asked.before[at]), int(asked.through[at])
        if after < last:
            keys = self._keys[before:through]
        else:
            keys = np.concatenate([self._keys[before:], self._keys[:through] + (1 << self._bits)])
        offsets = cast("Sequence[int]", keys - after)  # an array is as good: bisected, looked up
        place = placement.split_id_of_sorted(Arc(after, last), offsets, self._bits, 1)
        return None if place is None else int(place)


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
    founder, *joiners = (identifier(f"{seed}/peer {number}") for number in range(peers))
    by_hash = 160 - index_bits
    ring = Growing(keys, index_bits, founder >> by_hash)
    for name, place in zip(joiners, ring.join(joiners), strict=True):
        if place is None:  # as a peer that is told no place
            ring.join_at(name >> by_hash)
    return ring.last_indexes
