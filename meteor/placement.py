"""Where a record lives on the curve, and by which identity it is known there.

Law of this file: pure values and functions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from arms import Profile, Record
from chord import MeteorError
from meteor.document import decode_document, unpack_profile
from meteor.operations import Carried, Route
from meteor.record_id import split_id, stem_of
from squid import Box, HilbertCurve

GONE, MOVED = "gone", "moved"
"""Kinds of tombstone: deleted for good, or replaced and living elsewhere under a newer version."""

KINDS = frozenset({"data", "interest", "watch", GONE, MOVED})

Key = tuple[str, str]
"""Owner and stem: a record's identity.  What is left where a record was replaced (`MOVED`) has the
whole old id in the stem's place: one record may leave several, and live here once more."""


@dataclass(slots=True)
class Placed:
    """Where a record lives on the curve, and when it changed last."""

    box: Box
    lowest: int
    """The lowest index of its box: who holds it counts the record."""
    number: int
    carried: Carried
    """As it was written; expiry in it is wall-clock milliseconds."""
    change: int = 0
    """When it came to this shelf in this form."""


@dataclass(slots=True)
class Admission:
    """What came with another holder's records: how far their clients are."""

    watermarks: dict[Key, int] = field(default_factory=dict)

    def enter(self, carried: Carried) -> None:
        """A record is taken in."""
        if carried.acknowledged:
            self.watermarks[carried.owner, stem_of(carried.id)] = carried.acknowledged

    def acknowledged(self, key: Key) -> int:
        """An interest's watermark: every pair up to it reached its client."""
        return self.watermarks.get(key, 0)


def key_of(carried: Carried) -> Key:
    """The identity of a record or tombstone."""
    return carried.owner, carried.id if carried.kind == MOVED else stem_of(carried.id)


def readable(carried: Carried, curve: HilbertCurve) -> Profile | Literal[False] | None:
    """The profile of a record, False for a tombstone, None for what is neither."""
    try:
        split_id(carried.id, curve)
        if carried.kind in {GONE, MOVED}:
            return False
        profile = unpack_profile(decode_document(carried.blob).profile)
    except MeteorError:
        return None
    return profile if carried.kind in KINDS else None


def lowest_of(curve: HilbertCurve, left: Box, right: Box) -> int | None:
    """The lowest curve index that two boxes share; None when they share none."""
    common = left.intersection(right)
    if common is None:
        return None
    return curve.encode(common.low) if common.is_point else curve.next_match(common, 0)


def route_of(record: Record) -> Route | None:
    """Whom to tell of a record's matches."""
    return record.route if isinstance(record.route, Route) else None


def box_of(record: Record) -> Box:
    """The box of cells under which a record lives."""
    assert isinstance(record.region, Box)
    return record.region


def journal_key(key: Key) -> bytes:
    """The journal's key of an identity."""
    owner, stem = key
    return b"r:" + owner.encode() + b"\0" + stem.encode()
