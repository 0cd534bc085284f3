"""Where the rows of each profile of an index lie.

Law of this file: pure bookkeeping.  Profiles that came at once, after a restart, have their rows
one behind the other, so that the number of one says where its row is: no entry is made for each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

import numpy as np

from arms.index_bits import Mask, Slots

K = TypeVar("K", bound=Hashable)

Place = int | tuple[int, ...]
"""A number that says a table and a slot in it; several where a profile has several rows."""


class Places(Generic[K]):
    """Places by id; `number_of` says which of those that came at once an id is, below 0 for none of
    them."""

    def __init__(self, number_of: Callable[[K], int] | None = None) -> None:
        self._number_of = number_of
        self._single: dict[K, Place] = {}
        self._numbers: Slots = np.zeros(0, np.intp)
        """Of those that came at once, in order."""
        self._in_a_row = False
        """Whether these are 0, 1, 2 and so on."""
        self._there: Mask = np.zeros(0, bool)
        """Which of them are still here ..."""
        self._many = 0
        """... and how many."""
        self._first = self._step = 0

    def __len__(self) -> int:
        return len(self._single) + self._many

    def __contains__(self, id: K) -> bool:
        return self.get(id) is not None

    def __setitem__(self, id: K, place: Place) -> None:
        self._single[id] = place

    def load(self, numbers: Slots, first: int, step: int) -> bool:
        """Note those of these numbers, given in order, from the place `first` on, every `step`-th;
        False where they must be noted one by one."""
        if self._number_of is None or len(self._numbers):
            return False
        self._numbers, self._first, self._step = numbers, first, step
        self._in_a_row = bool(len(numbers)) and int(numbers[-1]) == len(numbers) - 1
        self._there, self._many = np.ones(len(numbers), bool), len(numbers)
        return True

    def get(self, id: K) -> Place | None:
        """The place of an id; None where it is not here."""
        at = self._rank(id)
        if at is None:
            return self._single.get(id)
        return self._first + at * self._step if self._there[at] else None

    def pop(self, id: K) -> Place | None:
        """The same, and it is not here any more."""
        at = self._rank(id)
        if at is None:
            return self._single.pop(id, None)
        if not self._there[at]:
            return None
        self._there[at] = False
        self._many -= 1
        return self._first + at * self._step

    def there(self) -> Slots:
        """Of those that came at once and are here, which place behind the first each has."""
        return np.flatnonzero(self._there)

    def single(self) -> Iterator[K]:
        """The others, in the order in which they came."""
        return iter(self._single)

    def _rank(self, id: K) -> int | None:
        if not len(self._numbers) or self._number_of is None:
            return None
        number = self._number_of(id)
        if number < 0:
            return None
        if self._in_a_row:
            return number if number < len(self._numbers) else None
        at = bisect_left(self._numbers, number)
        return at if at < len(self._numbers) and self._numbers[at] == number else None
