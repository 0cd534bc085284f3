"""How a node becomes a member, and how it takes its leave.

Law of this file: a joiner copies its predecessor's whole successor list in one step and is a
member from then on; it returns when successor and predecessor know it.  Nothing here retries
without bound.  Zave's join, literature.md section 3.2; iterative search, Chord (ToN 2003).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chord.errors import (
    CallError,
    DialRefused,
    JoinRefused,
    LookupFailed,
    RemoteFault,
    RingError,
)
from chord.messages import FindPredecessor, Leaving, PredecessorFound, SuccessorsChanged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.forming import Forming
    from chord.lookup import Lookups
    from chord.maintenance import Maintenance
    from chord.pointers import RingPointers
    from chord.runtime import Runtime
    from chord.watch import Watch

STEPS_MAX = 128
"""Peers asked in one iterative search."""
PAUSE_S_MIN, PAUSE_S_MAX = 0.02, 0.5
"""Pause between two tries of a join; it doubles."""


class Joining:
    """The joins and the leave of one node."""

    def __init__(
        self,
        runtime: Runtime,
        config: ChordConfig,
        pointers: RingPointers,
        watch: Watch,
        maintenance: Maintenance,
        forming: Forming,
        lookups: Lookups,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._watch = watch
        self._maintenance = maintenance
        self._forming = forming
        self._lookups = lookups

    async def join(self, contacts: Sequence[Contact]) -> None:
        """Become a member of the ring that any of the contacts belongs to.

        Raises `JoinRefused` where the ring does not take us, the last `CallError` where no
        contact answers, `LookupFailed` where the ring does not settle within the join time-out."""
        deadline = self._runtime.now() + self._config.join_timeout_s
        pause_s = PAUSE_S_MIN
        while True:
            try:
                await self._attempt(contacts)
            except _TryAgain as again:
                if self._runtime.now() + pause_s > deadline:
                    raise LookupFailed(
                        f"{self._pointers.own}: join: {again} for {self._config.join_timeout_s:g} s"
                    ) from again
                await self._runtime.sleep(pause_s * self._runtime.random.uniform(0.5, 1.5))
                pause_s = min(2 * pause_s, PAUSE_S_MAX)
            else:
                return

    async def leave(self) -> None:
        """Tell the neighbours, then be no member; nobody's silence delays it for long."""
        pointers = self._pointers
        message = Leaving(pointers.predecessor, pointers.successors.contacts)
        heir, predecessor = pointers.successors.first, pointers.predecessor
        told = [contact for contact in (heir, predecessor) if contact is not None]
        self._maintenance.stop()
        self._forming.dissolve()
        self._lookups.bequeath(heir)
        pointers.leave()
        for contact in told if heir != predecessor else told[:1]:
            try:
                await self._runtime.call(contact, message, self._watch.timeout_s(contact))
            except CallError:
                continue  # it will find out as of a crash

    async def _attempt(self, contacts: Sequence[Contact]) -> None:
        first = await self._first_answer(contacts)
        if first.keeper is not None:
            try:
                if await self._forming.enter(first.keeper):
                    return
            except CallError as error:
                if self._pointers.joined:
                    return  # installed; only the keeper's word about it was lost
                raise _TryAgain(f"keeper {first.keeper} does not answer ({error})") from error
            first = await self._ask_again(first.contact)
        place = await self._walk(first)
        await self._refuse_twin(place)
        own = self._pointers.own
        successors = [contact for contact in place.successors if contact.id != own.id]
        self._pointers.join_behind(place.contact, successors)
        await self._introduce(place.contact)

    async def _first_answer(self, contacts: Sequence[Contact]) -> PredecessorFound:
        last: RingError = LookupFailed(f"{self._pointers.own}: join: no contact was given")
        for contact in contacts:
            if contact.address == self._pointers.own.address:
                continue
            try:
                return await self._ask(contact, past_forming=False)
            except DialRefused as error:
                last = last if isinstance(last, _TryAgain) else error
            except (CallError, _TryAgain) as error:  # silent is not absent: it may be overloaded
                last = _TryAgain(f"{contact} gives no answer ({error})")
        raise last

    async def _ask(self, contact: Contact, *, past_forming: bool = True) -> PredecessorFound:
        config = self._config
        request = FindPredecessor(
            self._pointers.own.id, config.bits, config.successor_count, past_forming
        )
        try:
            reply = await self._watch.ask(contact, request)
        except RemoteFault as fault:
            if fault.kind == "NotJoined":
                raise _TryAgain(f"{contact} is no member yet") from fault
            raise JoinRefused(f"{self._pointers.own}: join: {fault.message}") from fault
        if not isinstance(reply, PredecessorFound):
            raise JoinRefused(f"{self._pointers.own}: join: {contact} answered nonsense")
        return reply

    async def _ask_again(self, contact: Contact) -> PredecessorFound:
        """Ask a contact that has answered before."""
        try:
            return await self._ask(contact)
        except CallError as error:
            raise _TryAgain(f"{contact} does not answer any more ({error})") from error

    async def _walk(self, place: PredecessorFound) -> PredecessorFound:
        """Ask nearer and nearer peers until one is our predecessor."""
        ahead: list[Contact] = []
        asked = {place.contact.id}
        for _ in range(STEPS_MAX):
            if place.found:
                return place
            ahead[:0] = [contact for contact in place.closer if contact.id not in asked]
            del ahead[STEPS_MAX:]
            place = await self._next_answer(ahead, asked)
        raise _TryAgain("the search for our place did not end")

    async def _next_answer(self, ahead: list[Contact], asked: set[int]) -> PredecessorFound:
        while ahead:
            contact = ahead.pop(0)
            if contact.id in asked or contact.id == self._pointers.own.id:
                continue
            asked.add(contact.id)
            try:
                return await self._ask(contact)
            except (CallError, _TryAgain):
                continue  # the next one may know the way as well
        raise _TryAgain("nobody knew our place")

    async def _refuse_twin(self, place: PredecessorFound) -> None:
        """Raise `JoinRefused` if a living peer has our identifier under another address."""
        own = self._pointers.own
        for twin in (place.contact, *place.successors[:1]):
            if twin.id != own.id or twin.address == own.address:
                continue
            try:
                await self._ask(twin)
            except DialRefused:
                continue  # it is dead, and its identifier free
            except (CallError, _TryAgain) as error:
                raise _TryAgain(f"{twin} has our identifier and does not answer") from error
            raise JoinRefused(f"{own}: join: identifier {own.id:x} belongs to {twin.address}")

    async def _introduce(self, predecessor: Contact) -> None:
        """Be known to both neighbours: notify the successor, tell the predecessor our list."""
        await self._maintenance.stabilise()
        if not self._pointers.joined:
            return  # we have left again meanwhile
        if self._pointers.alone:
            self._forming.dissolve()
            self._pointers.leave()
            raise _TryAgain("all whom we found in the ring were gone when we came")
        successors = self._pointers.successors
        told = SuccessorsChanged(successors.contacts, successors.version)
        try:
            await self._watch.ask(self._pointers.predecessor or predecessor, told)
        except CallError:
            return  # it is gone; whoever precedes it stabilises towards us
        self._maintenance.refresh_fingers()


class _TryAgain(RingError):
    """The ring is there but did not settle for us yet."""
