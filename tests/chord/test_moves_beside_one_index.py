"""A light peer moves to the heaviest arc that can be split: one of a single index, which cannot be,
does not keep everybody where they are."""

from __future__ import annotations

import pytest

from chord import RelocationConfig
from sim.overlay import Overlay
from squid import KeywordSpace, Number

SPACE = KeywordSpace("numbers", [Number("number", 0, 255)], bits=8)
MOVES = RelocationConfig(load_min=10, looks=1, interval_s=2.0)
AT_ONE_INDEX, SPREAD = 60, 40
LOOKS = 12


@pytest.mark.parametrize("seed", range(1, 13))
def test_a_light_peer_halves_the_heaviest_arc_that_can_be_split(seed: int) -> None:
    ids = [index << 152 for index in (9, 10, 100, 110, 120, 130)]
    overlay = Overlay(peers=len(ids), space=SPACE, ids=ids, seed=seed, copies=1, moves=MOVES)
    client = overlay.client()

    async def store() -> None:
        for _ in range(AT_ONE_INDEX):
            await client.store("number=10", b"x", ttl=3600)
        for number in range(20, 20 + SPREAD):
            await client.store(f"number={number}", b"x", ttl=3600)

    overlay.run(store())
    overlay.run_for(LOOKS * MOVES.interval_s)
    loads = sorted(peer.core.state().data for peer in overlay.living)
    print(f"seed={seed} {loads}")
    assert loads[-1] == AT_ONE_INDEX
    assert loads[-2] < SPREAD
