"""A record lies at several primaries, and one of them is a copy of another one: it may have that
one's tombstone, or word of a move, before its own share of a delete, or a replace, comes.  Its own
copies are others, and had none."""

from __future__ import annotations

import random

import pytest

from meteor.keeping.placement import GONE
from sim.overlay import Overlay
from tests.meteor.copies_world import assert_whole_within, build, seeds

WIDE = "type=lamp temperature=-40..120"
KEY = ("", "lamp")
NARROW = ("type=lamp temperature=-40", "type=lamp temperature=120", "type=oven temperature=3")


def keepers(overlay: Overlay, stem: str) -> list[str]:
    """Who shows it still."""
    found = (peer for peer in overlay.living if peer.core.shelf.store.get("", stem) is not None)
    return [peer.address for peer in found]


@pytest.mark.parametrize("verb", ["cancel", "delete_data"])
@pytest.mark.parametrize("seed", seeds(4, 30))
def test_whoever_has_it_knows_of_the_delete_that_is_acknowledged(seed: int, verb: str) -> None:
    overlay, drawn = build(seed, 9), random.Random(seed)
    assert_whole_within(overlay)
    client = overlay.client(peer=drawn.randrange(9))
    receipt = overlay.run(client.store(WIDE, id="lamp", ttl=7200))
    assert len(keepers(overlay, "lamp")) >= 3
    if verb == "cancel":
        done = overlay.run(client.cancel(receipt.id))
    else:
        done = overlay.run(client.delete_data("type=lamp", mode="within"))
    assert (done.complete, done.matches) == (True, 1)
    overlay.run_for(0.01)  # what was written everywhere shows everywhere
    assert keepers(overlay, "lamp") == []
    for peer in overlay.living:
        placed = peer.core.shelf.find(KEY)
        assert placed is None or placed.carried.kind == GONE


@pytest.mark.parametrize("seed", seeds(4, 30))
def test_whoever_had_it_knows_of_the_replace_that_is_acknowledged(seed: int) -> None:
    overlay, drawn = build(seed, 9), random.Random(seed)
    assert_whole_within(overlay)
    client = overlay.client(peer=drawn.randrange(9))
    receipt = overlay.run(client.store(WIDE, id="lamp", ttl=7200))
    moved = overlay.run(client.replace(receipt.id, drawn.choice(NARROW), ttl=7200))
    assert moved.complete
    overlay.run_for(0.01)
    for peer in overlay.living:
        record = peer.core.shelf.store.get(*KEY)
        assert record is None or record.id == moved.id


@pytest.mark.parametrize("seed", seeds(2, 30))
def test_a_replace_that_is_tried_again_reaches_who_did_not_hear_of_it(seed: int) -> None:
    """The first time the word of another holder was all that came."""
    overlay, drawn = build(seed, 9), random.Random(seed)
    assert_whole_within(overlay)
    client = overlay.client(peer=drawn.randrange(9))
    receipt = overlay.run(client.store(WIDE, id="lamp", ttl=7200))
    had = {peer: peer.core.shelf.find(KEY) for peer in overlay.living}
    assert overlay.run(client.replace(receipt.id, NARROW[2], ttl=7200)).complete
    overlay.run_for(0.01)
    for peer, former in had.items():
        shelf, held = peer.core.shelf, peer.core.holdings.held
        if former is None or shelf.find(KEY) or shelf.meets(former.carried, held):
            continue
        shelf.table.remove(("", receipt.id), shelf.wall_ms())
        shelf.show(former.carried)
        assert shelf.store.get(*KEY) is not None
        assert overlay.run(client.replace(receipt.id, NARROW[2], ttl=7200)).complete
        overlay.run_for(0.01)
        assert shelf.store.get(*KEY) is None
