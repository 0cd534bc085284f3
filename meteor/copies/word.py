"""A copy's word: who told a primary that its view stands goes over to no other one for a while.

Law of this file: it looks at this peer's views and its clock, and asks nobody.  Where something has
to have several holders (`copies_min`), a primary answers by itself for `SAID_SHARE` of a silence
after as many of its copies as have to said that its view stands (`Lease`).  A copy that an heir
asks to take a later view could go over at once: it was another one that found the primary silent.
So it keeps its word until nobody can rely on it any more, tells the primary of the view that is to
come, and says so to whoever asks meanwhile.  A peer that was just started may have given its word
in its life before.  Whoever takes over itself has not heard the primary for longer than its own
word lasts, or nobody listens at that one's address any more: it is dead.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from chord import Runtime
from meteor.copies.config import CopiesConfig
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Instate
from meteor.wire.view import View
from squid import Intervals, intersect, merge

SAID_SHARE: Final = 0.75
"""Of the silence after which a copy may go on alone: for so long a primary relies on a word, from
when it asked ..."""
KEPT_SHARE: Final = 0.8
"""... and so long a copy keeps it, from when it was asked: clocks do not run alike."""


class Word:
    """What one peer said to those whose copies it keeps."""

    def __init__(self, runtime: Runtime, views: Views, config: CopiesConfig) -> None:
        self._runtime, self._views = runtime, views
        self._keeps_s = KEPT_SHARE * config.silence_s if config.copies_min else 0.0
        self._began_s = runtime.now()
        self._given: dict[int, tuple[float, Intervals]] = {}
        """By the primary's identifier: when it was given last, and for what."""
        self._coming: list[View] = []
        """What is taken as soon as it has run out."""

    def give(self, primary_id: int, part: Intervals) -> None:
        """A primary was told that its view of a part stands."""
        if self._keeps_s:
            since_s = self._runtime.now() - self._keeps_s
            lately = ((one, its) for one, its in self._given.items() if its[0] > since_s)
            self._given = dict(lately)  # so many primaries as have copies here
            _, before = self._given.get(primary_id, (0.0, ()))
            self._given[primary_id] = self._runtime.now(), merge(before, part)

    def left_s(self, view: View) -> float:
        """For how long yet another primary than that of `view` may rely on this peer for some of
        its part: 0 or less where none does."""
        if not self._keeps_s:
            return 0.0
        given_s = [at_s for one, (at_s, part) in self._given.items()
                   if one != view.primary.id and intersect(part, view.intervals)]  # fmt: skip
        given_s += [self._began_s for _ in self._kept_before(view)]
        return max(given_s, default=float("-inf")) + self._keeps_s - self._runtime.now()

    def _kept_before(self, view: View) -> list[View]:
        """What of others is kept here of the part of a view."""
        kept = [copy.view for copy in self._views.copies.values()]
        of_others = [one for one in kept if one.primary.id != view.primary.id]
        return [one for one in of_others if intersect(one.intervals, view.intervals)]

    @asynccontextmanager
    async def running_out(self, view: View) -> AsyncIterator[None]:
        """Wait until nobody relies on this peer any more where `view` is to be: those who do are
        told, and it is given to nobody else meanwhile."""
        self._coming.append(view)
        try:
            for one in self._kept_before(view):
                self._runtime.send(one.primary, Instate(view))
            while (left_s := self.left_s(view)) > 0:
                await self._runtime.sleep(left_s)
            yield
        finally:
            self._coming.remove(view)

    def withdrawn(self, part: Intervals, epoch: int, asker_id: int) -> tuple[View, ...]:
        """The later views of others that this peer is about to take of a part."""
        return tuple(
            one for one in self._coming
            if one.epoch > epoch and one.primary.id != asker_id and intersect(one.intervals, part)
        )  # fmt: skip
