"""A copy's word: who told a primary that its view stands goes over to no other one for a while.

Law of this file: it looks at this peer's views and its clock, and asks nobody.  Where something has
to have several holders (`copies_min`), a primary answers by itself for `SAID_SHARE` of a silence
after as many of its copies as have to said that its view stands (`Lease`).  A copy that an heir
asks to take a later view could go over at once: it was another one that found the primary silent.
So it keeps its word until nobody can rely on it any more, tells the primary of the view that is to
come, and says so to whoever asks meanwhile.  So does an heir of its own word before its view
begins: it was heard again perhaps since it was found silent.  A peer that was just started may have
given its word in its life before.  A primary that is in the later view itself, as it gave the part
away or keeps a copy by now, relies on nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from chord import Contact, Runtime
from meteor.copies.config import CopiesConfig
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Instate
from meteor.wire.view import View
from squid import Intervals, intersect, subtract

SAID_SHARE: Final = 0.75
"""Of the silence after which a copy may go on alone: for so long a primary relies on a word, from
when it asked ..."""
KEPT_SHARE: Final = 0.8
"""... and so long a copy keeps it, from when it was asked: clocks do not run alike."""


@dataclass(frozen=True, slots=True)
class Given:
    """To whom, when and for what."""

    primary: Contact
    at_s: float
    part: Intervals


class Word:
    """What one peer said to those whose copies it keeps."""

    def __init__(self, runtime: Runtime, views: Views, config: CopiesConfig) -> None:
        self._runtime, self._views = runtime, views
        self._keeps_s = KEPT_SHARE * config.silence_s if config.copies_min else 0.0
        self._began_s = runtime.now()
        self._given: list[Given] = []
        """The latest of every part alone: what is asked about the one says nothing of the other."""
        self._coming: list[View] = []
        """What is taken as soon as it has run out, or begun here."""

    def give(self, primary: Contact, part: Intervals) -> None:
        """A primary was told that its view of a part stands."""
        if self._keeps_s:
            now = self._runtime.now()
            self._given = [one for one in self._without(part, primary.id)
                           if one.at_s + self._keeps_s > now]  # fmt: skip
            self._given.append(Given(primary, now, part))

    def is_over(self, view: View) -> None:
        """A later view is kept from now on: nobody relies on what was said of its part before."""
        self._given = self._without(view.intervals)

    def _without(self, part: Intervals, primary_id: int | None = None) -> list[Given]:
        """What was given beside a part: to one primary, or to all."""
        left = []
        for one in self._given:
            is_of_it = primary_id in (None, one.primary.id)
            beside = subtract(one.part, part) if is_of_it else one.part
            if beside:
                left.append(Given(one.primary, one.at_s, beside))
        return left

    def _relied_on(self, view: View) -> list[Given]:
        """What was given to others of the part of a view, and may not have run out."""
        now, own_id = self._runtime.now(), self._runtime.contact.id
        given = self._given
        if now < self._began_s + self._keeps_s:  # by this peer in its life before, perhaps
            kept = [*(copy.view for copy in self._views.copies.values()), *self._views.remembered()]
            before = [Given(one.primary, self._began_s, one.intervals) for one in kept
                      if one.primary.id != own_id]  # fmt: skip
            given = [*given, *before]
        return [
            one for one in given
            if one.at_s + self._keeps_s > now and one.primary.id not in view.holder_ids
            and intersect(one.part, view.intervals)
        ]  # fmt: skip

    def left_s(self, view: View) -> float:
        """For how long yet a primary that knows nothing of a later `view` may rely on this peer."""
        until_s = [one.at_s + self._keeps_s for one in self._relied_on(view)]
        return max(until_s) - self._runtime.now() if until_s else 0.0

    @asynccontextmanager
    async def running_out(self, view: View) -> AsyncIterator[None]:
        """Wait until nobody relies on this peer where `view` is to be, or that is passed over: who
        does is told, and it is given to nobody else until then, and until it is left again."""
        self._coming.append(view)
        try:
            for one in {one.primary: None for one in self._relied_on(view)}:
                self._runtime.send(one, Instate(view))
            while (left_s := self.left_s(view)) > 0 and not self._views.newer(view):
                await self._runtime.sleep(left_s)
            yield
        finally:
            self._coming.remove(view)

    def withdrawn(self, part: Intervals, epoch: int, asker_id: int) -> tuple[View, ...]:
        """The later views that this peer is about to take, or to begin, of a part."""
        if not self._keeps_s:
            return ()
        return tuple(
            one for one in self._coming
            if one.epoch > epoch and one.primary.id != asker_id and intersect(one.intervals, part)
        )  # fmt: skip
