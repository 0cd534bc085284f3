"""The dense scan: one column of intervals a path, compared for all slots at once.

The index before there were bitmaps, now its twin in tests and its opponent in benchmarks.  What it
finds is turned into ids as quickly as numpy can.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arms import Profile
from arms.index_rows import selector_rows, subject_offers
from arms.matching import selects
from arms.tree import Node
from tests.arms.dense_columns import Mask, Slots
from tests.arms.dense_tables import SelectorTable, SubjectTable


class DenseScan:
    """Profiles by number, in one role."""

    def __init__(self, role: str) -> None:
        self._subjects = SubjectTable() if role == "subjects" else None
        self._selectors = SelectorTable() if role == "selectors" else None
        self._profiles: dict[int, Profile] = {}
        self._slots: dict[int, list[int]] = {}
        self._owners = np.empty(1024, np.object_)
        self._several = 0

    def add(self, id: int, profile: Profile) -> None:
        self.remove(id)
        self._profiles[id] = profile
        tree = profile.tree
        if self._subjects is not None:
            slots = [self._subjects.insert(*subject_offers(tree))]
        else:
            assert self._selectors is not None
            rows, exact = selector_rows(tree)
            slots = [self._selectors.insert(row, exact) for row in rows]
        self._slots[id] = slots
        while max(slots) >= len(self._owners):
            self._owners = np.concatenate([self._owners, np.empty_like(self._owners)])
        self._owners[slots] = id
        self._several += len(slots) > 1

    def remove(self, id: int) -> None:
        table = self._subjects or self._selectors
        assert table is not None
        if self._profiles.pop(id, None) is not None:
            for slot in self._slots.pop(id):
                table.delete(slot)

    def match(self, profile: Profile) -> list[int]:
        """The stored subjects that `profile` selects."""
        assert self._subjects is not None
        selector = profile.tree
        rows, exact = selector_rows(selector)
        ids: list[int] = []
        for row in rows:
            slots, sure = self._subjects.candidates(row, exact)
            ids += self._decided(slots, sure, lambda tree: selects(selector, tree))
        return ids if len(rows) == 1 else list(dict.fromkeys(ids))

    def match_subject(self, profile: Profile) -> list[int]:
        """The stored selectors that select `profile`."""
        assert self._selectors is not None
        subject = profile.tree
        slots, sure = self._selectors.candidates(*subject_offers(subject))
        ids = self._decided(slots, sure, lambda tree: selects(tree, subject))
        return list(dict.fromkeys(ids)) if self._several else ids

    def _decided(self, slots: Slots, sure: Mask, check: Callable[[Node], bool]) -> list[int]:
        if sure.all():
            ids: list[int] = self._owners[slots].tolist()
            return ids
        ids = self._owners[slots[sure]].tolist()
        found = set(ids)
        maybe: list[int] = self._owners[slots[~sure]].tolist()
        return ids + [id for id in maybe if id not in found and check(self._profiles[id].tree)]
