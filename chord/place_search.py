"""The iterative search for a peer's own place in a ring: who precedes it there.

Law of this file: conversations that ask and change nothing.  Every search is bounded in steps; whom
it cannot reach it goes round.  Iterative search: Chord (ToN 2003) figure 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chord.errors import CallError, JoinRefused, RemoteFault, RingError
from chord.messages import FindPredecessor, PredecessorFound

if TYPE_CHECKING:
    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.runtime import Runtime
    from chord.watch import Watch

STEPS_MAX = 128
"""Peers asked in one search."""


class PlaceSearch:
    """Searches for the place of `own`, a member or about to be one."""

    def __init__(self, runtime: Runtime, config: ChordConfig, own: Contact, watch: Watch) -> None:
        self._runtime = runtime
        self._config = config
        self._own = own
        self._watch = watch

    async def ask(self, contact: Contact, *, past_forming: bool = True) -> PredecessorFound:
        """One step: what the contact knows of our place.

        Raises `CallError` without an answer, `TryAgain` where the contact is no member yet,
        `JoinRefused` where its ring does not take us."""
        config = self._config
        request = FindPredecessor(
            self._own.id, config.bits, config.successor_count, past_forming, config.realm
        )
        try:
            reply = await self._watch.ask(contact, request)
        except RemoteFault as fault:
            if fault.kind == "NotJoined":
                raise TryAgain(f"{contact} is no member yet") from fault
            raise JoinRefused(f"{self._own}: join: {fault.message}") from fault
        if not isinstance(reply, PredecessorFound):
            raise JoinRefused(f"{self._own}: join: {contact} answered nonsense")
        return reply

    async def walk(self, place: PredecessorFound) -> PredecessorFound:
        """Ask nearer and nearer peers until one is our predecessor; raises `TryAgain`."""
        ahead: list[Contact] = []
        asked = {place.contact.id}
        for _ in range(STEPS_MAX):
            if place.found:
                return place
            ahead[:0] = [contact for contact in place.closer if contact.id not in asked]
            del ahead[STEPS_MAX:]
            place = await self._next_answer(ahead, asked)
        raise TryAgain("the search for our place did not end")

    async def _next_answer(self, ahead: list[Contact], asked: set[int]) -> PredecessorFound:
        while ahead:
            contact = ahead.pop(0)
            if contact.id in asked or contact.id == self._own.id:
                continue
            asked.add(contact.id)
            try:
                return await self.ask(contact)
            except (CallError, TryAgain):
                continue  # the next one may know the way as well
        raise TryAgain("nobody knew our place")


class TryAgain(RingError):
    """The ring is there but did not settle for us yet."""
