"""Where the rows of each profile of an index lie.

Law of this file: pure bookkeeping.  Profiles that came at once, after a restart, have their rows
one behind the other, so that the number of one says where its row is: no entry is made for each.
The others lie in a dictionary for every lot of some thousand: one of a hundred thousand that grows
is made anew in one step, and the store's and the shelf's are in the same one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from itertools import chain
from typing import Generic, TypeVar

import numpy as np

from arms.index_bits import Mask, Slots

K = TypeVar("K", bound=Hashable)

Place = int | tuple[int, ...]
"""A number that says a table and a slot in it; several where a profile has several rows."""


class Places(Generic[K]):
    """Places by id; `number_of` says which of those that came at once an id is, below 0 for none of
    them: then the number is that of its lot, and later ones are of lower lots."""

    def __init__(self, number_of: Callable[[K], int] | None = None) -> None:
        self._number_of = number_of
        self._lots: dict[int, dict[K, Place]] = {}
        """The others, in the order in which they came; no lot is empty."""
        self._single = 0
        """How many they are."""
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
        return self._single + self._many

    def __contains__(self, id: K) -> bool:
        return self.get(id) is not None

    def __setitem__(self, id: K, place: Place) -> None:
        lot = self._lots.setdefault(self._lot_of(id), {})
        self._single += id not in lot
        lot[id] = place

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
            lot = self._lots.get(self._lot_of(id))
            return None if lot is None else lot.get(id)
        return self._first + at * self._step if self._there[at] else None

    def pop(self, id: K) -> Place | None:
        """The same, and it is not here any more."""
        at = self._rank(id)
        if at is None:
            return self._pop_single(id)
        if not self._there[at]:
            return None
        self._there[at] = False
        self._many -= 1
        return self._first + at * self._step

    def _pop_single(self, id: K) -> Place | None:
        number = self._lot_of(id)
        lot = self._lots.get(number)
        place = None if lot is None else lot.pop(id, None)
        if lot is None or place is None:
            return None
        self._single -= 1
        if not lot:
            del self._lots[number]
        return place

    def there(self) -> Slots:
        """Of those that came at once and are here, which place behind the first each has."""
        return np.flatnonzero(self._there)

    def single(self) -> Iterator[K]:
        """The others, in the order in which they came."""
        return chain.from_iterable(self._lots.values())

    def _lot_of(self, id: K) -> int:
        return 0 if self._number_of is None else self._number_of(id)

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
