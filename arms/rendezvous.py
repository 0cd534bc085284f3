"""Rendezvous: what follows when a message arrives where its counterparts live.

Law of this file: pure decisions, no waiting.  Insert, then match the other kind, in one step: of
every pair the later arrival finds the earlier exactly once.  The incoming action comes first, then
those of the matched records, each in seeded random order (report sections 2.1.3 and 3.3; SPEC
section 1; rules 33-37).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeVar

from arms.actions import DATA, INTEREST, WATCH, Kind
from arms.profile import Profile
from arms.store import Outcome, Record, Store

Belongs = Callable[[Record, Record], bool]
"""Whether this peer is the one that reports a pair (the lowest cell that both regions share)."""

NoticeKind = Literal["match", "appeared", "gone"]

TOMBSTONE_S = 30 * 86400.0
"""How long a delete is remembered when the caller does not say: the longest ttl there is."""


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell the sender of `to` of `about`: data that matches its interest (a standing retrieve
    gets the data itself), or an interest that appeared, or is gone, under its watch."""

    to: Record
    about: Record
    kind: NoticeKind


@dataclass(frozen=True, slots=True)
class Return:
    """Send this data to the sender of the incoming retrieve."""

    record: Record


Reaction = Tell | Return


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of a message, and what follows."""

    outcome: Outcome | Literal["passed"]
    """As of `Store.put`; `passed` for what has no time to live and is not kept."""
    reactions: list[Reaction]


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a delete removed (or would remove), and what follows."""

    records: list[Record]
    reactions: list[Reaction]


T = TypeVar("T")


def everywhere(_one: Record, _other: Record) -> bool:
    """The `Belongs` of a peer that is alone."""
    return True


class Rendezvous:
    """The reactive behaviour of one peer over its store."""

    def __init__(self, store: Store, random: Random) -> None:
        self.store = store
        self._random = random

    def arrive(self, record: Record, now: float, belongs: Belongs = everywhere) -> list[Reaction]:
        """Take a message in and say what follows; see `accept` for what became of it."""
        return self.accept(record, now, belongs).reactions

    def accept(self, record: Record, now: float, belongs: Belongs = everywhere) -> Arrival:
        """Keep the record if it has time to live, and meet the other kind.

        A newer version replaces the older in the same step: a watch hears nothing of an interest
        that still matches it.  The same version again only answers its sender's retrieve.
        """
        if not record.lives(now):
            return Arrival("passed", self._pass(record, now, belongs))
        known = self.store.get(record.owner, record.stem)
        lapsed: list[Reaction] = []
        if known is not None and not known.lives(now):
            self.store.remove(known.owner, known.stem)
            lapsed = self._gone(known, now, belongs)
            known = None
        outcome = self.store.put(record, now)
        if outcome == "same":
            again: list[Reaction] = [Return(data) for data in self._data_for(record, now, belongs)]
            return Arrival(outcome, lapsed + (again if record.action == "retrieve" else []))
        if outcome != "stored":
            return Arrival(outcome, lapsed)
        return Arrival(outcome, lapsed + self._react(record, known, now, belongs))

    def meet(self, record: Record, now: float, belongs: Belongs = everywhere) -> list[Reaction]:
        """What follows for a record that is kept already, over the pairs that `belongs` grants:
        an interval gained by hand-off or inheritance."""
        return self._react(record, None, now, belongs)

    def renew(self, owner: str, stem: str, expires_s: float, now: float) -> Record | None:
        """Let a living record live longer, silently; None when there is none."""
        record = self.store.get(owner, stem)
        if record is None or not record.lives(now):
            return None
        return self.store.extend(record, expires_s)

    def cancel(
        self,
        owner: str,
        stem: str,
        now: float,
        belongs: Belongs = everywhere,
        tombstone_s: float = TOMBSTONE_S,
    ) -> Deletion:
        """Delete by identity."""
        record = self.store.tombstone(owner, stem, now + tombstone_s)
        if record is None or not record.lives(now):
            return Deletion([], [])
        return Deletion([record], self._gone(record, now, belongs))

    def delete(
        self,
        selector: Profile,
        kinds: Collection[Kind],
        owner: str,
        mode: str,
        dry_run: bool,
        now: float,
        belongs: Belongs = everywhere,
        tombstone_s: float = TOMBSTONE_S,
    ) -> Deletion:
        """Delete what `owner` posted and the selector contains (`mode` "within") or overlaps
        ("overlap"); `dry_run` only says what."""
        records = [
            record for kind in (DATA, INTEREST, WATCH) if kind in kinds
            for record in self._deletable(selector, kind, owner, mode, now)
        ]  # fmt: skip
        reactions: list[Reaction] = []
        if not dry_run:
            for record in records:
                self.store.tombstone(record.owner, record.stem, now + tombstone_s)
            for record in records:
                reactions += self._gone(record, now, belongs)
        return Deletion(records, reactions)

    def expire(
        self, now: float, belongs: Belongs = everywhere, limit: int = 1000
    ) -> list[Reaction]:
        """Forget what has expired (at most `limit` at once); watches hear of interests gone."""
        return self.sweep(now, belongs, limit).reactions

    def sweep(self, now: float, belongs: Belongs = everywhere, limit: int = 1000) -> Deletion:
        """As `expire`, with the records."""
        records = self.store.expire(now, limit)
        gone = [reaction for record in records for reaction in self._gone(record, now, belongs)]
        return Deletion(records, gone)

    def forget(self, owner: str, stem: str, now: float, belongs: Belongs = everywhere) -> Deletion:
        """Give a record up without a tombstone: it was replaced, and lives elsewhere."""
        record = self.store.remove(owner, stem)
        if record is None or not record.lives(now):
            return Deletion([], [])
        return Deletion([record], self._gone(record, now, belongs))

    # -- the action matrix

    def _react(
        self, record: Record, known: Record | None, now: float, belongs: Belongs
    ) -> list[Reaction]:
        if record.kind == DATA:
            return self._told_of_data(record, now, belongs)
        if record.kind == WATCH:
            interests = self.store.selecting(INTEREST, record.profile, now)
            return [
                Tell(record, interest, "appeared")
                for interest in self._shuffled([i for i in interests if belongs(record, i)])
            ]
        found = self._data_for(record, now, belongs)
        own: list[Reaction] = [
            Return(data) if record.action == "retrieve" else Tell(record, data, "match")
            for data in found
        ]
        return own + self._told_of_interest(record, known, now, belongs)

    def _pass(self, record: Record, now: float, belongs: Belongs) -> list[Reaction]:
        """A message without time to live meets what is kept; its interest is gone at once."""
        reactions = self._react(record, None, now, belongs)
        gone = [
            Tell(told.to, record, "gone") for told in reactions
            if isinstance(told, Tell) and told.kind == "appeared" and told.about is record
        ]  # fmt: skip
        return [*reactions, *gone]

    def _told_of_data(self, data: Record, now: float, belongs: Belongs) -> list[Reaction]:
        interests = self.store.selecting(INTEREST, data.profile, now)
        return [
            Tell(interest, data, "match")
            for interest in self._shuffled([i for i in interests if belongs(i, data)])
        ]

    def _data_for(self, interest: Record, now: float, belongs: Belongs) -> list[Record]:
        found = self.store.selected(DATA, interest.profile, now)
        return self._shuffled([data for data in found if belongs(interest, data)])

    def _told_of_interest(
        self, interest: Record, known: Record | None, now: float, belongs: Belongs
    ) -> list[Reaction]:
        """Watches that meet the interest hear of it; those that only the version before met hear
        that it is gone."""
        watches = self._watches(interest, now, belongs)
        before: list[Record] = []
        if known is not None and known.kind == INTEREST:
            before = self._watches(known, now, belongs)
        now_keys = {watch.key for watch in watches}
        old_keys = {watch.key for watch in before}
        told: list[Reaction] = [
            Tell(watch, interest, "appeared") for watch in watches if watch.key not in old_keys
        ]
        if known is not None:
            told += [Tell(watch, known, "gone") for watch in before if watch.key not in now_keys]
        return self._shuffled(told)

    def _watches(self, interest: Record, now: float, belongs: Belongs) -> list[Record]:
        watches = self.store.selected(WATCH, interest.profile, now)
        return [watch for watch in watches if belongs(watch, interest)]

    def _gone(self, record: Record, now: float, belongs: Belongs) -> list[Reaction]:
        if record.kind != INTEREST:
            return []
        return self._shuffled(
            [Tell(watch, record, "gone") for watch in self._watches(record, now, belongs)]
        )

    def _deletable(
        self, selector: Profile, kind: Kind, owner: str, mode: str, now: float
    ) -> list[Record]:
        if kind == INTEREST:
            candidates = [r for r in self.store.records(INTEREST) if r.lives(now)]
        else:
            candidates = self.store.selected(kind, selector, now)
        return [
            record for record in candidates
            if record.owner == owner and _falls(selector, record, mode)
        ]  # fmt: skip

    def _shuffled(self, items: Sequence[T]) -> list[T]:
        shuffled = list(items)
        if len(shuffled) > 1:
            self._random.shuffle(shuffled)
        return shuffled


def _falls(selector: Profile, record: Record, mode: str) -> bool:
    """Whether a delete with this selector takes the record."""
    if mode == "overlap":
        return record.kind != INTEREST or selector.matches(record.profile)
    return selector.contains_profile(record.profile, as_selector=record.kind == INTEREST)
