"""How lookups travel: from peer to peer, answered by the owner to the origin directly.

Law of this file: a lookup that arrives where nobody expects it is routed on, never answered by
guess; only a member answers, and only for its own arc.  One exception says so itself: whoever
stands next to a silent owner tells the origin that it is suspected, and who its heirs are.  Every
message is bounded in hops, and every attempt in the copies that a peer makes of it.  Chord (ToN
2003) section IV; the step back to a predecessor is ours (DESIGN section 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chord.arc_cache import KnownArc
from chord.frozen import replace
from chord.hand_on_limit import HandOnLimit
from chord.identifiers import Arc, distance
from chord.link import SILENCE
from chord.messages import FindOwner, OwnerFound
from chord.routing import CANDIDATES_MAX, Route

if TYPE_CHECKING:
    from collections.abc import Collection

    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.pointers import RingPointers
    from chord.runtime import Handler, Runtime
    from chord.watch import Watch


class Forwarding:
    """The lookups that one member hands on and answers."""

    def __init__(
        self, runtime: Runtime, config: ChordConfig, pointers: RingPointers, watch: Watch
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._watch = watch
        self._heir: Contact | None = None
        self._limit = HandOnLimit()
        self.handlers: dict[type, Handler] = {FindOwner: self._on_find_owner}

    def bequeath(self, heir: Contact | None) -> None:
        """We leave: what still arrives for our arc is for our successor."""
        self._heir = heir

    def route(self, key: int, avoid: Collection[Contact] = ()) -> Route:
        """Where a key that is not ours goes next, by the ring pointers alone."""
        absent = {*avoid, *self._watch.departed} if avoid else self._watch.departed
        return self._pointers.table.route(key, absent)

    def steered(self, key: int, route: Route) -> Route:
        """The route with those last who are silent at this moment; others may stand in."""
        if not route.candidates or not self._watch.suspects(route.candidates[0]):
            return route
        silent = [contact for contact in route.candidates if self._watch.suspects(contact)]
        for contact in silent:
            self._watch.check(contact)  # so that it is suspected no more, or given up
        others = self.route(key, avoid=silent)
        if not others.to_owner:
            # Who comes before the key knows most of a silent owner; whoever is behind would send
            # it round the ring.
            before = self._pointers.table.closest_preceding(key, {*silent, *self._watch.departed})
            others = Route(tuple(dict.fromkeys((*before, *others.candidates))), to_owner=False)
        return Route((*others.candidates, *silent)[:CANDIDATES_MAX], others.to_owner)

    def hand_on(
        self,
        message: FindOwner,
        route: Route,
        failed: tuple[Contact, ...] = (),
        known: KnownArc | None = None,
    ) -> None:
        """Let the lookup go where `route` says; `known` is what is known of its first
        candidate."""
        if not route.candidates or message.hops >= self._config.hops_max:
            return  # the origin asks again
        if not self._limit.permits(message.origin.id, message.token, message.attempt):
            return  # so it does
        if known is None and route.to_owner:
            known = self._known_arc_of(route.candidates[0], message.key)
        if known is not None and self._watch.suspects(known.owner):
            self._answer_for(known, message)
            return
        self._forward(message, self.steered(message.key, route), failed, known)

    def _forward(
        self, message: FindOwner, route: Route, failed: tuple[Contact, ...], known: KnownArc | None
    ) -> None:
        candidates = route.candidates
        stepped_back = message.stepped_back or (
            route.to_owner and candidates[0] == self._pointers.predecessor
        )
        onward = FindOwner(
            message.key,
            message.origin,
            message.token,
            message.hops + 1,
            route.to_owner,
            stepped_back,
            message.attempt,
        )

        def undelivered(_: object, reason: str) -> None:
            del reason
            self._reroute(message, failed + candidates)

        def owner_undelivered(_: object, reason: str) -> None:
            assert known is not None
            if reason == SILENCE or self._watch.suspects(known.owner):
                self._answer_for(known, message)
            else:  # refused: its heir may know already
                self._runtime.forward(candidates[1:], onward, undelivered)

        if known is None:
            self._runtime.forward(candidates, onward, undelivered)
        else:
            self._runtime.forward(candidates[:1], onward, owner_undelivered)

    def _reroute(self, message: FindOwner, failed: tuple[Contact, ...]) -> None:
        """No candidate took it: see what became of them, and try those not yet tried."""
        for contact in failed:
            self._watch.check(contact)
        if not self._pointers.joined:
            return
        again = replace(message, to_owner=False)
        self.hand_on(again, self.route(message.key, avoid=failed), failed)

    # Silent owners

    def _known_arc_of(self, owner: Contact, key: int) -> KnownArc | None:
        """What its neighbours know of the owner of a key; None from farther away.  Only the one
        before it knows where its arc begins, the others that the key is in it."""
        pointers, config = self._pointers, self._config
        successors = pointers.successors.contacts
        arc = Arc((key - 1) % (1 << config.bits), owner.id)
        if owner == pointers.predecessor:
            heirs = (pointers.own, *successors)
        elif owner in pointers.successors:
            ids = [contact.id for contact in successors]
            heirs = successors[ids.index(owner.id) + 1 :]
            if successors[-1] == pointers.predecessor:
                heirs = (*heirs, pointers.own)  # the list reaches round the ring
            elif owner.id != ids[0] and all(map(self._watch.suspects, heirs)):
                return None  # it ends too soon: who is nearer knows more of them
            if owner.id == ids[0]:
                arc = Arc(pointers.own.id, owner.id)
        else:
            return None
        gone = self._watch.departed
        heirs = tuple(c for c in heirs if c not in gone and c.id != owner.id)
        return KnownArc(owner, arc, heirs[: config.heir_count]) if heirs else None

    def _answer_for(self, known: KnownArc, message: FindOwner) -> None:
        """Tell the origin that the owner is silent, and see whether it lives; so of its heirs where
        fewer are named than there are: they may have fallen with it."""
        self._watch.check(known.owner)
        for heir in known.heirs if len(known.heirs) < self._config.heir_count else ():
            if heir != self._pointers.own:
                self._watch.check(heir)
        told = OwnerFound(
            message.token, known.owner, known.arc, message.hops, known.heirs, suspected=True
        )
        self._runtime.send(message.origin, told)

    # Arriving

    def _on_find_owner(self, sender: Contact, message: object, remaining_s: float) -> None:
        """A lookup arrives: answer it if the key is ours, else hand it on."""
        del sender, remaining_s
        assert isinstance(message, FindOwner)
        pointers = self._pointers
        arc = pointers.arc
        if arc is None:
            if self._heir is not None:
                self.hand_on(message, Route((self._heir,), to_owner=True))
            return  # no member yet: the origin asks again
        if message.key in arc:
            heirs = pointers.successors.contacts[: self._config.heir_count]
            found = OwnerFound(message.token, pointers.own, arc, message.hops, heirs)
            self._runtime.send(message.origin, found)
            return
        self.hand_on(message, self._onward(message))

    def _onward(self, message: FindOwner) -> Route:
        route = self.route(message.key)
        predecessor = self._pointers.predecessor
        if not message.to_owner or message.stepped_back or predecessor is None:
            return route
        if route.to_owner or self._is_ahead(message.key):
            return route  # it came here as the owner, who comes after us, did not take it
        # The sender knew our arc as it was before a peer joined in it: most likely our
        # predecessor owns the key now.  One step back at most, then round the ring.
        others = tuple(contact for contact in route.candidates if contact.id != predecessor.id)
        return Route((predecessor, *others)[:CANDIDATES_MAX], to_owner=True)

    def _is_ahead(self, key: int) -> bool:
        """Whether a key is less far onward from us than back: no arc of ours was as long."""
        own_id, bits = self._pointers.own.id, self._config.bits
        return distance(own_id, key, bits) < distance(key, own_id, bits)
