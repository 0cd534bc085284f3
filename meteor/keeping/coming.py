"""Coming: changes of one shelf that are on their way, by the identity that each is about.

Law of this file: pure.  Several changes of one record may be on their way at once, in the order in
which they were added (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from meteor.keeping.placement import GONE, Key
from meteor.keeping.standing import is_before, is_later
from meteor.wire.operations import Carried


class Coming:
    """Changes that are not where they are going to."""

    def __init__(self) -> None:
        self._changes: dict[Key, list[Carried]] = {}

    def __iter__(self) -> Iterator[Carried]:
        return (one for of_key in self._changes.values() for one in of_key)

    def __contains__(self, key: Key) -> bool:
        return key in self._changes

    def has_any(self, keys: Collection[Key]) -> bool:
        """Whether one of any of these records is among them."""
        return not self._changes.keys().isdisjoint(keys)

    def of(self, key: Key) -> Iterable[Carried]:
        """Those of one record, the earliest first."""
        return self._changes.get(key, ())

    def outlives(self, key: Key, word: Carried) -> bool:
        """Whether one of a record counts beside the word that it lives elsewhere, or is over."""
        return any(one.kind == GONE or not is_before(one, word) for one in self.of(key))

    def has_later(self, key: Key, carried: Carried) -> bool:
        """Whether one of a record counts more than this state of it."""
        if key not in self._changes:
            return False
        return any(is_later(one, carried) for one in self._changes[key])

    def add(self, keys: Iterable[Key], changes: Iterable[Carried]) -> None:
        """They are on their way, each under its key."""
        for key, one in zip(keys, changes, strict=True):
            self._changes.setdefault(key, []).append(one)

    def remove(self, keys: Iterable[Key], changes: Iterable[Carried]) -> None:
        """They came, or will not; raises `KeyError` or `ValueError` for what was not added."""
        for key, one in zip(keys, changes, strict=True):
            self._changes[key].remove(one)
            if not self._changes[key]:
                del self._changes[key]
