"""The pairs of one stream that wait until its client has taken what came before, in their order.

Law of this file: pure.  A pair here is a place in a row, without a notice: so a client that comes
back to many is told of all in steps in proportion, found once and not anew for every few thousand.
It is bounded all the same; of what lies beyond only the first position is remembered, from where
the stream is derived again.  Every step is short, however many wait.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from arms import Record

BACKLOG_MAX: Final = 100_000
"""Pairs of one stream: some 25 MB where all of them wait."""
_BLOCK: Final = 512

Position = tuple[int, str]
"""A pair's place in its stream: its number, then the id of its notice, as an interest that meets
many data at once gives all their pairs one number."""

NoticeKind = Literal["match", "appeared", "gone"]


class Behind(NamedTuple):
    """A pair that waits: what its client is to be told of, and how."""

    position: Position
    about: Record
    kind: NoticeKind


class Backlog:
    """At most so many pairs in the order of their stream, each once."""

    __slots__ = ("_blocks", "_count", "_firsts", "beyond", "most", "version")

    def __init__(self, version: int, most: int = BACKLOG_MAX) -> None:
        self.version = version
        """That of the interest whose pairs these are."""
        self.most = most
        self.beyond: Position | None = None
        """The first that had no room here."""
        self._blocks: list[list[Behind]] = []
        self._firsts: list[Position] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def first(self) -> Position | None:
        """The first position that waits, here or beyond; None when nothing does."""
        return self._firsts[0] if self._firsts else self.beyond

    def add(self, one: Behind) -> None:
        """Let a pair wait; one that does so already changes nothing."""
        position = one.position
        if self.beyond is not None and position >= self.beyond:
            return
        at = bisect_right(self._firsts, position) - 1
        if at < 0:
            if not self._blocks:
                self._blocks.append([])
                self._firsts.append(position)
            at = 0
        block = self._blocks[at]
        place = bisect_left(block, position, key=_POSITION)
        if place < len(block) and block[place].position == position:
            return
        block.insert(place, one)
        self._firsts[at] = block[0].position
        self._count += 1
        if len(block) > _BLOCK:
            self._blocks[at : at + 1] = [block[: _BLOCK // 2], block[_BLOCK // 2 :]]
            self._firsts.insert(at + 1, block[_BLOCK // 2].position)
        if self._count > self.most:
            self.beyond = self._blocks[-1][-1].position
            self._leave(-1)

    def next(self) -> Behind | None:
        """The pair that `take` would give."""
        return self._blocks[0][0] if self._blocks else None

    def take(self) -> None:
        """The first waits no longer."""
        self._leave(0)

    def _leave(self, end: int) -> None:
        block = self._blocks[end]
        block.pop(end)
        self._count -= 1
        if not block:
            del self._blocks[end], self._firsts[end]
        elif end == 0:
            self._firsts[0] = block[0].position


_POSITION = attrgetter("position")
