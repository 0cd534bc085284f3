"""All profiles of an index in one role: their rows in tables, and what the rows leave to the tree.

Law of this file: a profile is found once, however many of its rows are.  Only of flagged profiles
the tree is kept ready; the others rest in a short form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from typing import Final, Generic, TypeVar

import numpy as np

from arms.index_bits import Mask, Slots
from arms.index_rows import Row, selector_rows, subject_offers
from arms.index_selectors import SelectorTable
from arms.index_subjects import SubjectTable
from arms.index_table import Table
from arms.matching import selects
from arms.profile import Profile
from arms.tree import Node
from arms.written import LIMITS

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound="Table[object]")

WIDTHS: Final = (8, 16, LIMITS.elements)
"""A row lies in the first table that it fits."""

Check = Callable[[Node], bool]
Found = tuple[Slots, Mask | None]


class _RoleIndex(ABC, Generic[K]):
    """Profiles under ids, in tables by width."""

    def __init__(self, tables: list[Table[K]]) -> None:
        self._tables = tables
        self._places: dict[K, int | tuple[int, ...]] = {}
        """Slot times tables plus table; several where a profile has several rows."""
        self._several = 0
        """How many profiles have several rows."""

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, id: K) -> bool:
        return id in self._places

    def add(self, id: K, profile: Profile) -> Profile:
        """Store a profile under a new id; returns it as it is kept."""
        rows, exact = self._rows_of(profile.tree)
        kept = profile.at_rest() if exact else profile
        places = [self._insert(id, kept, row, not exact) for row in rows]
        if len(places) == 1:
            self._places[id] = places[0]
        else:
            self._places[id] = tuple(places)
            self._several += 1
        return kept

    def remove(self, id: K) -> bool:
        """Forget the profile under this id; whether there was one."""
        places = self._places.pop(id, None)
        if places is None:
            return False
        if isinstance(places, int):
            places = (places,)
        else:
            self._several -= 1
        for place in places:
            self._tables[place % len(WIDTHS)].delete(place // len(WIDTHS))
        return True

    def profiles(self) -> Iterator[tuple[K, Profile]]:
        """All ids with their profiles as they are kept."""
        for id, places in self._places.items():
            place = places if isinstance(places, int) else places[0]
            store = self._tables[place % len(WIDTHS)].store
            yield id, store.profiles[place // len(WIDTHS)]

    def nbytes(self) -> int:
        """The bytes of rows, bitmaps and sets."""
        return sum(table.nbytes() for table in self._tables)

    @abstractmethod
    def _rows_of(self, tree: Node) -> tuple[list[Row], bool]:
        """The rows of a profile, and whether they say everything."""

    def _insert(self, id: K, kept: Profile, row: Row, flagged: bool) -> int:
        number = next(at for at, width in enumerate(WIDTHS) if len(row) <= width)
        return self._tables[number].insert(id, kept, row, flagged) * len(WIDTHS) + number

    def _collect(self, table: Table[K], found: Found, check: Check, ids: list[K]) -> None:
        """Add those who own the rows found; the tree decides about doubtful ones."""
        slots, doubtful = found
        owners = table.store.owners
        if doubtful is None or not doubtful.any():
            ids += owners[slots].tolist()
            return
        ids += owners[slots[~doubtful]].tolist()
        sure = set(ids)
        for slot in slots[doubtful].tolist():
            id = owners[slot]
            if id not in sure and check(table.store.profiles[slot].tree):
                ids.append(id)
                sure.add(id)

    def _once(self, ids: list[K]) -> list[K]:
        return list(dict.fromkeys(ids)) if self._several else ids


class SubjectIndex(_RoleIndex[K]):
    """Stored subjects."""

    def __init__(self) -> None:
        self._subjects = [SubjectTable[K](width) for width in WIDTHS]
        super().__init__(list(self._subjects))

    def match(self, selector: Node) -> list[K]:
        """The ids of the subjects that the selector selects, each once."""
        rows, exact = selector_rows(selector)
        ids: list[K] = []
        for table in self._subjects:
            for row in rows if table.store.used else ():
                slots, doubtful = table.candidates(row)
                if not exact:
                    doubtful = np.ones(len(slots), bool)
                self._collect(table, (slots, doubtful), lambda tree: selects(selector, tree), ids)
        return ids if len(rows) == 1 else list(dict.fromkeys(ids))

    def _rows_of(self, tree: Node) -> tuple[list[Row], bool]:
        offers, unique = subject_offers(tree)
        return [offers], unique


class SelectorIndex(_RoleIndex[K]):
    """Stored selectors."""

    def __init__(self) -> None:
        self._selectors = [SelectorTable[K](width) for width in WIDTHS]
        super().__init__(list(self._selectors))

    def match(self, subject: Node) -> list[K]:
        """The ids of the selectors that select the subject, each once."""
        offers, unique = subject_offers(subject)
        ids: list[K] = []
        for table in self._selectors:
            if table.store.used:
                found = table.candidates(offers, unique)
                self._collect(table, found, lambda tree: selects(tree, subject), ids)
        return list(dict.fromkeys(ids)) if self._several else ids

    def _rows_of(self, tree: Node) -> tuple[list[Row], bool]:
        return selector_rows(tree)
