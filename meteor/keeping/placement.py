"""Where a record lives on the curve, and by which identity it is known there.

Law of this file: pure values and functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from arms import INTEREST, WATCH, AtRest, Profile, Record
from chord import MeteorError
from meteor.keeping.record_front import carried_in, curve_in, profile_in
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.operations import Carried, Route
from meteor.wire.record_id import place_of, split_id, stem_of
from squid import Box, HilbertCurve

GONE, MOVED = "gone", "moved"
"""Kinds of tombstone: deleted for good, or replaced and living elsewhere under a newer version; or
nowhere, where something took its place that would run out before it (`outlived`)."""

KINDS = frozenset({"data", "interest", "watch", GONE, MOVED})

Key = tuple[str, str]
"""Owner and stem: a record's identity.  What is left where a record was replaced (`MOVED`) has the
whole old id in the stem's place: one record may leave several, and live here once more."""

Keyed = tuple[Key, Carried]
"""A record or tombstone with its identity, which is read from its id once for many questions."""

Place = tuple[str, Box, int | None]
"""What an id says: stem, box, and of a point its index."""


@dataclass(slots=True)
class Placed(AtRest):
    """Where a record lives on the curve, and when it changed last.  At rest, as its journal's row,
    all but its box and the record itself are known."""

    box: Box
    lowest: int
    """The lowest index of its box: who holds it counts the record."""
    number: int
    carried: Carried
    """As it was written; expiry in it is wall-clock milliseconds."""
    change: int = 0
    """When it came to this shelf in this form."""
    is_point: bool = field(init=False)
    """Whether its box is one cell."""

    def __post_init__(self) -> None:
        self.is_point = self.box.is_point

    def _awake(self) -> Mapping[str, object]:
        row: bytes = self.rest
        carried = carried_in(row)
        assert isinstance(carried, Carried), "what has a front has a record behind it"
        if self.is_point:
            cell = curve_in(row).decode(self.lowest)
            return {"carried": carried, "box": Box(cell, cell)}
        return {"carried": carried, "box": place_of(carried.id, curve_in(row))[1]}

    def record_fields(self) -> Mapping[str, object]:
        """What a record of the store that rests is made from: see `arms.record.RestingRecord`."""
        carried = self.carried
        packed = profile_in(carried.blob)
        assert packed is not None, "what has a front has a profile"
        return {
            "stem": stem_of(carried.id),
            "owner": carried.owner,
            "version": carried.version,
            "id": carried.id,
            "action": carried.action,
            "profile": Profile.resting(packed),
            "blob": carried.blob,
            "region": self.box,
            "route": carried.route,
            "visible_to": carried.visible_to,
        }


@dataclass(slots=True)
class Admission:
    """What came with another holder's records: how far their clients are."""

    watermarks: dict[Key, int] = field(default_factory=dict)
    _came: dict[Key, int] = field(default_factory=dict)
    """In which version each was there."""
    _below: int | None = None
    """The lowest number here of what was not."""

    def enter(self, key: Key, carried: Carried) -> None:
        """A record is taken in; of a new version of an interest nothing is acknowledged."""
        self._came[key] = carried.version
        if carried.acknowledged or carried.kind in {INTEREST, WATCH}:
            self.watermarks[carried.owner, stem_of(carried.id)] = carried.acknowledged

    def acknowledged(self, key: Key) -> int:
        """An interest's watermark: every pair up to it reached its client."""
        mark = self.watermarks.get(key, 0)
        return mark if self._below is None else min(mark, self._below - 1)

    def beside(self, placed: Placed) -> None:
        """Something is here: no mark counts for it unless the other holder had just that."""
        one = placed.carried
        if one.kind in {GONE, MOVED} or self._came.get(key_of(one)) == one.version:
            return
        self._below = placed.number if self._below is None else min(self._below, placed.number)

    def latest(self) -> int:
        """The highest watermark; 0 where there is none."""
        return max(self.watermarks.values(), default=0)


def key_of(carried: Carried) -> Key:
    """The identity of a record or tombstone."""
    full_id = carried.id  # without a call of `stem_of`: it is asked for a dozen times a store
    return carried.owner, full_id if carried.kind == MOVED else full_id.partition(".")[0]


def keyed(carried: Carried) -> Keyed:
    """It with its identity."""
    return key_of(carried), carried


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


@lru_cache(maxsize=1024)
def lowest_in(curve: HilbertCurve, box: Box) -> int:
    """The lowest index of a box.  Cached: what is written down, then shown, is asked for twice."""
    lowest = curve.next_match(box, 0)
    assert lowest is not None, "a box has at least one cell"
    return lowest


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
    return f"r:{owner}\0{stem}".encode()
