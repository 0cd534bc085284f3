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
from sim.spark.growth import hashed_ring, load_aware_ring
from sim.spark.questions import Questions
from sim.spark.rings import Numbers
from sim.spark.systems import Overlay, System
from sim.spark.visits import Queries, Visits
from sim.spark.workload import Workload

Batches = Iterator[pa.RecordBatch]
Kernel = Callable[[Batches], Batches]
ROUTINGS: Final = ("first_match", "fingers", "published")
"""The ways of routing that are walked; bit n of `reached_by` is the n-th."""
PEERS_AT_ONCE: Final = 400_000
"""Queries are routed in groups that together face about so many peers, which bounds the memory."""


def coded(workload: Workload) -> Kernel:
    """Drawn numbers to (drawn, code): equal codes are equal profiles."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            drawn = batch.column(0).to_numpy()
            codes = workload.codes(workload.ranks(drawn))
            yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(codes)], ["drawn", "code"])

    return run


def indexed(workload: Workload) -> Kernel:
    """Drawn numbers to profiles: the rank of each attribute's value, and the curve index."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            ranks = workload.ranks(batch.column(0).to_numpy())
            columns = [pa.array(rank.astype(np.int32)) for rank in ranks]
            index = pa.array(workload.indexes(ranks))
            names = ["drawn", *(f"value{place}" for place in range(len(ranks))), "index"]
            yield pa.RecordBatch.from_arrays([batch.column(0), *columns, index], names)

    return run


def sampled(seed: int, one_in: int) -> Kernel:
    """The profiles of a sample, drawn and index alone."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            drawn = batch.column("drawn")
            chosen = words(drawn.to_numpy(), seed, Stream.SAMPLE) % np.uint64(one_in) == 0
            kept = pa.RecordBatch.from_arrays([drawn, batch.column("index")], ["drawn", "index"])
            yield kept.filter(pa.array(chosen))

    return run


def grown(
    systems: Sequence[System], limits: Sequence[int], drawn: Numbers, index: Numbers,
    seed: int, index_bits: int,
) -> Kernel:  # fmt: skip
    """Numbers of systems to their rings, a row a peer; by the sampled profiles that each keeps."""

    def ring_of(system: System) -> Numbers:
        if system.placement == "hash":
            return hashed_ring(system.peers, seed, index_bits)
        keys = np.sort(index[drawn < limits[system.number]])
        return load_aware_ring(system.peers, seed, index_bits, keys)

    def run(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                lasts = ring_of(systems[number])
                system = pa.array(np.full(len(lasts), number, dtype=np.int32))
                peer = pa.array(np.arange(len(lasts), dtype=np.int32))
                yield pa.RecordBatch.from_arrays(
                    [system, peer, pa.array(lasts)], ["system", "peer", "last"]
                )

    return run


def placed(overlay: Overlay, attributes: int) -> Kernel:
    """Profiles to a row for each system that keeps them, with the peer that does."""
    names = [f"value{place}" for place in range(attributes)]

    def run(batches: Batches) -> Batches:
        for batch in batches:
            drawn = batch.column("drawn").to_numpy()
            index = batch.column("index").to_numpy()
            values = [batch.column(name) for name in names]
            for system in range(len(overlay.limits)):
                kept = overlay.stored(system, drawn)
                if not kept.any():
                    continue
                peers = overlay.places(system, index[kept]).astype(np.int32)
                chosen = pa.array(kept)
                columns = values if kept.all() else [value.filter(chosen) for value in values]
                number = pa.array(np.full(len(peers), system, dtype=np.int32))
                yield pa.RecordBatch.from_arrays(
                    [number, pa.array(peers), *columns], ["system", "peer", *names]
                )

    return run


def counted(overlay: Overlay) -> Kernel:
    """Profiles to how many each peer keeps of those of one partition."""

    def run(batches: Batches) -> Batches:
        rings = overlay.rings
        loads = np.zeros(len(rings.lasts), dtype=np.int64)
        for batch in batches:
            drawn, index = batch.column("drawn").to_numpy(), batch.column("index").to_numpy()
            for system in range(len(overlay.limits)):
                peers = overlay.places(system, index[overlay.stored(system, drawn)])
                begin, count = int(rings.begins[system]), int(rings.counts[system])
                loads[begin : begin + count] += np.bincount(peers, minlength=count)
        seats = np.flatnonzero(loads)
        if len(seats):
            columns = [rings.ring_of[seats].astype(np.int32), rings.places(seats).astype(np.int32)]
            yield pa.RecordBatch.from_arrays(
                [*map(pa.array, columns), pa.array(loads[seats])], ["system", "peer", "profiles"]
            )

    return run


def asked(questions: Questions, attributes: int) -> Kernel:
    """Numbers of queries to what each asks: its kind, text, and the range of each attribute."""
    ends = [f"{end}{place}" for place in range(attributes) for end in ("low", "high")]

    def run(batches: Batches) -> Batches:
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            found = [questions[number] for number in numbers]
            ranges = [
                pa.array([one.given[place].ranks[end] for one in found], pa.int32())
                for place in range(attributes)
                for end in (0, 1)
            ]
            kinds, texts = [one.kind for one in found], [one.selector for one in found]
            yield pa.RecordBatch.from_arrays(
                [batch.column(0), pa.array(kinds), pa.array(texts), *ranges],
                ["query", "kind", "selector", *ends],
            )

    return run


def routed(workload: Workload, questions: Questions, overlay: Overlay) -> Kernel:
    """Numbers of pairs (query, system) to the peers that each way of routing reaches there, and
    what it costs."""
    systems = len(overlay.limits)
    schema = pa.schema(
        [
            ("system", pa.int32()), ("query", pa.int64()), ("peers", pa.list_(pa.int32())),
            ("reached_by", pa.list_(pa.int32())),
            *((f"{routing}_{cost}", pa.int64()) for routing in ROUTINGS for cost in COSTS),
        ]
    )  # fmt: skip

    def run(batches: Batches) -> Batches:
        for batch in batches:
            pairs = batch.column(0).to_numpy()
            system, query = pairs % systems, pairs // systems
            for some in _groups(overlay.rings.counts[system]):
                group = _Group(workload, questions, overlay, system[some], query[some])
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
        self, workload: Workload, questions: Questions, overlay: Overlay,
        system: Numbers, query: Numbers,
    ) -> None:  # fmt: skip
        self._system, self._query, self._rings = system, query, overlay.rings
        numbers, place = np.unique(query, return_inverse=True)
        low, high = questions.boxes(numbers.tolist())
        pair = query * len(overlay.limits) + system
        drawn = words(pair, workload.seed, Stream.ORIGIN) % overlay.rings.counts[system].astype(
            np.uint64
        )
        origins = overlay.rings.begins[system] + drawn.astype(np.int64)
        queries = Queries(low[:, place], high[:, place], origins)
        published, touched = published_squid.spread(workload.refinement, self._rings, queries)
        self._ways = [
            handing_on.by_first_match(workload.refinement, self._rings, queries),
            handing_on.by_fingers(self._rings, queries, touched),
            published,
        ]

    def columns(self) -> list[pa.Array]:
        """In the order of the schema."""
        count = len(self._query)
        costs = [cost for way in self._ways for cost in _costs(way, count)]
        return [
            pa.array(self._system.astype(np.int32)),
            pa.array(self._query),
            *self._reached(count),
            *(pa.array(cost) for cost in costs),
        ]

    def _reached(self, count: int) -> list[pa.Array]:
        """By query: the peers that any way reaches, and by which ways each is reached."""
        width = len(self._rings.lasts)
        pairs = [way.processing[0] * width + way.processing[1] for way in self._ways]
        every = np.unique(np.concatenate(pairs))
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
