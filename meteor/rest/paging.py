"""One page of a long answer: the first matches by id and owner, picked while the answer comes.

Law of this file: synchronous and pure.  What is held is bounded in number and in bytes, however
long the answer is; of two versions of one thing the newer counts, as in `Answer.all`.  An id is one
owner's: two may have given the same, so that a page also says after whose match the next begins.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Final

from meteor.values import Match
from meteor.wire.record_id import stem_of

PAGE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Payload in one page, unless one match alone is larger."""

Place = tuple[str, str]
"""Where a match stands in the order: its id, and its owner."""


def _place_of(match: Match) -> Place:
    return match.id, match.owner


class Page:
    """The `limit` first matches that come after `after`: an id, and its owner behind a blank."""

    def __init__(self, after: str, limit: int, bytes_max: int = PAGE_BYTES_MAX) -> None:
        self._limit, self._bytes_max = limit, bytes_max
        id, _, owner = after.partition(" ")
        self._after: Place = (id, owner)
        self._kept: list[Match] = []
        self._bytes = 0
        self._passed: Place | None = None  # the first that was left to a later page
        self._versions: dict[tuple[str, str], tuple[int, Place]] = {}

    @property
    def matches(self) -> list[Match]:
        """The page, by id and owner."""
        return list(self._kept)

    @property
    def has_more(self) -> bool:
        """Whether there are matches behind these."""
        return self._passed is not None

    @property
    def end(self) -> str:
        """After what the next page begins."""
        return " ".join(_place_of(self._kept[-1]) if self._kept else self._after).rstrip()

    @property
    def total(self) -> int:
        """How many things matched on all pages."""
        return len(self._versions)

    def add(self, match: Match) -> None:
        """Take a match of the answer into account."""
        key = (match.owner, stem_of(match.id))
        known = self._versions.get(key)
        if known is not None:
            if known[0] >= match.version:
                return
            self._drop(known[1])
        place = _place_of(match)
        self._versions[key] = (match.version, place)
        if place <= self._after:
            return
        if self._passed is not None and place >= self._passed:
            return  # it belongs to a later page, and this one was full already
        insort(self._kept, match, key=_place_of)
        self._bytes += _size(match)
        while len(self._kept) > self._limit or (
            self._bytes > self._bytes_max and len(self._kept) > 1
        ):
            passed = self._kept.pop()
            self._bytes -= _size(passed)
            self._passed = _place_of(passed)

    def _drop(self, place: Place) -> None:
        """An older version, if it is on this page."""
        at = bisect_left(self._kept, place, key=_place_of)
        if at < len(self._kept) and _place_of(self._kept[at]) == place:
            self._bytes -= _size(self._kept.pop(at))


def _size(match: Match) -> int:
    return len(match.data) + len(match.id)
