"""The readable shelf: what can be asked of all that one peer keeps, and of what is on its way.

Law of this file: nothing here changes anything, and nothing waits; who writes is `Shelf`.  What
shows and what is under way are asked for apart; whether a record counts more than what is known of
it is decided on both, as the table alone would be out of date when a change is durable.  What
travels carries its remaining time, never an hour of the clock (DESIGN sections 4 and 5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from arms import Profile, Record
from chord import replace
from meteor.keeping.coming import Coming
from meteor.keeping.expiry_clock import ExpiryClock
from meteor.keeping.outlived import word_over
from meteor.keeping.placement import (
    GONE,
    MOVED,
    Key,
    Keyed,
    Place,
    Placed,
    box_of,
    key_of,
    keyed,
    lowest_of,
    readable,
)
from meteor.keeping.placement_table import PlacementTable
from meteor.keeping.standing import is_before, is_later
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.operations import Carried, PulledPage
from meteor.wire.record_id import place_of, stem_of
from squid import Box, HilbertCurve, Interval, Intervals, covers

PAGE_BYTES = 64 * 1024
"""A page of a hand-off: small enough to leave the link free for others in between."""


class ReadableShelf:
    """What is on a shelf, and on its way there, for whoever asks."""

    def __init__(self, curve: HilbertCurve, now: Callable[[], float], clock: ExpiryClock) -> None:
        self._curve, self._now, self._clock = curve, now, clock
        self.table = PlacementTable(curve)
        self._begun = Coming()
        """Changes under way that do not show yet."""
        self._coming = Coming()
        """On their way to the journal: of a record the last one that is written counts there."""
        self.acknowledged: Callable[[Carried], int] = lambda one: one.acknowledged
        """What an interest's client has of it; who tells clients sets it."""
        self.sees: Callable[[str, Record | Carried], bool] = lambda _, __: True
        """Whether an owner may know of a record; the peer's policy sets it."""
        self.needed: Callable[[Key], bool] = lambda _: False
        """Whether what lives elsewhere is needed here yet, as nobody else may know how it came to
        be there; who finishes what came halfway sets it."""

    # -- what is here

    def find(self, key: Key) -> Placed | None:
        """The record or tombstone of an identity."""
        return self.table.find(key)

    def placed(self, record: Record) -> Placed:
        """Where a stored record lives."""
        return self.table[record.key]

    def buried(self, operation: bytes) -> Iterator[Placed]:
        """The tombstones that this delete put here, or where it was handed over from, in turn."""
        return self.table.buried(operation)

    def meets(self, carried: Carried, part: Intervals) -> bool:
        """Whether a record, here or on its way, lives in any of `part`."""
        _, box, index = place_of(carried.id, self._curve)
        if index is not None:
            return covers(part, index)
        return any(self._curve.has_match(box, *interval) for interval in part)

    def lives_in(self, record: Record, part: Intervals) -> bool:
        """Whether a stored record's region meets any of `part`."""
        placed = self.placed(record)
        return any(self.table.meets(placed, interval) for interval in part)

    def ttl_ms(self, record: Record) -> int:
        """The remaining life of a record, rounded down."""
        return max(0, int((record.expires_s - self._now()) * 1000))

    def wall_ms(self) -> int:
        """Milliseconds of Unix time by which what is kept runs out: see `expiry_clock`."""
        return int(self._clock.now_s() * 1000)

    def issued_ms(self) -> int:
        """Those of the wall clock as it is, in which others sign."""
        return int(self._clock.wall_s() * 1000)

    def number_of_pair(self, left: Record, right: Record) -> int:
        """A pair has the number of its later arrival."""
        one, other = self.find(left.key), self.find(right.key)
        if one is None or other is None:
            return max((placed.number for placed in (one, other) if placed is not None), default=0)
        return max(other.number, one.number)

    def was_met_by(self, mark: int, about: Record) -> bool:
        """Whether the pair of an interest and this is surely no later than a watermark of the
        interest (0 for none), whoever drew it.

        A mark lies beyond its interest's own number where it was drawn.  What lies in one place has
        one number everywhere; what lies in several may have a lower one here, from another of them,
        than where the mark was drawn, and is told again: its client knows it if it has it."""
        placed = self.find(about.key)
        return bool(mark) and placed is not None and placed.is_point and placed.number <= mark

    def lowest_common(self, asker: Record, asked: Record) -> int | None:
        """The lowest index that the regions of two records that match share: its holder reports the
        pair to the sender of `asker`; None also where that must not know of the other."""
        if asked.visible_to and not self.sees(asker.owner, asked):
            return None
        if asked.index is not None:  # two that match share a cell, and this has one
            return asked.index
        return lowest_of(self._curve, box_of(asker), box_of(asked))

    def lowest_in(self, box: Box, placed: Placed) -> int | None:
        """The lowest index of a region at which a record lies: its holder tells of it who asks for
        the region; None where it lies outside."""
        return lowest_of(self._curve, box, placed.box)

    # -- what is under way, and what is news

    def under_way(self, part: Intervals) -> tuple[Carried, ...]:
        """Changes of what lives in `part` that do not show yet, as they travel."""
        return tuple(self.outgoing(one) for one in self._begun if self.meets(one, part))

    def is_coming(self, keys: Collection[Key]) -> bool:
        """Whether a change of one of these is on its way here, whoever wrote it."""
        return self._coming.has_any(keys) or self._begun.has_any(keys)

    def is_begun(self, keys: Collection[Key]) -> bool:
        """Whether a change of one of these is under way: what one decides about it now would be
        out of date when it is durable."""
        return self._begun.has_any(keys)

    def is_over(self, carried: Carried) -> bool:
        """Whether something counts more, also under way: written after what is just being written,
        an earlier one would be what a restart finds."""
        key = key_of(carried)
        if self._coming.has_later(key, carried) or self._begun.has_later(key, carried):
            return True
        return not self.table.may_show(key, carried, self.wall_ms())

    def _states_of(self, key: Key) -> Iterator[Carried]:
        """What is here of an identity, and on its way."""
        placed = self.table.find(key)
        yield from () if placed is None else (placed.carried,)
        yield from self._begun.of(key)

    def may_show(self, carried: Carried) -> bool:
        """Whether nothing that shows counts more than what was decided some time ago."""
        return self.table.may_show(key_of(carried), carried, self.wall_ms())

    def outvoted(self, one: Carried) -> tuple[Carried, int] | None:
        """Where this is word of a move, and the word that is known of the same record leads to some
        other place: what lets it leave the place to which the one leads that is over, as word from
        where the other leads, and the version of that, which alone stays.  Whoever moved it there
        leaves the same word: were it another one, it would take its own for too late."""
        placed = self.find(key_of(one)) if one.kind == MOVED else None
        known = None if placed is None else placed.carried
        if known is None or known.kind != MOVED or known.moved_to == one.moved_to:
            return None
        older, newer = sorted((known, one), key=lambda word: word.version)
        if not older.moved_to:
            return None
        return replace(older, id=newer.moved_to or older.id), newer.version

    def news(self, carried: Iterable[Carried]) -> list[Carried]:
        """What of another peer's records is not known here in this or a newer version, with the
        local time of expiry; what cannot be read is left out."""
        return [one for _, one, _ in self._news(map(keyed, carried), self.wall_ms(), shown=False)]

    def _news(
        self, batch: Iterable[Keyed], now_ms: int, *, shown: bool
    ) -> list[tuple[Key, Carried, Profile | None]]:
        """The same, each with its key and its profile.  Where it is to be `shown` at once, what a
        change of this peer's own is only about to show is not known."""
        found: list[tuple[Key, Carried, Profile | None]] = []
        for key, one in batch:
            profile = readable(one, self._curve)
            if profile is None:
                continue
            mine = replace(one, ttl_ms=one.ttl_ms + now_ms)
            if self._is_news(key, mine, now_ms, shown=shown):
                found.append((key, mine, profile or None))
        return found

    def _is_news(self, key: Key, carried: Carried, now_ms: int, *, shown: bool) -> bool:
        """Whether it counts more than all that is known of its identity."""
        if self._coming.has_later(key, carried) or self._begun.has_later(key, carried):
            return False
        if not shown and not all(is_later(carried, one) for one in self._begun.of(key)):
            return False
        known = self.table.known(key, now_ms)
        if known is not None and not is_later(carried, known):
            return False
        return not self.table.has_moved_on(carried)

    def _left_behind(self, word: Carried) -> Key | None:
        """The record that the word of a move speaks of, if it is still here as it was."""
        key = (word.owner, stem_of(word.id))
        placed = self.table.find(key)
        if placed is None or placed.carried.id != word.id:
            return None
        is_left = placed.carried.kind != GONE and is_before(placed.carried, word)
        return key if is_left else None

    def words_over(self, carried: Iterable[Carried]) -> list[Carried]:
        """The words of what another holder has, and would outlive what follows it here."""
        return self._words_over(map(keyed, carried), self.wall_ms(), either=False)

    def _words_over(self, batch: Iterable[Keyed], now_ms: int, *, either: bool) -> list[Carried]:
        """The same; `either` way, also of what is here and is followed by that: it may be of
        another side of a partition, and nobody else who is there have it."""
        found = []
        for key, one in batch:
            known = self.table.known(key, now_ms)
            if known is None:
                continue
            mine = replace(one, ttl_ms=one.ttl_ms + now_ms)
            word = self._word_over(known, mine, now_ms)
            if word is None and either:
                word = self._word_over(mine, known, now_ms)
            if word is not None and self._is_news(key_of(word), word, now_ms, shown=either):
                found.append(word)
        return found

    def _word_over(self, carried: Carried, known: Carried, now_ms: int) -> Carried | None:
        """The word that a state leaves of what is known, and would outlive it."""
        left = self.table.known((carried.owner, carried.id), now_ms)
        return word_over(carried, known, left, now_ms)

    # -- forms

    def page(self, interval: Interval, cursor: int, *, whole: bool = False) -> PulledPage:
        """The records of an interval changed here after `cursor`, oldest change first."""
        carried: list[Carried] = []
        size, newest = 0, self.table.newest
        for number, placed in self.table.changed_after(cursor, interval):
            if carried and size >= PAGE_BYTES and not whole:
                return PulledPage(tuple(carried), cursor, more=True)
            cursor = number
            one = self.outgoing(placed.carried)
            if one.ttl_ms > 0:
                carried.append(one)
                size += len(one.blob) + 200
        return PulledPage(tuple(carried), newest, more=False)

    def pages(self, part: Intervals) -> Iterator[tuple[Interval, tuple[Carried, ...]]]:
        """All records of some intervals, page by page; each is read when it is asked for."""
        for interval in part:
            cursor, more = 0, True
            while more:
                page = self.page(interval, cursor)
                cursor, more = page.cursor, page.more
                if page.carried:
                    yield interval, page.carried

    def deleted_elsewhere(self, carried: Iterable[Carried]) -> tuple[Carried, ...]:
        """The tombstones, as they travel, of what was deleted at another place than these have."""
        found = []
        for one in carried:
            if one.kind in {GONE, MOVED}:
                continue
            placed = self.find(key_of(one))
            if placed is not None and placed.carried.kind == GONE and placed.carried.id != one.id:
                found.append(self.outgoing(placed.carried))
        return tuple(found)

    def outgoing(self, carried: Carried) -> Carried:
        """As it travels: the remaining time, rounded down, and what its client has of it."""
        acknowledged = carried.acknowledged
        if carried.route is not None:
            acknowledged = self.acknowledged(carried)
        left_ms = max(carried.ttl_ms - self.wall_ms(), 0)
        return replace(carried, ttl_ms=left_ms, acknowledged=acknowledged)

    def record_of(
        self, carried: Carried, profile: Profile | None = None, place: Place | None = None
    ) -> Record:
        """The record in the form of the store; `place` saves reading it from the id, where what
        passes has none."""
        if profile is None:
            profile = unpack_profile(decode_document(carried.blob).profile)
        stem, box, index = place or place_of(carried.id, self._curve)
        return Record(
            kind=carried.kind,  # type: ignore[arg-type]  # the journal's and our own words
            stem=stem,
            owner=carried.owner,
            version=carried.version,
            id=carried.id,
            action=carried.action,
            profile=profile,
            blob=carried.blob,
            expires_s=self._expires_s(carried),
            region=box,
            route=carried.route,
            visible_to=carried.visible_to,
            index=index,
        )

    def _expires_s(self, carried: Carried) -> float:
        return self._now() + carried.ttl_ms / 1000 - self._clock.now_s()
