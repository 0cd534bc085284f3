"""A dumb twin of views that knows for every index of a tiny curve who has it, and what is drawn
to be done to both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from chord import Contact
from meteor.keeping.views import Views
from meteor.wire.view import View
from squid import Interval, Intervals, merge

SIZE = 6
HERE, *OTHERS = [Contact(n, f"peer-{n}") for n in range(3)]

spans = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
parts = st.lists(spans, min_size=1, max_size=3).map(lambda found: merge(tuple(found)))


def indexes(part: Iterable[Interval]) -> frozenset[int]:
    return frozenset(index for first, last in part for index in range(first, last + 1))


def intervals(some: Iterable[int]) -> Intervals:
    return merge(tuple((index, index) for index in some))


@st.composite
def views(draw: st.DrawFn, primaries: tuple[Contact, ...]) -> View:
    part = draw(parts)
    lost = draw(st.sampled_from([(), part[:1]]))
    copies = draw(st.lists(st.sampled_from([HERE, *OTHERS]), max_size=2, unique=True))
    primary = draw(st.sampled_from(primaries))
    return View(
        primary, draw(st.integers(1, 2)), draw(st.integers(1, 4)), part, tuple(copies), lost
    )


@dataclass(frozen=True)
class Had:
    """What the twin knows of a view: everything by index."""

    view: View
    has: frozenset[int]
    whole: bool = True
    before: tuple[Had, ...] = ()
    """What it took the place of, which may never have begun."""

    @classmethod
    def of(cls, view: View, *, whole: bool = True, before: Iterable[Had] = ()) -> Had:
        has = indexes(view.intervals)
        return cls(view, has, whole, tuple(one.within(has) for one in before if one.has & has))

    @property
    def lost(self) -> frozenset[int]:
        return indexes(self.view.lost) & self.has

    def as_view(self) -> View:
        return replace(self.view, intervals=intervals(self.has), lost=intervals(self.lost))

    def keeping(self, some: frozenset[int]) -> Had:
        return replace(self, has=some)

    def within(self, some: frozenset[int]) -> Had:
        before = tuple(one.within(some) for one in self.before if one.has & some)
        return replace(self, has=self.has & some, before=before)

    def all(self) -> tuple[Had, ...]:
        return (*self.before, self)


@dataclass
class Twin:
    """The same questions and changes, index by index."""

    own: dict[int, Had] = field(default_factory=dict)
    copies: dict[tuple[int, int], Had] = field(default_factory=dict)
    former: list[Had] = field(default_factory=list)
    seen: int = 0

    def learn(self, view: View) -> None:
        self.seen = max(self.seen, view.epoch)
        self.copies[view.key] = Had.of(view, whole=False)

    def put(self, view: View) -> None:
        before: list[Had] = []
        for key, had in self.copies.items():
            if had.whole and key == view.key:
                before += had.before
            elif had.whole and had.view.epoch < view.epoch:
                before += had.all()
        before.sort(key=lambda one: one.view.epoch)
        self.learn(view)
        self.end(view)
        self.copies[view.key] = Had.of(view, before=before)

    def end(self, view: View) -> None:
        self.seen = max(self.seen, view.epoch)
        gone = indexes(view.intervals)
        for key, had in list(self.copies.items()):
            if had.view.epoch < view.epoch:
                for one in had.all() if had.whole and had.has & gone else ():
                    self.remember(one, indexes(view.lost) - one.lost)
                self.copies[key] = had.within(had.has - gone)
        self.copies = {key: had for key, had in self.copies.items() if had.has}

    def remember(self, had: Had, some: frozenset[int]) -> None:
        if had.has & some:
            self.former.append(had.keeping(had.has & some))

    def lay_down(self, part: Intervals) -> None:
        for key, had in list(self.copies.items()):
            past, left = had.has & indexes(part), had.has - indexes(part)
            if past:
                for one in had.all() if had.whole else ():
                    self.remember(one, past)
                self.copies[key] = had.within(left if had.whole else frozenset())
        self.copies = {key: had for key, had in self.copies.items() if had.has}

    def drop(self, view: View) -> None:
        self.copies.pop(view.key, None)

    def put_own(self, view: View) -> None:
        self.end(view)
        taken = indexes(view.intervals)
        for number, had in list(self.own.items()):
            if number != view.number:
                self.own[number] = had.keeping(had.has - taken)
        self.own = {number: had for number, had in self.own.items() if had.has}
        self.own[view.number] = Had.of(view)

    def give(self, part: Intervals) -> None:
        given_away = indexes(part)
        for number, had in list(self.own.items()):
            if had.has & given_away:
                self.own[number] = had.keeping(had.has - given_away)
        self.own = {number: had for number, had in self.own.items() if had.has}

    def demote(self, part: Intervals, drawn: list[int]) -> None:
        """`drawn` are the numbers under which what is left goes on, in the order of the views."""
        touched = [number for number, had in self.own.items() if had.has & indexes(part)]
        for number in touched:
            had = self.own.pop(number)
            self.former.append(had.keeping(had.has & indexes(part)))
            left = had.has - indexes(part)
            if left:
                again = drawn.pop(0)
                self.seen = max(self.seen, again)
                view = replace(had.view, number=again)
                self.own[again] = Had(view, left)

    def retire(self, view: View) -> None:
        had = self.copies.pop(view.key, None)
        if had is not None and had.whole:
            self.former.append(had)

    def forget_former(self, part: Intervals) -> None:
        left = [had.keeping(had.has - indexes(part)) for had in self.former]
        self.former = [had for had in left if had.has]

    def restore(self, view: View) -> None:
        self.seen = max(self.seen, view.epoch)
        self.former.append(Had.of(view))

    def all(self) -> list[Had]:
        return [*self.own.values(), *self.copies.values(), *self.former]


VIEW_CHANGES = (*["learn", "put", "put"] * 3, "end", "drop", "retire", "restore")
PART_CHANGES = ("give", "demote", "forget_former", "lay_down")
changes = st.one_of(
    st.tuples(st.sampled_from(VIEW_CHANGES), views(tuple(OTHERS))),
    st.tuples(st.sampled_from(VIEW_CHANGES), views(tuple(OTHERS))),
    st.tuples(st.just("put_own"), views((HERE,))),
    st.tuples(st.sampled_from(PART_CHANGES), parts),
)


def carry_out(subject: Views, twin: Twin, change: str, value: Any) -> None:
    if change == "demote":
        twin.demote(value, subject.demote(value))
        return
    getattr(twin, change)(value)
    if change in {"drop", "retire"}:
        getattr(subject, change)(value.key)
    elif change == "restore":
        subject.restore((value,), whole=True)
    else:
        getattr(subject, change)(value)


def after(done: list[tuple[str, Any]]) -> tuple[Views, Twin]:
    subject, twin = Views(), Twin()
    for change, value in done:
        carry_out(subject, twin, change, value)
    return subject, twin


@st.composite
def successions(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """One place that one after the other has, as epochs of it follow each other."""
    part, found = draw(parts), []
    for epoch in range(1, 5):
        lost = draw(st.sampled_from([(), part[:1], part]))
        view = replace(draw(views(tuple(OTHERS))), epoch=epoch, intervals=part, lost=lost)
        found.append((draw(st.sampled_from(("put", "put", "learn", "end"))), view))
    return found


histories = st.one_of(
    st.lists(changes, max_size=8),
    st.builds(lambda one, more: [*one, *more], successions(), st.lists(changes, max_size=4)),
)
