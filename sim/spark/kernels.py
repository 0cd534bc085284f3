"""What Python workers do for the study: Arrow batches in, Arrow batches out.

Law of this file: functions that make kernels for `mapInArrow`; all decisions are in the pure
modules, which the kernels carry along as values.  No Spark here either: a kernel sees Arrow alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from sim.spark import handing_on, published_squid
from sim.spark.draws import Stream, words
from sim.spark.growth import KEYS_A_PEER, hashed_ring, load_aware_ring
from sim.spark.questions import Questions, boxes
from sim.spark.rings import Numbers, Rings, distinct_numbers
from sim.spark.systems import Overlay, System
from sim.spark.tally import Tally
from sim.spark.visits import Queries, Visits
from sim.spark.workload import Workload

Batches = Iterator[pa.RecordBatch]
Kernel = Callable[[Batches], Batches]
ROUTINGS: Final = ("first_match", "fingers", "published")
"""The ways of routing that are walked; bit n of `reached_by` is the n-th."""
PEERS_AT_ONCE: Final = 1_500_000
"""Queries are routed in groups that together face about so many peers, which bounds the memory."""


def coded(workload: Workload) -> Kernel:
    """Drawn numbers to (drawn, code): equal codes are equal profiles."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            drawn = batch.column(0).to_numpy()
            codes = workload.codes(workload.ranks(drawn))
            yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(codes)], ["drawn", "code"])

    return run


def grown(workload: Workload, systems: Sequence[System]) -> Kernel:
    """Places in `systems` to their rings, a row a peer.  A ring that follows the load grows by a
    sample of the profiles that the system keeps, which are drawn anew here."""

    def ring_of(system: System) -> Numbers:
        seed, index_bits = workload.seed, workload.space.curve.index_bits
        if system.placement == "hash":
            return hashed_ring(system.peers, seed, index_bits)
        one_in = max(1, system.profiles // (KEYS_A_PEER * system.peers))
        keys = workload.sampled_indexes(system.profiles, one_in)
        return load_aware_ring(system.peers, seed, index_bits, keys)

    def run(batches: Batches) -> Batches:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                lasts = ring_of(systems[place])
                system = pa.array(np.full(len(lasts), systems[place].number, dtype=np.int32))
                peer = pa.array(np.arange(len(lasts), dtype=np.int32))
                yield pa.RecordBatch.from_arrays(
                    [system, peer, pa.array(lasts)], ["system", "peer", "last"]
                )

    return run


def placed(workload: Workload, overlay: Overlay) -> Kernel:
    """Drawn numbers to a row for each system that keeps the profile: the peer that does, and the
    ranks of the values."""
    names = ["system", "peer", *(f"value{place}" for place in range(len(workload.attributes)))]

    def run(batches: Batches) -> Batches:
        for batch in batches:
            drawn = batch.column(0).to_numpy()
            ranks = workload.ranks(drawn)
            index = workload.indexes(ranks)
            values = [rank.astype(np.int32) for rank in ranks]
            for system in range(len(overlay.limits)):
                kept = overlay.stored(system, drawn)
                if not kept.any():
                    continue
                peers = overlay.places(system, index[kept]).astype(np.int32)
                number = np.full(len(peers), system, dtype=np.int32)
                columns = [number, peers, *(value[kept] for value in values)]
                yield pa.RecordBatch.from_arrays([pa.array(one) for one in columns], names)

    return run


def tallied(workload: Workload, questions: Questions, count: int, overlay: Overlay) -> Kernel:
    """Drawn numbers to how many of the profiles of one partition each peer keeps, and how many
    match each of so many queries in each system."""

    def run(batches: Batches) -> Batches:
        tally = Tally(overlay, [questions[number] for number in range(count)])
        for batch in batches:
            drawn = batch.column(0).to_numpy()
            ranks = workload.ranks(drawn)
            tally.add(drawn, ranks, workload.indexes(ranks))
        seats = np.flatnonzero(tally.loads)
        rings = overlay.rings
        if len(seats):
            yield _tallied(rings.ring_of[seats], None, rings.places(seats), tally.loads[seats])
        if len(tally.matches):
            query, system = np.nonzero(tally.matches)
            yield _tallied(system, query, None, tally.matches[query, system])

    return run


def _tallied(
    system: Numbers, query: Numbers | None, peer: Numbers | None, number: Numbers
) -> pa.RecordBatch:
    columns = [
        pa.array(system.astype(np.int32)),
        pa.nulls(len(system), pa.int64()) if query is None else pa.array(query),
        pa.nulls(len(system), pa.int32()) if peer is None else pa.array(peer.astype(np.int32)),
        pa.array(number),
    ]
    return pa.RecordBatch.from_arrays(columns, ["system", "query", "peer", "number"])


def ends(attributes: int) -> list[str]:
    """The columns of what a query asks: first and last rank of each attribute."""
    return [f"{end}{place}" for place in range(attributes) for end in ("low", "high")]


def routed(workload: Workload, questions: Questions, rings: Rings) -> Kernel:
    """Numbers of pairs (query, system) to what the query asks, the peers that each way of routing
    reaches there, and what it costs."""
    systems = len(rings.counts)
    schema = pa.schema(
        [
            ("system", pa.int32()), ("query", pa.int64()), ("kind", pa.string()),
            *((end, pa.int32()) for end in ends(len(workload.attributes))),
            ("peers", pa.list_(pa.int32())), ("reached_by", pa.list_(pa.int32())),
            *((f"{routing}_{cost}", pa.int64()) for routing in ROUTINGS for cost in COSTS),
        ]
    )  # fmt: skip

    def run(batches: Batches) -> Batches:
        for batch in batches:
            pairs = batch.column(0).to_numpy()
            system, query = pairs % systems, pairs // systems
            for some in _groups(rings.counts[system]):
                group = _Group(workload, questions, rings, system[some], query[some])
                yield pa.RecordBatch.from_arrays(group.columns(), schema=schema)

    return run


COSTS: Final = ("processing", "messages", "hops", "routing_peers")


def _groups(peers: Numbers) -> Iterator[slice]:
    """Stretches of queries that together face not too many peers."""
    begin, total = 0, 0
    for at, count in enumerate(peers.tolist()):
        if total and total + count > PEERS_AT_ONCE:
            yield slice(begin, at)
            begin, total = at, 0
        total += count
    yield slice(begin, len(peers))


class _Group:
    """Some queries in some systems, routed in every way."""

    def __init__(
        self, workload: Workload, questions: Questions, rings: Rings,
        system: Numbers, query: Numbers,
    ) -> None:  # fmt: skip
        self._system, self._query, self._rings = system, query, rings
        numbers, self._place = np.unique(query, return_inverse=True)
        self._asked = [questions[number] for number in numbers.tolist()]
        low, high = boxes(self._asked)
        pair = query * len(rings.counts) + system
        drawn = words(pair, workload.seed, Stream.ORIGIN) % rings.counts[system].astype(np.uint64)
        origins = rings.begins[system] + drawn.astype(np.int64)
        queries = Queries(low[:, self._place], high[:, self._place], origins)
        published, touched = published_squid.spread(workload.refinement, rings, queries)
        self._ways = [
            handing_on.by_first_match(workload.refinement, rings, queries),
            handing_on.by_fingers(rings, queries, touched),
            published,
        ]

    def columns(self) -> list[pa.Array]:
        """In the order of the schema."""
        count = len(self._query)
        asked = [self._asked[place] for place in self._place.tolist()]
        ranks = np.array([[one.ranks for one in question.given] for question in asked])
        costs = [cost for way in self._ways for cost in _costs(way, count)]
        return [
            pa.array(self._system.astype(np.int32)),
            pa.array(self._query),
            pa.array([question.kind for question in asked]),
            *(pa.array(end) for end in ranks.reshape(count, -1).T.astype(np.int32)),
            *self._reached(count),
            *(pa.array(cost) for cost in costs),
        ]

    def _reached(self, count: int) -> list[pa.Array]:
        """By query: the peers that any way reaches, and by which ways each is reached."""
        width = len(self._rings.lasts)
        pairs = [way.processing[0] * width + way.processing[1] for way in self._ways]
        every = distinct_numbers(np.concatenate(pairs))
        by = np.zeros(len(every), dtype=np.int32)
        for bit, some in enumerate(pairs):
            by[np.searchsorted(every, some)] |= 1 << bit
        peers = self._rings.places(every % width).astype(np.int32)
        offsets = pa.array(np.searchsorted(every // width, np.arange(count + 1)).astype(np.int32))
        return [
            pa.ListArray.from_arrays(offsets, pa.array(peers)),
            pa.ListArray.from_arrays(offsets, pa.array(by)),
        ]


def _costs(way: Visits, count: int) -> list[Numbers]:
    """By query: peers that process it, messages, hops, peers that pass something on."""
    processing = np.bincount(way.processing[0], minlength=count)
    passing = np.bincount(way.forwarding[0], minlength=count)
    return [processing, way.messages, way.frames, passing]
