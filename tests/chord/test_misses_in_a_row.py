"""Misses count in a row: whoever was heard of between them was not silent all the time."""

from __future__ import annotations

from typing import Any

from chord import identifier
from chord.messages import GetNeighbours


def test_misses_of_an_hour_ago_do_not_make_a_short_pause_a_death(sim_ring: Any) -> None:
    """It is asked only when it is silent, and works for this peer all the time between."""
    ring = sim_ring(seed=3)
    ids = [identifier(f"peer {n}", ring.config.bits) for n in range(12)]
    nodes = ring.ideal(ids)
    one, other = nodes[0], nodes[3]
    asker, asked = ring.peers[one.contact.id], ring.peers[other.contact.id]
    for _ in range(2):
        asked.runtime.pause()
        one._watch.check(other.contact)
        ring.settle(0.6)
        asked.runtime.resume()
    for _ in range(60):
        asked.runtime.send(one.contact, GetNeighbours())
        ring.settle(60.0)
    assert asker.observer.gone == []
    asked.runtime.pause()
    one._watch.check(other.contact)
    ring.settle(0.6)
    asked.runtime.resume()
    assert other.contact in one.successors, "silent for a moment, and given up"
    assert asker.observer.gone == []
