"""The conversations of load-aware placement: probing for joiners, granting, and moving oneself.

Law of this file: conversations; what to ask, which arc to take and where it is cut is decided in
`placement`, when to move in `relocation`.  Everything here is advice: a peer that finds no place
joins under the hash of its address, and no grant changes a pointer of the ring.  DESIGN section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from chord.contact import Contact
from chord.errors import CallError, Fault, LookupFailed, NotJoined, RemoteFault
from chord.identifiers import Arc
from chord.node import ChordNode
from chord.placement import (
    WALKS,
    Burden,
    Grants,
    choices,
    draw_of_stop,
    next_stop,
    point_of_walk,
    stops_of_walk,
)
from chord.placement_messages import (
    FindPlace,
    LoadAnswer,
    LoadQuestion,
    MakeWay,
    PlaceFound,
    SplitRequest,
    WayMade,
)
from chord.relocation import Look, RelocationConfig, Restraint, look_of
from chord.runtime import Deferred, Handler, Runtime

GRANT_S: Final = 20.0
"""How long a granted place is kept free: longer than a polite leave and a join may take, or two
peers could come to one place."""
ASK_S: Final = 1.0
"""For one peer of a walk; the walk of one that is silent ends."""
FIND_S: Final = 5.0
"""How long a joiner looks for a place while all heavy arcs are being split."""
FINDS_MAX: Final = 32
"""For so many joiners at once: each asks some hundred peers, and whoever has no identifier yet need
not be one."""
PAUSE_S_MIN, PAUSE_S_MAX = 0.02, 0.5
"""Pause between two looks; it doubles."""
BUSY, NO_PLACE = "Busy", "NoPlace"


async def ask_for_place(
    runtime: Runtime, contacts: Sequence[Contact], seed: int, timeout_s: float = FIND_S
) -> int | None:
    """The identifier under which a joiner should join the ring of these contacts; None when they
    know no better place than the hash of its address, or do not answer.

    The runtime may be a client's: a peer has none of its own before it has an identifier."""
    for contact in contacts:
        try:
            reply = await runtime.call(contact, FindPlace(seed), timeout_s)
        except RemoteFault as fault:
            if fault.kind == NO_PLACE:
                return None
        except CallError:
            continue
        else:
            return reply.id if isinstance(reply, PlaceFound) else None
    return None


class Placing:
    """One member's part in placing others, and itself."""

    def __init__(
        self, node: ChordNode, runtime: Runtime, bits: int, successor_count: int, burden: Burden
    ) -> None:
        self._node, self._runtime, self._burden = node, runtime, burden
        self._bits, self._successor_count = bits, successor_count
        self._grants = Grants(GRANT_S)
        self._finds = 0
        self.handlers: dict[type, Handler] = {
            FindPlace: self._on_find_place,
            LoadQuestion: self._on_load_question,
            SplitRequest: self._on_split_request,
            MakeWay: self._on_make_way,
        }

    # -- what others ask

    def _on_find_place(self, _: Contact, message: object, remaining_s: float) -> Deferred:
        assert isinstance(message, FindPlace)
        if self._finds >= FINDS_MAX:
            raise Fault(BUSY, f"{FINDS_MAX} places are looked for here already")
        self._finds += 1
        return Deferred(self._find_for_joiner(message.seed, min(remaining_s, FIND_S)))

    async def _find_for_joiner(self, seed: int, timeout_s: float) -> PlaceFound:
        try:
            place = await self.find(seed, timeout_s * 0.8)  # the answer needs time as well
        finally:
            self._finds -= 1
        if place is None:
            raise Fault(NO_PLACE, "no arc to split was found")
        return PlaceFound(place)

    def _on_load_question(self, _: Contact, message: object, __: float) -> LoadAnswer:
        assert isinstance(message, LoadQuestion)
        arc = self._own_arc()
        fingers = [finger.contact for finger in self._node.fingers]
        return LoadAnswer(
            contact=self._node.contact,
            load=self._burden.load(arc, public=message.public),
            length=arc.length(self._bits),
            granting=self._grants.outstanding(arc, self._runtime.now()),
            onward=next_stop(self._node.successors, fingers, message.draw),
        )

    def _on_split_request(self, _: Contact, message: object, __: float) -> PlaceFound:
        assert isinstance(message, SplitRequest)
        arc, now = self._own_arc(), self._runtime.now()
        if self._grants.outstanding(arc, now):
            raise Fault(BUSY, "this arc is being changed")
        place = self._burden.split(arc, public=message.public)
        if place is None:
            raise Fault(NO_PLACE, "this arc cannot be split")
        self._grants.expect_join(place, now)
        return PlaceFound(place)

    def _on_make_way(self, sender: Contact, _: object, __: float) -> WayMade:
        arc, now = self._own_arc(), self._runtime.now()
        if self._grants.outstanding(arc, now):
            raise Fault(BUSY, "this arc is being changed")
        if sender.id != arc.after:
            raise Fault(BUSY, "another peer is the predecessor")
        self._grants.expect_leave(sender.id, now)
        return WayMade()

    def _own_arc(self) -> Arc:
        arc = self._node.arc
        if arc is None:
            raise Fault(NotJoined.__name__, f"{self._node.contact} is no member")
        return arc

    # -- for a joiner

    async def find(self, seed: int, timeout_s: float) -> int | None:
        """A place, granted by its present owner; None when there was none within the time.  It
        goes by public records alone: whoever asks, and never joins, learns where they lie."""
        deadline = self._runtime.now() + timeout_s
        attempt, pause_s = 0, PAUSE_S_MIN
        while True:
            place = await self._first_split(await self._probe(seed, attempt))
            if place is not None:
                return place
            if self._runtime.now() + 2 * pause_s > deadline:
                return None
            await self._runtime.sleep(pause_s * self._runtime.random.uniform(0.5, 1.5))
            attempt, pause_s = attempt + 1, min(2 * pause_s, PAUSE_S_MAX)

    async def _first_split(self, offers: Sequence[LoadAnswer]) -> int | None:
        """A place in the heaviest arc that can be split; None where it is being changed: rather
        wait.  For one that cannot be split nobody need wait, so the others are chosen from without
        it: a ring with an index that everything lies at has room elsewhere."""
        while chosen := choices(offers):
            undivided = set()
            for offer in chosen:
                try:
                    return await self._ask_split(offer.contact, public=True)
                except RemoteFault as fault:
                    if fault.kind == NO_PLACE:
                        undivided.add(offer.contact.id)
                except CallError:
                    continue
            if len(undivided) < len(chosen):
                return None
            offers = [offer for offer in offers if offer.contact.id not in undivided]
        return None

    async def _probe(self, seed: int, attempt: int) -> list[LoadAnswer]:
        """What peers carry: all of a small ring, else those met on some walks."""
        node = self._node
        if len(node.successors) < self._successor_count:
            everybody = sorted((node.contact, *node.successors), key=lambda member: member.id)
            asked = [self._runtime.spawn(self._ask(member, 0, public=True)) for member in everybody]
            return [offer for one in asked if (offer := await one) is not None]
        stops = stops_of_walk(len(node.successors), len(node.fingers))
        walks = [
            self._runtime.spawn(self._walk_from_point(seed, attempt, walk, stops))
            for walk in range(WALKS)
        ]
        return [offer for walk in walks for offer in await walk]

    async def _walk_from_point(
        self, seed: int, attempt: int, walk: int, stops: int
    ) -> list[LoadAnswer]:
        try:
            owner = await self._node.lookup(point_of_walk(seed, attempt, walk, self._bits), ASK_S)
        except (LookupFailed, NotJoined):
            return []
        draws = [draw_of_stop(seed, attempt, walk, stop) for stop in range(stops)]
        return await self._walk(owner.contact, draws, public=True)

    async def _walk(
        self, start: Contact | None, draws: Sequence[int], *, public: bool = False
    ) -> list[LoadAnswer]:
        """Ask one peer after another, each by the last one's advice, until one is silent."""
        offers: list[LoadAnswer] = []
        contact = start
        for draw in draws:
            offer = None if contact is None else await self._ask(contact, draw, public=public)
            if offer is None:
                break
            offers.append(offer)
            contact = offer.onward
        return offers

    async def _ask(self, contact: Contact, draw: int, *, public: bool = False) -> LoadAnswer | None:
        try:
            reply = await self._runtime.call(contact, LoadQuestion(draw, public), ASK_S)
        except CallError:
            return None
        return reply if isinstance(reply, LoadAnswer) else None

    async def _ask_split(self, contact: Contact, *, public: bool = False) -> int:
        """A place in the contact's arc; raises `CallError`, of kind `NO_PLACE` where there never
        is one."""
        reply = await self._runtime.call(contact, SplitRequest(public), ASK_S)
        if not isinstance(reply, PlaceFound):
            raise CallError(f"{contact} answered a split with {type(reply).__name__}")
        return reply.id

    # -- for itself

    async def watch_over(self, config: RelocationConfig, move: Callable[[int], object]) -> None:
        """Look from time to time whether this peer should go elsewhere, for ever; `move` is told
        the identifier to come back under, once its neighbours and the new place wait for it."""
        random, restraint = self._runtime.random, Restraint(config.looks)
        while True:
            await self._runtime.sleep(config.interval_s * random.uniform(0.75, 1.25))
            look = await self.look_around(config)
            if look is None or not restraint.permits(look) or look.target is None:
                continue
            place = await self._reserve((look.target, *look.others))
            if place is not None:
                move(place)

    async def look_around(self, config: RelocationConfig) -> Look | None:
        """See what others carry; None when the ring changed meanwhile."""
        node = self._node
        arc, successors = node.arc, node.successors
        if arc is None or not successors:
            return None
        seed = self._runtime.random.getrandbits(64)
        stops = stops_of_walk(len(successors), len(node.fingers))
        heir = await self._ask(successors[0], 0)
        walks = [
            self._runtime.spawn(self._walk_from_here(seed, walk, stops)) for walk in range(WALKS)
        ]
        sample = [offer for walk in walks for offer in await walk]
        others = [offer for offer in sample if offer.contact.id != node.contact.id]
        if heir is None or node.arc != arc:
            return None
        return look_of(self._burden.load(arc), heir.load, others, config)

    async def _walk_from_here(self, seed: int, walk: int, stops: int) -> list[LoadAnswer]:
        """Fingers count peers: what is met from here on is a fair sample of them."""
        draws = [draw_of_stop(seed, 0, walk, stop) for stop in range(stops + 1)]
        fingers = [finger.contact for finger in self._node.fingers]
        return await self._walk(next_stop(self._node.successors, fingers, draws[0]), draws[1:])

    async def _reserve(self, targets: Sequence[LoadAnswer]) -> int | None:
        """Let nothing else happen to this arc, the heir's and that of the first target that can be
        split until the move is made: no two neighbours move at once."""
        arc, successors, now = self._node.arc, self._node.successors, self._runtime.now()
        if arc is None or not successors or self._grants.outstanding(arc, now):
            return None
        self._grants.expect_own_leave(self._node.contact.id, now)
        try:
            await self._runtime.call(successors[0], MakeWay(), ASK_S)
            place = await self._split_first_of(targets)
        except CallError:
            place = None
        if place is None or self._node.arc != arc:
            self._grants.give_back()
            return None
        return place

    async def _split_first_of(self, targets: Sequence[LoadAnswer]) -> int | None:
        """A place in the first of these arcs that can be split; raises `CallError` where that is
        being changed."""
        for target in targets:
            try:
                return await self._ask_split(target.contact)
            except RemoteFault as fault:
                if fault.kind != NO_PLACE:
                    raise
        return None
