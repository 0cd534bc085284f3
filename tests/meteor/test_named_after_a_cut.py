"""A one-way cut heals, all peers are alive and have everything: nothing stays named as missing.

Each side takes the interval of the other, some take it twice.  Who did that was named as its own
rival, and could not show any more that it has what it had; and who was passed over in part called
its view by another number than its copies, who were taken for having moved on from it.
"""

from __future__ import annotations

import pytest

from meteor.client.config import ClientConfig
from meteor.client.shortcuts import POSTS
from tests.meteor.copies_world import assert_whole_within, seeds
from tests.meteor.test_shortcuts_apart import APART_S, HEALED_WITHIN_S, QUIET_S, Sides, cut

FOUND = [
    pytest.param("dumb", 6, True, id="dumb-6-found"),
    pytest.param("dumb", 26, True, id="dumb-26-quiet-found"),
    pytest.param("dumb", 26, False, id="dumb-26-found"),
    pytest.param("deaf", 17, False, id="deaf-17-found", marks=pytest.mark.long),
]
"""Their intervals were named as missing for ever."""


def assert_nothing_stays_named(how: str, seed: int, is_quiet: bool) -> None:
    """Store for as long as the cut lasts, or only in the end of it."""
    sides = Sides(seed, ClientConfig(shortcuts_max=0))
    overlay = sides.overlay
    for _ in range(3 * POSTS):
        sides.post()
    cut(overlay, sides, how)
    if is_quiet:
        overlay.run_for(sides.drawn.choice([0.0, QUIET_S]))
    sides.go_on_for(APART_S - QUIET_S if is_quiet else APART_S)
    print(f"{how}: {sides.count}, {len(sides.acknowledged)} acknowledged, {sides.partial} partial")
    overlay.faults.clear()
    assert_whole_within(overlay, HEALED_WITHIN_S)
    assert sides.assert_not_silently_partial(sides.judge), "incomplete after all is one again"


@pytest.mark.parametrize(("how", "seed", "is_quiet"), FOUND)
def test_nothing_stays_named_that_somebody_has(how: str, seed: int, is_quiet: bool) -> None:
    assert_nothing_stays_named(how, seed, is_quiet)


@pytest.mark.parametrize("seed", seeds(1, 40))
@pytest.mark.parametrize("is_quiet", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("how", ["apart", "dumb", "deaf"])
def test_nothing_stays_named_after_a_cut(how: str, is_quiet: bool, seed: int) -> None:
    assert_nothing_stays_named(how, seed, is_quiet)
