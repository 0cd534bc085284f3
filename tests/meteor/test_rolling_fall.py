"""A ring falls peer by peer and comes back without one of them, or with one whose disk is gone.

Views that begin as it falls have one or two copies that are just as mortal, and nothing is ever
kept under them.  Should one of these be the peer that is gone, the others have the last word of
before, and that counts.
"""

from __future__ import annotations

import random

import pytest

from chord import Contact, replace
from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, Step, plan
from meteor.wire.view import View
from sim.disk import SimDisk
from tests.meteor.copies_world import (
    ask,
    assert_whole_within,
    build,
    primary_of,
    seeds,
    store_some,
)
from tests.meteor.building import draw_data
from tests.meteor.test_falling_one_by_one import fall, start
from meteor import profile

GONE, EMPTY = "gone", "empty"
FOUND = [(5, GONE), (7, GONE), (6, EMPTY), (9, EMPTY)]
"""Their intervals were named as missing for ever."""


@pytest.mark.parametrize(
    ("seed", "what"),
    [*FOUND, *(pytest.param(seed, what, marks=pytest.mark.long)
               for seed in range(10, 41) for what in (GONE, EMPTY))],
)  # fmt: skip
def test_the_last_word_before_the_fall_counts(seed: int, what: str) -> None:
    drawn = random.Random(f"{seed} {what}")
    overlay = build(seed, drawn.choice([4, 5, 6, 8, 10]), disk_s=drawn.choice([0.001, 0.002, 0.01]))
    kept = set(store_some(overlay, overlay.client(), drawn, 12))
    assert_whole_within(overlay, 30)
    fallen = fall(overlay, drawn, drawn.choice([0.01, 0.05]))
    lost = drawn.choice(fallen)
    drawn.shuffle(fallen)
    if what == GONE:
        fallen.remove(lost)
    else:
        assert isinstance(overlay.disk, SimDisk)
        overlay.disk.wipe(lost.address)
        if fallen[0] is lost:  # who knows nothing and finds nobody founds a ring of its own
            fallen.append(fallen.pop(0))
    start(overlay, fallen)
    assert_whole_within(overlay, 60)
    assert ask(overlay, overlay.client()) == (kept, True)
