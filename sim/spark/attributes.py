"""What profiles of the study are made of: words with frequencies, and numbers, in their order.

Law of this file: pure numpy, no Spark.  An attribute is a finite list of values in their order; a
value is known by its *rank* in it, so that every match is a range of ranks, for words and numbers
alike.  Cells are those of `squid.KeywordSpace`.  Real words and frequencies: the package wordfreq
(Speer 2022), an extra; made-up words: `sim.vocabulary`, with Zipf's law.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import erf, log, sqrt
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.vocabulary import vocabulary
from squid import Dimension, Number, NumberInterval, Word, WordInterval

Source = Literal["real", "zipf"]
"""Where words come from."""
ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY: Final = 50_000
LETTERS_MIN: Final = 3
"""Shorter words are seldom keywords."""
NUMBER_MAX: Final = 65_536
_MEDIAN, _SPREAD = 400.0, 1.8
"""Of the numbers: log-normal, as sizes of memory and files are."""
HOW_TO_GET: Final = (
    "real words need the package wordfreq: pip install 'meteor-rendezvous[words]', "
    "or take made-up ones with --words zipf"
)


class Urn(NamedTuple):
    """Shares laid out so that a draw is one look-up, however many values there are: every place
    holds one value up to its cut, and another beyond (Walker 1974, Vose 1991)."""

    cut: npt.NDArray[np.float64]
    other: npt.NDArray[np.int64]

    @classmethod
    def of(cls, shares: npt.NDArray[np.float64]) -> Urn:
        """The urn of shares that together are 1."""
        left = (shares * len(shares)).tolist()
        cut, other = np.ones(len(shares)), np.arange(len(shares))
        small = [place for place, share in enumerate(left) if share < 1]
        large = [place for place, share in enumerate(left) if share >= 1]
        while small and large:
            place, giver = small.pop(), large[-1]
            cut[place], other[place] = left[place], giver
            left[giver] -= 1 - left[place]
            if left[giver] < 1:
                small.append(large.pop())
        return cls(cut, other)

    def drawn(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The value for each number of [0, 1)."""
        scaled = shares * len(self.cut)
        place = np.minimum(scaled.astype(np.int64), len(self.cut) - 1)
        return np.where(scaled - place < self.cut[place], place, self.other[place])


@dataclass(frozen=True, slots=True)
class Attribute:
    """One dimension of the study's profiles."""

    dimension: Dimension
    values: Sequence[str] | Sequence[int]
    """In their order; a value's place is its rank."""
    shares: npt.NDArray[np.float64]
    """By rank: how often the value is drawn; together 1."""
    cells: npt.NDArray[np.uint32]
    """By rank: the value's cell on the axis of the space."""
    urn: Urn
    """From which values are drawn."""

    @property
    def is_word(self) -> bool:
        """Whether the values are words."""
        return isinstance(self.dimension, Word)

    def ranks(self, low: str | int, high: str | int) -> tuple[int, int]:
        """First and last rank of the values from `low` to `high`, ends included."""
        return bisect_left(self.values, low), bisect_right(self.values, high) - 1

    def prefix_ranks(self, stem: str) -> tuple[int, int]:
        """First and last rank of the words that begin with `stem`."""
        first = bisect_left(self.values, stem)
        return first, bisect_left(self.values, stem + "{") - 1


def word_attribute(name: str, source: Source, bits: int, size: int = VOCABULARY) -> Attribute:
    """Words of a to z with their frequencies.  Raises ImportError with what to install where real
    words are asked for and the package is not there."""
    return Attribute(Word(name, ALPHABET), *_words(source, bits, size))


@cache
def _words(
    source: Source, bits: int, size: int
) -> tuple[tuple[str, ...], npt.NDArray[np.float64], npt.NDArray[np.uint32], Urn]:
    """Values, shares, cells and urn."""
    words, frequencies = _real_words(size) if source == "real" else _zipf_words(size)
    order = sorted(range(len(words)), key=words.__getitem__)
    values = tuple(words[place] for place in order)
    weights = np.array(frequencies)[order]
    axis = Word("word", ALPHABET).axis(bits)
    cells = [axis.cells(WordInterval(word, word))[0] for word in values]
    shares = weights / weights.sum()
    return values, shares, np.array(cells, dtype=np.uint32), Urn.of(shares)


@cache
def number_attribute(name: str, bits: int) -> Attribute:
    """Whole numbers of 1 to 65,536, log-normal around 400."""
    edges = [0.5 + number for number in range(NUMBER_MAX + 1)]
    below = np.array([erf((log(edge) - log(_MEDIAN)) / _SPREAD / sqrt(2)) for edge in edges])
    shares = np.diff(below)
    values = range(1, NUMBER_MAX + 1)
    dimension = Number(name, 1, NUMBER_MAX, "log")
    axis = dimension.axis(bits)
    cells = [axis.cells(NumberInterval(number, number))[0] for number in values]
    shares /= shares.sum()
    return Attribute(dimension, values, shares, np.array(cells, dtype=np.uint32), Urn.of(shares))


def _real_words(size: int) -> tuple[list[str], list[float]]:
    try:
        from wordfreq import get_frequency_dict  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise ImportError(HOW_TO_GET) from error
    known = get_frequency_dict("en")
    letters = set(ALPHABET)
    kept = [word for word in known if len(word) >= LETTERS_MIN and letters.issuperset(word)]
    kept.sort(key=lambda word: (-known[word], word))
    return kept[:size], [known[word] for word in kept[:size]]


def _zipf_words(size: int) -> tuple[list[str], list[float]]:
    """The word drawn n-th is the n-th most frequent, 1/n as often as the first."""
    return vocabulary(size, seed=0), [1 / place for place in range(1, size + 1)]
