"""The index: which stored profiles match one that arrives, in either role.

Law of this file: exact.  The tables find candidates in one pass over all slots; where rows cannot
say everything (repeated siblings, `//` with children, more than 16 alternatives) the tree decides,
for candidates only.  `arms.matching.selects` over every profile is the oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, Literal, TypeVar

from arms.index_rows import selector_rows, subject_offers
from arms.index_tables import Candidates, SelectorTable, SubjectTable
from arms.matching import selects
from arms.profile import Profile
from arms.tree import Node

K = TypeVar("K", bound=Hashable)

Role = Literal["subjects", "selectors"]
"""What the stored profiles are to those that arrive."""

_SCANNED_BY_TREE = 12
"""Up to so many profiles it is quicker to ask each tree."""


class ProfileIndex(Generic[K]):
    """Profiles under ids of any hashable kind.

    A role's table is made when it is first asked for; the one of `role` grows from the beginning,
    so that no question waits for it.  Up to `scan_above` profiles the trees are asked one by one.
    """

    def __init__(self, role: Role | None = None, scan_above: int = _SCANNED_BY_TREE) -> None:
        self._trees: dict[K, Node] = {}
        self._role = role
        self._scan_above = scan_above
        self._subjects: SubjectTable | None = None
        self._selectors: SelectorTable | None = None
        self._subject_slots: dict[K, int] = {}
        self._selector_slots: dict[K, list[int]] = {}
        self._subject_ids: dict[int, K] = {}
        self._selector_ids: dict[int, K] = {}

    def __len__(self) -> int:
        return len(self._trees)

    def __contains__(self, id: K) -> bool:
        return id in self._trees

    def add(self, id: K, profile: Profile) -> None:
        """Store a profile, or replace the one under this id."""
        self.remove(id)
        tree = self._trees[id] = profile.tree
        if self._subjects is not None:
            self._add_subject(self._subjects, id, tree)
        if self._selectors is not None:
            self._add_selector(self._selectors, id, tree)
        if self._role is not None and len(self._trees) > self._scan_above:
            _ = self._subject_table() if self._role == "subjects" else self._selector_table()

    def remove(self, id: K) -> bool:
        """Forget the profile under this id; whether there was one."""
        if self._trees.pop(id, None) is None:
            return False
        if self._subjects is not None:
            slot = self._subject_slots.pop(id)
            self._subjects.delete(slot)
            del self._subject_ids[slot]
        if self._selectors is not None:
            for slot in self._selector_slots.pop(id):
                self._selectors.delete(slot)
                del self._selector_ids[slot]
        return True

    def match(self, profile: Profile) -> list[K]:
        """The ids of the stored subjects that `profile` selects, each once."""
        selector = profile.tree
        if len(self._trees) <= self._scan_above:
            return [id for id, tree in self._trees.items() if selects(selector, tree)]
        table = self._subject_table()
        rows, exact = selector_rows(selector)
        found: dict[K, None] = {}
        for row in rows:
            self._collect(
                table.candidates(row, exact), self._subject_ids,
                lambda tree: selects(selector, tree), found,
            )  # fmt: skip
        return list(found)

    def match_subject(self, profile: Profile) -> list[K]:
        """The ids of the stored selectors that select `profile`, each once."""
        subject = profile.tree
        if len(self._trees) <= self._scan_above:
            return [id for id, tree in self._trees.items() if selects(tree, subject)]
        table = self._selector_table()
        offers, unique = subject_offers(subject)
        found: dict[K, None] = {}
        self._collect(
            table.candidates(offers, unique), self._selector_ids,
            lambda tree: selects(tree, subject), found,
        )  # fmt: skip
        return list(found)

    def _collect(
        self,
        candidates: Candidates,
        ids: dict[int, K],
        check: Callable[[Node], bool],
        found: dict[K, None],
    ) -> None:
        for slot, sure in candidates:
            id = ids[slot]
            if sure or (id not in found and check(self._trees[id])):
                found[id] = None

    def _subject_table(self) -> SubjectTable:
        table = self._subjects
        if table is None:
            table = self._subjects = SubjectTable()
            for id, tree in self._trees.items():
                self._add_subject(table, id, tree)
        return table

    def _selector_table(self) -> SelectorTable:
        table = self._selectors
        if table is None:
            table = self._selectors = SelectorTable()
            for id, tree in self._trees.items():
                self._add_selector(table, id, tree)
        return table

    def _add_subject(self, table: SubjectTable, id: K, tree: Node) -> None:
        slot = self._subject_slots[id] = table.insert(*subject_offers(tree))
        self._subject_ids[slot] = id

    def _add_selector(self, table: SelectorTable, id: K, tree: Node) -> None:
        rows, exact = selector_rows(tree)
        slots = self._selector_slots[id] = [table.insert(row, exact) for row in rows]
        for slot in slots:
            self._selector_ids[slot] = id
