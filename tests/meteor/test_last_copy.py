"""A question that meets the last copy of an interval, its other holders having crashed at once."""

from __future__ import annotations

import pytest

from meteor import profile
from sim.overlay import Overlay
from tests.meteor.building import Attributes
from tests.meteor.copies_world import build, copies_of, primary_of, seeds

PEERS, PROFILES = 24, 24
SETTLED_S = 12.0
ATTEMPT_S = 0.25
"""After so long a question is asked anew (`ChordConfig.lookup_attempt_s`)."""


def attributes(number: int) -> Attributes:
    return {"type": chr(ord("a") + number), "temperature": 5.0 * number - 40, "humidity": number}


@pytest.mark.parametrize("dies", [0, 1])
@pytest.mark.parametrize("seed", seeds(2, 8))
def test_a_last_copy_that_takes_over_answers_at_once(seed: int, dies: int) -> None:
    """Dials to the dead are refused, so the ring gives their interval to the last copy in some
    milliseconds: whoever asked it before that waits for no more."""
    overlay = build(seed, PEERS, disk_s=0.0)
    client = overlay.client()
    stored = [overlay.run(client.store(profile(attributes(n)), b"x")).id for n in range(PROFILES)]
    overlay.run_for(SETTLED_S)
    number = next(n for n, one in enumerate(stored) if is_elsewhere(overlay, one))
    primary, copies = primary_of(overlay, stored[number]), copies_of(overlay, stored[number])
    asked_s = overlay.kernel.now()
    for fallen in (primary, copies[dies]):
        fallen.crash()

    async def ask() -> list[str]:
        answer = client.retrieve(profile(attributes(number)), timeout=20.0)
        return [match.id for match in await answer.all()]

    assert overlay.run(ask()) == [stored[number]]
    assert overlay.kernel.now() - asked_s < ATTEMPT_S


def is_elsewhere(overlay: Overlay, record_id: str) -> bool:
    """Whether the peer of the client has nothing of it."""
    holders = [primary_of(overlay, record_id), *copies_of(overlay, record_id)]
    return overlay.peers[0] not in holders
