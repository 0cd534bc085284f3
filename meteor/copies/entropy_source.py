"""What a comparison asks of a peer's shelf and views, and the decisions on single records.

Law of this file: a Protocol and pure functions.  A record that is about to expire is neither asked
for nor given, one whose change is under way is left alone, and one that has expired here is not
taken back: two holders sweep at slightly different moments (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from chord import Contact, Runtime
from meteor.copies.entropy_forms import (
    fingerprint_of_state,
    key_of_state,
    standing_of_state,
)
from meteor.keeping.fingerprints import EXPIRING_MS, Fingerprints, Section
from meteor.keeping.placement import Key, Placed
from meteor.keeping.standing import standing_of, supersedes
from meteor.wire.entropy_messages import RecordState
from meteor.wire.operations import Carried
from squid import Intervals

MOVED_FAULT = "Moved"
"""The fault of who keeps no copy of what it is to compare."""

LEARNED_AT_ONCE = 256
"""Wide records that are looked at in one turn: some milliseconds."""


@dataclass(frozen=True, slots=True)
class Target:
    """A copy of one of this peer's holdings: what is to be compared, and with whom."""

    copy: Contact
    intervals: Intervals
    epoch: int = 0
    """Of the view: a later one is another target, which is compared at once."""


class Source(Protocol):
    """The records of one peer, and its word on who may compare them."""

    @property
    def fingerprints(self) -> Fingerprints:
        """Of everything that shows on the shelf, always as it is now."""

    def find(self, key: Key) -> Placed | None:
        """The record or tombstone of an identity."""

    def is_begun(self, keys: Collection[Key]) -> bool:
        """Whether a change of one of these is under way."""

    def wall_ms(self) -> int:
        """The wall clock in milliseconds, in which expiry is kept."""

    def outgoing(self, carried: Carried) -> Carried:
        """A record as it travels: with the remaining time to live."""

    def outlived(self, state: RecordState, by: Carried) -> None:
        """Hears what another holder has of a record that is known here in a later version, `by`, of
        another place: nobody let it leave there."""

    async def admit(self, carried: Sequence[Carried]) -> int:
        """Take in what is news (versions merge, deletes win), durable when this returns; how many
        were.  Raises `chord.Fault` when this peer may not any more."""

    def targets(self) -> Sequence[Target]:
        """The whole copies of what this peer is the primary of now."""

    async def disowned(self, target: Target) -> None:
        """A copy says that it is none: count on it no more."""

    def check(self, primary: Contact, intervals: Intervals) -> None:
        """Raises `chord.Fault` unless this peer keeps a copy of all these intervals for
        `primary`."""


async def known_section(runtime: Runtime, source: Source, intervals: Intervals) -> Section:
    """What lives in these intervals, once that is known; ask again after every pause."""
    while True:
        section = source.fingerprints.section(intervals)
        if section.learn(LEARNED_AT_ONCE):
            return section
        await runtime.sleep(0.0)


def is_steady(source: Source, placed: Placed, key: Key) -> bool:
    """Whether a record will be here for a while, as it is."""
    lives = placed.carried.ttl_ms > source.wall_ms() + EXPIRING_MS
    return lives and not source.is_begun((key,))


def is_wanted(source: Source, state: RecordState) -> bool:
    """Whether what another holder describes counts more than what is known here."""
    key = key_of_state(state)
    if source.is_begun((key,)) or source.fingerprints.has_expired(fingerprint_of_state(state)):
        return False
    placed = source.find(key)
    known = None if placed is None else standing_of(placed.carried)
    return supersedes(standing_of_state(state), known)


def tell_outlived(source: Source, described: Iterable[RecordState]) -> None:
    """Of what another holder describes that which a later version took the place of here, as it
    went elsewhere, or was deleted there: one peer has one state of a record, and the two would
    differ for good."""
    for state in described:
        placed = source.find(key_of_state(state))
        if placed is None or placed.carried.id == state.id:
            continue
        if supersedes(standing_of(placed.carried), standing_of_state(state)):
            source.outlived(state, placed.carried)


def steady(source: Source, keys: Iterable[Key], section: Section) -> list[Carried]:
    """Of some identities those that live in what is compared, as they are kept."""
    found = []
    for key in keys:
        placed = source.find(key)
        if placed is not None and section.holds(placed.box) and is_steady(source, placed, key):
            found.append(placed.carried)
    return found
