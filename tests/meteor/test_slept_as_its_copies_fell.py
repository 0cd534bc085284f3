"""A primary whose machine slept, and whose copies have fallen when it wakes: others go on."""

from __future__ import annotations

import random

import pytest

from meteor import Client
from sim.overlay import Overlay
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    primary_of,
    seeds,
    store_some,
)

SLEPT_S = 8.0
PATIENT_S = 60.0


def ask_patiently(overlay: Overlay, client: Client) -> tuple[set[str], bool]:
    """The ids that an answer has, and whether it says that these are all."""
    answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=PATIENT_S)
    found = {match.id for match in overlay.run(answer.all())}
    return found, answer.complete


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("fell_before_s", [0.0, 20.0])
@pytest.mark.parametrize("seed", seeds(1, 8))
def test_what_was_deleted_meanwhile_is_in_no_answer_of_who_slept(
    seed: int, fell_before_s: float, *, silent: bool
) -> None:
    """The delete lay before the sleeper as well: it began it as it woke, and as its own copies are
    silent nothing came of that; so it did not take the tombstone for news that came with the
    interval from who had gone on, and answered without it."""
    overlay, drawn = build(seed, 12, disk_s=0.001), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 12)
    assert_whole_within(overlay)
    deleted = drawn.choice(stored)
    asleep, copies = primary_of(overlay, deleted), copies_of(overlay, deleted)
    mine = overlay.client(peer=overlay.living.index(asleep))
    away = client_away_from(overlay, deleted)
    cut = overlay.faults.partition([asleep.contact])
    asleep.pause()
    overlay.run_for(SLEPT_S)
    assert overlay.run(away.cancel(deleted)).matches == 1
    overlay.run_for(SLEPT_S)
    cut.heal()
    if silent:
        for one in copies:
            overlay.faults.partition([one.contact])
    else:
        crash(*copies)
    overlay.run_for(fell_before_s)
    asleep.resume()
    for _ in range(20):
        found, complete = ask_patiently(overlay, mine)
        assert deleted not in found, f"a deleted record is back; complete: {complete}"
        assert not complete or found == {*stored} - {deleted}
        overlay.run_for(drawn.choice([0.0, 0.1]))
