"""A record of the store, and where the indexes find it.

Law of this file: values.  Both may rest as rows of the journal (`arms.at_rest`): after a restart a
record is made when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, final

from arms.actions import Kind
from arms.at_rest import AtRest
from arms.profile import Profile
from squid import dataclass

Key = tuple[str, str]
"""Owner and stem: the identity of a record."""


@dataclass(frozen=True, slots=True)
class Record(AtRest):
    """A profile with what is kept beside it; at rest its kind, identity, expiry and index are
    known, maybe that everybody may know of it, and nothing else."""

    kind: Kind
    stem: str
    owner: str
    version: int
    id: str
    """The full id, `<stem>.<region>`."""
    action: str
    profile: Profile
    blob: bytes
    """The encoded document, opaque here."""
    expires_s: float
    """On the keeping peer's clock."""
    region: object = None
    """Opaque here: the box of the profile."""
    route: object = None
    """Opaque here: whom to tell."""
    visible_to: tuple[str, ...] = ()
    """Opaque here: who may know of it; empty for everybody."""
    index: int | None = None
    """Opaque here: where it lives on the curve; None for what has more than one cell."""

    def _awake(self) -> Mapping[str, object]:
        rest: RestingRecord = self.rest
        return rest.record_fields()

    @property
    def key(self) -> Key:
        """Owner and stem."""
        return (self.owner, self.stem)

    def lives(self, now: float) -> bool:
        """Whether its time to live has not run out."""
        return self.expires_s > now


class RestingRecord(Protocol):
    """What a record at rest is made from."""

    def record_fields(self) -> Mapping[str, object]:
        """Every field but `kind`, `expires_s` and `index`."""


class RestingRecords(Protocol):
    """Many records that nobody has asked for yet."""

    def record(self, number: int) -> Record:
        """The one of this number, at rest."""


@final  # so that what is none is known by its type
class Kept(AtRest):
    """Where a version of a record is kept: what the indexes find, however its expiry and its route
    change.  At rest it knows which one it is of those that came at once."""

    __slots__ = ("number", "record")
    number: int
    """Of those that came at once; of others that of their lot, below 0."""
    record: Record

    def _awake(self) -> Mapping[str, object]:
        records: RestingRecords = self.rest
        return {"record": records.record(self.number)}
