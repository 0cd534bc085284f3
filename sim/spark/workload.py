"""The study's profiles: unique tuples of keywords and numbers, each a function of its number.

Law of this file: pure numpy, no Spark; the same for any partitioning.  Numbers are *drawn*: the
profile of a number is drawn by its seed and number alone, so some tuples are drawn again; the study
keeps the first of each.  Report chapter 4; Squid, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

import numpy as np

from sim.spark.attributes import Attribute, Source, number_attribute, word_attribute
from sim.spark.draws import Stream, uniform, words
from sim.spark.rings import Numbers
from squid import ArrayRefinement, KeywordSpace

SpaceName = Literal["study", "words2", "words3"]
"""The report's space (two words and a number), and those of the Squid papers (words alone)."""
BITS: Final = 20
"""Of each dimension: with three of them an index has 60 bits, and fits Spark's LONG."""
_LOG_STEP: Final = 0.05
_AT_ONCE: Final = 65_536


@dataclass(frozen=True)
class Workload:
    """Which profiles there are, by seed."""

    space_name: SpaceName
    source: Source
    seed: int
    attributes: tuple[Attribute, ...] = field(repr=False)

    @classmethod
    def of(cls, space_name: SpaceName, source: Source, seed: int) -> Workload:
        """The workload of a name.  Raises ImportError where real words are not installed."""
        words = 3 if space_name == "words3" else 2
        attributes = [word_attribute(f"word{place}", source, BITS) for place in range(1, words + 1)]
        if space_name == "study":
            attributes.append(number_attribute("memory", BITS))
        return cls(space_name, source, seed, tuple(attributes))

    def with_seed(self, seed: int) -> Workload:
        """The same attributes, other draws."""
        return Workload(self.space_name, self.source, seed, self.attributes)

    @cached_property
    def space(self) -> KeywordSpace:
        """The keyword space that peers of this study would declare."""
        return KeywordSpace(self.space_name, [one.dimension for one in self.attributes], bits=BITS)

    @cached_property
    def refinement(self) -> ArrayRefinement:
        """The refinement trees of the space's curve."""
        return ArrayRefinement(len(self.attributes), self.space.bits)

    def ranks(self, numbers: Numbers) -> list[Numbers]:
        """By attribute: the rank of its value in each profile."""
        return [
            attribute.urn.drawn(uniform(numbers, self.seed, Stream.PROFILE + place))
            for place, attribute in enumerate(self.attributes)
        ]

    def codes(self, ranks: Sequence[Numbers]) -> Numbers:
        """One number a tuple: equal for equal tuples only."""
        code = np.zeros(len(ranks[0]), dtype=np.int64)
        for attribute, rank in zip(self.attributes, ranks, strict=True):
            code = code * len(attribute.values) + rank
        return code

    def indexes(self, ranks: Sequence[Numbers]) -> Numbers:
        """The curve index of each tuple."""
        columns = zip(self.attributes, ranks, strict=True)
        points = np.column_stack([attribute.cells[rank] for attribute, rank in columns])
        return self.space.curve.encode_array(points).astype(np.int64)

    def sampled_indexes(self, stored: int, one_in: int) -> Numbers:
        """The curve indexes of one in so many of the first `stored` different profiles, sorted.
        Raises ValueError where there are not so many tuples.

        Chosen by what they are, not by when they are drawn: frequent tuples are drawn early, so
        that the first profiles lie more densely than all of them."""
        found = [self._sampled(some, one_in) for some in _pieces(self.draws_for(stored))]
        drawn, codes = (np.concatenate(column) for column in zip(*found, strict=True))
        first = np.sort(np.unique(codes, return_index=True)[1])
        kept = drawn[first[: -(-stored // one_in)]]
        pieces = [kept[some] for some in _pieces(len(kept))]
        return np.sort(np.concatenate([self.indexes(self.ranks(piece)) for piece in pieces]))

    def _sampled(self, drawn: Numbers, one_in: int) -> tuple[Numbers, Numbers]:
        codes = self.codes(self.ranks(drawn))
        chosen = words(codes, self.seed, Stream.SAMPLE) % np.uint64(one_in) == 0
        return drawn[chosen], codes[chosen]

    def draws_for(self, unique: int) -> int:
        """How many draws most likely give so many different tuples, with 1 % to spare.

        Tuples are counted by the logarithm of their probability: the histograms of the attributes
        folded into one another.  Raises ValueError where there are not so many tuples."""
        counts, low = np.ones(1), 0.0
        for attribute in self.attributes:
            logs = np.log(attribute.shares[attribute.shares > 0])
            places = np.floor((logs - logs.min()) / _LOG_STEP).astype(int)
            counts, low = np.convolve(counts, np.bincount(places)), low + float(logs.min())
        shares = np.exp(low + _LOG_STEP * (np.arange(len(counts)) + len(self.attributes) / 2))
        if unique > 0.5 * counts.sum():
            raise ValueError(f"{unique:,} unique profiles of {counts.sum():,.0f} possible tuples")
        draws = float(unique)
        while (found := float((counts * -np.expm1(-draws * shares)).sum())) < 1.01 * unique + 100:
            draws *= max(1.01, 1.01 * unique / found)
        return int(draws)


def _pieces(count: int) -> list[Numbers]:
    """The numbers from 0, some at a time, so that what is made of them on the way stays small."""
    return [np.arange(at, min(at + _AT_ONCE, count)) for at in range(0, count, _AT_ONCE)]
