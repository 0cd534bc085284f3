"""Lookups at their origin: what is known already, whom to ask first, when to ask another as well.

Law of this file: an arc is believed on its owner's word alone; a stale one costs one hop, as the
receiver routes on.  An attempt that takes unusually long is hedged through another first hop; the
first answer counts, whichever attempt it is to.  How lookups travel: `chord.forwarding`.  Arc cache
and hedging: DESIGN section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chord.arc_cache import ArcCache, KnownArc
from chord.contact import Contact
from chord.errors import LookupFailed, NotJoined, RequestTimeout
from chord.forwarding import Forwarding
from chord.frozen import dataclass
from chord.identifiers import Arc
from chord.messages import FindOwner, OwnerFound
from chord.patience import Patience
from chord.routing import CANDIDATES_MAX, Route

if TYPE_CHECKING:
    from chord.config import ChordConfig
    from chord.pointers import RingPointers
    from chord.runtime import Handler, Runtime
    from chord.watch import Watch


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a key, all else that it owns, and how many peers the lookup was handed to."""

    contact: Contact
    arc: Arc
    hops: int = 0
    heirs: tuple[Contact, ...] = ()
    """The peers that would inherit the arc, nearest first, where they are known."""
    suspected: bool = False
    """The owner itself did not answer: its neighbour says that it is silent at this moment.  It
    may be dead, and may answer again; the arc is what that neighbour knows of it."""


@dataclass(slots=True)
class LookupTally:
    """How lookups that went out have ended; for metrics."""

    found: int = 0
    failed: int = 0
    hedged: int = 0
    """Attempts that went out because the one before was slow."""
    hops: int = 0
    """Of those that were found, in all."""


class Lookups:
    """The lookups that one member starts, and the arcs that it has heard of."""

    def __init__(
        self, runtime: Runtime, config: ChordConfig, pointers: RingPointers, watch: Watch
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._watch = watch
        self._forwarding = Forwarding(runtime, config, pointers, watch)
        self._patience = Patience(config.lookup_attempt_s)
        self._next_token = runtime.random.getrandbits(32)
        self.arc_cache = ArcCache(config.arc_cache_max)
        self.tally = LookupTally()
        self.bequeath = self._forwarding.bequeath
        self.handlers: dict[type, Handler] = {
            **self._forwarding.handlers,
            OwnerFound: self._on_owner_found,
        }

    def route_from_origin(self, key: int) -> Route:
        """Where a key that is not ours goes next, by ring pointers and arc cache; whoever is silent
        at this moment comes last."""
        route, _ = self._from_origin(key)
        return self._forwarding.steered(key, route)

    def _from_origin(self, key: int) -> tuple[Route, KnownArc | None]:
        """The route with the arc cache, which only origins use (stale caches of several peers could
        send a lookup round and round), and what the cached owner has said of its heirs."""
        route = self._forwarding.route(key)
        if route.to_owner:
            return route, None
        cached = self.arc_cache.recall(key)
        if cached is None or cached.owner.id == self._pointers.own.id:
            return route, None
        if cached.owner in self._watch.departed:
            return route, None
        others = tuple(contact for contact in route.candidates if contact.id != cached.owner.id)
        chosen = Route((cached.owner, *others)[:CANDIDATES_MAX], to_owner=True)
        return chosen, cached if cached.heirs else None

    async def find(self, key: int, timeout_s: float) -> Owner:
        """The owner of the key; asks again through another first hop while the time lasts.

        Raises `NotJoined`, `LookupFailed`."""
        runtime, pointers = self._runtime, self._pointers
        began_s = runtime.now()
        deadline = began_s + timeout_s
        token = self._next_token
        self._next_token += 1
        attempt = 0
        while True:
            arc = pointers.arc
            if arc is None:
                raise NotJoined(f"{pointers.own}: lookup of {key:x} outside a ring")
            if key in arc:
                heirs = pointers.successors.contacts[: self._config.heir_count]
                return Owner(pointers.own, arc, 0, heirs)
            remaining_s = deadline - runtime.now()
            if remaining_s <= 0:
                self.tally.failed += 1
                raise LookupFailed(
                    f"{pointers.own}: no owner of {key:x} answered in {timeout_s:g} s"
                )
            route, known = self._first_hop(key, attempt)
            wait_s = min(remaining_s, self._wait_s(route, attempt))
            reply = runtime.expect(("lookup", token), wait_s)
            asked = FindOwner(key, pointers.own, token, hops=0, attempt=attempt)
            self.tally.hedged += attempt > 0
            self._forwarding.hand_on(asked, route, known=known)
            try:
                found: Owner = await reply
            except RequestTimeout:
                attempt += 1
                continue
            self.tally.found += 1
            self.tally.hops += found.hops
            if not found.suspected:
                self._patience.answered(runtime.now() - began_s)
            return found

    def _on_owner_found(self, sender: Contact, message: object, remaining_s: float) -> None:
        """An owner answers: remember its arc, and wake the lookup if it still waits."""
        del sender, remaining_s
        assert isinstance(message, OwnerFound)
        heirs = message.heirs[: self._config.successor_count]
        if not message.suspected:
            self.arc_cache.learn(message.owner, message.arc, heirs)
        found = Owner(message.owner, message.arc, message.hops, heirs, message.suspected)
        self._runtime.deliver(("lookup", message.token), found)

    def _first_hop(self, key: int, attempt: int) -> tuple[Route, KnownArc | None]:
        """Where an attempt begins; each later one at another candidate, and trusting no cache."""
        if attempt == 0:
            return self._from_origin(key)
        cached = self.arc_cache.recall(key)
        if cached is not None:
            self.arc_cache.forget(cached.owner)
        route = self._forwarding.route(key)
        shift = attempt % max(1, len(route.candidates))
        turned = route.candidates[shift:] + route.candidates[:shift]
        return Route(turned, route.to_owner and shift == 0), None

    def _wait_s(self, route: Route, attempt: int) -> float:
        """How long to wait for an answer before another first hop is asked as well."""
        if not route.candidates:
            return self._patience.wait_s(0.0, 0.0, attempt)
        link = self._runtime.link(route.candidates[0])
        return self._patience.wait_s(link.srtt_s, link.rttvar_s, attempt)
