"""What small rings that notify with much at once share: what was promised, and what was told.

Law of this file: it judges.  A client object is told of every version of a record that was
promised, that nobody touched since, and that matches whatever its interest may ask for; of none
that was not there while it may have asked for it; and of none twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from arms import Profile
from chord import Task
from meteor import Client, Interest, profile
from meteor.admission import place
from meteor.wire.record_id import make_id
from tests.meteor.building import SPACE, Attributes


def selects(selector: str, attributes: Attributes) -> bool:
    return Profile.parse(selector, SPACE).matches(profile(attributes).typed(SPACE))


def id_at(stem: str, selector: str) -> str:
    """The id of an interest where it asks for this."""
    box = place(Profile.parse(selector, SPACE), "notify_data", SPACE, everywhere=False)
    return make_id(stem, box, SPACE.curve)


@dataclass
class Version:
    """One version of a record: what it is, and when it may have been there."""

    number: int
    attributes: Attributes
    began_s: float
    over_s: float = inf
    """When it was promised that it is there no more."""


@dataclass
class Record:
    """What was promised of one record."""

    id: str
    versions: list[Version]
    promised: Version | None = None
    """The one that is there for sure, and that nobody began to touch since."""
    is_unknown: bool = False
    """Whether fewer than three were told of some of it."""
    is_busy: bool = False


@dataclass(eq=False)
class Window:
    """What an interest may ask for, from when and until when."""

    selector: str
    began_s: float
    until_s: float = inf


class Heard:
    """One client object that listens, and what it was told."""

    def __init__(self, client: Client, interest: Interest) -> None:
        self.client, self.interest = client, interest
        self.came: list[int] = []
        self.times_s: list[float] = []
        self._taking: Task[None] = client._session.spawn(self._take())

    async def _take(self) -> None:
        async for one in self.interest:
            if one.kind == "match":
                self.came.append(int(one.text))
                self.times_s.append(self.client._session.runtime.now())


@dataclass
class Asked:
    """An interest, and what was promised of it."""

    stem: str
    heard: list[Heard]
    windows: list[Window]
    is_kept: bool = True
    """Whether nobody began to cancel it."""
    cancelled_s: float = inf
    """When it was promised that it is gone."""
    moving: int = 0
    """How many replaces are on their way."""
    is_taken_up: bool = False
    """Whether its client is gone, and another one tries to have it."""
    lasts: bool = True
    """Whether it lives longer than the test, also where nobody renews it."""
    apart: bool = False
    """Whether the ring was cut, and each side went by what it knew."""
    notes: list[str] = field(default_factory=list)

    @property
    def last(self) -> Heard:
        return self.heard[-1]

    @property
    def ids(self) -> list[str]:
        """Where it may be, the latest first."""
        selectors = [one.selector for one in reversed(self.windows) if one.until_s == inf]
        return list(dict.fromkeys(id_at(self.stem, one) for one in selectors))

    def may_ask(self, selector: str, now: float) -> Window:
        self.windows.append(Window(selector, now))
        return self.windows[-1]

    def asks(self, for_it: Window, now: float) -> None:
        """It was promised that it asks for this now, or for what it was told to ask for later."""
        for one in self.windows[: self.windows.index(for_it)]:
            one.until_s = min(one.until_s, now)

    def must(self, version: Version) -> bool:
        return all(
            selects(one.selector, version.attributes) for one in self.windows if one.until_s == inf
        )

    def is_told_of_all(self) -> None:
        """It may be told of whatever it ever asked for, as one side goes by less."""
        self.apart = True

    def may(self, version: Version) -> bool:
        if self.apart:
            return any(selects(one.selector, version.attributes) for one in self.windows)
        if version.began_s > self.cancelled_s:
            return False
        return any(
            one.began_s < version.over_s
            and version.began_s <= one.until_s
            and selects(one.selector, version.attributes)
            for one in self.windows
        )


def wrong_of(asked: Asked, records: dict[str, Record]) -> list[str]:
    """What was told, or not, against a promise."""
    wrong = []
    versions = {one.number: one for record in records.values() for one in record.versions}
    for heard in asked.heard:
        twice = sorted({one for one in heard.came if heard.came.count(one) > 1})
        if twice:
            wrong.append(f"{asked.stem}: told twice: {twice}")
        more = sorted({one for one in heard.came if not asked.may(versions[one])})
        if more:
            wrong.append(f"{asked.stem}: told of what it must not be: {more}, {asked.windows}")
    if asked.is_kept:
        must = [one.promised for one in records.values() if one.promised is not None]
        came = set(asked.last.came)
        never = [one for one in must if asked.must(one) and one.number not in came]
        if never:
            wrong.append(f"{asked.stem} ({asked.last.interest.state}): never told: {never}")
        if asked.last.interest.state != "active":
            wrong.append(f"{asked.stem}: it is {asked.last.interest.state}")
    return wrong
