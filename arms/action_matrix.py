"""The action matrix: what follows when a record meets those that are kept.

Law of this file: matching is done at once, in the call; what follows from each candidate is found
out when it is asked for, in seeded random order, so that whoever asks can take thousands of
candidates in several turns (report sections 2.1.3 and 3.3; SPEC section 1; rules 33-37).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from random import Random
from typing import Final, Literal

from arms.actions import DATA, INTEREST, NOTIFY_DATA, WATCH, Kind, action_named
from arms.index_store import Span
from arms.profile import Profile
from arms.record import Record
from arms.store import Candidates, Store
from squid import dataclass

Belongs = Callable[[Record, Record], bool]
"""Whether this peer is the one that reports a pair (the lowest cell that both regions share)."""

NoticeKind = Literal["match", "appeared", "gone"]


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

_AS_MUCH_WORK: Final = (None,) * 7
"""What stands for the work of looking at a tree, which may be a hostile one."""

FEW: Final = 64
"""As many as are put in order at once."""

Steps = Iterator[Reaction | None]
"""What follows, one candidate after the other; None where nothing follows from one.  They can be
gone through once."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question that is not kept comes to."""

    sure: Sequence[Record]
    """Data that it surely selects, to be sent to its sender: without what has expired, what he may
    not know of and what another peer reports, none of which was looked at yet.  As it is only sent,
    and no action of its own follows, its order means nothing."""
    steps: Steps
    """What follows from everything else that it may meet."""


def everywhere(_one: Record, _other: Record) -> bool:
    """The `Belongs` of a peer that is alone."""
    return True


class ActionMatrix:
    """What each kind of record has to do with each other kind, over one store."""

    def __init__(self, store: Store, random: Random) -> None:
        self._store = store
        self._random = random

    def meet(self, record: Record, known: Record | None, now: float, belongs: Belongs) -> Steps:
        """What follows from a record that arrived, maybe in the place of `known`."""
        if record.kind == DATA:
            return self._told_of_data(record, now, belongs)
        if record.kind == WATCH:
            return self._told_of_interests(record, now, belongs)
        return self._data_and_watches(record, known, now, belongs)

    def ask(self, question: Record, now: float, belongs: Belongs, span: Span | None) -> Asked:
        """What follows from a question that its sender gets data for: as `meet`, with what is sure
        in one piece.  Nothing outside the span belongs to it."""
        found = self._store.sift_selected(DATA, question.profile, span)
        steps = self._data_of(question, Candidates((), found.doubtful), now, belongs)
        if WATCH in action_named(question.action, (question.action,)).meets:
            steps = chain(steps, self._watches_told(question, "appeared", now, belongs))
        return Asked(found.sure, steps)

    def data_for(self, interest: Record, now: float, belongs: Belongs) -> Steps:
        """The data that answers a retrieve, or is to be told of."""
        found = self._store.sift_selected(DATA, interest.profile)
        return self._data_of(interest, found, now, belongs)

    def _data_of(self, interest: Record, found: Candidates, now: float, belongs: Belongs) -> Steps:
        told = action_named(interest.action, (interest.action,)) is NOTIFY_DATA

        def follow(data: Record) -> Reaction | None:
            if not data.lives(now) or not belongs(interest, data):
                return None
            return Tell(interest, data, "match") if told else Return(data)

        return self._in_random_order(found, interest.profile.matches, follow)

    def gone(self, interest: Record, now: float, belongs: Belongs) -> Steps:
        """The watches that hear that an interest is gone; of other kinds nobody hears."""
        if interest.kind != INTEREST:
            return iter(())
        return self._watches_told(interest, "gone", now, belongs)

    def _told_of_data(self, data: Record, now: float, belongs: Belongs) -> Steps:
        interests = self._store.sift_selecting(INTEREST, data.profile)
        selects = _selecting(data.profile)

        def follow(interest: Record) -> Reaction | None:
            told = interest.lives(now) and belongs(interest, data)
            return Tell(interest, data, "match") if told else None

        return self._in_random_order(interests, selects, follow)

    def _told_of_interests(self, watch: Record, now: float, belongs: Belongs) -> Steps:
        interests = self._store.sift_selecting(INTEREST, watch.profile)
        selects = _selecting(watch.profile)

        def follow(interest: Record) -> Reaction | None:
            told = interest.lives(now) and belongs(watch, interest)
            return Tell(watch, interest, "appeared") if told else None

        return self._in_random_order(interests, selects, follow)

    def _data_and_watches(
        self, interest: Record, known: Record | None, now: float, belongs: Belongs
    ) -> Steps:
        """The data it asks for, then the watches; those that only the version before met hear
        that it is gone, those that both meet hear nothing."""
        if WATCH not in action_named(interest.action, (interest.action,)).meets:
            return self.data_for(interest, now, belongs)  # an application's
        if known is None or known.kind != INTEREST:
            return chain(
                self.data_for(interest, now, belongs),
                self._watches_told(interest, "appeared", now, belongs),
            )
        return chain(
            self.data_for(interest, now, belongs),
            self._watches_told(interest, "appeared", now, belongs, unless=known),
            self._watches_told(known, "gone", now, belongs, unless=interest),
        )

    def _watches_told(
        self,
        interest: Record,
        kind: NoticeKind,
        now: float,
        belongs: Belongs,
        unless: Record | None = None,
    ) -> Steps:
        """The watches that an interest meets, without those that another version of it meets."""
        watches = self._store.sift_selected(WATCH, interest.profile)

        def follow(watch: Record) -> Reaction | None:
            if not watch.lives(now) or not belongs(watch, interest):
                return None
            if unless is not None and unless.profile.matches(watch.profile):
                return None if belongs(watch, unless) else Tell(watch, interest, kind)
            return Tell(watch, interest, kind)

        return self._in_random_order(watches, interest.profile.matches, follow)

    def _in_random_order(
        self,
        found: Candidates,
        decide: Callable[[Profile], bool],
        follow: Callable[[Record], Reaction | None],
    ) -> Steps:
        """About doubtful ones `decide` has the word."""
        sure, doubtful = found
        first_doubtful = len(sure)
        count = first_doubtful + len(doubtful)
        if not count:  # as mostly
            return
        for number in shuffled(count, self._random):
            if number < first_doubtful:
                yield follow(sure[number])
                continue
            record = doubtful[number - first_doubtful]
            yield from _AS_MUCH_WORK
            yield follow(record) if decide(record.profile) else None


def shuffled(count: int, random: Random) -> Iterator[int]:
    """The numbers below `count` in random order, one after the other: Fisher and Yates, without a
    list of what was not drawn yet; a few by the draws that they get, in a third of the time."""
    if count <= FEW:
        draws = [random.random() for _ in range(count)]
        yield from sorted(range(count), key=draws.__getitem__)
        return
    moved: dict[int, int] = {}
    for at in range(count):
        other = random.randrange(at, count) if at < count - 1 else at
        here = moved.pop(at, at)
        if other == at:
            yield here
        else:
            yield moved.get(other, other)
            moved[other] = here


def _selecting(subject: Profile) -> Callable[[Profile], bool]:
    return lambda selector: selector.matches(subject)


def deletable(
    store: Store, selector: Profile, kind: Kind, owner: str, mode: str, now: float
) -> Iterator[Record | None]:
    """What of a kind a delete takes, one candidate after the other: what `owner` posted and the
    selector contains (`mode` "within") or overlaps ("overlap")."""
    if kind == INTEREST:
        candidates: Iterable[Record] = store.all_of(INTEREST)
    else:
        candidates = chain(*store.sift_selected(kind, selector))
    theirs = (record if record.owner == owner and record.lives(now) else None
              for record in candidates)  # fmt: skip
    return _falling(theirs, selector, mode)


def _falling(
    candidates: Iterator[Record | None], selector: Profile, mode: str
) -> Iterator[Record | None]:
    for record in candidates:
        if record is not None:
            yield from _AS_MUCH_WORK
        yield record if record is not None and falls(selector, record, mode) else None


def falls(selector: Profile, record: Record, mode: str) -> bool:
    """Whether a delete of this selector takes a record: one that it contains, or overlaps."""
    if mode == "overlap":
        return selector.matches(record.profile)
    return selector.contains_profile(record.profile, as_selector=record.kind == INTEREST)
