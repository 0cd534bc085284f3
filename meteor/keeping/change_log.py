"""The order in which identities changed: what came after a given change.

Law of this file: pure, and every step is short.  A later change of an identity takes the place of
the one before; what is out of date is dropped a block at a time, never all at once, so that no
single change among a hundred thousand holds the peer up.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from meteor.keeping.placement import Key

_BLOCK: Final = 512
_SPARSE: Final = 4
"""A block of which only one in so many changes counts is written anew."""


class _Block:
    """Changes that follow each other; those that are out of date are None.  Many that came at once
    become objects when one of them is asked for."""

    __slots__ = ("_changes", "_resting", "first", "living")

    def __init__(self, first: int, resting: tuple[Sequence[Key], int, int] | None = None) -> None:
        self.first = first
        self._changes: list[tuple[int, Key] | None] = []
        self._resting = resting
        """Keys, of which those from one place to before another changed, one after the other."""
        self.living = 0 if resting is None else resting[2] - resting[1]

    @property
    def changes(self) -> list[tuple[int, Key] | None]:
        """In their order."""
        if self._resting is not None:
            keys, low, high = self._resting
            numbers = range(self.first, self.first + high - low)
            self._changes.extend(zip(numbers, keys[low:high], strict=True))
            self._resting = None
        return self._changes

    def place_of(self, number: int) -> int:
        """Where the change of this number stands, which is in here."""
        if len(self.changes) > number - self.first:
            found = self.changes[number - self.first]
            if found is not None and found[0] == number:
                return number - self.first
        return next(at for at, change in enumerate(self.changes) if change and change[0] == number)

    def thin_out(self) -> None:
        """Forget what is out of date."""
        self._changes = [change for change in self.changes if change is not None]


class ChangeLog:
    """The last change of every identity, in order."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._firsts: list[int] = []
        self.newest = 0
        """The number of the last change."""

    def __len__(self) -> int:
        return sum(block.living for block in self._blocks)

    def add(self, key: Key) -> int:
        """An identity changes; returns the number of the change."""
        self.newest += 1
        changes = self._blocks[-1].changes if self._blocks else None
        if changes is None or len(changes) >= _BLOCK:
            self._blocks.append(_Block(self.newest))
            self._firsts.append(self.newest)
            changes = self._blocks[-1].changes
        changes.append((self.newest, key))
        self._blocks[-1].living += 1
        return self.newest

    def extend(self, keys: Sequence[Key]) -> int:
        """Many identities change, one after the other; returns the number of the first change.  The
        keys are not to change."""
        first = self.newest + 1
        self.newest += len(keys)
        for at in range(0, len(keys), _BLOCK):
            block = _Block(first + at, (keys, at, min(at + _BLOCK, len(keys))))
            self._blocks.append(block)
            self._firsts.append(block.first)
        return first

    def drop(self, number: int) -> None:
        """A change that was added is out of date."""
        at = bisect_right(self._firsts, number) - 1
        block = self._blocks[at]
        block.changes[block.place_of(number)] = None
        block.living -= 1
        if not block.living:
            del self._blocks[at], self._firsts[at]
        elif len(block.changes) >= _BLOCK and _SPARSE * block.living < len(block.changes):
            block.thin_out()

    def after(self, number: int) -> Iterator[tuple[int, Key]]:
        """The changes later than this one, oldest first; nothing may change meanwhile."""
        start = max(0, bisect_right(self._firsts, number) - 1)
        for block in self._blocks[start:]:
            for change in block.changes:
                if change is not None and change[0] > number:
                    yield change
