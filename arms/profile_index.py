"""The index: which stored profiles match one that arrives, in either role.

Law of this file: exact.  Few profiles are asked one by one; more than that go into tables of rows,
made for a role when it is first asked for.  `arms.matching.selects` over every profile is the
oracle (matching note, sections 1 and 5).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, Generic, Literal, TypeVar

from arms.index_bits import Slots
from arms.index_role import SelectorIndex, Sifted, SubjectIndex
from arms.index_store import Span, objects_of
from arms.index_vocabulary import Floats
from arms.matching import selects
from arms.plain_columns import PlainColumns
from arms.profile import Profile

K = TypeVar("K", bound=Hashable)

Role = Literal["subjects", "selectors"]
"""What the stored profiles are to those that arrive."""

_SCANNED_BY_TREE: Final = 12
"""Up to so many profiles it is quicker to ask each tree."""


class ProfileIndex(Generic[K]):
    """Profiles under ids of any hashable kind.

    A role's tables are made when it is first asked for; those of `role` grow from the beginning,
    so that no question waits for them.  Up to `scan_above` profiles the trees are asked one by one.
    `profile_of` says where the profile of an id is found that came by its columns alone;
    `place_of` where on a line it lives, so that one can ask for what lives in a span of it;
    `number_of` which of those it is that came so with a number, below 0 for none of them.
    """

    def __init__(
        self,
        role: Role | None = None,
        scan_above: int = _SCANNED_BY_TREE,
        profile_of: Callable[[K], Profile] | None = None,
        place_of: Callable[[K], float] | None = None,
        number_of: Callable[[K], int] | None = None,
    ) -> None:
        self._role = role
        self._profile_of, self._place_of, self._number_of = profile_of, place_of, number_of
        self._scan_above = scan_above
        self._few: dict[K, Profile] = {}
        """All profiles, as long as there are no tables."""
        self._subjects: SubjectIndex[K] | None = None
        self._selectors: SelectorIndex[K] | None = None

    def __len__(self) -> int:
        tables = self._subjects if self._subjects is not None else self._selectors
        return len(self._few) if tables is None else len(tables)

    def __iter__(self) -> Iterator[K]:
        tables = self._subjects if self._subjects is not None else self._selectors
        return iter(self._few if tables is None else tables)

    def __contains__(self, id: K) -> bool:
        tables = self._subjects if self._subjects is not None else self._selectors
        return id in (self._few if tables is None else tables)

    def add(self, id: K, profile: Profile) -> Profile:
        """Store a profile, or replace the one under this id; returns it in the form in which it
        is kept, which takes less memory."""
        self.remove(id)
        return self.add_new(id, profile)

    def add_new(self, id: K, profile: Profile) -> Profile:
        """The same under an id that is new here."""
        kept = profile
        if self._subjects is None and self._selectors is None:
            self._few[id] = profile
            if self._role is not None and len(self._few) > self._scan_above:
                _ = self._subject_index() if self._role == "subjects" else self._selector_index()
            return kept
        if self._subjects is not None:
            kept = self._subjects.add(id, profile)
        if self._selectors is not None:
            kept = self._selectors.add(id, profile)
        return kept

    def add_many(self, items: Sequence[tuple[K, Profile]]) -> None:
        """Store many profiles under ids that are new here; profiles at rest, of one row each, go in
        several times as quickly as one by one."""
        if self._role is None or self._few or len(items) <= self._scan_above:
            for id, profile in items:
                self.add_new(id, profile)
            return
        if self._subjects is None and self._selectors is None:
            _ = self._subject_index() if self._role == "subjects" else self._selector_index()
        for tables in (self._subjects, self._selectors):
            if tables is not None:
                tables.add_many(items)

    def add_plain(
        self,
        ids: Sequence[K],
        columns: PlainColumns,
        places: Floats | None = None,
        numbers: Slots | None = None,
    ) -> None:
        """Store plain profiles under ids that are new here, by their columns, which number them in
        the order of the ids, as do their places if they are known here; their profiles are looked
        into only where that is needed.  The `numbers` of the ids, ascending, save an entry for
        each."""
        assert self._profile_of is not None, "who adds columns keeps the profiles"
        if self._role is not None and not self._few and len(ids) > self._scan_above:
            tables = self._subject_index() if self._role == "subjects" else self._selector_index()
            other = self._selectors if self._role == "subjects" else self._subjects
            if other is None and tables.add_plain(ids, [None] * len(ids), columns, places, numbers):
                return
        for id in ids:
            self.add_new(id, self._profile_of(id))

    def remove(self, id: K) -> bool:
        """Forget the profile under this id; whether there was one."""
        known = self._few.pop(id, None) is not None
        for tables in (self._subjects, self._selectors):
            known = (tables is not None and tables.remove(id)) or known
        if known and not len(self):
            self._subjects = self._selectors = None
        return known

    def match(self, profile: Profile) -> list[K]:
        """The ids of the stored subjects that `profile` selects, each once."""
        selector = profile.tree
        if self._asks_each(self._subjects):
            return [id for id, each in self._all() if selects(selector, each.tree)]
        return self._subject_index().match(selector)

    def match_subject(self, profile: Profile) -> list[K]:
        """The ids of the stored selectors that select `profile`, each once."""
        subject = profile.tree
        if self._asks_each(self._selectors):
            return [id for id, each in self._all() if selects(each.tree, subject)]
        return self._selector_index().match(subject)

    def sift(self, profile: Profile, span: Span | None = None) -> Sifted[K]:
        """As `match`, without the work on those that only their tree can decide about: a few
        hundred thousand profiles that need it are better looked at in several steps.  Of those that
        live outside the span most are left out."""
        if self._asks_each(self._subjects):
            return Sifted(objects_of(self.match(profile)))
        return self._subject_index().sift(profile.tree, span)

    def sift_subject(self, profile: Profile) -> Sifted[K]:
        """The same for `match_subject`."""
        if self._asks_each(self._selectors):
            return Sifted(objects_of(self.match_subject(profile)))
        return self._selector_index().sift(profile.tree)

    def _asks_each(self, tables: SubjectIndex[K] | SelectorIndex[K] | None) -> bool:
        return tables is None and len(self) <= self._scan_above

    def _all(self) -> Iterable[tuple[K, Profile]]:
        if self._subjects is not None:
            return self._subjects.profiles()
        return self._few.items() if self._selectors is None else self._selectors.profiles()

    def _subject_index(self) -> SubjectIndex[K]:
        if self._subjects is None:
            tables = SubjectIndex[K](self._profile_of, self._place_of, self._number_of)
            for id, profile in self._all():
                tables.add(id, profile)
            self._subjects = tables
            self._few.clear()
        return self._subjects

    def _selector_index(self) -> SelectorIndex[K]:
        if self._selectors is None:
            tables = SelectorIndex[K](self._profile_of, self._place_of, self._number_of)
            for id, profile in self._all():
                tables.add(id, profile)
            self._selectors = tables
            self._few.clear()
        return self._selectors
