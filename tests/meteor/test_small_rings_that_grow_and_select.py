"""Small rings as in `test_small_rings_that_select`, which peers join, and in which peers move.

All that is promised there is promised here.
"""

from __future__ import annotations

import pytest

from tests.meteor.copies_world import seeds
from tests.meteor.test_small_rings_that_grow_at_once import BusyGrowingRing
from tests.meteor.test_small_rings_that_select import SelectingRing

FOUND = {
    66: "who was back before anybody missed it was named as it was for good",
    593: "of the simulator: a peer that joined nobody began a ring as it was started again",
    692: "a primary was started again and moved: what it never began nobody could say",
}


class SelectingGrowingRing(BusyGrowingRing, SelectingRing):
    """A ring that peers come to while much is asked, and deleted by selectors."""


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    SelectingGrowingRing(seed, monkeypatch).to_the_end(range(4, 12), 7)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.parametrize("seed", seeds(2, 150))
def test_what_is_selected_goes_and_nothing_else(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
