"""A member of the ring: the node that peers embed, with its handlers and its verbs.

Law of this file: assembly and request handlers; decisions live in the pure modules, conversations
in `joining`, `forming`, `maintenance` and `lookup`.  Handlers never wait.

    node = ChordNode(contact, runtime, ChordConfig.local(), observer)
    await node.join([Contact.at("10.0.0.5:7400")])
    node.start()
    owner = await node.lookup(identifier("temperature"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chord.errors import Fault
from chord.finger_table import Finger
from chord.forming import Forming
from chord.joining import Joining
from chord.lookup import Lookups, Owner
from chord.maintenance import Maintenance
from chord.messages import (
    Acknowledged,
    Enter,
    FindOwner,
    FindPredecessor,
    FingerFound,
    GetFinger,
    GetNeighbours,
    Install,
    Leaving,
    MemberGone,
    Neighbours,
    Notify,
    OwnerFound,
    Ping,
    PredecessorChanged,
    PredecessorFound,
    SuccessorsChanged,
)
from chord.pointers import RingPointers
from chord.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chord.config import ChordConfig
    from chord.contact import Contact
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
    """One node of the ring."""

    def __init__(
        self, contact: Contact, runtime: Runtime, config: ChordConfig, observer: Observer
    ) -> None:
        self._config = config
        self._runtime = runtime
        self._observer = observer
        self._watch = Watch(runtime, config, self._lost)
        self._pointers = RingPointers(
            contact,
            config.bits,
            config.successor_count,
            self._watch.departed,
            self._arc_changed,
            self._list_changed,
        )
        self._lookups = Lookups(runtime, config, self._pointers, self._watch)
        self._maintenance = Maintenance(runtime, config, self._pointers, self._watch, self._left)
        self._forming = Forming(runtime, config, self._pointers, self._watch)
        self._joining = Joining(
            runtime, config, self._pointers, self._watch, self._maintenance, self._forming
        )
        self.handlers: dict[type, Handler] = {
            Ping: self._on_ping,
            GetNeighbours: self._on_get_neighbours,
            Notify: self._on_notify,
            SuccessorsChanged: self._on_successors_changed,
            PredecessorChanged: self._on_predecessor_changed,
            GetFinger: self._on_get_finger,
            FindPredecessor: self._on_find_predecessor,
            Leaving: self._on_leaving,
            FindOwner: self._lookups.on_find_owner,
            OwnerFound: self._lookups.on_owner_found,
            Enter: self._forming.on_enter,
            Install: self._forming.on_install,
            MemberGone: self._forming.on_member_gone,
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

    def owns(self, key: int) -> bool:
        """Whether the key belongs to this node."""
        arc = self._pointers.arc
        return arc is not None and key in arc

    def neighbours(self) -> Neighbours:
        """Its pointers, as it tells them to a ring walk."""
        successors = self._pointers.successors
        return Neighbours(self.contact, self.predecessor, successors.contacts, successors.version)

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

    async def leave(self) -> None:
        """Say good-bye to the neighbours, who close the gap at once, and stop."""
        if self._pointers.joined:
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
        """Begin periodic stabilisation and finger refreshes."""
        self._maintenance.start()

    def stop(self) -> None:
        """End them."""
        self._maintenance.stop()

    async def stabilise(self) -> None:
        """Stabilise now, until nothing changes any more."""
        await self._maintenance.stabilise()

    async def refresh_fingers(self) -> None:
        """Refresh the fingers now, once."""
        await self._maintenance.refresh_fingers()

    def learn(self, owner: Owner) -> None:
        """Remember an arc that its owner has named."""
        if owner.contact.id != self.contact.id:
            self._lookups.arc_cache.learn(owner.contact, owner.arc)

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
        self._observer.arc_changed(before, now)

    def _list_changed(self) -> None:
        """Tell the predecessor, whose list is made of ours, and let the fingers follow soon."""
        self._forming.pointers_changed()
        self._maintenance.disturbed()
        pointers = self._pointers
        if not pointers.joined or pointers.predecessor is None or self._forming.installing:
            return
        successors = pointers.successors
        told = SuccessorsChanged(successors.contacts, successors.version)
        self._runtime.send(pointers.predecessor, told)

    def _lost(self, contact: Contact) -> None:
        named = self._pointers.drop(contact)
        self._lookups.arc_cache.forget(contact)
        self._forming.lost(contact)
        if named:
            self._maintenance.disturbed()
            if self._pointers.successors.first is not None:
                self._maintenance.stabilise()
            self._observer.contact_gone(contact)

    def _left(self, contact: Contact) -> None:
        """The contact lives but is no member any more."""
        self._watch.left(contact)
        self._pointers.drop(contact)
        self._lookups.arc_cache.forget(contact)
        self._forming.lost(contact)

    # Handlers

    def _on_ping(self, sender: Contact, request: object, remaining_s: float) -> object:
        del request, remaining_s
        self._watch.heard(sender)
        return Acknowledged()

    def _on_get_neighbours(self, sender: Contact, request: object, remaining_s: float) -> object:
        del sender, request, remaining_s
        self._require_membership()
        return self.neighbours()

    def _on_notify(self, sender: Contact, request: object, remaining_s: float) -> object:
        """Rectify, and answer with our pointers."""
        del remaining_s
        assert isinstance(request, Notify)
        self._require_membership()
        self._watch.heard(sender)
        predecessor = self._pointers.predecessor
        if not self._pointers.rectify(sender):
            if predecessor is not None:
                self._runtime.spawn(self._rectify_if_gone(predecessor, sender))
        elif predecessor is not None and predecessor.id != sender.id:
            self._runtime.send(predecessor, PredecessorChanged(sender))
        reply = self.neighbours()
        if request.version_seen != reply.version:
            return reply
        return Neighbours(self.contact, self.predecessor, (), reply.version, unchanged=True)

    async def _rectify_if_gone(self, predecessor: Contact, notifier: Contact) -> None:
        """A farther member takes us for its successor: right, if our predecessor is dead."""
        await self._watch.check(predecessor)
        if self._pointers.joined and notifier not in self._watch.departed:
            self._pointers.rectify(notifier)

    def _on_successors_changed(
        self, sender: Contact, message: object, remaining_s: float
    ) -> object:
        """Our successor's new list, or that of a peer that has joined before it."""
        del remaining_s
        assert isinstance(message, SuccessorsChanged)
        pointers = self._pointers
        if not pointers.joined:
            return Acknowledged()
        self._watch.heard(sender)
        first = pointers.successors.first
        if first is not None and first.id == sender.id:
            if message.version > pointers.successors.version_seen(sender):
                pointers.adopt(sender, message.successors, message.version)
        elif pointers.improves_successor(sender):
            pointers.adopt(sender, message.successors, message.version)
            self._maintenance.stabilise()
        return Acknowledged()

    def _on_predecessor_changed(
        self, sender: Contact, message: object, remaining_s: float
    ) -> None:
        """Our successor has a nearer predecessor than us: look at once."""
        del sender, remaining_s
        assert isinstance(message, PredecessorChanged)
        if self._pointers.joined and self._pointers.improves_successor(message.predecessor):
            self._maintenance.stabilise()

    def _on_get_finger(self, sender: Contact, request: object, remaining_s: float) -> object:
        del sender, remaining_s
        assert isinstance(request, GetFinger)
        self._require_membership()
        pointers = self._pointers
        finger = pointers.fingers.get(request.level)
        if request.level == 0 and pointers.successors.first is not None:
            finger = Finger(pointers.successors.first, self.contact.id)
        before = None if pointers.predecessor is None else pointers.predecessor.id
        if finger is None:
            return FingerFound(None, None, before)
        return FingerFound(finger.contact, finger.predecessor_id, before)

    def _on_find_predecessor(self, sender: Contact, request: object, remaining_s: float) -> object:
        del sender, remaining_s
        assert isinstance(request, FindPredecessor)
        self._require_membership()
        self._require_constants(request)
        keeper = None if request.past_forming else self._forming.keeper
        pointers = self._pointers
        if keeper is not None:
            return PredecessorFound(self.contact, found=False, keeper=keeper)
        if pointers.precedes(request.key):
            return PredecessorFound(self.contact, found=True, successors=self.successors)
        closer = pointers.table.closest_preceding(request.key, self._watch.departed)
        return PredecessorFound(self.contact, found=False, closer=closer)

    def _on_leaving(self, sender: Contact, message: object, remaining_s: float) -> object:
        del remaining_s
        assert isinstance(message, Leaving)
        self._watch.left(sender)
        self._lookups.arc_cache.forget(sender)
        if self._pointers.joined:
            self._forming.lost(sender)
            self._pointers.bypass(sender, message.predecessor, message.successors)
            self._maintenance.stabilise()
        return Acknowledged()

    def _require_membership(self) -> None:
        if not self._pointers.joined:
            raise Fault("NotJoined", f"{self.contact} is no member of a ring")

    def _require_constants(self, request: FindPredecessor) -> None:
        config = self._config
        if (request.bits, request.successor_count) != (config.bits, config.successor_count):
            raise Fault(
                "JoinRefused",
                f"this ring has {config.bits} bits and {config.successor_count} successors, "
                f"the joiner {request.bits} and {request.successor_count}",
            )
