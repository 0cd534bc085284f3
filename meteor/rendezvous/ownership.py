"""Whose record an id names, and who may touch it.

Law of this file: decisions at the peer that keeps the record; who asks was verified where he is
linked (`meteor.security.verifying`).  What somebody owns only he touches, or whom he delegated it
to; what nobody owns everybody may.  Whoever may not know of a record is told that there is none.
"""

from __future__ import annotations

from dataclasses import replace

from meteor.keeping.placement import Key
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.task import Task
from meteor.security.delegated import is_within
from squid import Box

OWNER = "owner"
DELEGATION = "delegation"
"""Why something is not done, as `Summary.refused` says it."""


class Ownership:
    """Whose is what on one shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def addressed(self, task: Task) -> Task:
        """The task about the record that its id names: the sender's own one, else nobody's, also
        where that is halfway to another place."""
        operation = task.operation
        if not operation.owner or self._is_here(task, operation.owner):
            return task
        is_halfway = self._has(task, "") and not self._has(task, operation.owner)
        if not (is_halfway or self._is_here(task, "")):
            return task
        return replace(task, operation=replace(operation, owner=""))

    def refusal(self, task: Task) -> str:
        """Why the sender may not do it; empty where he may, or there is nothing."""
        operation = task.operation
        if not self._is_here(task, operation.owner):
            return OWNER if self._is_seen_of_others(task) else ""
        return self.beyond_limit(task)

    def beyond_limit(self, task: Task) -> str:
        """Why a delegate may not touch what has this identity now; empty where he may."""
        limit, record = task.operation.limit, self._shelf.store.get(*task.key)
        is_free = record is None or is_within(limit, record.profile, record.kind)
        return "" if is_free else DELEGATION

    def _is_seen_of_others(self, task: Task) -> bool:
        """Whether the id names another owner's record that the sender may know of."""
        store, (asker, stem) = self._shelf.store, task.key
        others = (store.get(owner, stem) for owner in store.owners(stem) if owner != asker)
        return any(
            other is not None and other.id == task.operation.id and self._shelf.sees(asker, other)
            for other in others
        )

    def _has(self, task: Task, owner: str) -> bool:
        """Whether anything is known of an owner's record of this name, wherever it is."""
        return self._shelf.find((owner, task.key[1])) is not None

    def _is_here(self, task: Task, owner: str) -> bool:
        """Whether an owner's record of this id is here, or word of it."""
        placed = self._shelf.find((owner, task.key[1]))
        if placed is not None and placed.carried.id == task.operation.id:
            return True
        word = self._shelf.find((owner, task.operation.id))
        return word is not None and bool(word.carried.moved_to)


def looks_at(task: Task) -> tuple[list[Key] | None, Box | None]:
    """What a task is answered by: the identities that it names, or all that meets its region."""
    return (None, task.box) if task.deletes else (keys_of(task), None)


def keys_of(task: Task) -> list[Key]:
    """The identities that a task about one record may change."""
    keys = [task.key, task.old_key]
    if task.operation.owner:
        keys += [("", name) for _, name in keys]
    return keys
