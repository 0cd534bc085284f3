"""The keyword axis in floats: a label for every word, in the order of the words.

Law of this file: exact.  Labels compare as their words do, so that intervals of keywords become
intervals of numbers.  A word between two gets the label between theirs; where none is left all are
labelled anew.  Words lie in short blocks, so that a new one moves few of the others.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import Final

import numpy as np
import numpy.typing as npt

from arms.values import TOP

Floats = npt.NDArray[np.float64]

_GAP: Final = float(1 << 24)
_BLOCK: Final = 512
_LEARNT_MAX: Final = 1024


class Vocabulary:
    """The words that bound a column's intervals, with their labels."""

    def __init__(self) -> None:
        self._firsts: list[str] = []
        self._words: list[list[str]] = []
        self._labels: list[list[float]] = []
        self._size = 0
        self._learnt: dict[str, float] = {}
        """Labels of words that came lately: most words come again."""

    def __len__(self) -> int:
        return self._size

    def lowest_at(self, word: str) -> float:
        """The label of the first word that is not below `word`."""
        if not word:
            return -math.inf
        block = bisect_right(self._firsts, word) - 1
        if block < 0:
            return self._labels[0][0] if self._size else math.inf
        at = bisect_left(self._words[block], word)
        if at < len(self._words[block]):
            return self._labels[block][at]
        return self._labels[block + 1][0] if block + 1 < len(self._labels) else math.inf

    def highest_at(self, word: str) -> float:
        """The label of the last word that is not above `word`."""
        if word == TOP:
            return math.inf
        block = bisect_right(self._firsts, word) - 1
        if block < 0:
            return -math.inf
        return self._labels[block][bisect_right(self._words[block], word) - 1]

    def ends_of(self, first: str, last: str) -> tuple[float, float]:
        """`lowest_at(first)` and `highest_at(last)`: of a word that is known its label, twice."""
        if first == last and first:
            label = self._learnt.get(first)
            if label is not None:
                return label, label
            block = bisect_right(self._firsts, first) - 1
            if block >= 0:
                words = self._words[block]
                at = bisect_left(words, first)
                if at < len(words) and words[at] == first:
                    label = self._labels[block][at]
                    return label, label
        return self.lowest_at(first), self.highest_at(last)

    def learn(self, word: str) -> float | None:
        """The word's label, new where it has none; None when there is no room for one."""
        label = self._learnt.get(word)
        if label is None:
            label = self._look_up(word)
            if label is not None:
                if len(self._learnt) >= _LEARNT_MAX:
                    self._learnt.clear()
                self._learnt[word] = label
        return label

    def _look_up(self, word: str) -> float | None:
        if not self._size:
            self._firsts, self._words, self._labels = [word], [[word]], [[0.0]]
            self._size = 1
            return 0.0
        block = (bisect_right(self._firsts, word) or 1) - 1
        words, labels = self._words[block], self._labels[block]
        at = bisect_left(words, word)
        if at < len(words) and words[at] == word:
            return labels[at]
        label = self._label_at(block, at)
        if label is not None:
            words.insert(at, word)
            labels.insert(at, label)
            self._size += 1
            if not at:
                self._firsts[block] = word
            if len(words) > _BLOCK:
                self._split(block)
        return label

    def load(self, words: list[str]) -> list[float]:
        """Learn words at once that are given in order, each once, when none is known; returns
        their labels."""
        assert not self._size, "loaded before any other"
        return self._arrange(words)

    def relabel(self, used: Floats | None = None) -> tuple[Floats, Floats]:
        """Space the labels evenly, keeping only the `used` ones; returns old and new labels."""
        words = [word for block in self._words for word in block]
        labels = [label for block in self._labels for label in block]
        if used is not None:
            keep = set(used.tolist())
            kept = [at for at, label in enumerate(labels) if label in keep]
            words, labels = [words[at] for at in kept], [labels[at] for at in kept]
        return np.array(labels), np.array(self._arrange(words))

    def _arrange(self, words: list[str]) -> list[float]:
        """Have these words alone, under labels that are spaced evenly; returns them."""
        fresh = [place * _GAP for place in range(len(words))]
        self._learnt.clear()
        half = _BLOCK // 2
        cuts = range(0, len(words), half)
        self._words = [words[at : at + half] for at in cuts]
        self._labels = [fresh[at : at + half] for at in cuts]
        self._firsts = [block[0] for block in self._words]
        self._size = len(words)
        return fresh

    def _label_at(self, block: int, at: int) -> float | None:
        """A label for a new word at this place of a block; only the first has a place 0."""
        labels = self._labels[block]
        if not at:
            return labels[0] - _GAP
        low = labels[at - 1]
        if at < len(labels):
            high = labels[at]
        elif block + 1 < len(self._labels):
            high = self._labels[block + 1][0]
        else:
            return low + _GAP
        middle = (low + high) / 2
        return middle if low < middle < high else None

    def _split(self, block: int) -> None:
        half = len(self._words[block]) // 2
        self._words.insert(block + 1, self._words[block][half:])
        self._labels.insert(block + 1, self._labels[block][half:])
        del self._words[block][half:], self._labels[block][half:]
        self._firsts.insert(block + 1, self._words[block + 1][0])
