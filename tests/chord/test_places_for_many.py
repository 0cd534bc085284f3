"""A joiner's question makes many others, and anybody may ask it: few are answered at a time."""

from __future__ import annotations

from collections import Counter

from chord import CallError, Contact, FindPlace
from chord.placing import FINDS_MAX
from sim.overlay import Overlay
from sim.runtime import SimRuntime
from tests.meteor.building import SPACE

ASKED = 200


def test_who_asks_for_many_places_at_once_does_not_keep_the_ring_busy() -> None:
    overlay = Overlay(peers=6, space=SPACE, seed=2)
    overlay.run_for(20.0)
    visitor = SimRuntime(overlay.kernel, overlay.network, Contact(7, ""))

    async def ask(seed: int) -> str:
        try:
            await visitor.call(overlay.peers[0].contact, FindPlace(seed), 6.0)
        except CallError as error:
            return str(error)
        return "named"

    async def ask_often(first: int) -> Counter[str]:
        tasks = [overlay.kernel.spawn(ask(seed)) for seed in range(first, first + ASKED)]
        return Counter([await task for task in tasks])

    answers = overlay.run(ask_often(0))
    assert answers["named"] > 0
    refused = sum(count for answer, count in answers.items() if answer.startswith("Busy"))
    assert refused == ASKED - FINDS_MAX
    overlay.run_for(60.0)
    assert overlay.run(ask_often(ASKED))["named"] > 0, "who asks later is answered"
    visitor.close()
