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
from meteor.journal import Entry, Scan
from meteor.operations import Carried
from meteor.placement import journal_key, key_of, readable
from meteor.views import Views
from squid import HilbertCurve

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
    shown: list[tuple[Carried, Profile | None]]
    """Of the shelf; a tombstone has no profile."""
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
    found = Contents(ViewsNote(), [], [], list(scan.damaged))
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
        profile = readable(value, curve) if isinstance(value, Carried) else None
        if profile is None:
            found.damaged.append(entry.key)
        elif entry.key.startswith(ATTIC_KEYS):
            found.stored.append((entry.key, value))
        else:
            found.shown.append((value, profile or None))
    return Contents(note, found.shown, found.stored, found.damaged)
