"""One page of a long answer: the first matches by id, picked while the answer comes.

Law of this file: synchronous and pure.  What is held is bounded in number and in bytes, however
long the answer is; of two versions of one thing the newer counts, as in `Answer.all`.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import attrgetter
from typing import Final

from meteor.values import Match
from meteor.wire.record_id import stem_of

PAGE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Payload in one page, unless one match alone is larger."""

_id_of = attrgetter("id")


class Page:
    """The `limit` first matches whose id comes after `after`."""

    def __init__(self, after: str, limit: int, bytes_max: int = PAGE_BYTES_MAX) -> None:
        self._after, self._limit, self._bytes_max = after, limit, bytes_max
        self._kept: list[Match] = []
        self._bytes = 0
        self._passed: str | None = None  # the first id that was left to a later page
        self._versions: dict[tuple[str, str], tuple[int, str]] = {}

    @property
    def matches(self) -> list[Match]:
        """The page, by id."""
        return list(self._kept)

    @property
    def has_more(self) -> bool:
        """Whether there are matches behind these."""
        return self._passed is not None

    @property
    def end(self) -> str:
        """After which id the next page begins."""
        return self._kept[-1].id if self._kept else self._after

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
        self._versions[key] = (match.version, match.id)
        if match.id <= self._after:
            return
        if self._passed is not None and match.id >= self._passed:
            return  # it belongs to a later page, and this one was full already
        insort(self._kept, match, key=_id_of)
        self._bytes += _size(match)
        while len(self._kept) > self._limit or (
            self._bytes > self._bytes_max and len(self._kept) > 1
        ):
            passed = self._kept.pop()
            self._bytes -= _size(passed)
            self._passed = passed.id

    def _drop(self, full_id: str) -> None:
        """An older version, if it is on this page."""
        place = bisect_left(self._kept, full_id, key=_id_of)
        if place < len(self._kept) and self._kept[place].id == full_id:
            self._bytes -= _size(self._kept.pop(place))


def _size(match: Match) -> int:
    return len(match.data) + len(match.id)
