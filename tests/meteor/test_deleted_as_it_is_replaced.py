"""A delete by selector and a replace of what it selects meet at the peer that has the record.

One of the two comes first.  A delete that came first is found by the replace, which is refused; one
that comes second finds that the record has moved on to what it does not select.  Found by a drawn
mix of verbs: the word of a move lies under another name than the record, so that the delete did not
wait for it.  It buried the record under the receipt of the replace, and the new content was gone
wherever the tombstone came to, months later maybe.
"""

from __future__ import annotations

import random

import pytest

from meteor import Client, Refused, profile
from meteor.keeping.placement import GONE
from sim.overlay import Overlay
from tests.meteor.copies_world import ask, assert_whole_within, build, seeds

DISK_S = 0.004
APART_S = 0.002
ROUNDS = 16
"""Of each the delete begins a little later, from before the replace until it has ended."""
FIRST = 4
"""In so many of them before it."""


async def replaced(client: Client, record_id: str, number: int) -> str:
    """The new id; empty where the record was deleted before."""
    try:
        return (await client.replace(record_id, content(90, number), b"new", ttl=7200)).id
    except Refused as refused:
        return "" if refused.rule == "deleted" else refused.rule


def content(temperature: float, number: int) -> object:
    return profile({"type": "lamp", "temperature": temperature, "humidity": number})


def is_buried(overlay: Overlay, stem: str) -> bool:
    """Whether any peer says that it was deleted."""
    found = [peer.core.shelf.find(("", stem)) for peer in overlay.peers]
    return any(one is not None and one.carried.kind == GONE for one in found)


@pytest.mark.parametrize("seed", seeds(3, 12))
def test_one_of_the_two_comes_first(seed: int) -> None:
    overlay, drawn = build(seed, 8, disk_s=DISK_S), random.Random(seed)
    one, other = overlay.client(peer=0), overlay.client(peer=1)
    kept, came_first = set[str](), 0
    for number in range(ROUNDS):
        before = overlay.run(one.store(content(-30, number), b"old", id=f"it{number}", ttl=7200))
        verbs = [
            other.delete_data(f"temperature=-40..-20 humidity={number}"),
            replaced(one, before.id, number),
        ]
        at, spawn = number - FIRST, overlay.kernel.spawn
        first = spawn(verbs[at >= 0])
        overlay.run_for(abs(at) * APART_S + drawn.uniform(0, APART_S))
        second = spawn(verbs[at < 0])
        outcomes = [overlay.kernel.run_until(first), overlay.kernel.run_until(second)]
        new_id, deleted = outcomes if at >= 0 else reversed(outcomes)
        assert bool(deleted.matches) == (not new_id)
        assert is_buried(overlay, f"it{number}") == (not new_id)
        kept |= {new_id} - {""}
        came_first += not new_id
    assert 0 < came_first < ROUNDS, "both orders were seen"
    assert_whole_within(overlay)
    assert ask(overlay, overlay.client()) == (kept, True)
