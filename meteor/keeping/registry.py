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


def look_through(
    records: Iterable[Record],
    *,
    kind: str | None,
    search: str,
    limit: int,
    begin: int,
    belongs: Callable[[Record], bool],
) -> RegistryPage:
    """The records of a kind that hold every word of `search` in their profile or id, of those that
    begin with the `begin`-th of all; `belongs` says for which the peer answers."""
    words = [normal_form(word) for word in search.split()[:WORDS_MAX]]
    found: list[Record] = []
    examined = 0
    for record in records:
        if examined >= EXAMINED_MAX or len(found) >= limit:
            return RegistryPage(tuple(found), examined, begin + examined)
        examined += 1
        if kind not in (None, record.kind) or not belongs(record):
            continue
        if not words or _holds(record, words):
            found.append(record)
    return RegistryPage(tuple(found), examined, None)


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
