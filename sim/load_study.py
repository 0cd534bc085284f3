"""How evenly peers carry their records: placement by hash, and load-aware.

Law of this file: it draws words and orders joins, and measures; every decision is the peers' own
(`sim.load_model`).  Records are triples of words.  *Data first*: peers join a founder that has all
records.  *Ring first*: peers join, then the records come, then peers move.  *At once*: data first,
and peers join by so many at a time, none of whom sees the others.  hilbert.md section 6.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

from chord import RelocationConfig, identifier
from sim.load_model import LoadModel
from sim.vocabulary import vocabulary
from squid import KeywordSpace, Word, WordInterval, indexes_from_keys

Words = Literal["distinct", "zipf"]
Case = Literal["hash", "data first", "at once", "ring first"]
Progress = Callable[[str], None]

BITS: Final = 160
TARGETS: Final[dict[Words, float]] = {"distinct": 2.5, "zipf": 4.5}
"""The heaviest peer's load over the mean, at most."""
SKETCHED: Final[dict[tuple[Words, Case], tuple[float, float]]] = {
    ("distinct", "hash"): (10.7, 0.64),
    ("distinct", "data first"): (2.0, 0.10),
    ("distinct", "ring first"): (2.0, 0.07),
    ("zipf", "hash"): (13.0, 0.65),
    ("zipf", "data first"): (3.9, 0.11),
    ("zipf", "ring first"): (2.0, 0.08),
}
"""Largest over mean and Gini index of a first sketch, on an English dictionary, 1,000 peers and
300,000 records; its "ring first" let light peers join again after data first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """The size of the study."""

    peers: int = 1000
    records: int = 300_000
    words: Sequence[str] = ()
    """What the triples are made of; without any, `vocabulary` words are made up."""
    vocabulary: int = 50_000
    alphabet: str = "abcdefghijklmnopqrstuvwxyz"
    """What the space declares its words to be made of."""
    at_once: int = 64
    """Joins at the same time."""
    record_bytes: int = 550
    """One record in a hand-off: three words and a payload of 200 bytes."""
    looks_max: int = 30
    """Looks of each peer at its own place: as many minutes."""
    seeds: Sequence[int] = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Spread:
    """How evenly a load is spread."""

    largest: float
    """Over the mean."""
    gini: float
    empty: float
    """The share of peers that carry nothing."""

    @classmethod
    def of(cls, loads: Sequence[int]) -> Spread:
        """Of the loads of all peers; raises ValueError when nobody carries anything."""
        total, count = sum(loads), len(loads)
        if not total:
            raise ValueError("a spread of no load at all")
        ranked = sum(rank * load for rank, load in enumerate(sorted(loads), 1))
        gini = 2 * ranked / (count * total) - (count + 1) / count
        return cls(max(loads) * count / total, gini, loads.count(0) / count)


@dataclass(frozen=True, slots=True)
class LoadRow:
    """One run."""

    words: Words
    case: Case
    seed: int
    joined: Spread
    """When all had joined and all records had come."""
    settled: Spread
    """When nobody had moved for some looks, or after `looks_max`."""
    moves: int
    handed_over_by_joins: int
    """Records."""
    handed_over_by_moves: int
    """Records."""
    looks: int
    """After how many looks of each peer, about a minute apart, the last one moved."""

    @property
    def meets_target(self) -> bool:
        """Whether no peer carries more than it should; nothing is promised of hash placement."""
        return self.case == "hash" or self.settled.largest <= TARGETS[self.words]


def study(plan: LoadPlan, progress: Progress = lambda _: None) -> list[LoadRow]:
    """One row a run: words, case and seed; `progress` hears of each."""
    rows: list[LoadRow] = []
    for words in TARGETS:
        for seed in plan.seeds:
            keys, step = drawn_keys(plan, words, seed)
            for case in CASES:
                rows.append(run(plan, words, case, seed, keys, step))
                largest = rows[-1].settled.largest
                progress(f"{words} words, {case}, seed {seed}: {largest:.2f} times the mean")
    return rows


def drawn_keys(plan: LoadPlan, words: Words, seed: int) -> tuple[list[int], int]:
    """The ring identifiers under which the records lie, and how far two indexes lie apart."""
    names = ("first", "second", "third")
    space = KeywordSpace("triples", [Word(name, plan.alphabet) for name in names])
    cells = [
        space.box({name: WordInterval(word, word) for name in names}).low[0]
        for word in plan.words or vocabulary(plan.vocabulary, seed)
    ]
    stream = random.Random(f"records {seed}")
    stream.shuffle(cells)  # which words are frequent has nothing to do with the alphabet
    draw = _drawer(stream, len(cells), words)
    triples = [[cells[draw()], cells[draw()], cells[draw()]] for _ in range(plan.records)]
    shift = BITS - space.curve.index_bits
    indexes = indexes_from_keys(space.curve.encode_array(triples))
    return [index << shift for index in indexes], 1 << shift


def _drawer(stream: random.Random, count: int, words: Words) -> Callable[[], int]:
    """Draws words: each as likely, or the n-th 1/n as often as the first."""
    if words == "distinct":
        return lambda: stream.randrange(count)
    shares = list(accumulate(1 / rank for rank in range(1, count + 1)))
    return lambda: bisect_right(shares, stream.random() * shares[-1])


def run(
    plan: LoadPlan, words: Words, case: Case, seed: int, keys: Sequence[int], step: int
) -> LoadRow:
    """One ring from its founder to rest."""
    model = LoadModel(step=step, bits=BITS)
    CASES[case](model, plan, seed, keys)
    joined, handed_over = Spread.of(model.loads), model.handed_over
    looks = 0 if case == "hash" else _settle(model, plan, seed)
    return LoadRow(
        words, case, seed, joined, Spread.of(model.loads), model.moves, handed_over,
        model.handed_over - handed_over, looks,
    )  # fmt: skip


def _settle(model: LoadModel, plan: LoadPlan, seed: int) -> int:
    """Let all look around until nobody has moved for some looks; after which one the last did."""
    stream, config = random.Random(f"moves {seed}"), RelocationConfig(load_min=1)
    last = 0
    for look in range(1, plan.looks_max + 1):
        moves = model.moves
        model.look_around(stream, config)
        if model.moves > moves:
            last = look
        elif look - last > config.looks:
            break
    return last


def _by_hash(model: LoadModel, plan: LoadPlan, seed: int, keys: Sequence[int]) -> None:
    model.put(keys)
    for number in range(plan.peers):
        model.join_at(_seed(seed, number))


def _data_first(model: LoadModel, plan: LoadPlan, seed: int, keys: Sequence[int]) -> None:
    model.put(keys)
    model.join_at(_seed(seed, 0))
    for number in range(1, plan.peers):
        model.join(_seed(seed, number))


def _at_once(model: LoadModel, plan: LoadPlan, seed: int, keys: Sequence[int]) -> None:
    model.put(keys)
    model.join_at(_seed(seed, 0))
    for first in range(1, plan.peers, plan.at_once):
        together = range(first, min(first + plan.at_once, plan.peers))
        places = model.join_together([_seed(seed, number) for number in together])
        for number, place in zip(together, places, strict=True):
            if place is None:  # as a peer that is told no place
                model.join_at(_seed(seed, number))


def _ring_first(model: LoadModel, plan: LoadPlan, seed: int, keys: Sequence[int]) -> None:
    _data_first(model, plan, seed, ())
    model.put(keys)


CASES: Final[dict[Case, Callable[[LoadModel, LoadPlan, int, Sequence[int]], None]]] = {
    "hash": _by_hash,
    "data first": _data_first,
    "at once": _at_once,
    "ring first": _ring_first,
}


def _seed(seed: int, number: int) -> int:
    """What a peer would draw by: the hash of its address."""
    return identifier(f"{seed}/peer {number}", BITS)
