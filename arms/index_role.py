"""All profiles of an index in one role: their rows in tables, and what the rows leave to the tree.

Law of this file: a profile is found once, however many of its rows are.  Only of flagged profiles
the tree is kept ready; the others rest in a short form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import numpy as np

from arms.index_bits import Mask, Slots
from arms.index_bulk import insert_many
from arms.index_places import Places
from arms.index_rows import Row, selector_rows, subject_offers
from arms.index_selectors import SelectorTable
from arms.index_store import Objects, Span, objects_of
from arms.index_subjects import SubjectTable
from arms.index_table import Table
from arms.index_vocabulary import Floats
from arms.matching import selects
from arms.plain_columns import MOST_PLAIN, PlainColumns, PlainForm, columns_of
from arms.profile import Profile
from arms.tree import Node
from arms.written import LIMITS

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound="Table[object]")

WIDTHS: Final = (MOST_PLAIN, 16, LIMITS.elements)
"""A row lies in the first table that it fits."""

_TABLES: Final = len(WIDTHS)

WORTH_PLACING: Final = 32
"""From so many on, those that live outside a span are left out here: whoever asks does it again,
one by one."""

Check = Callable[[Node], bool]
Found = tuple[Slots, Mask | None]


_NO_IDS: Final = np.empty(0, np.object_)


def _no_ids() -> Objects:
    return _NO_IDS


@dataclass(slots=True)
class Sifted(Generic[K]):
    """What the rows of an index say of a question: arrays of ids, which take a fifth of the time
    that lists do."""

    sure: Objects = field(default_factory=_no_ids)
    """They match."""
    doubtful: Objects = field(default_factory=_no_ids)
    """The rows alone do not tell; the tree does."""

    def once(self) -> Sifted[K]:
        """Each profile once, however many of its rows were found."""
        sure: dict[K, None] = dict.fromkeys(self.sure.tolist())
        doubtful: dict[K, None] = dict.fromkeys(self.doubtful.tolist())
        only_doubtful = [id for id in doubtful if id not in sure]
        return Sifted(objects_of(list(sure)), objects_of(only_doubtful))


class _RoleIndex(ABC, Generic[K]):
    """Profiles under ids, in tables by width."""

    def __init__(
        self,
        tables: list[Table[K]],
        profile_of: Callable[[K], Profile] | None,
        number_of: Callable[[K], int] | None,
    ) -> None:
        self._tables = tables
        self._kept_elsewhere = profile_of
        self._places = Places[K](number_of)
        """Slot times tables plus table."""
        self._loaded = range(0)
        """The slots, in the first table, of those that came at once."""
        self._several = 0
        """How many profiles have several rows."""

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[K]:
        if self._loaded:
            owners = self._tables[0].store.owners[self._loaded.start : self._loaded.stop]
            yield from owners[self._places.there()].tolist()
        yield from self._places.single()

    def __contains__(self, id: K) -> bool:
        return id in self._places

    def add(self, id: K, profile: Profile) -> Profile:
        """Store a profile under a new id; returns it as it is kept."""
        rows, exact = self._rows_of(profile.tree)
        kept = profile.at_rest() if exact else profile.awake()
        if len(rows) == 1:
            self._places[id] = self._insert(id, kept, rows[0], not exact)
        else:
            self._places[id] = tuple([self._insert(id, kept, row, not exact) for row in rows])
            self._several += 1
        return kept

    def add_many(self, items: Sequence[tuple[K, Profile]]) -> None:
        """Store profiles at rest under new ids, those that are plain at once."""
        plain: list[tuple[K, Profile]] = []
        forms: list[PlainForm] = []
        for id, profile in items:
            form = profile.plain_form()
            if form is None:
                self.add(id, profile)
                continue
            plain.append((id, profile))
            forms.append(form)
        if not plain:
            return
        ids, profiles = zip(*plain, strict=True)
        if not self.add_plain(ids, profiles, columns_of(forms)):
            for id, profile in plain:
                self.add(id, profile)

    def add_plain(
        self,
        ids: Sequence[K],
        profiles: Sequence[Profile | None],
        columns: PlainColumns,
        places: Floats | None = None,
        numbers: Slots | None = None,
    ) -> bool:
        """Store plain profiles under new ids, by their columns; None for a profile that is kept by
        whoever made this index, who may know the numbers of these ids, in order.  False, and
        nothing is stored, where they must go one by one."""
        slots = insert_many(self._tables[0], ids, profiles, columns, places)
        if slots is None:
            return False
        first, step = slots.start * _TABLES, _TABLES
        if numbers is not None and self._places.load(numbers, first, step):
            self._loaded = slots
            return True
        for at, id in enumerate(ids):
            self._places[id] = first + at * step
        return True

    def remove(self, id: K) -> bool:
        """Forget the profile under this id; whether there was one."""
        places = self._places.pop(id)
        if places is None:
            return False
        if isinstance(places, int):
            places = (places,)
        else:
            self._several -= 1
        for place in places:
            self._tables[place % _TABLES].delete(place // _TABLES)
        return True

    def profiles(self) -> Iterator[tuple[K, Profile]]:
        """All ids with their profiles as they are kept."""
        for id in self:
            yield id, self._profile_of(id)

    def nbytes(self) -> int:
        """The bytes of rows, bitmaps and sets."""
        return sum(table.nbytes() for table in self._tables)

    @abstractmethod
    def _rows_of(self, tree: Node) -> tuple[list[Row], bool]:
        """The rows of a profile, and whether they say everything."""

    def _insert(self, id: K, kept: Profile, row: Row, flagged: bool) -> int:
        number = bisect_left(WIDTHS, len(row))
        return self._tables[number].insert(id, kept, row, flagged) * _TABLES + number

    def _sort_out(self, table: Table[K], found: Found, sifted: Sifted[K]) -> None:
        """Add those who own the rows found to the sure or to the doubtful ones."""
        slots, doubtful = found
        owners = table.store.owners
        if doubtful is not None and doubtful.any():
            sifted.doubtful = _both(sifted.doubtful, owners[slots[doubtful]])
            slots = slots[~doubtful]
        sifted.sure = _both(owners[slots], sifted.sure)

    def _decided(self, sifted: Sifted[K], check: Check) -> list[K]:
        """The sure ones, and those of the doubtful for whom the tree decides so."""
        sure: list[K] = sifted.sure.tolist()
        if len(sifted.doubtful):  # else not copied: it may be all that there is
            doubtful: list[K] = sifted.doubtful.tolist()
            sure += [id for id in doubtful if check(self._profile_of(id).tree)]
        return sure

    def _profile_of(self, id: K) -> Profile:
        places = self._places.get(id)
        assert places is not None, "who asks found it here"
        place = places if isinstance(places, int) else places[0]
        profile: Profile | None
        profile = self._tables[place % _TABLES].store.profiles[place // _TABLES]
        if profile is None:
            assert self._kept_elsewhere is not None, "who gave no profile knows it"
            return self._kept_elsewhere(id)
        return profile


def _both(one: Objects, other: Objects) -> Objects:
    """Both, not copied where one of them is empty: it may be all that there is."""
    if not len(other):
        return one
    return np.concatenate([one, other]) if len(one) else other


class SubjectIndex(_RoleIndex[K]):
    """Stored subjects."""

    def __init__(
        self,
        profile_of: Callable[[K], Profile] | None = None,
        place_of: Callable[[K], float] | None = None,
        number_of: Callable[[K], int] | None = None,
    ) -> None:
        self._subjects = [SubjectTable[K](width, place_of) for width in WIDTHS]
        super().__init__(list(self._subjects), profile_of, number_of)

    def match(self, selector: Node) -> list[K]:
        """The ids of the subjects that the selector selects, each once."""
        return self._decided(self.sift(selector), lambda tree: selects(selector, tree))

    def sift(self, selector: Node, span: Span | None = None) -> Sifted[K]:
        """The ids of those that it surely selects, and of those that their tree must see; without
        many that live outside the span, if one is given."""
        rows, exact = selector_rows(selector)
        sifted: Sifted[K] = Sifted()
        for table in self._subjects:
            for row in rows if table.store.used else ():
                slots, doubtful = table.candidates(row)
                if span is not None and len(slots) >= WORTH_PLACING:
                    inside = table.store.lie_within(slots, span)
                    slots = slots[inside]
                    doubtful = None if doubtful is None else doubtful[inside]
                if not exact:
                    doubtful = np.ones(len(slots), bool)
                self._sort_out(table, (slots, doubtful), sifted)
        return sifted if len(rows) == 1 else sifted.once()

    def _rows_of(self, tree: Node) -> tuple[list[Row], bool]:
        offers, unique = subject_offers(tree)
        return [offers], unique


class SelectorIndex(_RoleIndex[K]):
    """Stored selectors."""

    def __init__(
        self,
        profile_of: Callable[[K], Profile] | None = None,
        place_of: Callable[[K], float] | None = None,
        number_of: Callable[[K], int] | None = None,
    ) -> None:
        self._selectors = [SelectorTable[K](width, place_of) for width in WIDTHS]
        super().__init__(list(self._selectors), profile_of, number_of)

    def match(self, subject: Node) -> list[K]:
        """The ids of the selectors that select the subject, each once."""
        return self._decided(self.sift(subject), lambda tree: selects(tree, subject))

    def sift(self, subject: Node) -> Sifted[K]:
        """The ids of those that surely select it, and of those whose tree must decide."""
        offers, unique = subject_offers(subject)
        sifted: Sifted[K] = Sifted()
        for table in self._selectors:
            if table.store.used:
                self._sort_out(table, table.candidates(offers, unique), sifted)
        return sifted.once() if self._several else sifted

    def _rows_of(self, tree: Node) -> tuple[list[Row], bool]:
        return selector_rows(tree)
