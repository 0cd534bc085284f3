"""What one peer answers for, to be looked through by people: profiles, interests, watches.

Law of this file: pure and bounded.  A page examines so many records and no more, says how many and
where to go on, so that looking through a large peer never holds its loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from arms import Record
from squid import normal_form

EXAMINED_MAX: Final = 2_000
"""Records in one page's search: about ten milliseconds."""
WORDS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class RegistryPage:
    """Some of a peer's records."""

    records: tuple[Record, ...]
    examined: int
    next: int | None
    """Where the next page begins; None when there is none."""


class Looking:
    """One page in the making: it is shown record after record."""

    def __init__(
        self, *, kind: str | None, search: str, limit: int, belongs: Callable[[Record], bool]
    ) -> None:
        """Records of a kind that hold every word of `search` in their profile or id; `belongs` says
        for which the peer answers."""
        self._kind, self._limit, self._belongs = kind, limit, belongs
        self._words = [normal_form(word) for word in search.split()[:WORDS_MAX]]
        self._found: list[Record] = []
        self._examined = 0

    @property
    def is_full(self) -> bool:
        """Whether the next record is the first one of another page."""
        return self._examined >= EXAMINED_MAX or len(self._found) >= self._limit

    def look_at(self, record: Record) -> None:
        """Put a record on the page, if it is one of those that are looked for."""
        self._examined += 1
        if self._kind not in (None, record.kind) or not self._belongs(record):
            return
        if not self._words or _holds(record, self._words):
            self._found.append(record)

    def page(self, begin: int, *, more: bool) -> RegistryPage:
        """The page that began with the `begin`-th of all, behind which there is `more`, or not."""
        after = begin + self._examined if more else None
        return RegistryPage(tuple(self._found), self._examined, after)


def _holds(record: Record, words: Iterable[str]) -> bool:
    text = normal_form(f"{record.profile} {record.id} {record.action}")
    return all(word in text for word in words)


def record_object(record: Record, ttl_ms: int) -> dict[str, Any]:
    """A record for JSON."""
    return {
        "kind": record.kind,
        "id": record.id,
        "profile": str(record.profile),
        "action": record.action,
        "owner": record.owner,
        "ttl": ttl_ms / 1000,
        "bytes": len(record.blob),
    }
