"""What a rendezvous peer keeps: records under their time to live, by owner and stem.

Law of this file: synchronous and pure; `now` is the caller's clock.  The newest version of a stem
counts, a delete wins over every version, and an expired record is as if it were not there, swept
or not (DESIGN section 4; rules 33 and 37).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse, repeat
from operator import itemgetter
from typing import Final, Literal, NamedTuple, overload

from arms.actions import DATA, INTEREST, WATCH, Kind
from arms.at_rest import made_in_bulk
from arms.deadlines import Deadlines
from arms.index_bits import Slots
from arms.index_role import Sifted
from arms.index_store import Objects, Span, objects_of
from arms.index_vocabulary import Floats
from arms.parted import Parted
from arms.plain_columns import PlainColumns
from arms.profile import Profile
from arms.profile_index import ProfileIndex
from arms.record import Kept, Key, Record, RestingRecords
from squid import replace

Outcome = Literal["stored", "same", "older", "deleted"]

KINDS: Final[tuple[Kind, ...]] = (DATA, INTEREST, WATCH)

PASSED_AT_ONCE: Final = 5000
"""Keys that are passed by in one turn: a millisecond where most are of what is hidden."""


class Records(Sequence[Record]):
    """Records that were found, looked at when they are asked for: a hundred thousand at once would
    hold the peer up.  Whatever becomes of one meanwhile, it is the version that was found."""

    __slots__ = ("_kept",)

    def __init__(self, kept: Objects) -> None:
        self._kept = kept

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, at: int) -> Record: ...

    @overload
    def __getitem__(self, at: slice) -> list[Record]: ...

    def __getitem__(self, at: int | slice) -> Record | list[Record]:
        if isinstance(at, slice):
            return [kept.record for kept in self._kept[at].tolist()]
        kept: Kept = self._kept[at]
        return kept.record


class Candidates(NamedTuple):
    """What the index says of a question, with what has expired and is not swept."""

    sure: Sequence[Record]
    """They match."""
    doubtful: Sequence[Record]
    """Only their tree decides."""


class Store:
    """The records of one peer, in memory; `arms.rendezvous` decides what follows from them."""

    def __init__(self) -> None:
        self._kept: dict[Key, Kept | int] = {}
        """Of what came at once, its number there."""
        self._loaded: list[Kept | None] = []
        """By that number."""
        self._lot, self._in_lot = -1, 0
        """What comes by itself has the number of its lot, and so many of the last came by now."""
        self._owners: dict[str, dict[str, None]] = {}
        """By stem, of what somebody owns: a few bytes for what nobody does would be too many."""
        self._hidden: dict[Kind, set[Key]] = {kind: set() for kind in KINDS}
        """What not everybody may see."""
        self._indexes: dict[Kind, ProfileIndex[Kept]] = {
            DATA: ProfileIndex(
                "subjects", profile_of=_profile_of, place_of=_place_of, number_of=_number_of
            ),
            INTEREST: ProfileIndex("selectors", profile_of=_profile_of, number_of=_number_of),
            WATCH: ProfileIndex("subjects", profile_of=_profile_of, number_of=_number_of),
        }
        self._tombstones = Parted[Key, float]()
        self._deadlines = Deadlines()

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def put(self, record: Record, now: float) -> Outcome:
        """Keep a record.

        `stored`: new, or a newer version in place of the older; `same`: this version is here
        already, a later expiry extends it; `older` and `deleted`: refused.
        """
        key = record.key
        if self.is_deleted(*key, now):
            return "deleted"
        former = self._find(key)
        if former is not None and (known := former.record).lives(now):
            if record.version < known.version:
                return "older"
            if record.version == known.version:
                self.extend(known, record.expires_s)
                return "same"
        self._insert(key, record, former)
        return "stored"

    def load(self, records: Iterable[Record]) -> None:
        """Keep many living records at once that are not known here: after a restart."""
        found: dict[Kind, list[tuple[Kept, Profile]]] = {kind: [] for kind in KINDS}
        deadlines: list[tuple[float, Key]] = []
        for record in records:
            assert record.key not in self._kept, "loaded before anything else comes"
            found[record.kind].append((self._enter(record.key, record), record.profile))
            deadlines.append((record.expires_s, record.key))
        self._deadlines.add_all(deadlines)
        for kind, items in found.items():
            self._indexes[kind].add_many(items)

    def load_plain(
        self,
        numbers: Mapping[Key, int],
        keys: Sequence[Key],
        records: RestingRecords,
        expiries_s: Floats,
        places: Floats,
        columns: Mapping[Kind, tuple[Slots, PlainColumns]],
        hidden: Mapping[Kind, Iterable[Key]],
    ) -> None:
        """The same, before anything else, for records at rest with plain profiles, numbered in the
        order of their keys: when they expire, where they live (NaN for those with more than one
        cell), which of them are of a kind and their profiles by column, numbered in that order; and
        what of a kind not everybody may see."""
        assert not self._kept, "loaded before anything else comes"
        # The same objects as in the dictionary: a million more are 32 megabytes.
        known = numbers.values() if len(numbers) == len(keys) else range(len(keys))
        made = made_in_bulk(Kept, len(keys), rest=repeat(records), number=known)
        # At the speed of C, as this copies a dictionary without a look at its keys.
        self._kept = dict[Key, Kept | int](numbers)
        self._loaded = [*made]
        for owner, stem in filter(itemgetter(0), keys):
            self._owners.setdefault(stem, {})[owner] = None
        self._deadlines.load(expiries_s, keys)
        for kind, (chosen, profiles) in columns.items():
            self._hidden[kind].update(hidden.get(kind, ()))
            of_kind = made
            if len(chosen) < len(made):
                of_kind = [made[at] for at in chosen.tolist()]
            self._indexes[kind].add_plain(of_kind, profiles, places[chosen], chosen)

    def become(self, other: Store, ahead_s: float) -> None:
        """Be what another store is, which nobody uses and which was loaded by a clock that this
        one's is ahead of; before anything else."""
        assert not self._kept, "before anything else comes"
        for name in vars(other):
            setattr(self, name, getattr(other, name))
        self._deadlines.put_off(ahead_s)

    def extend(self, record: Record, expires_s: float) -> Record:
        """Let a kept record live until `expires_s`, never shorter than it does; returns it."""
        if expires_s <= record.expires_s:
            return record
        extended = replace(record, expires_s=expires_s)
        self._at(record.key).record = extended
        self._note_deadline(extended.expires_s, record.key)
        return extended

    def update(self, record: Record) -> None:
        """Put a record with the same profile in a kept one's place (a new route or expiry);
        raises `KeyError` when it is not kept."""
        key = record.key
        kept = self._at(key)
        assert kept.record.profile == record.profile
        known = replace(record, profile=kept.record.profile)
        if record.index != kept.record.index:  # the indexes know where it lives
            self._insert(key, known, kept)
            return
        kept.record = known
        self._note_deadline(record.expires_s, key)

    def get(self, owner: str, stem: str) -> Record | None:
        """The record of this identity, expired or not."""
        kept = self._find((owner, stem))
        return None if kept is None else kept.record

    def owners(self, stem: str) -> tuple[str, ...]:
        """Whose records of this stem are kept; not counting what nobody owns."""
        return tuple(self._owners.get(stem, ()))

    def holds(self, record: Record) -> bool:
        """Whether a record is kept in this version, whatever became of its expiry and route."""
        kept = self._find(record.key)
        return kept is not None and kept.record.version == record.version

    def remove(self, owner: str, stem: str) -> Record | None:
        """Forget a record without a trace: a hand-off, not a delete."""
        kept = self._find((owner, stem))
        if kept is None:
            return None
        self._leave(kept)
        del self._kept[owner, stem]
        if owner:
            owners = self._owners[stem]
            del owners[owner]
            if not owners:
                del self._owners[stem]
        return kept.record

    def forget(self, owner: str, stem: str) -> None:
        """Forget a record, or that it was deleted: its place is not this peer's any more."""
        self._tombstones.pop((owner, stem), None)
        self.remove(owner, stem)

    def tombstone(self, owner: str, stem: str, until_s: float) -> Record | None:
        """Delete a stem: no version of it is taken until then.  Returns what was kept."""
        key = (owner, stem)
        self._tombstones[key] = max(until_s, self._tombstones.get(key, until_s))
        self._note_deadline(self._tombstones[key], key)
        return self.remove(owner, stem)

    def is_deleted(self, owner: str, stem: str, now: float) -> bool:
        """Whether a tombstone keeps this stem out."""
        until_s = self._tombstones.get((owner, stem))
        return until_s is not None and until_s > now

    def expire(self, now: float, limit: int = 1000) -> list[Record]:
        """Forget at most `limit` records and tombstones whose time has run out; the records."""
        expired: list[Record] = []
        for _ in range(limit):
            key = self._deadlines.pop_until(now)
            if key is None:
                break
            if self._tombstones.get(key, now + 1) <= now:
                del self._tombstones[key]
            kept = self._find(key)
            if kept is not None and not kept.record.lives(now):
                self.remove(*key)
                expired.append(kept.record)
        return expired

    def records(self, kind: Kind | None = None) -> Iterator[Record]:
        """The kept records in the order of their first arrival, expired ones that are not swept
        included; the store must not change meanwhile."""
        for key in self._kept:
            record = self._at(key).record
            if kind is None or record.kind == kind:
                yield record

    def all_of(self, kind: Kind) -> Records:
        """All records of a kind, expired ones included, to be looked at a few at a time."""
        return Records(objects_of(list(self._indexes[kind])))

    def public_records(self, begin: int = 0) -> Iterator[Record | None]:
        """As `records`, without what not everybody may see, from the `begin`-th on.  Those before
        it are passed by their keys, some at a time, with None in between: as to pass a hundred
        thousand takes longer than a turn may, others go first then, and may change the store."""
        keys, hidden = list(self._kept), self._hidden.values()
        for at in range(0, len(keys), PASSED_AT_ONCE):
            some = keys[at : at + PASSED_AT_ONCE]
            for of_kind in filter(None, hidden):
                some = list(filterfalse(of_kind.__contains__, some))
            for key in some[begin:]:
                if (kept := self._find(key)) is not None:
                    yield kept.record
            if begin >= len(some):
                yield None
            begin = max(begin - len(some), 0)

    def public_count(self, kind: Kind | None = None) -> int:
        """How many they are, of one kind or of all."""
        if kind is None:
            return len(self._kept) - sum(map(len, self._hidden.values()))
        return self.count(kind) - len(self._hidden[kind])

    def count(self, kind: Kind) -> int:
        """How many records of this kind are kept."""
        return len(self._indexes[kind])

    def selected(self, kind: Kind, selector: Profile, now: float) -> list[Record]:
        """The living records of this kind, as subjects, that the selector selects."""
        return _living(self._indexes[kind].match(selector), now)

    def selecting(self, kind: Kind, subject: Profile, now: float) -> list[Record]:
        """The living records of this kind, as selectors, that select the subject."""
        return _living(self._indexes[kind].match_subject(subject), now)

    def sift_selected(self, kind: Kind, selector: Profile, span: Span | None = None) -> Candidates:
        """As `selected`, in the quickest way; of data whose index lies outside the span most is
        left out."""
        index = self._indexes[kind]
        return _candidates(index.sift(selector, span)) if len(index) else _NOBODY

    def sift_selecting(self, kind: Kind, subject: Profile) -> Candidates:
        """The same for `selecting`."""
        index = self._indexes[kind]
        return _candidates(index.sift_subject(subject)) if len(index) else _NOBODY

    def _insert(self, key: Key, record: Record, former: Kept | None) -> None:
        if former is not None:
            self._leave(former)
        kept = self._enter(key, record)
        profile = self._indexes[record.kind].add_new(kept, record.profile)
        if profile is not record.profile:
            kept.record = replace(record, profile=profile)
        self._note_deadline(record.expires_s, key)

    def _enter(self, key: Key, record: Record) -> Kept:
        """Begin to keep a record, where a former version had its place."""
        kept = self._kept[key] = Kept()
        kept.record, kept.number = record, self._lot
        self._in_lot += 1
        if self._in_lot == _LOT:
            self._lot, self._in_lot = self._lot - 1, 0
        if record.owner:
            self._owners.setdefault(record.stem, {})[record.owner] = None
        if record.visible_to:
            self._hidden[record.kind].add(key)
        return kept

    def _note_deadline(self, at: float, key: Key) -> None:
        self._deadlines.note(at, key, self._deadline_of)
        self._deadlines.thin_out(len(self._kept) + len(self._tombstones))

    def _deadline_of(self, key: Key) -> float | None:
        kept = self._find(key)
        return self._tombstones.get(key) if kept is None else kept.record.expires_s

    def _find(self, key: Key) -> Kept | None:
        kept = self._kept.get(key)
        return kept if kept is None or type(kept) is Kept else self._loaded[kept]

    def _at(self, key: Key) -> Kept:
        """The same, of what is kept; raises `KeyError`."""
        kept = self._find(key)
        if kept is None:
            raise KeyError(key)
        return kept

    def _leave(self, kept: Kept) -> None:
        """A version of a record is not kept any more."""
        kind = kept.record.kind
        self._indexes[kind].remove(kept)
        self._hidden[kind].discard(kept.record.key)
        if kept.number >= 0:
            self._loaded[kept.number] = None


_LOT: Final = 1 << 14
"""So many that come one after the other are a lot: a dictionary of them grows in no time."""


_NOBODY: Final = Candidates((), ())
"""Where nothing of a kind is kept: so it is for most data and most questions, most of the time."""


def _number_of(kept: Kept) -> int:
    return kept.number


def _profile_of(kept: Kept) -> Profile:
    return kept.record.profile


def _living(found: list[Kept], now: float) -> list[Record]:
    return [record for kept in found if (record := kept.record).expires_s > now]


def _place_of(kept: Kept) -> float:
    index = kept.record.index
    return math.nan if index is None else float(index)


def _candidates(sifted: Sifted[Kept]) -> Candidates:
    return Candidates(Records(sifted.sure), Records(sifted.doubtful))
