"""Small rings as in `test_small_rings_that_move`, which peers join, and in which peers move.

They join two at once at times, or go to another place, while others fall, and records are replaced
meanwhile: all that is promised there is promised here.
"""

from __future__ import annotations

import pytest

from tests.meteor.small_ring_world import GrowsAtTimes
from tests.meteor.test_small_rings_that_move import MovingRing

FOUND = {42: "moved with what nobody took, as who was to take it fell"}


class GrowingRing(GrowsAtTimes, MovingRing):
    """A ring that peers come to."""


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    GrowingRing(seed, monkeypatch).to_the_end()


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_one_version_is_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
