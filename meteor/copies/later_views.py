"""Asking the neighbours whether a later view began than one that a copy here is of.

Law of this file: conversations.  A copy whose other holders are silent asks all around before it
goes on alone, as it may have been evicted and never told.  Who is silent is waited for a while; the
clock of that runs while the other holders are waited for, so that a client does not wait for both,
one after the other.  What those say who answer is asked for at the very end (DESIGN section 5).
One that another holder speaks for asks them as well, as both may have been evicted together: there
a first word is enough, once the others had the time to say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from chord import (
    CallError,
    ChordNode,
    Contact,
    DialRefused,
    LinkClosed,
    RequestTimeout,
    Runtime,
)
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Touch, Touched
from meteor.wire.operations import Claim, ClaimAnswer
from meteor.wire.view import View
from squid import intersect

OTHERWISE_S: Final = 0.02
"""How long others who know of a later view may take to say so after the first reply."""
AGAIN_S: Final = 1.0
"""Who was asked so long ago and was not heard since is waited for anew: it may be back."""


class LaterViews:
    """What one peer's neighbours know of later views."""

    def __init__(
        self, node: ChordNode, runtime: Runtime, views: Views, patience_s: float
    ) -> None:
        self._node, self._runtime, self._views = node, runtime, views
        self._patience_s = patience_s
        self._asked_s: dict[int, float] = {}
        """Since when neighbours are asked who were not heard meanwhile."""
        self._mute_s: dict[int, float] = {}
        """When neighbours had not said whether they object to a view."""

    @property
    def patience_s(self) -> float:
        """How long a neighbour is waited for that says nothing, in seconds."""
        return self._patience_s

    def sound_out(self, view: View) -> None:
        """Ask the neighbours, to know soon who of them is silent."""
        for one in self._near(view):
            self._runtime.spawn(self._is_later(one, view, self._wait_s(one)))

    async def everybody_answers(self, view: View, within_s: float) -> bool:
        """Whether all neighbours say something, or are no more: nobody need be waited for."""
        near = list(self._near(view))
        asked = [self._runtime.spawn(self._answers(one, view, within_s)) for one in near]
        return all([await task for task in asked])

    async def _answers(self, contact: Contact, view: View, within_s: float) -> bool:
        request = Touch(view.epoch, view.intervals, view.primary.id)
        try:
            try:
                await self._runtime.call(contact, request, within_s)
            except LinkClosed:  # a refused dial says more
                await self._runtime.call(contact, request, within_s)
        except CallError as error:
            return type(error) is DialRefused
        return True

    async def known(self, view: View) -> bool:
        """Whether any neighbour answers for some of a view, or knows of a later one of it.  One
        that is silent is not waited for long: somebody asks meanwhile."""
        begun = self._views.chronicle.all_of(view.intervals)
        if any(one.epoch > view.epoch for one in begun):
            return True
        waits = [(one, self._wait_s(one)) for one in self._near(view)]
        asked = [self._runtime.spawn(self._is_later(one, view, wait_s))
                 for one, wait_s in waits if wait_s > 0]  # fmt: skip
        return any([await task for task in asked])

    async def objected(self, view: View) -> bool:
        """Whether a neighbour knows of a later view, as far as those say that answer soon.  Who was
        silent just before is not waited for, unless all of them were."""
        near, ids = list(self._near(view)), {one.id for one in self._named()}
        self._mute_s = {id: at_s for id, at_s in self._mute_s.items() if id in ids}
        asked = [one for one in near if not self._is_mute(one)] or near
        if not asked:
            return False
        token, left = object(), len(asked)
        settled = self._runtime.expect(token, self._patience_s)

        async def ask(one: Contact) -> None:
            nonlocal left
            objects = await self._objects(one, view)
            left -= 1
            if objects is None:
                self._mute_s[one.id] = self._runtime.now()
            elif not objects and left:
                await self._runtime.sleep(OTHERWISE_S)
            if objects is not None or not left:
                self._runtime.deliver(token, bool(objects))

        for one in asked:
            self._runtime.spawn(ask(one))
        try:
            return bool(await settled)
        except RequestTimeout:
            return False

    def _is_mute(self, contact: Contact) -> bool:
        since_s = self._mute_s.get(contact.id, -AGAIN_S)
        heard = self._runtime.link(contact).last_heard_s >= since_s
        return self._runtime.now() - since_s < AGAIN_S and not heard

    async def _objects(self, contact: Contact, view: View) -> bool | None:
        """Whether one neighbour knows of a later view; None where it does not answer."""
        request = Touch(view.epoch, view.intervals, view.primary.id)
        try:
            reply = await self._runtime.call(contact, request, self._patience_s)
        except CallError:
            return None
        return isinstance(reply, Touched) and bool(reply.newer)

    def silent(self) -> frozenset[int]:
        """The identifiers of neighbours that did not answer lately, and were not heard since."""
        known = [one for one in self._named() if one.id in self._asked_s]
        return frozenset(one.id for one in known if self._is_silent(one))

    def note_silent(self, contacts: Iterable[Contact], asked_s: float) -> None:
        """These were asked something at that time, and have said nothing yet: of every question
        that comes meanwhile each would be waited for again."""
        lately_s = self._runtime.now() - AGAIN_S
        self._asked_s = {id: at_s for id, at_s in self._asked_s.items() if at_s > lately_s}
        for one in contacts:
            since_s = self._asked_s.get(one.id, -AGAIN_S)
            heard = self._runtime.link(one).last_heard_s >= since_s
            if heard or since_s <= lately_s:
                self._asked_s[one.id] = asked_s

    def _is_silent(self, contact: Contact) -> bool:
        waited_s = self._runtime.now() - self._asked_s[contact.id]
        heard = self._runtime.link(contact).last_heard_s >= self._asked_s[contact.id]
        return self._patience_s <= waited_s < AGAIN_S and not heard

    def _named(self) -> list[Contact]:
        return [one for one in (*self._node.successors, self._node.predecessor) if one]

    def _near(self, view: View) -> Iterable[Contact]:
        """The neighbours on the ring, without those that are holders themselves; one that was
        started again at another address is asked there."""
        holders = {(one.id, one.address) for one in view.holders}
        near = {one.id: one for one in self._named() if (one.id, one.address) not in holders}
        self._asked_s = {id: at_s for id, at_s in self._asked_s.items() if id in near}
        return near.values()

    def _wait_s(self, contact: Contact) -> float:
        """How long one of them is waited for that is asked now; 0: it has been silent so long."""
        now, heard_s = self._runtime.now(), self._runtime.link(contact).last_heard_s
        since_s = self._asked_s.get(contact.id, -AGAIN_S)
        if heard_s >= since_s or now - since_s >= AGAIN_S:
            self._asked_s[contact.id] = since_s = now
        return max(since_s + self._patience_s - now, 0.0)

    async def _is_later(self, contact: Contact, view: View, wait_s: float) -> bool:
        own = self._runtime.contact
        for interval in view.intervals:
            try:
                answer = await self._runtime.call(contact, Claim(interval), wait_s)
            except CallError:
                return False
            if not isinstance(answer, ClaimAnswer):
                return False
            known = (*answer.copies, *answer.former, *answer.learning, *answer.begun)
            if any(one.epoch > view.epoch and one.primary.id != own.id for one in known):
                return True
            if answer.held or intersect(answer.awaited, (interval,)):
                return True
            wait_s = self._patience_s
        return False
