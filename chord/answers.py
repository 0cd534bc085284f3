"""What a member answers when others ask about the ring.

Law of this file: handlers, each one atomic: they change pointers by one step of `RingPointers`
and start conversations, but never wait for one.  Whoever is no member answers `NotJoined`, so that
nobody keeps pointing at it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chord.errors import CallError, Fault
from chord.finger_table import Finger
from chord.messages import (
    Acknowledged,
    FindPredecessor,
    FingerFound,
    GetFinger,
    GetNeighbours,
    Leaving,
    Neighbours,
    Notify,
    Ping,
    PredecessorChanged,
    PredecessorFound,
    SuccessorsChanged,
)
from chord.runtime import Deferred
from chord.successor_list import UNKNOWN_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.forming import Forming
    from chord.maintenance import Maintenance
    from chord.pointers import RingPointers
    from chord.runtime import Handler, Runtime
    from chord.watch import Watch


class Answers:
    """The request handlers of one member; `forget_arc(contact)` is told of who left."""

    __slots__ = (
        "_config",
        "_forget_arc",
        "_forming",
        "_maintenance",
        "_own",
        "_pointers",
        "_runtime",
        "_unchanged",
        "_watch",
        "handlers",
    )

    def __init__(
        self,
        runtime: Runtime,
        config: ChordConfig,
        pointers: RingPointers,
        watch: Watch,
        maintenance: Maintenance,
        forming: Forming,
        forget_arc: Callable[[Contact], None],
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._own = pointers.own
        self._watch = watch
        self._maintenance = maintenance
        self._forming = forming
        self._forget_arc = forget_arc
        self._unchanged = Neighbours(self._own, None, (), UNKNOWN_VERSION, unchanged=True)
        self.handlers: dict[type, Handler] = {
            Ping: self._on_ping,
            GetNeighbours: self._on_get_neighbours,
            Notify: self._on_notify,
            SuccessorsChanged: self._on_successors_changed,
            PredecessorChanged: self._on_predecessor_changed,
            GetFinger: self._on_get_finger,
            FindPredecessor: self._on_find_predecessor,
            Leaving: self._on_leaving,
        }

    def _on_ping(self, sender: Contact, request: object, remaining_s: float) -> object:
        del remaining_s
        assert isinstance(request, Ping)
        self._watch.strangers.refuse(sender, request.realm)
        self._require_membership()
        self._watch.heard(sender)
        return Acknowledged()

    def _on_get_neighbours(self, sender: Contact, request: object, remaining_s: float) -> object:
        del sender, request, remaining_s
        self._require_membership()
        return self._pointers.neighbours()

    def _on_notify(self, sender: Contact, request: object, remaining_s: float) -> object:
        """Rectify, and answer with our pointers."""
        del remaining_s
        assert isinstance(request, Notify)
        self._watch.strangers.refuse(sender, request.realm)
        self._require_membership()
        _require_peer(sender)
        self._watch.heard(sender)
        if self._pointers.predecessor is not sender:
            self._rectify(sender)
        if request.version_seen != self._pointers.successors.version:
            return self._pointers.neighbours()
        return self._unchanged_neighbours()

    def _rectify(self, notifier: Contact) -> None:
        predecessor = self._pointers.predecessor
        if not self._pointers.rectify(notifier):
            if predecessor is not None:
                self._runtime.spawn(self._rectify_if_gone(predecessor, notifier))
        elif predecessor is not None and predecessor.id != notifier.id:
            self._runtime.send(predecessor, PredecessorChanged(notifier))

    def _unchanged_neighbours(self) -> Neighbours:
        """Our pointers for whoever has our list; at rest the same answer again and again."""
        pointers, answer = self._pointers, self._unchanged
        version = pointers.successors.version
        if answer.version != version or answer.predecessor is not pointers.predecessor:
            answer = Neighbours(self._own, pointers.predecessor, (), version, unchanged=True)
            self._unchanged = answer
        return answer

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
        _require_peer(sender)
        self._watch.strangers.refuse(sender, message.realm)
        pointers = self._pointers
        if not pointers.joined:
            return Acknowledged()
        self._watch.heard(sender)
        first = pointers.successors.first
        if first is not None and first.id == sender.id:
            if first.address != sender.address:
                return Deferred(self._adopt_if_gone(first, sender, message))
            if message.version > pointers.successors.version_seen(sender):
                pointers.adopt(sender, message.successors, message.version)
        elif pointers.improves_successor(sender):
            pointers.adopt(sender, message.successors, message.version)
            self._maintenance.stabilise()
        return Acknowledged()

    async def _adopt_if_gone(
        self, first: Contact, sender: Contact, message: SuccessorsChanged
    ) -> Acknowledged:
        """A peer comes under the identifier that our successor has at another address: right, if
        that one is dead.  Of two that come at once the first is taken in, and we say which."""
        taken = f"identifier {first.id:x} belongs to {first.address}"
        try:
            await self._watch.ask(first, Ping(self._config.realm))
        except CallError as error:
            if first not in self._watch.departed:
                raise Fault("TryAgain", f"{taken}, which does not answer") from error
        else:
            raise Fault("JoinRefused", taken)
        pointers, now = self._pointers, self._pointers.successors.first
        if now is not None and now.id == sender.id and now.address != sender.address:
            raise Fault("TryAgain", f"identifier {now.id:x} belongs to {now.address} since")
        if pointers.joined and pointers.improves_successor(sender):
            pointers.adopt(sender, message.successors, message.version)
            self._maintenance.stabilise()
        return Acknowledged()

    def _on_predecessor_changed(self, sender: Contact, message: object, remaining_s: float) -> None:
        """Our successor has a nearer predecessor than us: look at once."""
        del sender, remaining_s
        assert isinstance(message, PredecessorChanged)
        if self._pointers.joined and self._pointers.improves_successor(message.predecessor):
            self._maintenance.stabilise()

    def _on_get_finger(self, sender: Contact, request: object, remaining_s: float) -> object:
        del remaining_s
        assert isinstance(request, GetFinger)
        self._watch.strangers.refuse(sender, request.realm)
        self._require_membership()
        pointers = self._pointers
        finger = pointers.fingers.get(request.level)
        if request.level == 0 and pointers.successors.first is not None:
            finger = Finger(pointers.successors.first, self._own.id)
        before = None if pointers.predecessor is None else pointers.predecessor.id
        if finger is None:
            return FingerFound(None, None, before)
        return FingerFound(finger.contact, finger.predecessor_id, before)

    def _on_find_predecessor(self, sender: Contact, request: object, remaining_s: float) -> object:
        del remaining_s
        assert isinstance(request, FindPredecessor)
        if not self._pointers.joined and request.realm == self._config.realm:
            self._watch.meet(sender)
        self._require_membership()
        self._require_constants(request)
        keeper = None if request.past_forming else self._forming.keeper
        pointers = self._pointers
        if keeper is not None:
            return PredecessorFound(self._own, found=False, keeper=keeper)
        if pointers.precedes(request.key):
            return PredecessorFound(
                self._own, found=True, successors=self._pointers.successors.contacts
            )
        closer = pointers.table.closest_preceding(request.key, self._watch.departed)
        return PredecessorFound(self._own, found=False, closer=closer)

    def _on_leaving(self, sender: Contact, message: object, remaining_s: float) -> object:
        del remaining_s
        assert isinstance(message, Leaving)
        self._watch.mark_departed(sender)
        self._forget_arc(sender)
        if self._pointers.joined:
            self._pointers.bypass(sender, message.predecessor, message.successors)
            self._maintenance.stabilise()
        return Acknowledged()

    def _require_membership(self) -> None:
        if not self._pointers.joined:
            raise Fault("NotJoined", f"{self._own} is no member of a ring")

    def _require_constants(self, request: FindPredecessor) -> None:
        config = self._config
        if request.realm != config.realm:
            raise Fault("JoinRefused", "this ring is of another realm")
        if (request.bits, request.successor_count) != (config.bits, config.successor_count):
            raise Fault(
                "JoinRefused",
                f"this ring has {config.bits} bits and {config.successor_count} successors, "
                f"the joiner {request.bits} and {request.successor_count}",
            )


def _require_peer(sender: Contact) -> None:
    """A client has no address, and nobody may point at it."""
    if not sender.address or not sender.known:
        raise Fault("Refused", f"{sender} is no peer and has no place in the ring")
