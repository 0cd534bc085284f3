"""Where a record went that was replaced, as one peer tells another.

Law of this file: pure.  A record goes to each place with a later version than to the one before; so
of several words the latest counts, and one that is no later than what is known already leads
nowhere new, however often the record went to and fro.  Summaries come from other peers: whatever
they say, who follows only later words comes to an end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Final, NamedTuple

from chord import replace
from meteor.wire.operations import Summary
from meteor.wire.record_id import stem_of

_NOBODYS: Final = ("", 0)


class Went(NamedTuple):
    """To which full id, with which version, and whose; of one record the later is the greater."""

    version: int
    id: str
    owner: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the record."""
        return self.owner, stem_of(self.id)


def telling(summary: Summary, moved: Sequence[Went]) -> Summary:
    """A summary that says where records went lately."""
    marks = tuple((went.owner, went.version) for went in moved)
    return replace(summary, moved=tuple(went.id for went in moved), moves=marks)


def moves_in(summaries: Iterable[Summary]) -> dict[tuple[str, str], Went]:
    """Where records went last, by their identity, as some summaries tell."""
    newest: dict[tuple[str, str], Went] = {}
    for summary in summaries:
        for went in _told(summary):
            newest[went.key] = max(went, newest.get(went.key, went))
    return newest


def _told(summary: Summary) -> Iterator[Went]:
    marks = chain(summary.moves, repeat(_NOBODYS))  # who is older says no more than the id
    for full_id, (owner, version) in zip(summary.moved, marks, strict=False):
        yield Went(version, full_id, owner)


def last_in(summaries: Iterable[Summary]) -> Went | None:
    """Where the one record went that an operation was about."""
    return max((Went(one.version, one.moved_to) for one in summaries if one.moved_to), default=None)
