"""What comes back of one asking: result frames and reports, read and told once.

Law of this file: pure.  Frames and reports come from other peers: what is none of ours counts as
nothing (DESIGN section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chord import Contact
from meteor import codec
from meteor.errors import MeteorError, Refused
from meteor.messages import Found
from meteor.operations import FoundPage, Operation, Summary
from meteor.record_id import stem_of
from squid import Outcome


@dataclass(slots=True)
class Collector:
    """The matches of one retrieve on their way to its client, each told once."""

    seen: dict[tuple[str, str], int] = field(default_factory=dict)
    pages: int = 0
    """How many were sent before the reply."""
    held: tuple[Found, ...] = ()
    """The page that waits for the reply, or for the next page."""

    def take(self) -> tuple[Found, ...]:
        """The page that waits, which does so no longer."""
        found, self.held = self.held, ()
        return found

    def unseen(self, summaries: Sequence[Summary]) -> set[str]:
        """The new ids of what was replaced while the query was under way, and met nowhere."""
        moved = {full_id for summary in summaries for full_id in summary.moved}
        stems = {stem for _, stem in self.seen} if moved else set()
        return {full_id for full_id in moved if stem_of(full_id) not in stems}

    def keep(self, _: Contact, frame: bytes) -> None:
        """Let the reply have what a frame brings."""
        self.held += self.news(found_in(frame))

    def news(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        """What has not been told in this or a newer version."""
        fresh = []
        for one in found:
            key = (one.owner, stem_of(one.id))
            known = self.seen.get(key)
            if known is None or known < one.version:
                self.seen[key] = one.version
                fresh.append(one)
        return tuple(fresh)


def summaries_of(outcome: Outcome) -> list[Summary]:
    """What the peers that took part said of it."""
    decoded = (_decoded(body) for _, body in outcome.summaries if body)
    return [summary for summary in decoded if isinstance(summary, Summary)]


def found_in(frame: bytes) -> tuple[Found, ...]:
    """The matches in a result frame; none in what is no page of ours."""
    page = _decoded(frame)
    return page.found if isinstance(page, FoundPage) else ()


def _decoded(body: bytes) -> object:
    try:
        return codec.decode(body)
    except MeteorError:
        return None


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
