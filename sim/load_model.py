"""A ring of peers and the records that they carry, as far as placement sees them.

Law of this file: no network and no time; the decisions are those of `chord.placement` and
`chord.relocation`, in the order in which `chord.Placing` takes them.  Pointers are those of an
ideal ring, and a hand-off is done when a peer has joined.  tests/sim/test_load_model.py holds it
against real peers.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from chord import Arc, Contact, LoadAnswer, RelocationConfig, placement, relocation, split_id

SUCCESSORS: Final = 8
"""That a peer knows; with so many peers or fewer a joiner asks all of them."""
ATTEMPTS_MAX: Final = 12
"""How often a joiner looks again while all heavy arcs are being split: `chord.placing.FIND_S`."""


class LoadModel:
    """Peers by identifier, records by the identifier under which they lie.

    `step` is how far two indexes of the curve lie apart on the ring."""

    def __init__(
        self,
        keys: Iterable[int] = (),
        *,
        bits: int = 160,
        step: int = 1,
        successor_count: int = SUCCESSORS,
    ) -> None:
        self.keys = sorted(keys)
        self.ids: list[int] = []
        self.handed_over = 0
        """Records that a new or moved peer took over, or a moved one left to its heir."""
        self.moves = 0
        self._bits, self._step, self._successor_count = bits, step, successor_count
        self._granted: set[int] = set()
        self._restraints: dict[int, relocation.Restraint] = {}

    # -- what there is

    @property
    def loads(self) -> list[int]:
        """Records of each peer, by rising identifier."""
        return [self.load(at) for at in range(len(self.ids))]

    def arc(self, at: int) -> Arc:
        """What the peer at this place of the ring owns."""
        return Arc(self.ids[at - 1], self.ids[at])

    def load(self, at: int) -> int:
        """How many records lie there."""
        return sum(end - start for start, end in self._spans(at))

    def put(self, keys: Iterable[int]) -> None:
        """Store records."""
        self.keys = sorted([*self.keys, *keys])

    def _spans(self, at: int) -> list[tuple[int, int]]:
        return [
            (bisect_left(self.keys, first), bisect_right(self.keys, last))
            for first, last in self.arc(at).segments(self._bits)
        ]

    # -- joins

    def join_at(self, peer_id: int) -> None:
        """A peer joins under an identifier chosen elsewhere: the founder, or one by hash."""
        insort(self.ids, peer_id)
        self.handed_over += self.load(bisect_left(self.ids, peer_id)) if len(self.ids) > 1 else 0

    def join(self, seed: int) -> int | None:
        """A peer joins where the ring wants it; None when there was no place."""
        return self.join_together([seed])[0]

    def join_together(self, seeds: Sequence[int]) -> list[int | None]:
        """Peers join at once: all look before any has joined, and the later ones find arcs that
        are being split; who gets none looks again when the others have joined."""
        places: list[int | None] = [None] * len(seeds)
        for attempt in range(ATTEMPTS_MAX):
            waiting = [number for number, place in enumerate(places) if place is None]
            offers = {number: self._probe(seeds[number], attempt) for number in waiting}
            for number in waiting:
                places[number] = self._granted_place(offers[number])
            self._granted.clear()
            for place in (places[number] for number in waiting):
                if place is not None:
                    self.join_at(place)
            if None not in places:
                break
        return places

    def _granted_place(self, offers: list[LoadAnswer]) -> int | None:
        for offer in placement.choices(offers):
            peer_id = offer.contact.id
            place = None if peer_id in self._granted else self._split(self._rank(peer_id))
            if place is not None:
                self._granted.add(peer_id)
                return place
        return None

    def _split(self, at: int) -> int | None:
        keys = [key for start, end in self._spans(at) for key in self.keys[start:end]]
        return split_id(self.arc(at), keys, self._bits, self._step)

    # -- probes

    def _probe(self, seed: int, attempt: int) -> list[LoadAnswer]:
        if len(self.ids) <= self._successor_count:
            return [self._answer(at) for at in range(len(self.ids))]
        ways, offers = Ways.of(len(self.ids), self._successor_count), []
        for walk in range(placement.WALKS):
            point = placement.point_of_walk(seed, attempt, walk, self._bits)
            draws = [placement.draw_of_stop(seed, attempt, walk, n) for n in range(ways.stops)]
            offers += self._walk(bisect_left(self.ids, point) % len(self.ids), draws, ways)
        return offers

    def _walk(self, start: int, draws: Iterable[int], ways: Ways) -> list[LoadAnswer]:
        offers, at = [], start
        for draw in draws:
            offers.append(self._answer(at))
            at = (at + ways.next(draw)) % len(self.ids)
        return offers

    def _answer(self, at: int) -> LoadAnswer:
        contact, length = Contact(self.ids[at], ""), self.arc(at).length(self._bits)
        return LoadAnswer(contact, self.load(at), length, granting=False, onward=None)

    def _rank(self, peer_id: int) -> int:
        return bisect_left(self.ids, peer_id)

    # -- moves

    def look_around(self, stream: random.Random, config: RelocationConfig) -> None:
        """Every peer looks once whether it should move, in random order, and does what it should
        before the next one looks."""
        for peer_id in stream.sample(self.ids, len(self.ids)):
            look = self._look(peer_id, stream.getrandbits(64), config)
            restraint = self._restraints.setdefault(peer_id, relocation.Restraint(config.looks))
            if restraint.permits(look) and look.target is not None:
                self._move(peer_id, look.target.contact.id)

    def _look(self, peer_id: int, seed: int, config: RelocationConfig) -> relocation.Look:
        at, ways = self._rank(peer_id), Ways.of(len(self.ids), self._successor_count)
        sample: list[LoadAnswer] = []
        for walk in range(placement.WALKS):
            first, *draws = [
                placement.draw_of_stop(seed, 0, walk, stop) for stop in range(ways.stops + 1)
            ]
            sample += self._walk((at + ways.next(first)) % len(self.ids), draws, ways)
        others = [offer for offer in sample if offer.contact.id != peer_id]
        heir = (at + 1) % len(self.ids)
        return relocation.look_of(self.load(at), self.load(heir), others, config)

    def _move(self, peer_id: int, target: int) -> None:
        place = self._split(self._rank(target))
        if place is None:
            return
        self.handed_over += self.load(self._rank(peer_id))
        self.ids.remove(peer_id)
        del self._restraints[peer_id]
        self.join_at(place)
        self.moves += 1


class Ways(NamedTuple):
    """How many peers further each pointer of any peer leads."""

    successors: Sequence[int]
    fingers: Sequence[int]
    stops: int
    """How many peers a walk asks."""

    @classmethod
    def of(cls, count: int, successor_count: int = SUCCESSORS) -> Ways:
        """Those of an ideal ring of so many peers; the same up to the next power of two."""
        successors = range(1, min(count - 1, successor_count) + 1)
        fingers = [2**level for level in range(1, (count - 1).bit_length())]
        return cls(successors, fingers, placement.stops_of_walk(len(successors), len(fingers)))

    def next(self, draw: int) -> int:
        """How far a walk goes on; 0 from a peer alone."""
        return placement.next_stop(self.successors, self.fingers, draw) or 0
