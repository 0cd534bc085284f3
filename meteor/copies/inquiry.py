"""Asking a peer that may be held, or dead: until it answers, or is gone for good.

Law of this file: one conversation; who is late itself gives nobody up (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Sequence
from typing import Any, Final

from chord import CallError, Contact, DialRefused, LinkClosed, RequestTimeout, Runtime
from meteor.copies.config import CopiesConfig
from meteor.wire.copy_messages import Instate, Instated, Touch
from meteor.wire.view import View

SINCE_MAX: Final = 64
"""Peers whose silence is remembered; what is old goes first."""
LEAST: Final = 0.25
"""The share of the silence for which anybody is waited for who is asked, however long silent: the
question may be the first over a new link."""


class Inquiry:
    """How one peer asks others about copies."""

    def __init__(self, runtime: Runtime, config: CopiesConfig) -> None:
        self._runtime, self._config = runtime, config
        self._watches = 0
        self._since_s: dict[int, float] = {}
        """When somebody was asked first of all who was not heard since."""

    async def ask_all(self, contacts: Sequence[Contact], message: object) -> list[Any]:
        """The replies, None of who is gone."""
        return await self.ask_each([(contact, message) for contact in contacts])

    async def ask_each(self, questions: Sequence[tuple[Contact, object]]) -> list[Any]:
        """The same of questions that differ.  All are sent now; who answers at first, as nearly
        all do, costs no conversation of his own."""
        ask, asked_s = self._runtime.ask, self._runtime.now()
        asked = [ask(contact, message, self._patience_s(contact)) for contact, message in questions]
        replies: list[Any] = []
        later: list[tuple[int, Awaitable[Any]]] = []
        for at, reply in enumerate(asked):
            try:
                replies.append(await reply)
            except CallError as error:
                going_on = self._go_on(*questions[at], asked_s, error)
                later.append((at, self._runtime.begin(going_on)))
                replies.append(None)
        for at, outcome in later:
            replies[at] = await outcome
        return replies

    async def instate(
        self, view: View, before: View | None, adopted_epoch: int
    ) -> list[object]:
        """What the copies of a view say to it, each in its place.  Whoever becomes one by it is
        asked first, and while it does not agree the others are not: should all fall just then, one
        of them would name a holder that knows nothing, as if that had moved on."""
        message = Instate(view, adopted_epoch)
        had = () if before is None else tuple(one for one in view.copies if one in before.copies)
        new = [one for one in view.copies if one not in had]
        replies = dict(zip(new, await self.ask_all(new, message), strict=True))
        agreed = all(
            isinstance(one, Instated) and one.known and not one.newer for one in replies.values()
        )
        others = await self.ask_all(had, message) if agreed else [Instated() for _ in had]
        replies.update(zip(had, others, strict=True))
        return [replies[one] for one in view.copies]

    async def fallen_of(
        self, view: View | None, without: Collection[Contact]
    ) -> list[Contact]:
        """Which copies of a view are gone, beside those that it is to be without: whoever was not
        heard for the length of a silence is asked.  Were they asked as the view changes, whatever
        else is to begin at this peer would wait for them: they may all have fallen, and this peer
        have to go on with what it keeps for another one."""
        if view is None:
            return []
        quiet = [one for one in view.copies if one not in without and not self._is_heard(one)]
        replies = await self.ask_all(quiet, Touch(view.epoch, view.intervals))
        return [one for one, reply in zip(quiet, replies, strict=True) if reply is None]

    async def ask(self, contact: Contact, message: object) -> Any:
        """The reply of a peer that is asked until it answers, or is gone for good: None."""
        asked_s = self._runtime.now()
        try:
            return await self._runtime.ask(contact, message, self._patience_s(contact))
        except CallError as error:
            return await self._go_on(contact, message, asked_s, error)

    def _patience_s(self, contact: Contact) -> float:
        """How long to wait for a first word: for as much of the silence as is left since another
        question that was not answered either.  A client would wait for both, one after the other,
        where a view begins with a copy that fell as well, and was asked about an earlier one."""
        now, silence_s = self._runtime.now(), self._config.silence_s
        since_s = self._since_s.get(contact.id, now)
        if self._runtime.link(contact).last_heard_s >= since_s or now - since_s > 2 * silence_s:
            since_s = now
        if since_s == now:
            if len(self._since_s) >= SINCE_MAX:
                lately = (one for one in self._since_s.items() if now - one[1] <= silence_s)
                self._since_s = dict(lately)
            self._since_s[contact.id] = now
        return max(since_s + silence_s - now, silence_s * LEAST)

    async def _go_on(
        self, contact: Contact, message: object, asked_s: float, error: CallError
    ) -> Any:
        """The reply of a peer that was asked once, and failed so."""
        closed, patience_s = 0, self._config.silence_s
        while True:
            if isinstance(error, DialRefused):
                return None
            if isinstance(error, LinkClosed):
                closed += 1
                if closed > 2:
                    return None
            elif isinstance(error, RequestTimeout):
                if self._is_gone(contact, asked_s):
                    return None
                if self._is_heard(contact):  # its disk is slow: asked as often, it is never done
                    left_s = asked_s + self._config.ask_s_max - self._runtime.now()
                    patience_s = max(min(2 * patience_s, left_s), self._config.silence_s)
            elif self._runtime.now() - asked_s > self._config.silence_s:
                return None
            else:
                await self._runtime.sleep(0.05)
            try:
                return await self._watched(contact, message, asked_s, patience_s)
            except CallError as again:
                error = again

    async def _watched(
        self, contact: Contact, message: object, asked_s: float, patience_s: float
    ) -> Any:
        """The reply, for which a peer has some time unless it falls silent meanwhile."""
        if patience_s <= self._config.silence_s:
            return await self._runtime.ask(contact, message, patience_s)
        self._watches += 1
        token, outcome = ("inquiry", self._watches), list[Any]()

        async def ask() -> None:
            try:
                outcome.append(await self._runtime.ask(contact, message, patience_s))
            except CallError as error:
                outcome.append(error)
            self._runtime.deliver(token, None)

        self._runtime.spawn(ask())
        while not outcome:
            try:
                await self._runtime.expect(token, self._config.silence_s)
            except RequestTimeout:
                if not outcome and self._is_gone(contact, asked_s):
                    raise
        if isinstance(outcome[0], CallError):
            raise outcome[0]
        return outcome[0]

    def _is_gone(self, contact: Contact, asked_s: float) -> bool:
        now, config = self._runtime.now(), self._config
        if now - asked_s >= config.ask_s_max:
            return True
        if self._runtime.lateness() > config.lateness_s_max:
            return False
        return not self._is_heard(contact)

    def _is_heard(self, contact: Contact) -> bool:
        silent_s = self._runtime.now() - self._runtime.link(contact).last_heard_s
        return silent_s < self._config.silence_s


def kept_by(replies: Iterable[object]) -> list[View]:
    """What those kept for others until now who were asked to take a view."""
    return [one for reply in replies if isinstance(reply, Instated) for one in reply.beside]


def kept_by_all(replies: Sequence[object]) -> tuple[View, ...] | None:
    """The same; None where one may have taken the view, and did not say."""
    said = all(isinstance(reply, Instated) for reply in replies)
    return tuple(kept_by(replies)) if said else None


def not_taken_by(view: View, replies: Iterable[object]) -> list[int]:
    """The identifiers of the copies that were asked to take a view and have not done so."""
    return [
        copy.id
        for copy, reply in zip(view.copies, replies, strict=True)
        if not isinstance(reply, Instated) or reply.newer or not reply.known
    ]
