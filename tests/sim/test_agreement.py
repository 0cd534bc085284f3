"""Agreement: the study's arithmetic and 200 real peers in virtual time say the same of the same
ring, profiles and queries, exactly: who was handed a share after how many hand-ons, who processed
one, who had matches, and how many.

The peers are the whole stack (ring, router, rendezvous, client), told of by their event logs; the
study is numpy over sorted arrays.  They share the curve and nothing else.  Arc caches are off, as
the study has none.
"""

from __future__ import annotations

import json
import random
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

from arms import Profile
from chord import ChordConfig, ideal_ring
from meteor import KeywordSpace, Number, Word
from sim import Overlay
from sim.spark import handing_on
from sim.spark.rings import Rings
from sim.spark.visits import Queries
from squid import Addressing, ArrayRefinement, Box, RouterConfig, box_of

PEERS, PROFILES, SEED = 200, 400, 23
SPACE = KeywordSpace("agreement", [Word("what"), Word("where"), Number("size", 0, 100)], bits=20)
ID_BITS = 160
NAMES = ("what", "where", "size")
WORDS = ("alarm", "camera", "heater", "lamp", "meter", "motor", "printer", "sensor", "valve")

Subject = tuple[str, str, int]
Query = tuple[str, str, str]
QUERIES: tuple[Query, ...] = (
    ("*", "*", "0..100"), ("sensor", "*", "*"), ("*", "cam*", "*"), ("se*", "la*", "*"),
    ("*", "*", "40..60"), ("a*", "*", "10..20"), ("m*", "m*", "0..50"), ("lamp", "valve", "3..4"),
    ("*", "printer", "90..100"), ("z*", "*", "*"), ("heater", "h*", "0..100"),
)  # fmt: skip
"""Wildcards, prefixes, ranges and mixes of them, over a few peers and over all."""


@dataclass
class World:
    """A settled ring of real peers, what is stored in it, and what its peers write down."""

    overlay: Overlay
    subjects: list[Subject]
    lines: list[bytes]

    def __post_init__(self) -> None:
        self.places = sorted(self.overlay.peers, key=lambda peer: peer.contact.id)
        shift = ID_BITS - SPACE.curve.index_bits
        self.lasts = [peer.contact.id >> shift for peer in self.places]
        self.seat_of = {f"{peer.contact.id:x}": seat for seat, peer in enumerate(self.places)}

    def owner(self, box: Box) -> int:
        """The seat of the peer that owns a point."""
        return bisect_left(self.lasts, SPACE.curve.encode(box.low)) % len(self.lasts)


def settled_world(addressing: Addressing) -> World:
    drawn = random.Random(SEED)
    lines: list[bytes] = []
    overlay = Overlay(
        peers=0,
        space=SPACE,
        seed=SEED,
        ids=[drawn.getrandbits(ID_BITS) for _ in range(PEERS)],
        config=replace(ChordConfig.lan(), arc_cache_max=0),
        copies=1,
        routing=RouterConfig(addressing=addressing),
    )
    overlay.events = lines.append
    for _ in range(PEERS):
        overlay.run(overlay.add_peer())
    while not points_ideally(overlay):
        overlay.run_for(10.0)
    client = overlay.client()
    subjects = sorted(
        {(drawn.choice(WORDS), drawn.choice(WORDS), drawn.randrange(101)) for _ in range(PROFILES)}
    )
    for what, where, size in subjects:
        overlay.run(client.store(f"what={what} where={where} size={size}", b""))
    return World(overlay, subjects, lines)


def points_ideally(overlay: Overlay) -> bool:
    contacts = [peer.contact for peer in overlay.peers]
    ideal = {place.contact.id: place for place in ideal_ring(contacts, 8)}
    return all(
        peer.core.node.fingers == ideal[peer.contact.id].fingers
        and peer.core.node.successors == ideal[peer.contact.id].successors
        for peer in overlay.peers
    )


def matching(subjects: list[Subject], query: Query) -> list[Subject]:
    """What a query selects, by a plain comparison."""

    def fits(value: str, asked: str) -> bool:
        return value.startswith(asked[:-1]) if asked.endswith("*") else value == asked

    def within(size: int, asked: str) -> bool:
        low, _, high = asked.partition("..")
        return asked == "*" or int(low) <= size <= int(high)

    return [
        subject
        for subject in subjects
        if fits(subject[0], query[0])
        and fits(subject[1], query[1])
        and within(subject[2], query[2])
    ]


@pytest.mark.parametrize(
    "addressing",
    [
        Addressing.FIRST_MATCH,
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in Addressing
            if one != Addressing.FIRST_MATCH
        ),
    ],
)
def test_real_peers_and_the_study_agree_exactly(addressing: Addressing) -> None:
    world = settled_world(addressing)
    drawn = random.Random(SEED + 1)
    origins = [drawn.randrange(PEERS) for _ in QUERIES]
    boxes = [
        SPACE.box(Profile.parse(text_of(query)).typed(SPACE).selector_terms(SPACE))
        for query in QUERIES
    ]
    low, high = (
        np.array([corner(box) for box in boxes], dtype=np.int64).T.copy()
        for corner in (lambda box: box.low, lambda box: box.high)
    )
    visits = handing_on.spread(
        ArrayRefinement(SPACE.curve.dimensions, SPACE.curve.bits),
        Rings.of([world.lasts], SPACE.curve.index_bits),
        Queries(low, high, np.array(origins)),
        addressing,
    )
    for number, (query, box, origin) in enumerate(zip(QUERIES, boxes, origins, strict=True)):
        mine = visits.query == number
        expected = Counter(zip(visits.seat[mine].tolist(), visits.hops[mine].tolist(), strict=True))
        found, events = asked(world, query, origin)
        note = f"seed {SEED}, {addressing.value}, query {query} from seat {origin}"
        handed = Counter((world.seat_of[e["to"]], e["hops"]) for e in events["route"])
        assert handed + Counter([(origin, 0)]) == expected, note
        assert int(visits.messages[number]) == len(events["route"]), note
        # Who processes: of those that got a share, whoever owns an index of the box.
        processing = {world.seat_of[event["peer"]] for event in events["match"]}
        meets = {seat for seat, _ in expected if owns_any(world, seat, box)}
        assert processing == meets, note
        selected = matching(world.subjects, query)
        assert found == len(selected) == events["reply"][0]["matches"], note
        with_matches = {world.seat_of[e["peer"]] for e in events["match"] if e["matches"]}
        owners = {world.owner(point_of(subject)) for subject in selected}
        assert with_matches == owners, note


def asked(
    world: World, query: Query, origin: int
) -> tuple[int, dict[str, list[dict[str, object]]]]:
    """Ask a query through the peer of a seat: how many matches came, and what peers wrote."""
    place = world.overlay.peers.index(world.places[origin])
    client = world.overlay.client(peer=place)
    world.lines.clear()
    answer = client.retrieve(text_of(query), everywhere=True)
    found = len(world.overlay.run(answer.all()))
    events: dict[str, list[dict[str, object]]] = {"route": [], "match": [], "reply": []}
    for line in world.lines:
        event = json.loads(line)
        events.setdefault(event["event"], []).append(event)
    return found, events


def text_of(query: Query) -> str:
    """The query as a client writes it."""
    return " ".join(f"{name}={value}" for name, value in zip(NAMES, query, strict=True))


def owns_any(world: World, seat: int, box: Box) -> bool:
    return any(
        SPACE.curve.has_match(box, first, last)
        for first, last in world.places[seat].core.holdings.held
    )


def point_of(subject: Subject) -> Box:
    """Where data of these attributes lies."""
    return box_of(SPACE, subject)
