"""What comes back of one asking: result frames and reports, passed on or read, and told once.

Law of this file: pure.  Frames and reports come from other peers: what is none of ours counts as
nothing (DESIGN section 3).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from chord import Contact
from meteor.errors import MeteorError, Refused
from meteor.wire import codec
from meteor.wire.found_pages import PAGE_BYTES, readable, unpack
from meteor.wire.messages import Found
from meteor.wire.operations import Operation, Summary
from meteor.wire.record_id import stem_of
from meteor.wire.went import Went, moves_in
from squid import Outcome

Collect = Callable[[Sequence[Found]], None]
"""Takes the matches of some result pages, in the turn in which they arrive; some come twice."""

FIRST_BYTES: Final = 2048
"""With so much of an answer its client may begin: a dozen matches."""
KEPT_BYTES: Final = 1 << 20
"""Of an answer that passes through, so that one need not ask again for what moved meanwhile."""
MATCHES_MAX: Final = 1 << 40
"""That one peer may count: what they add up to must travel, however many say so."""
VERSIONS_MAX: Final = 1 << 63
"""Versions that a peer may name lie below: who lets something follow counts on from there."""


class Newest:
    """Which matches came, each told once in its newest version."""

    def __init__(self) -> None:
        self._versions: dict[str, int] = {}
        self.is_superseded = False
        """Whether a newer version came after an older one was told."""

    def __len__(self) -> int:
        return len(self._versions)

    def __contains__(self, key: str) -> bool:
        return key in self._versions

    def news(self, found: Sequence[Found]) -> Sequence[Found]:
        """What has not come in this or a newer version.

        Nearly always that is all of them, which is found out without a step for each."""
        keys = [
            f"{one.owner}/{one.id.partition('.')[0]}" if one.owner else one.id.partition(".")[0]
            for one in found
        ]
        if len(set(keys)) == len(keys) and self._versions.keys().isdisjoint(keys):
            self._versions.update(zip(keys, [one.version for one in found], strict=True))
            return found
        return [one for key, one in zip(keys, found, strict=True) if self._is_new(key, one.version)]

    def _is_new(self, key: str, version: int) -> bool:
        known = self._versions.get(key)
        if known is not None and known >= version:
            return False
        self.is_superseded = self.is_superseded or known is not None
        self._versions[key] = version
        return True


class Attempt:
    """What its client gets of one asking of one request."""

    __slots__ = ("_collect", "is_damaged", "is_wanted", "pages")

    def __init__(
        self, collect: Collect | None, is_wanted: Callable[[], bool] | None = None
    ) -> None:
        self._collect, self.pages = collect, 0
        self.is_wanted = is_wanted
        """Whether it is still to be done, for as long as it is waited for; None: it is."""
        self.is_damaged = False
        """Whether a page came that cannot be read."""

    def take(self, found: Sequence[Found], packed: Iterable[bytes]) -> None:
        """Some matches, and some pages of them."""
        if self._collect is None:
            return
        if found:
            self._collect(found)
        for page in packed:
            try:
                self._collect(unpack(page))
            except MeteorError:
                self.is_damaged = True


class Collector:
    """The records that a question is about, read here."""

    def __init__(self) -> None:
        self.found: list[Found] = []
        self._newest = Newest()

    def __len__(self) -> int:
        return len(self._newest)

    def keep(self, _: Contact, frame: bytes) -> None:
        """Let the reply have what a frame brings."""
        self.found += self._newest.news(readable((frame,)))

    def count(self, _: Contact, frame: bytes) -> None:
        """Only count it."""
        self._newest.news(readable((frame,)))


class Relay:
    """The pages of one retrieve on their way to its client, as they are: whoever asked reads them,
    and drops what came twice.

    Of a point there is one page, which waits for the reply.  Else the first page that is worth a
    message goes at once, later ones in company."""

    def __init__(self, *, waits_for_reply: bool) -> None:
        self.sent = 0
        """How many messages with pages were sent before the reply."""
        self._enough = sys.maxsize if waits_for_reply else FIRST_BYTES
        self._waiting: list[bytes] = []
        self._size = self._kept_size = 0
        self._kept: list[bytes] = []

    def take(self, page: bytes) -> bool:
        """A page has come; whether what waits is to be sent now."""
        self._waiting.append(page)
        self._size += len(page)
        if self._kept_size <= KEPT_BYTES:
            self._kept_size += len(page)
            self._kept.append(page)
        return self._size >= min(self._enough, PAGE_BYTES)

    @property
    def begins_to_wait(self) -> bool:
        """Whether one page waits, and may not do so for long."""
        return len(self._waiting) == 1 and self._enough < sys.maxsize

    def leave(self) -> tuple[bytes, ...]:
        """What waits, which does so no longer."""
        if self._waiting:
            self._enough = max(self._enough, PAGE_BYTES)
        pages, self._waiting, self._size = tuple(self._waiting), [], 0
        return pages

    def unseen(self, summaries: Sequence[Summary]) -> dict[tuple[str, str], Went]:
        """Where that went which was replaced while the query was under way, and not surely met."""
        moved = moves_in(summaries)
        if not moved or self._kept_size > KEPT_BYTES:
            return moved
        met = {(one.owner, stem_of(one.id)) for one in readable(self._kept)}
        return {key: went for key, went in moved.items() if key not in met}


def summaries_of(outcome: Outcome) -> list[Summary]:
    """What the peers that took part said of it."""
    decoded = (summary_in(body) for _, body in outcome.summaries if body)
    return [summary for summary in decoded if summary is not None]


def summary_in(body: bytes) -> Summary | None:
    """What a report says; None for what is no summary of ours, numbers that nobody can count on
    among them."""
    try:
        summary = codec.decode(body)
    except MeteorError:
        return None
    if not isinstance(summary, Summary):
        return None
    versions = (summary.version, *(version for _, version in summary.moves))
    is_ours = 0 <= summary.matches <= MATCHES_MAX
    return summary if is_ours and all(0 <= one < VERSIONS_MAX for one in versions) else None


def raise_refusals(operation: Operation, summaries: Sequence[Summary]) -> None:
    """Raise `Refused` for what a rendezvous point did not do."""
    for summary in summaries:
        if summary.refused == "deleted":
            raise Refused(
                f"{operation.verb} of {operation.id}: it was deleted, and a delete wins over every "
                "version; post under another id",
                "deleted",
            )
        if summary.refused == "older":
            raise Refused(
                f"{operation.verb} of {operation.id}: a newer version is kept than "
                f"{operation.version}, by another client or a clock ahead of yours; post again",
                "older",
            )
        if summary.refused == "over":
            raise Refused(
                f"{operation.verb} of {operation.id}: it was signed before the peer that keeps it "
                "was started, or got its place, and its ttl ran out since: sign it anew, or set "
                "your clock",
                "issue_time",
            )
        if summary.refused == "owner":
            raise Refused(
                f"{operation.verb} of {operation.id}: it is somebody else's; only its owner may, "
                "or a key named in a delegation that the owner signed",
                "owner",
            )
        if summary.refused == "delegation":
            raise Refused(
                f"{operation.verb} of {operation.id}: it does not lie within the delegation's "
                "selector",
                "delegation",
            )
        if summary.refused == "no interest":
            raise Refused(
                f"{operation.verb} of {operation.id}: that is data; give the id of an interest, a "
                "watch or a standing retrieve",
                "no interest",
            )
