"""What a shelf writes down and reads back: records, the attic, and what the peer has a part in.

Law of this file: forms, no decisions; nothing that cannot be read stops a start.  The journal keeps
wall-clock expiry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from arms import Profile
from chord import MeteorError
from meteor import codec
from meteor.attic import PREFIX as ATTIC_KEYS
from meteor.attic import Attic
from meteor.copy_messages import ViewsNote
from meteor.document import decode_document
from meteor.journal import Entry, Scan
from meteor.operations import Carried
from meteor.placement import GONE, KINDS, MOVED, journal_key, key_of, readable
from meteor.record_id import place_of
from meteor.views import Views
from squid import Box, HilbertCurve

VIEWS_KEY: Final = b"views"
OWN_KEYS: Final = (VIEWS_KEY, b"r:", ATTIC_KEYS)
"""How the journal's keys begin that are a shelf's."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a journal held; `incomplete` as `meteor.journal.Scan` has it."""

    note: ViewsNote
    """What the peer had a part in."""
    records: int
    damaged: tuple[bytes, ...]
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """What a scan of the journal says."""

    note: ViewsNote
    shown: list[tuple[Carried, Profile, Box, int | None]]
    """Of the shelf, with their profiles at rest and where they live: of points the index too."""
    words: list[Carried]
    """Of the shelf: tombstones."""
    stored: list[tuple[bytes, Carried]]
    """Of the attic, with its keys."""
    damaged: list[bytes]


def entry_of(carried: Carried) -> Entry:
    """A record of the shelf as it is written."""
    return Entry(journal_key(key_of(carried)), codec.encode(carried))


def noted(views: Views) -> Entry:
    """What a peer has a part in, as it is now."""
    note = ViewsNote(
        tuple(views.own.values()),
        tuple(copy.view for copy in views.copies.values() if copy.whole),
        tuple(views.former),
        tuple(views.stored),
    )
    return Entry(VIEWS_KEY, codec.encode(note))


def anew(scan: Scan, records: list[Carried], attic: Attic, views: Views) -> list[Entry]:
    """A journal with what is here, and what is not this shelf's."""
    others = [entry for entry in scan.entries if not entry.key.startswith(OWN_KEYS)]
    return [*others, *map(entry_of, records), *attic.entries(), noted(views)]


def read(scan: Scan, curve: HilbertCurve) -> Contents:
    """All that can be read; what cannot is named."""
    found = Contents(ViewsNote(), [], [], [], list(scan.damaged))
    note = found.note
    for entry in scan.entries:
        if entry.value is None or not entry.key.startswith(OWN_KEYS):
            continue
        try:
            value = codec.decode(entry.value)
        except MeteorError:
            found.damaged.append(entry.key)
            continue
        if isinstance(value, ViewsNote):
            note = value
            continue
        if not isinstance(value, Carried):
            found.damaged.append(entry.key)
        elif entry.key.startswith(ATTIC_KEYS):
            if readable(value, curve) is None:
                found.damaged.append(entry.key)
            else:
                found.stored.append((entry.key, value))
        else:
            _sort_in(entry.key, value, curve, found)
    return Contents(note, found.shown, found.words, found.stored, found.damaged)


def _sort_in(key: bytes, carried: Carried, curve: HilbertCurve, found: Contents) -> None:
    """A record or a tombstone, or something damaged.

    What was written here was checked when it came, and its checksum fits: a profile is looked into
    no further than the index does, unless it is an unusual one."""
    try:
        _, box, lowest = place_of(carried.id, curve)
        if carried.kind in {GONE, MOVED}:
            found.words.append(carried)
            return
        profile = Profile.resting(decode_document(carried.blob).profile)
        if profile.plain_tests() is None:
            profile = profile.awake()
    except MeteorError:
        found.damaged.append(key)
        return
    if carried.kind in KINDS:
        found.shown.append((carried, profile, box, lowest))
    else:
        found.damaged.append(key)
