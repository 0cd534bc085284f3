"""An arc of one index is not split, however much lies there, and keeps nobody from other places.

Everybody who joined a ring where all lay at one index asked for that arc again and again, for three
seconds of virtual time each, was told of no place, and came under the hash of his address."""

from __future__ import annotations

import pytest

from sim.overlay import Overlay
from squid import Choice, KeywordSpace, Number

LEVELS = KeywordSpace("levels", [Choice("level", ("low", "middle", "high"))], bits=3)
NUMBERS = KeywordSpace("numbers", [Number("number", 0, 15)], bits=4)
JOINERS = 7
"""So few that everybody asks everybody."""


@pytest.mark.parametrize(
    ("space", "profile"), [(LEVELS, "level=low"), (LEVELS, "level=high"), (NUMBERS, "number=3")]
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_joins_is_told_a_place(space: KeywordSpace, profile: str, seed: int) -> None:
    overlay = Overlay(peers=1, space=space, seed=seed, copies=1)
    client = overlay.client()

    async def store() -> None:
        for _ in range(20):
            await client.store(profile, b"x", ttl=3600)

    overlay.run(store())
    places: list[int | None] = []
    for _ in range(JOINERS):
        places.append(overlay.run(overlay.place()))
        overlay.run(overlay.rejoin(overlay.new_peer(places[-1])))
        overlay.run_for(3.0)
    assert None not in places, places
    assert len(set(places)) == JOINERS
