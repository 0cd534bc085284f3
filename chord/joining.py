"""How a node becomes a member, and how it takes its leave.

Law of this file: a joiner copies its predecessor's whole successor list in one step and is a
member from then on; it returns when successor and predecessor know it.  Nothing here retries
without bound.  Zave's join, literature.md section 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chord.errors import (
    CallError,
    DialRefused,
    JoinRefused,
    LookupFailed,
    RemoteFault,
    RingError,
)
from chord.messages import Leaving, PredecessorFound, SuccessorsChanged
from chord.place_search import TryAgain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.forming import Forming
    from chord.lookup import Lookups
    from chord.maintenance import Maintenance
    from chord.place_search import PlaceSearch
    from chord.pointers import RingPointers
    from chord.runtime import Runtime
    from chord.watch import Watch

PAUSE_S_MIN, PAUSE_S_MAX = 0.02, 0.5
"""Pause between two tries of a join; it doubles."""
INTRODUCTION_PAUSES_S: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 0.5, 0.5, 0.5)
"""Pauses behind the tries to be known to one's predecessor: until a dead one is found dead, and
beyond a frame that was lost three times."""


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
        search: PlaceSearch,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._watch = watch
        self._maintenance = maintenance
        self._forming = forming
        self._lookups = lookups
        self._search = search
        self._leaving = False

    async def join(self, contacts: Sequence[Contact]) -> None:
        """Become a member of the ring that any of the contacts belongs to.

        Raises `JoinRefused` where the ring does not take us, the last `CallError` where no
        contact answers, `LookupFailed` where the ring does not settle within the join time-out."""
        self._leaving = False
        deadline = self._runtime.now() + self._config.join_timeout_s
        pause_s = PAUSE_S_MIN
        while True:
            try:
                await self._attempt(contacts)
            except TryAgain as again:
                if self._runtime.now() + pause_s > deadline:
                    raise LookupFailed(
                        f"{self._pointers.own}: join: {again} for {self._config.join_timeout_s:g} s"
                    ) from again
                await self._runtime.sleep(pause_s * self._runtime.random.uniform(0.5, 1.5))
                pause_s = min(2 * pause_s, PAUSE_S_MAX)
            else:
                return

    async def rejoin(self, via: Contact) -> None:
        """A member alone becomes one of the ring of `via`, or stays alone where that fails."""
        try:
            await self._attempt([via])
        except RingError:
            if not self._pointers.joined and not self._leaving:
                self._forming.found()

    async def leave(self) -> None:
        """Tell the neighbours, then be no member; nobody's silence delays it for long."""
        pointers = self._pointers
        message = Leaving(pointers.predecessor, pointers.successors.contacts)
        heir, predecessor = pointers.successors.first, pointers.predecessor
        told = [contact for contact in (heir, predecessor) if contact is not None]
        self._leaving = True
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
        if first.keeper is not None and first.keeper.id == self._pointers.own.id:
            first = await self._ask_again(first.contact)  # it still takes our former life for us
        if first.keeper is not None:
            try:
                if await self._forming.enter(first.keeper):
                    return
            except CallError as error:
                if self._pointers.joined:
                    return  # installed; only the keeper's word about it was lost
                raise TryAgain(f"keeper {first.keeper} does not answer ({error})") from error
            first = await self._ask_again(first.contact)
        place = await self._search.walk(first)
        if not self._pointers.may_name(place.contact):
            raise TryAgain(f"{place.contact}, said to precede us, is no peer")
        await self._refuse_twin(place)
        own = self._pointers.own
        if self._pointers.joined and not self._pointers.alone:
            return  # somebody has joined us meanwhile
        if self._leaving:
            raise LookupFailed(f"{own}: join: it has taken its leave meanwhile")
        successors = [contact for contact in place.successors if contact.id != own.id]
        self._pointers.join_behind(place.contact, successors)
        await self._introduce(place.contact)

    async def _first_answer(self, contacts: Sequence[Contact]) -> PredecessorFound:
        last: RingError = LookupFailed(f"{self._pointers.own}: join: no contact was given")
        for contact in contacts:
            if contact.address == self._pointers.own.address:
                continue
            try:
                return await self._search.ask(contact, past_forming=False)
            except DialRefused as error:
                last = last if isinstance(last, TryAgain) else error
            except (CallError, TryAgain) as error:  # silent is not absent: it may be overloaded
                last = TryAgain(f"{contact} gives no answer ({error})")
        raise last

    async def _ask_again(self, contact: Contact) -> PredecessorFound:
        """Ask a contact that has answered before."""
        try:
            return await self._search.ask(contact)
        except CallError as error:
            raise TryAgain(f"{contact} does not answer any more ({error})") from error

    async def _refuse_twin(self, place: PredecessorFound) -> None:
        """Raise `JoinRefused` if a living peer has our identifier under another address."""
        own = self._pointers.own
        for twin in (place.contact, *place.successors[:1]):
            if twin.id != own.id or twin.address == own.address:
                continue
            try:
                await self._search.ask(twin)
            except DialRefused:
                continue  # it is dead, and its identifier free
            except (CallError, TryAgain) as error:
                raise TryAgain(f"{twin} has our identifier and does not answer") from error
            raise JoinRefused(f"{own}: join: identifier {own.id:x} belongs to {twin.address}")

    async def _introduce(self, predecessor: Contact) -> None:
        """Be known to both neighbours: notify the successor, tell the predecessor our list."""
        await self._maintenance.stabilise()
        if not self._pointers.joined:
            return  # we have left again meanwhile
        if self._pointers.alone:
            self._withdraw()
            raise TryAgain("all whom we found in the ring were gone when we came")
        for pause_s in INTRODUCTION_PAUSES_S:
            contact = self._pointers.predecessor or predecessor
            try:
                await self._tell_list(contact)
            except CallError:
                # Silent is not gone, and may have another one under our identifier by now.
                if contact in self._watch.departed:
                    return  # whoever precedes it stabilises towards us
                await self._runtime.sleep(pause_s)
            else:
                break
        self._maintenance.refresh_fingers()

    async def _tell_list(self, predecessor: Contact) -> None:
        """Raises `CallError` without an answer; where another one came under our identifier before
        us, be no member and raise `TryAgain` or `JoinRefused`."""
        if not self._pointers.joined:
            return
        successors = self._pointers.successors
        told = SuccessorsChanged(successors.contacts, successors.version, self._config.realm)
        try:
            await self._watch.ask(predecessor, told)
        except RemoteFault as fault:
            if fault.kind == "TryAgain":
                self._withdraw()
                raise TryAgain(fault.message) from fault
            if fault.kind == "JoinRefused":
                self._withdraw()
                raise JoinRefused(f"{self._pointers.own}: join: {fault.message}") from fault

    def _withdraw(self) -> None:
        """Be no member after all."""
        self._forming.dissolve()
        self._pointers.leave()
