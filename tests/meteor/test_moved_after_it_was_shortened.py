"""What was given a shorter life, and then replaced, is found by its new content alone.

A shorter life leaves word at the place of the record, which says that nothing earlier counts there,
and leads nowhere.  A peer that answers for the old place and has the record at its new one already,
as one of its holders, took that word for one of a move: it left the old place as it was.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from meteor import Client, profile
from meteor.keeping.placement import MOVED
from sim.overlay import Overlay
from tests.meteor.building import Attributes, draw_data
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    copies_of,
    crash,
    primary_of,
    seeds,
)

PEERS = 7
DRAWN_MOST = 60
LONG_S = 7200.0
SHORT_S = 600.0
HOW = ["renewed", "posted again", "after it ran out"]


@dataclass
class Moved:
    """An overlay in which a record was shortened, then moved."""

    overlay: Overlay
    client: Client
    old: Attributes
    old_id: str
    new_id: str


def shorten(overlay: Overlay, client: Client, how: str, old: Attributes, record_id: str) -> None:
    """Let it live for less than it would have."""
    if how == "renewed":
        assert overlay.run(client.renew(record_id, ttl=SHORT_S)).matches == 1
    elif how == "posted again":
        overlay.run(client.store(profile(old), b"again", id="it", ttl=SHORT_S))
    else:
        overlay.run(client.renew(record_id, ttl=1))
        overlay.run_for(3.0)
        overlay.run(client.store(profile(old), b"again", id="it", ttl=LONG_S))


def move(seed: int, how: str) -> Moved:
    """Where the primary of the old place keeps a copy of the new one."""
    overlay, drawn = build(seed, PEERS, disk_s=0.001), random.Random(seed)
    client = overlay.client()
    old = draw_data(drawn)
    old_id = overlay.run(client.store(profile(old), b"before", id="it", ttl=LONG_S)).id
    assert_whole_within(overlay)
    new = draw_near(overlay, drawn, client, old_id)
    shorten(overlay, client, how, old, old_id)
    receipt = overlay.run(client.replace(old_id, profile(new), b"after", ttl=LONG_S))
    assert receipt.complete
    assert receipt.id != old_id
    return Moved(overlay, client, old, old_id, receipt.id)


def draw_near(overlay: Overlay, drawn: random.Random, client: Client, old_id: str) -> Attributes:
    """Data of which the primary of another record keeps a copy, or is the primary as well, and of
    which not all who have that other record have a copy."""
    theirs = {primary_of(overlay, old_id), *copies_of(overlay, old_id)}
    for _ in range(DRAWN_MOST):
        found = draw_data(drawn)
        probe = overlay.run(client.store(profile(found), b"", ttl=LONG_S)).id
        holders = {primary_of(overlay, probe), *copies_of(overlay, probe)}
        overlay.run(client.cancel(probe))
        if primary_of(overlay, old_id) in holders and theirs - holders:
            return found
    raise AssertionError("no such data in this overlay")


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("seed", seeds(4, 7))
def test_every_holder_of_the_old_place_has_word_of_the_move(seed: int, how: str) -> None:
    moved = move(seed, how)
    overlay, old_id = moved.overlay, moved.old_id
    for holder in (primary_of(overlay, old_id), *copies_of(overlay, old_id)):
        word = holder.core.shelf.find(("", old_id))
        assert word is not None
        assert (word.carried.kind, word.carried.moved_to) == (MOVED, moved.new_id)
        there = holder.core.shelf.find(("", "it"))
        assert there is None or there.carried.id == moved.new_id


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("seed", seeds(4, 7))
def test_it_is_not_found_by_its_old_content_by_whoever_comes_next(seed: int, how: str) -> None:
    """Whoever keeps the old place and not the new one had it there as it was."""
    moved = move(seed, how)
    overlay = moved.overlay
    for _ in range(3):
        crash(primary_of(overlay, moved.old_id))
        overlay.run_for(5.0)
        found = overlay.run(overlay.client().retrieve(profile(moved.old)).all())
        assert [match.data for match in found] == []
    assert ask(overlay, overlay.client()) == ({moved.new_id}, True)
