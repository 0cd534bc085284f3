"""Owed: what another holder wrote here of a record that this peer answers for as well.

Law of this file: pure.  A record that lies at several primaries is written by each to its own
copies.  Who is a copy of another of them has that one's change before its own share of it comes,
if that ever does, and answers by it; its own copies, which are others, do not have it yet.  So it
is where somebody takes the place of a holder, whose share never came: he has what others wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from meteor.keeping.placement import Key, key_of
from meteor.keeping.standing import is_later
from meteor.wire.operations import Carried


class Owed:
    """Changes that one's own copies may lack: one a record at most of what is here, and none is
    forgotten before it is there, or over."""

    def __init__(self) -> None:
        self._changes: dict[Key, Carried | None] = {}
        """None: whatever is known of it here."""

    def __len__(self) -> int:
        return len(self._changes)

    def __iter__(self) -> Iterator[Key]:
        return iter(list(self._changes))

    def __contains__(self, key: Key) -> bool:
        return key in self._changes

    def note(self, one: Carried) -> None:
        """Another holder wrote it here."""
        key = key_of(one)
        self._changes.pop(key, None)
        self._changes[key] = one

    def note_all(self, keys: Iterable[Key]) -> None:
        """Whatever is known here of these, of which it was not looked at how it came."""
        self._changes = dict.fromkeys(keys) | self._changes

    def is_unseen(self, key: Key) -> bool:
        """Whether it was noted without a look."""
        return key in self._changes and self._changes[key] is None

    def paid(self, written: Iterable[Carried]) -> None:
        """One's own copies have these; what came later than that they do not."""
        for one in written:
            key = key_of(one)
            known = self._changes.get(key)
            if key in self._changes and (known is None or not is_later(known, one)):
                del self._changes[key]

    def forget(self, key: Key) -> None:
        """It is over."""
        self._changes.pop(key, None)
