"""Standing down: copies of a view that gave way to another one hear of it.

Law of this file: a copy lets go by word of who holds the interval now, or of its own primary, and
keeps what it had as evidence.  Its primary gave way to a view that may never begin; whoever holds
the interval has begun, hears who had copies beside it, and tells these.  Untold, as its primary
lives and is heard of, two of them would vouch for each other when they are cut off together, and
answer with what was deleted since (DESIGN section 5).  A copy that was not told asks its primary,
now and then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

from chord import Contact, Handler, Runtime
from meteor.copies.replication import Replication
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Instate, Instated, Stands
from meteor.wire.view import View

ENDED_MAX: Final = 256
ENDED_S: Final = 10.0
"""How long the copies of a view that gave way are told of every later epoch: what is to take its
place may not have begun here yet, and they may have a next epoch that never began."""


class StandingDown:
    """What one peer says to copies of what it holds now, or held."""

    def __init__(self, runtime: Runtime, views: Views, replication: Replication) -> None:
        self._runtime, self._views, self._replication = runtime, views, replication
        self._ended: deque[tuple[float, View, int]] = deque(maxlen=ENDED_MAX)
        """When it did, and of which epoch its copies were told last."""
        replication.on_ended = self.note

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Stands: self._on_stands}

    def note(self, ended: View) -> None:
        """A view gave way to what is held here, or just about to be: tell its copies."""
        self._ended.append((self._runtime.now(), ended, 0))
        self.tell()

    def tell(self) -> None:
        """Tell the copies of what gave way to what has begun here by now."""
        now, ended = self._runtime.now(), list(self._ended)
        self._ended.clear()
        for came_s, view, told in ended:
            later = self._tell_copies_of(view, told)
            if now - came_s < ENDED_S:
                self._ended.append((came_s, view, later))

    def _tell_copies_of(self, ended: View, told: int) -> int:
        """Of what is held here in an epoch that they were not told of; returns the last."""
        spared = {self._runtime.contact.id, *self._replication.learners}  # they are about to be
        last = told
        for mine in self._views.touching(ended.intervals):
            if mine.epoch <= told or (mine.epoch, mine.key) <= (ended.epoch, ended.key):
                continue
            last = max(last, mine.epoch)
            for copy in ended.copies:
                if copy.id not in spared and not mine.has_copy(copy.id):
                    self._runtime.send(copy, Instate(mine))
        return last

    def _on_stands(self, sender: Contact, message: object, _: float) -> Instated:
        assert isinstance(message, Stands)
        return Instated(known=self._counts_on(sender, message.number))

    def _counts_on(self, copy: Contact, number: int) -> bool:
        """Whether a copy of this peer's is one, or may be just about to be."""
        mine = self._views.own.get(number)
        if mine is not None and mine.has_copy(copy.id):
            return True
        key = self._runtime.contact.id, number
        if self._replication.changing.is_busy or key in self._views.copies:  # it begins, perhaps
            return True
        if self._replication.gifts.are_open_of(number):  # it has what was given all the same
            return True
        if mine is None and self._views.tried.has(number):  # it speaks for what that took over
            return True
        # back from a crash, nobody goes on yet
        had = [one for one in self._views.remembered() if one.key == key]
        return mine is None and any(view.has_copy(copy.id) for view in had)
