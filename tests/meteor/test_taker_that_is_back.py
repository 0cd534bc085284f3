"""Whoever is given back what it had falls before it begins, and is started again; the giver lives.

It remembers the interval from an earlier life, and nothing of what it was given: that never began.
The giver has moved on as it gave, and remembers nothing but the gift.  What it had until then began
all the same, as others were told, and its copies have it.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from chord import Contact
from meteor.copies.giving import Giving
from meteor.wire.operations import Yours
from sim.overlay import SimPeer
from tests.meteor.copies_world import (
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    crash,
    restart_all,
    seeds,
    store_some,
)

PEERS = 8
SEEDS = [9, 14, 47]
"""It was named as missing for ever."""
WAITS_S = (0.0, 0.3, 1.0, 6.0)
"""How long it is down the second time."""


class Returning:
    """A peer that was restarted, and stands still in the moment in which it is given its arc."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.overlay, self.drawn = build(seed, PEERS, disk_s=0.002), random.Random(seed)
        self.stored = set(store_some(self.overlay, self.overlay.client(), self.drawn, 20))
        assert_whole_within(self.overlay)
        self.peer = self.drawn.choice(self.overlay.living)
        crash(self.peer)
        assert_whole_within(self.overlay, 30)
        commit, given = Giving._commit, list[SimPeer]()

        async def and_see_it_fall(giving: Giving, part: Any, taker: Contact, view: Any) -> Yours:
            reply = await commit(giving, part, taker, view)
            if not given and taker.address == self.peer.address:
                given.append(self.peer_at(taker.address))
                given[0].crash()
            return reply

        monkeypatch.setattr(Giving, "_commit", and_see_it_fall)
        self.overlay.kernel.spawn(self.overlay.restart(self.peer))
        while not given:
            self.overlay.run_for(0.01)
        monkeypatch.undo()

    def peer_at(self, address: str) -> SimPeer:
        return [one for one in self.overlay.peers if one.address == address][-1]


@pytest.mark.parametrize("seed", [*SEEDS, *seeds(0, 60)])
def test_a_peer_that_falls_twice_as_it_is_given_its_arc_takes_nothing_with_it(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    returning = Returning(seed, monkeypatch)
    overlay, client = returning.overlay, returning.overlay.client()
    overlay.run_for(returning.drawn.choice(WAITS_S))
    restart_all(overlay, [returning.peer_at(returning.peer.address)])
    for _ in range(10):
        assert_never_silently_partial(overlay, client, returning.stored)
        overlay.run_for(1.0)
    assert_whole_within(overlay, 30)
    assert ask(overlay, client) == (returning.stored, True)
