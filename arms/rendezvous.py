"""Rendezvous: what follows when a message arrives where its counterparts live.

Law of this file: pure decisions, no waiting.  Insert, then match the other kind, in one step: of
every pair the later arrival finds the earlier exactly once.  That step is short however much
matches: what follows from each candidate is found out when it is asked for (`arms.action_matrix`).
The incoming action comes first, then those of the matched records, each in seeded random order
(report sections 2.1.3 and 3.3; SPEC section 1; rules 33-37).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Literal

from arms.action_matrix import (
    ActionMatrix,
    Asked,
    Belongs,
    Reaction,
    Steps,
    Tell,
    deletable,
    everywhere,
    falls,
)
from arms.actions import DATA, INTEREST, WATCH, Kind
from arms.index_store import Span
from arms.profile import Profile
from arms.record import Record
from arms.store import Outcome, Store

TOMBSTONE_S = 30 * 86400.0
"""How long a delete is remembered when the caller does not say: the longest ttl there is."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of a message, and what follows."""

    outcome: Outcome | Literal["passed"]
    """As of `Store.put`; `passed` for what has no time to live and is not kept."""
    steps: Steps

    @property
    def reactions(self) -> list[Reaction]:
        """All that follows and was not taken from `steps` yet, at once."""
        return all_of(self.steps)


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a delete removed (or would remove), and what follows."""

    records: list[Record]
    steps: Steps

    @property
    def reactions(self) -> list[Reaction]:
        """All that follows and was not taken from `steps` yet, at once."""
        return all_of(self.steps)


class Rendezvous:
    """The reactive behaviour of one peer over its store."""

    def __init__(self, store: Store, random: Random) -> None:
        self.store = store
        self._matrix = ActionMatrix(store, random)

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
        lapsed: Steps = iter(())
        if known is not None and not known.lives(now):
            self.store.remove(known.owner, known.stem)
            lapsed = self._matrix.gone(known, now, belongs)
            known = None
        outcome = self.store.put(record, now)
        if outcome == "stored":
            return Arrival(outcome, chain(lapsed, self._matrix.meet(record, known, now, belongs)))
        if outcome == "same" and record.action == "retrieve":
            return Arrival(outcome, chain(lapsed, self._matrix.data_for(record, now, belongs)))
        return Arrival(outcome, lapsed)

    def ask(
        self,
        question: Record,
        now: float,
        belongs: Belongs = everywhere,
        span: Span | None = None,
    ) -> Asked:
        """As `accept` of a retrieve, or of an application's action, without time to live: what it
        surely selects comes in one piece.  No data whose index lies outside the span belongs to
        it: of what copies are kept for others, most is not looked at."""
        asked = self._matrix.ask(question, now, belongs, span)
        return Asked(asked.sure, _and_is_gone(question, asked.steps))

    def meet(self, record: Record, now: float, belongs: Belongs = everywhere) -> Steps:
        """What follows for a record that is kept already, over the pairs that `belongs` grants:
        an interval gained by hand-off or inheritance."""
        return self._matrix.meet(record, None, now, belongs)

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
        return self._gone(self.store.tombstone(owner, stem, now + tombstone_s), now, belongs)

    def deletable(
        self, selector: Profile, kinds: Collection[Kind], owner: str, mode: str, now: float
    ) -> Iterator[Record | None]:
        """What of what `owner` posted the selector contains (`mode` "within") or overlaps
        ("overlap"), one candidate after the other; None where one is not taken."""
        return chain.from_iterable(
            deletable(self.store, selector, kind, owner, mode, now)
            for kind in (DATA, INTEREST, WATCH) if kind in kinds
        )  # fmt: skip

    def is_deletable(self, selector: Profile, record: Record, mode: str, now: float) -> bool:
        """Whether a delete of this selector takes a record of its poster, as it is now."""
        return record.lives(now) and falls(selector, record, mode)

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
        """Delete what is `deletable`, at once; `dry_run` only says what."""
        found = self.deletable(selector, kinds, owner, mode, now)
        records = [record for record in found if record is not None]
        if dry_run:
            return Deletion(records, iter(()))
        for record in records:
            self.store.tombstone(record.owner, record.stem, now + tombstone_s)
        gone = [self._matrix.gone(record, now, belongs) for record in records]
        return Deletion(records, chain.from_iterable(gone))

    def expire(
        self, now: float, belongs: Belongs = everywhere, limit: int = 1000
    ) -> list[Reaction]:
        """Forget what has expired (at most `limit` at once); watches hear of interests gone."""
        return self.sweep(now, belongs, limit).reactions

    def sweep(self, now: float, belongs: Belongs = everywhere, limit: int = 1000) -> Deletion:
        """As `expire`, with the records."""
        records = self.store.expire(now, limit)
        gone = [self._matrix.gone(record, now, belongs) for record in records]
        return Deletion(records, chain.from_iterable(gone))

    def forget(self, owner: str, stem: str, now: float, belongs: Belongs = everywhere) -> Deletion:
        """Give a record up without a tombstone: it was replaced, and lives elsewhere."""
        return self._gone(self.store.remove(owner, stem), now, belongs)

    def left(self, record: Record, now: float, belongs: Belongs = everywhere) -> Steps:
        """Who hears that a record is gone, which is not stored any more."""
        return self._matrix.gone(record, now, belongs)

    def _gone(self, record: Record | None, now: float, belongs: Belongs) -> Deletion:
        if record is None or not record.lives(now):
            return Deletion([], iter(()))
        return Deletion([record], self._matrix.gone(record, now, belongs))

    def _pass(self, record: Record, now: float, belongs: Belongs) -> Steps:
        """A message without time to live meets what is kept; its interest is gone at once."""
        return _and_is_gone(record, self._matrix.meet(record, None, now, belongs))


def _and_is_gone(record: Record, steps: Steps) -> Steps:
    appeared: list[Tell] = []
    for step in steps:
        if isinstance(step, Tell) and step.kind == "appeared" and step.about is record:
            appeared.append(step)
        yield step
    for told in appeared:
        yield Tell(told.to, record, "gone")


def all_of(steps: Steps) -> list[Reaction]:
    """What follows, at once."""
    return [step for step in steps if step is not None]
