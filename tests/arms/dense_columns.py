"""Columns of the index: one interval a slot on one axis, compared for all slots at once.

Law of this file: exact.  A slot without the attribute holds NaN, which overlaps nothing.  Keywords
become float labels in keyword order, so that intervals of keywords are intervals of numbers; a
word between two gets the label between theirs, and where none is left the column is relabelled.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

import numpy as np
import numpy.typing as npt

from arms.values import NUMBERS, TOP, Value

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Slots = npt.NDArray[np.intp]

_GAP = float(1 << 24)
_SPARE_WORDS = 256


class Vocabulary:
    """The words that bound a column's intervals, with their labels."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._labels: list[float] = []

    def __len__(self) -> int:
        return len(self._words)

    def lowest_at(self, word: str) -> float:
        """The label of the first word that is not below `word`."""
        if not word:
            return -math.inf
        at = bisect_left(self._words, word)
        return self._labels[at] if at < len(self._labels) else math.inf

    def highest_at(self, word: str) -> float:
        """The label of the last word that is not above `word`."""
        if word == TOP:
            return math.inf
        at = bisect_right(self._words, word)
        return self._labels[at - 1] if at else -math.inf

    def learn(self, word: str) -> bool:
        """Give the word a label; False when there is no room between its neighbours."""
        if not word or word == TOP:
            return True
        at = bisect_left(self._words, word)
        if at < len(self._words) and self._words[at] == word:
            return True
        label = self._label_before(at)
        if label is None:
            return False
        self._words.insert(at, word)
        self._labels.insert(at, label)
        return True

    def relabel(self, used: Floats | None = None) -> tuple[Floats, Floats]:
        """Space the labels evenly, keeping only the `used` ones; returns old and new labels."""
        if used is not None:
            keep = set(used.tolist())
            kept = [i for i, label in enumerate(self._labels) if label in keep]
            self._words = [self._words[i] for i in kept]
            self._labels = [self._labels[i] for i in kept]
        old = np.array(self._labels)
        self._labels = [place * _GAP for place in range(len(self._words))]
        return old, np.array(self._labels)

    def _label_before(self, at: int) -> float | None:
        if not self._labels:
            return 0.0
        if at == 0:
            return self._labels[0] - _GAP
        if at == len(self._labels):
            return self._labels[-1] + _GAP
        low, high = self._labels[at - 1], self._labels[at]
        middle = (low + high) / 2
        return middle if low < middle < high else None


class IntervalColumn:
    """The intervals of all slots for one path (or path pattern) on one axis."""

    def __init__(self, axis: int, capacity: int) -> None:
        self.low: Floats = np.full(capacity, np.nan)
        self.high: Floats = np.full(capacity, np.nan)
        self.count = 0
        self._vocabulary = None if axis == NUMBERS else Vocabulary()

    def grow(self, capacity: int) -> None:
        """Make room for `capacity` slots."""
        spare = np.full(capacity - len(self.low), np.nan)
        self.low = np.concatenate([self.low, spare])
        self.high = np.concatenate([self.high, spare])

    def is_free(self, slot: int) -> bool:
        """Whether the slot holds no interval here."""
        return math.isnan(self.low[slot])

    def put(self, slot: int, value: Value) -> None:
        """Store an interval, or widen the slot's one to the hull of both."""
        self._learn(value)
        low, high = self._stored(value)
        if self.is_free(slot):
            self.count += 1
            self.low[slot], self.high[slot] = low, high
        else:
            self.low[slot] = min(low, self.low[slot])
            self.high[slot] = max(high, self.high[slot])

    def clear(self, slot: int) -> None:
        """Forget the slot's interval."""
        if self.is_free(slot):
            return
        self.low[slot] = self.high[slot] = np.nan
        self.count -= 1
        words = self._vocabulary
        if words is not None and len(words) > 4 * self.count + _SPARE_WORDS:
            self._relabel(words, np.concatenate([self.low, self.high]))

    def overlapping(self, value: Value, slots: Slots | int) -> Mask:
        """Which of the slots (an array of them, or the first so many) overlap the interval."""
        low, high = self._asked(value)
        if isinstance(slots, int):
            return (self.low[:slots] <= high) & (self.high[:slots] >= low)
        return (self.low[slots] <= high) & (self.high[slots] >= low)

    def held(self, slots: int) -> Mask:
        """Which of the first slots hold an interval."""
        mask: Mask = self.low[:slots] == self.low[:slots]
        return mask

    def _asked(self, value: Value) -> tuple[float, float]:
        if self._vocabulary is None:
            return float(value[1]), float(value[2])
        return (
            self._vocabulary.lowest_at(str(value[1])),
            self._vocabulary.highest_at(str(value[2])),
        )

    def _stored(self, value: Value) -> tuple[float, float]:
        if self._vocabulary is None:
            return float(value[1]), float(value[2])
        low, high = str(value[1]), str(value[2])
        return (
            math.inf if low == TOP else self._vocabulary.lowest_at(low),
            -math.inf if not high else self._vocabulary.highest_at(high),
        )

    def _learn(self, value: Value) -> None:
        words = self._vocabulary
        if words is None:
            return
        for end in (str(value[1]), str(value[2])):
            if not words.learn(end):
                self._relabel(words, None)
                words.learn(end)

    def _relabel(self, words: Vocabulary, used: Floats | None) -> None:
        old, new = words.relabel(used)
        for bounds in (self.low, self.high):
            labelled = np.isfinite(bounds)
            bounds[labelled] = new[np.searchsorted(old, bounds[labelled])]
