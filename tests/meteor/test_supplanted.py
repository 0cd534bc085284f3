"""A peer is held until it is found dead, its identifier comes back at another address, and it goes
on: it ends, and says why; no answer lacks anything meanwhile."""

from __future__ import annotations

import random

import pytest

from chord import Supplanted
from meteor import MeteorError
from squid import covers
from tests.meteor.copies_world import assert_whole_within, build, index_of, store_some

HELD_S = 8.0
"""Long enough to be given up."""


@pytest.mark.parametrize("size", [2, 4, 12])
@pytest.mark.parametrize("seed", range(1, 4))
def test_it_ends_and_nothing_is_silently_absent(seed: int, size: int) -> None:
    overlay, drawn = build(seed, size, disk_s=0.001), random.Random(seed)
    kept = store_some(overlay, overlay.client(), drawn, 8)
    assert_whole_within(overlay, 30)
    held = drawn.choice(overlay.living)
    failures: list[BaseException] = []
    is_ours = held.runtime.is_machine_failure

    def hear(error: BaseException) -> bool:
        failures.append(error)
        return is_ours(error)

    held.runtime.is_machine_failure = hear
    held.pause()
    overlay.run_for(HELD_S)
    again = overlay.new_peer(held.contact.id, incarnation=1)
    overlay.run(overlay.rejoin(again))
    awake = next(at for at, one in enumerate(overlay.living) if one is not held)
    kept += store_some(overlay, overlay.client(peer=awake), drawn, 8)
    held.resume()
    while held.alive:
        assert overlay.kernel.now() < 60, "it stays for ever"
        overlay.run_for(0.2)
        for at in range(len(overlay.living)):
            client = overlay.client(peer=at)
            answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=4)
            try:
                found = {match.id for match in overlay.run(answer.all())}
            except MeteorError:  # it has just ended
                continue
            absent = [one for one in kept if one not in found]
            assert all(covers(answer.missing, index_of(one)) for one in absent)
    (failure,) = failures
    assert isinstance(failure, Supplanted)
    assert again.address in str(failure)
    assert again.alive
    assert_whole_within(overlay, 30)
