"""Answers, deletes and interests while peers die in the middle of them (copies = 3).

At most two ring neighbours die at once, so nothing may be missing, and nothing may be absent: what
was acknowledged before a question is in its answer.  A plain filter over what was stored is the
twin.
"""

from __future__ import annotations

import random

import pytest

from meteor import Client, MeteorError, Receipt, Timeout, profile
from meteor.wire.record_id import stem_of
from sim.overlay import Overlay, SimPeer
from tests.meteor.building import Attributes, draw_data, draw_query
from tests.meteor.copies_world import assert_whole_within, build, crash, restart_all, seeds

PEERS = 9
ROUNDS = 5
PATIENCE_S = 20.0


class Twin:
    """What is stored, and a plain filter over it."""

    def __init__(self, overlay: Overlay, drawn: random.Random) -> None:
        self.drawn = drawn
        self.stored: dict[str, Attributes] = {}
        client = overlay.client()
        for _ in range(60):
            attributes = draw_data(drawn)
            receipt = overlay.run(client.store(profile(attributes), b"x", ttl=7200))
            self.stored[stem_of(receipt.id)] = attributes

    def draw(self) -> tuple[str, set[str]]:
        """A selector, and the stems that it selects."""
        selector, selects = draw_query(self.drawn)
        return selector, {stem for stem, one in self.stored.items() if selects(one)}


def world(seed: int) -> tuple[Overlay, Twin, Client]:
    overlay, drawn = build(seed, PEERS), random.Random(seed)
    twin = Twin(overlay, drawn)
    assert_whole_within(overlay)
    return overlay, twin, overlay.client(peer=drawn.randrange(PEERS))


def neighbours(overlay: Overlay, drawn: random.Random, client: Client) -> list[SimPeer]:
    """One or two ring neighbours; the client's own peer may be one of them."""
    del client
    ring = sorted(overlay.living, key=lambda peer: peer.contact.id)
    at, count = drawn.randrange(len(ring)), drawn.choice([1, 2, 2])
    return (ring + ring)[at : at + count]


def moment_s(drawn: random.Random) -> float:
    """How long a question is under way when they die: a share takes milliseconds."""
    return drawn.choice([0.0, 0.0005, 0.001, 0.002, 0.004, 0.01, drawn.uniform(0, 0.02)])


@pytest.mark.parametrize("seed", seeds(2))
def test_answers_are_whole_while_peers_die_in_the_middle(seed: int) -> None:
    overlay, twin, client = world(seed)
    for _ in range(ROUNDS):
        selector, expected = twin.draw()
        answer = client.retrieve(selector, everywhere=True, timeout=PATIENCE_S)
        asking = overlay.kernel.spawn(answer.all())
        overlay.run_for(moment_s(twin.drawn))
        fallen = neighbours(overlay, twin.drawn, client)
        crash(*fallen)
        found = [stem_of(match.id) for match in overlay.kernel.run_until(asking)]
        assert sorted(found) == sorted(expected), selector
        assert answer.complete
        assert answer.missing == ()
        restart_all(overlay, fallen)
        assert_whole_within(overlay)


@pytest.mark.parametrize("seed", seeds(2))
def test_deletes_are_whole_and_counted_while_peers_die_in_the_middle(seed: int) -> None:
    overlay, twin, client = world(seed)
    for _ in range(ROUNDS):
        selector, expected = twin.draw()
        asked_of = client.peer_address
        deleting = overlay.kernel.spawn(_deleted(client, selector))
        overlay.run_for(moment_s(twin.drawn))
        fallen = neighbours(overlay, twin.drawn, client)
        crash(*fallen)
        receipt = overlay.kernel.run_until(deleting)
        assert receipt.complete
        assert receipt.missing == ()
        if client.connected and client.peer_address == asked_of:  # else it was asked twice
            assert receipt.matches == len(expected), selector
        for stem in expected:
            del twin.stored[stem]
        restart_all(overlay, fallen)
        assert_whole_within(overlay)
        answer = client.retrieve("type=*", everywhere=True, timeout=PATIENCE_S)
        found = [stem_of(match.id) for match in overlay.run(answer.all())]
        assert sorted(found) == sorted(twin.stored), f"after the delete of {selector}"


async def _deleted(client: Client, selector: str) -> Receipt:
    return await client.delete_data(selector, everywhere=True, timeout=PATIENCE_S)


@pytest.mark.parametrize("seed", seeds(2))
def test_an_interest_is_whole_and_told_of_all_while_peers_die_in_the_middle(seed: int) -> None:
    overlay, twin, client = world(seed)
    for _ in range(ROUNDS - 2):
        selector, expected = twin.draw()
        interest = client.notify_data(selector, everywhere=True, timeout=PATIENCE_S)
        opening = overlay.kernel.spawn(interest.__aenter__())
        overlay.run_for(moment_s(twin.drawn))
        fallen = neighbours(overlay, twin.drawn, client)
        crash(*fallen)
        overlay.kernel.run_until(opening)
        assert interest.missing == ()
        told: list[str] = []
        while expected - set(told):
            told.append(stem_of(overlay.run(interest.recv(timeout=60)).id))
        with pytest.raises(Timeout):
            told.append(stem_of(overlay.run(interest.recv(timeout=3)).id))
        assert sorted(told) == sorted(expected), selector
        restart_all(overlay, fallen)
        assert_whole_within(overlay)
        overlay.run(interest.close())


@pytest.mark.parametrize("seed", seeds(1))
def test_a_store_answered_while_peers_die_is_found_and_a_refused_one_may_be(seed: int) -> None:
    overlay, twin, client = world(seed)
    open_: set[str] = set()
    for number in range(ROUNDS):
        attributes, stem = draw_data(twin.drawn), f"late-{number}"
        storing = overlay.kernel.spawn(_stored(client, stem, attributes))
        overlay.run_for(moment_s(twin.drawn))
        fallen = neighbours(overlay, twin.drawn, client)
        crash(*fallen)
        if overlay.kernel.run_until(storing):
            twin.stored[stem] = attributes
        else:
            open_.add(stem)
        answer = client.retrieve("type=*", everywhere=True, timeout=PATIENCE_S)
        found = {stem_of(match.id) for match in overlay.run(answer.all())}
        assert twin.stored.keys() <= found
        assert found <= twin.stored.keys() | open_
        restart_all(overlay, fallen)
        assert_whole_within(overlay)


async def _stored(client: Client, stem: str, attributes: Attributes) -> bool:
    try:
        await client.store(profile(attributes), b"x", id=stem, ttl=7200, timeout=PATIENCE_S)
    except MeteorError:
        return False
    return True
