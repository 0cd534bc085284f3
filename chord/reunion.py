"""How rings that fell apart become one again.

Law of this file: conversations that find out where this member stands in the ring of somebody
else; what follows is one of Zave's steps (`RingPointers.adopt`, `rectify`), so that arcs only
shrink while rings merge and nobody ceases to be a member.  Two things lead here: probes of
remembered contacts, one at a time (who fell silent, or is passed over by a list that we adopted),
and, rarely, a look at one's own place from afar (strong stabilisation: Liben-Nowell, Balakrishnan
and Karger, PODC 2002).  Whoever was not at its place tells those that it knows, as most of these
are not either.  DESIGN section 2.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from chord.contact import Contact
from chord.errors import (
    AnotherAnswers,
    CallError,
    LookupFailed,
    NotJoined,
    RequestTimeout,
    RingError,
)
from chord.messages import Reunite, SuccessorsChanged
from chord.remembered import distinct

if TYPE_CHECKING:
    from chord.config import ChordConfig
    from chord.joining import Joining
    from chord.lookup import Lookups
    from chord.maintenance import Maintenance
    from chord.messages import PredecessorFound
    from chord.place_search import PlaceSearch
    from chord.pointers import RingPointers
    from chord.runtime import Handler, Runtime, Task
    from chord.watch import Watch

WANTED_MAX: Final = 16
"""Contacts that wait to be asked for our place; a later one is dropped, as another will come."""
WAKE: Final = ("reunion", "wake")
SOUGHT_S: Final = 1.0
"""Whoever was asked for our place within this time need not be asked again."""


class Reunion:
    """One member's part in the merging of rings."""

    def __init__(
        self,
        runtime: Runtime,
        config: ChordConfig,
        pointers: RingPointers,
        watch: Watch,
        maintenance: Maintenance,
        joining: Joining,
        lookups: Lookups,
        search: PlaceSearch,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._watch = watch
        self._maintenance = maintenance
        self._joining = joining
        self._search = search
        self._lookups = lookups
        self._loop: Task[None] | None = None
        self._interval_s = config.place_check_interval_s
        self._looked_s = runtime.now()
        """When it last looked at its place from afar."""
        self._wanted: OrderedDict[int, Contact] = OrderedDict()
        self._sought: dict[int, float] = {}
        self._seeking: Task[None] | None = None
        self.handlers: dict[type, Handler] = {Reunite: self._on_reunite}

    def start(self) -> None:
        """Probe from now on, until `stop`; harmless when it runs."""
        if self._loop is None:
            self._loop = self._runtime.spawn(self._probe_loop())

    def stop(self) -> None:
        """Probe no more; a search under way completes."""
        if self._loop is not None:
            self._loop.cancel()
            self._loop = None

    def remembers(self) -> None:
        """Somebody was lost: the next probes come soon."""
        if self._interval_s > self._config.probe_interval_s_min:
            self._interval_s = self._config.probe_interval_s_min
            self._runtime.deliver(WAKE, None)  # the loop may be in a long wait

    # Probing

    async def _probe_loop(self) -> None:
        while True:
            if await self._woken(self._interval_s * self._runtime.random.uniform(0.75, 1.25)):
                continue
            now, rarely_s = self._runtime.now(), self._config.place_check_interval_s
            contact = self._watch.remembered.next_to_probe(now)
            if contact is None:
                self._interval_s = rarely_s
            else:
                limit_s = self._config.probe_interval_s_max
                self._interval_s = min(2 * self._interval_s, limit_s)
                await self._probe(contact)
            # Who is dead is remembered for a day, and its probes say nothing of our place.
            if contact is None or now - self._looked_s >= rarely_s:
                self._looked_s = now
                await self._look_from_afar()

    async def _look_from_afar(self) -> None:
        fingers = self._pointers.fingers.entries
        if fingers:
            await self._seek(fingers[-1].contact)

    async def _woken(self, pause_s: float) -> bool:
        """Wait; whether somebody was lost meanwhile, so that the wait begins anew."""
        try:
            await self._runtime.expect(WAKE, pause_s)
        except RequestTimeout:
            return False
        return True

    async def _probe(self, contact: Contact) -> None:
        """See whether a lost contact lives; it is found again once each of us finds the other at
        its place.  Where another one is at its address it went to another place meanwhile: that is
        found once we are at ours in the ring of who is there."""
        try:
            if not await self._seek_by(contact):
                return
        except AnotherAnswers:
            is_own = contact.address == self._pointers.own.address  # of a former life
            if is_own or await self._seek_there(contact):
                self._watch.remembered.discard(contact.id)
            return
        try:
            owner = await self._lookups.find(contact.id, self._config.lookup_timeout_s)
        except (LookupFailed, NotJoined):
            return
        if owner.contact.id == contact.id and not owner.suspected:
            self._watch.remembered.discard(contact.id)
        else:
            self._runtime.send(contact, Reunite(self._pointers.own))

    def _on_reunite(self, sender: Contact, message: object, remaining_s: float) -> None:
        del sender, remaining_s
        assert isinstance(message, Reunite)
        via = message.via
        if not self._pointers.joined or not distinct((via,), self._pointers.own):
            return
        if self._runtime.now() - self._sought.get(via.id, float("-inf")) < SOUGHT_S:
            return
        if len(self._wanted) < WANTED_MAX:
            self._wanted[via.id] = via
        if self._seeking is None or self._seeking.done():
            self._seeking = self._runtime.spawn(self._seek_all())

    async def _seek_all(self) -> None:
        while self._wanted and self._pointers.joined:
            _, via = self._wanted.popitem(last=False)
            await self._seek(via)

    # Seeking

    async def _seek(self, via: Contact) -> bool:
        """Look for our place in the ring of `via`, or of who is at its address now, and take it;
        whether we stood there already."""
        try:
            return await self._seek_by(via)
        except AnotherAnswers:
            return await self._seek_there(via)

    async def _seek_there(self, former: Contact) -> bool:
        """The same by whoever is at an address; not where a call to somebody else there, who went
        as well, is just found to be in vain, and this one with it."""
        try:
            return await self._seek_by(Contact.at(former.address))
        except AnotherAnswers:
            return False

    async def _seek_by(self, via: Contact) -> bool:
        """The same; raises `AnotherAnswers`."""
        now = self._runtime.now()
        self._sought = {i: at for i, at in self._sought.items() if now - at < SOUGHT_S}
        self._sought[via.id] = now
        try:
            place = await self._search.walk(await self._search.ask(via))
        except AnotherAnswers:
            raise
        except RingError:
            return False  # it is dead, no member, or does not know the way
        pointers = self._pointers
        if not pointers.joined:
            return False
        if any(contact.id == pointers.own.id for contact in place.successors[:1]):
            return True
        strange = not pointers.has(place.contact)
        await self._take(place)
        if strange and pointers.joined:
            self._tell_neighbours(via)
        return False

    async def _take(self, place: PredecessorFound) -> None:
        """Stand behind the peer that should precede us."""
        pointers, before = self._pointers, place.contact
        if pointers.alone:
            if place.successors or before.id < pointers.own.id:
                await self._joining.rejoin(before)
            else:
                self._runtime.send(before, Reunite(pointers.own))  # of two alone, one moves
            return
        nearest = place.successors[0] if place.successors else before
        if nearest not in self._watch.departed and pointers.improves_successor(nearest):
            await self._maintenance.second_step(nearest)
        if not pointers.joined:
            return
        successors = pointers.successors
        told = SuccessorsChanged(successors.contacts, successors.version, self._config.realm)
        try:
            await self._watch.ask(before, told)
        except CallError:
            return  # it is gone again, and will be found by whoever remembers it
        self._maintenance.stabilise()

    def _tell_neighbours(self, via: Contact) -> None:
        """They stand in our ring, so they are not in their places in the other either."""
        pointers = self._pointers
        known = [*pointers.successors.contacts]
        known += [finger.contact for finger in pointers.fingers.entries]
        if pointers.predecessor is not None:
            known.append(pointers.predecessor)
        for contact in distinct(known, pointers.own):
            self._runtime.send(contact, Reunite(via))
