"""The study's queries: of each class, made on a stored profile, a function of their number.

Law of this file: pure, no Spark.  A query is made on a profile that every ring of the study stores,
so popular words are asked for more often and every query has a match.  Classes: Squid's Q1 (one
keyword or prefix known), Q2 (two or more at least partly known, one of them a prefix) and Q3
(ranges and wildcards, `(256-512, *, 10-*)`), and RANGES, a range in every dimension; the report's
two mixes are made of them (literature.md section 1.3; report chapter 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from sim.spark.attributes import Attribute
from sim.spark.draws import Stream, below, uniform
from sim.spark.rings import Numbers
from sim.spark.workload import Workload
from squid import NumberInterval, Prefix, Term, Whole, WordInterval

Kind = Literal["Q1", "Q2", "Q3", "RANGES"]
KINDS: Final[tuple[Kind, ...]] = ("Q1", "Q2", "Q3", "RANGES")
"""The kind of a query is that of its number: they take turns."""
QUERY_CLASSES: Final[dict[str, tuple[Kind, ...]]] = {
    "Q1": ("Q1",),
    "Q2": ("Q2",),
    "Q3": ("Q3",),
    "wildcard": ("Q1", "Q2"),
    "range": ("Q3", "RANGES"),
}
"""By the name in the results: the kinds that it is made of."""
_DRAWS: Final = 12
"""Random numbers that shape one query."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a query says of one attribute."""

    term: Term
    ranks: tuple[int, int]
    """First and last rank of the values that match."""
    text: str
    """As in a selector; empty for a wildcard."""


@dataclass(frozen=True, slots=True)
class Question:
    """One query."""

    number: int
    kind: Kind
    given: Sequence[Given]
    """One a dimension."""
    low: tuple[int, ...]
    """The box."""
    high: tuple[int, ...]

    @property
    def selector(self) -> str:
        """The query as a selector's text; a wildcard alone is a presence test of nothing."""
        return " ".join(one.text for one in self.given if one.text)


class Questions:
    """The queries of one workload, made on the first `stored` draws."""

    def __init__(self, workload: Workload, stored: int) -> None:
        self._workload, self._stored = workload, stored

    def __getitem__(self, number: int) -> Question:
        workload = self._workload
        anchor = below(np.array([number]), workload.seed, Stream.ANCHOR, self._stored)
        ranks = [int(rank[0]) for rank in workload.ranks(anchor.astype(np.int64))]
        shape = _Shape(
            [
                float(uniform(np.array([number]), workload.seed, Stream.QUERY + place)[0])
                for place in range(_DRAWS)
            ]
        )
        kind = KINDS[number % len(KINDS)]
        given = _given(kind, workload.attributes, ranks, shape)
        names = [attribute.dimension.name for attribute in workload.attributes]
        terms = {name: one.term for name, one in zip(names, given, strict=True)}
        box = workload.space.box(terms)
        return Question(number, kind, given, box.low, box.high)


def boxes(asked: Sequence[Question]) -> tuple[Numbers, Numbers]:
    """Low and high cells of some queries, one row a dimension, one column a query."""
    low = np.array([one.low for one in asked], dtype=np.int64).T
    high = np.array([one.high for one in asked], dtype=np.int64).T
    return np.ascontiguousarray(low), np.ascontiguousarray(high)


class _Shape:
    """The draws of one query, taken one after the other."""

    def __init__(self, draws: Sequence[float]) -> None:
        self._left = list(draws)

    def share(self) -> float:
        return self._left.pop()

    def one_of(self, choices: Sequence[int]) -> int:
        return choices[int(self.share() * len(choices))]


def _given(
    kind: Kind, attributes: Sequence[Attribute], ranks: Sequence[int], shape: _Shape
) -> list[Given]:
    words = [place for place, attribute in enumerate(attributes) if attribute.is_word]
    every = range(len(attributes))
    if kind == "Q1":
        known = shape.one_of(words)
        partly = {known} if shape.share() < 0.5 else set()
        ranged: set[int] = set()
        named = {known}
    elif kind == "Q2":
        partly = {shape.one_of(words)}
        # The others of the words are whole, partly known, or (where two are left) not known.
        others = [place for place in words if place not in partly]
        left_out = {shape.one_of(others)} if len(others) > 1 and shape.share() < 0.5 else set()
        named = set(words) - left_out
        partly |= {place for place in sorted(named - partly) if shape.share() < 0.5}
        ranged = set()
    else:
        wild = {shape.one_of(words)} if kind == "Q3" else set()
        partly, named, ranged = set(), set(), set(every) - wild
    found = []
    for place, attribute in enumerate(attributes):
        if place in ranged:
            found.append(_ranged(attribute, ranks[place], shape))
        elif place in named:
            found.append(_named(attribute, ranks[place], shape, partly=place in partly))
        else:
            found.append(Given(Whole(), (0, len(attribute.values) - 1), ""))
    return found


def _named(attribute: Attribute, rank: int, shape: _Shape, *, partly: bool) -> Given:
    """A word, or its first two to four letters."""
    word, name = str(attribute.values[rank]), attribute.dimension.name
    stem = word[: 2 + int(3 * shape.share())]
    if partly and len(stem) < len(word):
        return Given(Prefix(stem), attribute.prefix_ranks(stem), f"{name}={stem}*")
    return Given(WordInterval(word, word), (rank, rank), f"{name}={word}")


def _ranged(attribute: Attribute, rank: int, shape: _Shape) -> Given:
    """Numbers from a third up to three times around, words with the same first letter or two."""
    value, name = attribute.values[rank], attribute.dimension.name
    if isinstance(value, int):
        factor = 2 ** (0.5 + 1.5 * shape.share())
        least, most = max(1, int(value / factor)), int(value * factor) + 1
        ranks = attribute.ranks(least, most)
        return Given(NumberInterval(least, most), ranks, f"{name}={least}..{most}")
    low, high = _word_range(value, shape)
    return Given(WordInterval(low, high), attribute.ranks(low, high), f"{name}={low}..{high}")


def _word_range(word: str, shape: _Shape) -> tuple[str, str]:
    """The words with the first letter of this one; or those whose second is not more than one
    letter away."""
    if shape.share() < 0.5:
        return word[0], word[0] + "zzz"
    before, after = max("a", chr(ord(word[1]) - 1)), min("z", chr(ord(word[1]) + 1))
    return word[0] + before, word[0] + after + "zzz"
