"""A member of the ring: the node that peers embed.

Law of this file: assembly only; decisions live in the pure modules, conversations in `joining`,
`forming`, `resuming`, `maintenance`, `reunion` and `lookup`, replies to others in `answers`.

    node = ChordNode(contact, runtime, ChordConfig.local(), observer)
    await node.join([Contact.at("10.0.0.5:7400")])
    node.start()
    owner = await node.lookup(identifier("temperature"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chord.answers import Answers
from chord.arc_cache import KnownArc
from chord.forming import Forming
from chord.joining import Joining
from chord.lookup import Lookups, LookupTally, Owner
from chord.maintenance import Maintenance
from chord.messages import Neighbours, SuccessorsChanged
from chord.place_search import PlaceSearch
from chord.pointers import RingPointers
from chord.resuming import Resuming
from chord.reunion import Reunion
from chord.ring_state import RingState, StateKeeper
from chord.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.finger_table import Finger
    from chord.identifiers import Arc
    from chord.routing import Route
    from chord.runtime import Handler, Runtime


class Observer(Protocol):
    """Whoever keeps what the ring assigns; told synchronously, after the change is complete."""

    def arc_changed(self, before: Arc | None, now: Arc | None) -> None:
        """What this node owns has changed; None while it is no member."""

    def contact_gone(self, contact: Contact) -> None:
        """A contact was found dead (refused dial, or long silence) and left the pointers; not
        told of those that leave politely."""


class ChordNode:
    """One node of the ring.

    `keep` is given what `resume` needs after a restart, whenever it has changed."""

    def __init__(
        self,
        contact: Contact,
        runtime: Runtime,
        config: ChordConfig,
        observer: Observer,
        keep: Callable[[RingState], None] | None = None,
    ) -> None:
        self._config = config
        self._runtime = runtime
        self._observer = observer
        self._watch = Watch(runtime, config, self._missed, self._lost, self._left, self._remembers)
        self._pointers = RingPointers(
            contact,
            config.bits,
            config.successor_count,
            self._watch.departed,
            self._arc_changed,
            self._list_changed,
            self._skipped,
        )
        self._state = StateKeeper(runtime, config, self._pointers, self._watch.remembered, keep)
        parts = (runtime, config, self._pointers, self._watch)
        search = PlaceSearch(runtime, config, contact, self._watch)
        self._lookups = Lookups(*parts)
        self._maintenance = Maintenance(*parts)
        self._forming = Forming(*parts)
        self._joining = Joining(*parts, self._maintenance, self._forming, self._lookups, search)
        self._reunion = Reunion(*parts, self._maintenance, self._joining, self._lookups, search)
        self._resuming = Resuming(
            runtime, config, self._watch, self._forming, self._joining, search
        )
        forget_arc = self._lookups.arc_cache.forget
        answers = Answers(*parts, self._maintenance, self._forming, forget_arc)
        self.handlers: dict[type, Handler] = {
            **answers.handlers,
            **self._lookups.handlers,
            **self._forming.handlers,
            **self._reunion.handlers,
        }

    # What it knows

    @property
    def contact(self) -> Contact:
        """How others reach this node."""
        return self._pointers.own

    @property
    def joined(self) -> bool:
        """Whether it is a member of a ring."""
        return self._pointers.joined

    @property
    def arc(self) -> Arc | None:
        """The identifiers that it owns: (predecessor, own], or the whole ring when alone."""
        return self._pointers.arc

    @property
    def predecessor(self) -> Contact | None:
        """The member before it; None when alone or no member."""
        return self._pointers.predecessor

    @property
    def successors(self) -> tuple[Contact, ...]:
        """The next members, nearest first; empty when alone or no member."""
        return self._pointers.successors.contacts

    @property
    def fingers(self) -> tuple[Finger, ...]:
        """The fingers above the successor, nearest first: 2, 4, 8 … members away."""
        return self._pointers.fingers.entries

    @property
    def forming(self) -> bool:
        """Whether the ring is still too small for the ring protocol (at most r members)."""
        return self._forming.membership is not None

    @property
    def known_arcs(self) -> tuple[KnownArc, ...]:
        """What its successors and fingers own, nearest first, as last heard."""
        return self._pointers.table.arcs()

    def owns(self, key: int) -> bool:
        """Whether the key belongs to this node."""
        arc = self._pointers.arc
        return arc is not None and key in arc

    @property
    def strangers(self) -> Container[Contact]:
        """Contacts that were heard and are members of a ring of another realm."""
        return self._watch.strangers

    @property
    def lookups(self) -> LookupTally:
        """How its lookups have ended so far."""
        return self._lookups.tally

    def neighbours(self) -> Neighbours:
        """Its pointers, as it tells them to a ring walk."""
        return self._pointers.neighbours()

    def route(self, key: int) -> Route:
        """Where a message for a key that is not ours goes next, the arc cache included."""
        return self._lookups.route_from_origin(key)

    # What it does

    async def found(self) -> None:
        """Be the first member of a new ring."""
        self._forming.found()

    async def join(self, contacts: Sequence[Contact]) -> None:
        """Become a member of the ring of any of these contacts, known perhaps by address only.

        Raises `JoinRefused` (other ring constants, or the identifier is taken), the last
        `CallError` when nobody answers, `LookupFailed` when the ring does not settle."""
        await self._joining.join(contacts)

    def remember(self, contact: Contact) -> None:
        """Somebody who may be in another ring: look for one's place there soon, to become one ring
        with it.  Harmless for a member of one's own."""
        self._watch.remember(contact)

    async def resume(self, state: RingState, contacts: Sequence[Contact] = ()) -> bool:
        """Come back after a restart: join by anybody whom the kept state or `contacts` name; where
        none of them is a member, found the ring anew, to be one with others later.  Whether there
        was a ring to join.

        Raises `JoinRefused` (the identifier is taken)."""
        return await self._resuming.resume(state, contacts)

    async def leave(self) -> None:
        """Say good-bye to the neighbours, who close the gap at once, and stop."""
        if self._pointers.joined:
            self._state.keep_now()
            await self._joining.leave()
        self.stop()

    def install(
        self,
        predecessor: Contact | None,
        successors: Sequence[Contact],
        fingers: tuple[Finger, ...] = (),
    ) -> None:
        """Be a member with these pointers at once, as one of an ideal ring made elsewhere."""
        self._pointers.install(predecessor, successors, fingers)

    async def lookup(self, key: int, timeout_s: float | None = None) -> Owner:
        """The owner of a key; answered without the network for a key of our own.

        Raises `NotJoined`, and `LookupFailed` when no owner answered within the time."""
        limit_s = self._config.lookup_timeout_s if timeout_s is None else timeout_s
        return await self._lookups.find(key, limit_s)

    def start(self) -> None:
        """Begin periodic stabilisation, finger refreshes, and probes of who was lost."""
        self._maintenance.start()
        self._reunion.start()

    def stop(self) -> None:
        """End them."""
        self._maintenance.stop()
        self._reunion.stop()

    async def stabilise(self) -> None:
        """Stabilise now, until nothing changes any more."""
        await self._maintenance.stabilise()

    async def refresh_fingers(self) -> None:
        """Refresh the fingers now, once."""
        await self._maintenance.refresh_fingers()

    def learn(self, owner: Owner) -> None:
        """Remember an arc that its owner has named."""
        if owner.contact.id != self.contact.id:
            self._lookups.arc_cache.learn(owner.contact, owner.arc, owner.heirs)

    def owner_of(self, key: int) -> KnownArc | None:
        """Who owns the key, as far as that is known without asking."""
        arc = self.arc
        if arc is not None and key in arc:
            return KnownArc(self.contact, arc)
        return self._lookups.arc_cache.recall(key)

    def forget(self, contact: Contact) -> None:
        """Drop what is remembered of a contact's arc."""
        self._lookups.arc_cache.forget(contact)

    def link_closed(self, contact: Contact) -> None:
        """The runtime lost a link: see at once whether a contact that we point at still lives."""
        if not self._pointers.joined or not contact.address:
            return
        first = self._pointers.successors.first
        if first is not None and first.id == contact.id:
            self._maintenance.stabilise()
        elif self._pointers.has(contact):
            self._watch.check(contact)

    # Changes

    def _arc_changed(self, before: Arc | None, now: Arc | None) -> None:
        self._forming.pointers_changed()
        self._state.changed()
        self._observer.arc_changed(before, now)

    def _list_changed(self) -> None:
        """Tell the predecessor, whose list is made of ours, and let the fingers follow soon."""
        self._forming.pointers_changed()
        self._state.changed()
        self._maintenance.disturbed()
        pointers = self._pointers
        if not pointers.joined or pointers.predecessor is None or self._forming.installing:
            return
        successors = pointers.successors
        told = SuccessorsChanged(successors.contacts, successors.version, self._config.realm)
        self._runtime.send(pointers.predecessor, told)

    def _skipped(self, missing: tuple[Contact, ...]) -> None:
        """A list passes over these: they are dead, or in a ring of their own."""
        for contact in missing:
            self._watch.remember(contact)

    def _remembers(self) -> None:
        self._reunion.remembers()
        self._state.changed()

    def _missed(self) -> None:
        self._maintenance.hasten()

    def _lost(self, contact: Contact, is_news: bool) -> None:
        named = self._pointers.drop(contact)
        self._lookups.arc_cache.forget(contact)
        if named:
            self._maintenance.disturbed()
            if self._pointers.successors.first is not None:
                self._maintenance.stabilise()
            if is_news:
                self._observer.contact_gone(contact)

    def _left(self, contact: Contact) -> None:
        """The contact lives but is no member any more, or not yet, if it was started again: who has
        said no good-bye may come to be one without knowing of us."""
        self._lookups.arc_cache.forget(contact)
        if not self._pointers.joined:
            return
        if contact not in self._watch.departed:
            self._watch.remember(contact)
        self._watch.mark_departed(contact)
        if self._pointers.drop(contact):
            self._maintenance.stabilise()
