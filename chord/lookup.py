"""Recursive lookups: forwarded from peer to peer, answered by the owner to the origin directly.

Law of this file: a lookup that arrives where nobody expects it is routed on, never answered by
guess; only a member answers, and only for its own arc.  Every message is bounded in hops, and every
attempt in the copies that a peer makes of it.  Chord (ToN 2003) section IV; the arc cache and the
step back to a predecessor are ours (DESIGN section 2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chord.arc_cache import ArcCache
from chord.errors import LookupFailed, NotJoined, RequestTimeout
from chord.hand_on_limit import HandOnLimit
from chord.identifiers import Arc
from chord.messages import FindOwner, OwnerFound
from chord.routing import CANDIDATES_MAX, Route

if TYPE_CHECKING:
    from collections.abc import Collection

    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.pointers import RingPointers
    from chord.runtime import Handler, Runtime
    from chord.watch import Watch


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a key, all else that it owns, and how many peers the lookup was handed to."""

    contact: Contact
    arc: Arc
    hops: int = 0


class Lookups:
    """The lookups that one member starts, forwards and answers."""

    def __init__(
        self, runtime: Runtime, config: ChordConfig, pointers: RingPointers, watch: Watch
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._watch = watch
        self._next_token = runtime.random.getrandbits(32)
        self._heir: Contact | None = None
        self._limit = HandOnLimit()
        self.arc_cache = ArcCache(config.arc_cache_max)
        self.handlers: dict[type, Handler] = {
            FindOwner: self._on_find_owner,
            OwnerFound: self._on_owner_found,
        }

    def route(self, key: int, avoid: Collection[Contact] = ()) -> Route:
        """Where a key that is not ours goes next, by the ring pointers alone."""
        absent = {*avoid, *self._watch.departed} if avoid else self._watch.departed
        return self._pointers.table.route(key, absent)

    def route_from_origin(self, key: int) -> Route:
        """The same with the arc cache, which only origins use: stale caches of several peers
        could send a lookup round and round."""
        route = self.route(key)
        if route.to_owner:
            return route
        cached = self.arc_cache.find(key)
        if cached is None or cached.id == self._pointers.own.id:
            return route
        if cached in self._watch.departed:
            return route
        others = tuple(contact for contact in route.candidates if contact.id != cached.id)
        return Route((cached, *others)[:CANDIDATES_MAX], to_owner=True)

    def bequeath(self, heir: Contact | None) -> None:
        """We leave: what still arrives for our arc is for our successor."""
        self._heir = heir

    async def find(self, key: int, timeout_s: float) -> Owner:
        """The owner of the key; asks again through another first hop while the time lasts.

        Raises `NotJoined`, `LookupFailed`."""
        runtime, pointers = self._runtime, self._pointers
        deadline = runtime.now() + timeout_s
        token = self._next_token
        self._next_token += 1
        attempt = 0
        while True:
            arc = pointers.arc
            if arc is None:
                raise NotJoined(f"{pointers.own}: lookup of {key:x} outside a ring")
            if key in arc:
                return Owner(pointers.own, arc)
            remaining_s = deadline - runtime.now()
            if remaining_s <= 0:
                raise LookupFailed(
                    f"{pointers.own}: no owner of {key:x} answered in {timeout_s:g} s"
                )
            route = self._first_hop(key, attempt)
            wait_s = min(remaining_s, self._attempt_s(route, attempt))
            reply = runtime.expect(("lookup", token), wait_s)
            self._hand_on(FindOwner(key, pointers.own, token, hops=0, attempt=attempt), route)
            try:
                found: Owner = await reply
            except RequestTimeout:
                attempt += 1
                continue
            return found

    def _on_owner_found(self, sender: Contact, message: object, remaining_s: float) -> None:
        """An owner answers: remember its arc, and wake the lookup if it still waits."""
        del sender, remaining_s
        assert isinstance(message, OwnerFound)
        self.arc_cache.learn(message.owner, message.arc)
        found = Owner(message.owner, message.arc, message.hops)
        self._runtime.deliver(("lookup", message.token), found)

    def _on_find_owner(self, sender: Contact, message: object, remaining_s: float) -> None:
        """A lookup arrives: answer it if the key is ours, else hand it on."""
        del sender, remaining_s
        assert isinstance(message, FindOwner)
        pointers = self._pointers
        arc = pointers.arc
        if arc is None:
            if self._heir is not None:
                self._hand_on(message, Route((self._heir,), to_owner=True))
            return  # no member yet: the origin asks again
        if message.key in arc:
            found = OwnerFound(message.token, pointers.own, arc, message.hops)
            self._runtime.send(message.origin, found)
            return
        self._hand_on(message, self._onward(message))

    def _onward(self, message: FindOwner) -> Route:
        route = self.route(message.key)
        predecessor = self._pointers.predecessor
        if not message.to_owner or message.stepped_back or predecessor is None:
            return route
        # The sender knew our arc as it was before a peer joined in it: most likely our
        # predecessor owns the key now.  One step back at most, then round the ring.
        others = tuple(contact for contact in route.candidates if contact.id != predecessor.id)
        return Route((predecessor, *others)[:CANDIDATES_MAX], to_owner=True)

    def _first_hop(self, key: int, attempt: int) -> Route:
        """Where an attempt begins; each later one at another candidate, and trusting no cache."""
        if attempt == 0:
            return self.route_from_origin(key)
        cached = self.arc_cache.find(key)
        if cached is not None:
            self.arc_cache.forget(cached)
        route = self.route(key)
        shift = attempt % max(1, len(route.candidates))
        turned = route.candidates[shift:] + route.candidates[:shift]
        return Route(turned, route.to_owner and shift == 0)

    def _attempt_s(self, route: Route, attempt: int) -> float:
        """How long to wait for the owner: five round trips of the first hop, doubled each time."""
        usual_s = self._config.lookup_attempt_s
        if route.candidates:
            link = self._runtime.link(route.candidates[0])
            usual_s = max(usual_s, 5 * (link.srtt_s + 4 * link.rttvar_s))
        return float(usual_s * min(2**attempt, 4))

    def _hand_on(self, message: FindOwner, route: Route, failed: tuple[Contact, ...] = ()) -> None:
        if not route.candidates or message.hops >= self._config.hops_max:
            return  # the origin asks again
        if not self._limit.permits(message.origin.id, message.token, message.attempt):
            return  # so it does
        stepped_back = message.stepped_back or (
            route.to_owner and route.candidates[0] == self._pointers.predecessor
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
            self._reroute(message, failed + route.candidates)

        self._runtime.forward(route.candidates, onward, undelivered)

    def _reroute(self, message: FindOwner, failed: tuple[Contact, ...]) -> None:
        """No candidate took it: see what became of them, and try those not yet tried."""
        for contact in failed:
            self._watch.check(contact)
        if not self._pointers.joined:
            return
        again = replace(message, to_owner=False)
        self._hand_on(again, self.route(message.key, avoid=failed), failed)
