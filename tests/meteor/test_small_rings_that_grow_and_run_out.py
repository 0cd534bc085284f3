"""Small rings as in `test_small_rings_that_run_out_at_once`, which peers join, and in which peers
move.

All that is promised there is promised here.
"""

from __future__ import annotations

import pytest

from tests.meteor.copies_world import seeds
from tests.meteor.test_small_rings_that_grow_at_once import BusyGrowingRing
from tests.meteor.test_small_rings_that_run_out_at_once import FleetingBusyRing

FOUND = {
    102: "a copy of what an heir never began, which went to another place: nobody could say so",
}


class FleetingGrowingRing(BusyGrowingRing, FleetingBusyRing):
    """A ring that peers come to, and of which much is asked of what lives for seconds."""


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    FleetingGrowingRing(seed, monkeypatch).to_the_end(range(4, 12), 7)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.parametrize("seed", seeds(0, 150))
def test_what_lives_is_there_and_what_is_over_is_not(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_all_holds(seed, monkeypatch)
