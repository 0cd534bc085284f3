"""Small rings as in `test_small_rings_that_select`, which peers join, and in which peers move.

All that is promised there is promised here.
"""

from __future__ import annotations

import pytest

from tests.meteor.copies_world import seeds
from tests.meteor.test_small_rings_that_grow_at_once import BusyGrowingRing
from tests.meteor.test_small_rings_that_select import SelectingRing


class SelectingGrowingRing(BusyGrowingRing, SelectingRing):
    """A ring that peers come to while much is asked, and deleted by selectors."""


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    SelectingGrowingRing(seed, monkeypatch).to_the_end(range(4, 12), 7)


@pytest.mark.parametrize("seed", seeds(2, 150))
def test_what_is_selected_goes_and_nothing_else(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
