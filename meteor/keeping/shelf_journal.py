"""What a shelf writes down and reads back: records, the attic, and what the peer has a part in.

Law of this file: forms, no decisions; nothing that cannot be read stops a start.  The journal keeps
wall-clock expiry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arms import Profile
from chord import MeteorError, replace
from meteor.journal.journal import Entries, Entry, Scan
from meteor.journal.no_collections import no_collections
from meteor.keeping.attic import PREFIX as ATTIC_KEYS
from meteor.keeping.attic import Attic
from meteor.keeping.placement import (
    GONE,
    KINDS,
    MOVED,
    Key,
    journal_key,
    key_of,
    lowest_in,
    readable,
)
from meteor.keeping.plain_rows import read_plain
from meteor.keeping.record_front import carried_in, front
from meteor.keeping.shelf_loading import Loaded, load_plain
from meteor.keeping.standing import fingerprint_of
from meteor.keeping.views import Views
from meteor.wire import codec
from meteor.wire.copy_messages import ViewsNote
from meteor.wire.document import decode_document
from meteor.wire.operations import Carried
from meteor.wire.record_id import place_of
from squid import Box, HilbertCurve

VIEWS_KEY: Final = b"views"
LOSS_KEY: Final = b"loss"
"""Of a note that something was lost here: what is damaged may be written over, and the rest would
be taken for everything at the next start."""
RECORDS_LOST: Final = b"records"
"""What that says where only records were lost, and not what the peer had a part in."""
RECORD_KEYS: Final = (b"r:", ATTIC_KEYS)
OWN_KEYS: Final = (VIEWS_KEY, LOSS_KEY, *RECORD_KEYS)
"""How the journal's keys begin that are a shelf's."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a journal held; `incomplete` as `meteor.journal.journal.Scan` has it."""

    note: ViewsNote
    """What the peer had a part in."""
    records: int
    damaged: tuple[bytes, ...]
    incomplete: bool = False
    remembers: bool = False
    """Whether the note is the last that was written, whatever else was lost."""

    @property
    def whole(self) -> bool:
        """Whether the journal had lost nothing that anybody knows of."""
        return not (self.incomplete or self.damaged)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a scan of the journal says."""

    note: ViewsNote
    loaded: Loaded
    """Of the shelf, what rests as rows that are not looked into, in the tables by now."""
    shown: list[tuple[Carried, Profile, Box, int | None]]
    """Of the shelf, one by one, with their profiles at rest and where they live: of points the
    index too."""
    words: list[Carried]
    """Of the shelf: tombstones."""
    stored: list[tuple[bytes, Carried]]
    """Of the attic, with its keys."""
    damaged: list[bytes]
    over: Sequence[Key] = ()
    """Of the shelf, what had expired and is in the journal still."""
    incomplete: bool = False
    remembers: bool = False
    """Whether `note` is the last that was written, whatever else was lost."""

    @property
    def loss(self) -> Entry:
        """What is noted of what was lost."""
        return Entry(LOSS_KEY, RECORDS_LOST if self.remembers else b"")

    def restored(self, records: int) -> Restored:
        """What whoever starts hears of it, with so many records on the shelf."""
        damaged = tuple(self.damaged)
        return Restored(self.note, records, damaged, self.incomplete, self.remembers)


def entry_of(carried: Carried, curve: HilbertCurve) -> Entry:
    """A record of the shelf as it is written."""
    return Entry(journal_key(key_of(carried)), row_of(carried, curve))


def row_of(carried: Carried, curve: HilbertCurve) -> bytes:
    """The same without its key."""
    return _front_of(carried, curve) + codec.encode(carried)


def _front_of(carried: Carried, curve: HilbertCurve) -> bytes:
    if carried.kind in {GONE, MOVED} or carried.acknowledged:  # a front does not say how far
        return b""
    try:
        _, box, index = place_of(carried.id, curve)
    except MeteorError:
        return b""
    lowest = lowest_in(curve, box) if index is None else index
    return front(carried, curve, lowest, fingerprint_of(carried), is_point=index is not None)


def noted(views: Views) -> Entry:
    """What a peer has a part in, as it is now."""
    note = ViewsNote(
        tuple(views.own.values()),
        tuple(copy.view for copy in views.copies.values() if copy.whole),
        (*views.former, *(one for copy in views.copies.values() for one in copy.before)),
        tuple(views.stored),
        views.taken_in.ended(),
        views.chronicle.written(),
        views.had,
    )
    return Entry(VIEWS_KEY, codec.encode(note))


def anew(
    scan: Scan, records: Sequence[Carried], attic: Attic, views: Views, curve: HilbertCurve
) -> list[Entry]:
    """A journal with what is here, and what is not this shelf's."""
    others = [entry for entry in scan.entries if not entry.key.startswith(OWN_KEYS)]
    return [*others, *(entry_of(one, curve) for one in records), *attic.entries(), noted(views)]


@no_collections()
def read(scan: Scan, curve: HilbertCurve, now_ms: int) -> Contents:
    """All that can be read; what cannot is named.  What expired before `now_ms` may be left out."""
    plain, others = read_plain(Entries.of(scan.entries), curve, now_ms)
    loaded = load_plain(plain, curve)
    damaged = list(scan.damaged)
    found = Contents(ViewsNote(), loaded, [], [], [], damaged, plain.over, scan.incomplete)
    note: ViewsNote | None = None
    incomplete, remembers = found.incomplete, not found.incomplete
    for entry in others:
        if entry.value is None or not entry.key.startswith(OWN_KEYS):
            continue
        if entry.key == LOSS_KEY:
            incomplete, remembers = True, remembers and entry.value == RECORDS_LOST
            continue
        try:
            value = carried_in(entry.value)
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
    remembers = remembers and all(key.startswith(RECORD_KEYS) for key in found.damaged)
    if note is None:
        return replace(found, incomplete=incomplete)
    return replace(found, note=note, incomplete=incomplete, remembers=remembers)


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
        if profile.plain_form() is None:
            profile = profile.awake()
    except MeteorError:
        found.damaged.append(key)
        return
    if carried.kind in KINDS:
        found.shown.append((carried, profile, box, lowest))
    else:
        found.damaged.append(key)
