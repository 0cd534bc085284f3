"""Small rings as in `test_small_rings_of_owners`, which peers join, and in which peers move.

All that is promised there is promised here.
"""

from __future__ import annotations

import pytest

from tests.meteor.copies_world import seeds
from tests.meteor.test_small_rings_of_owners import OwnedRing
from tests.meteor.test_small_rings_that_grow_at_once import BusyGrowingRing

FOUND = {
    2: "down while the others moved: known by former places alone, they were another ring for good",
    21: "nobody's, and halfway: a signer's cancel by its former id said that nothing is there",
    56: "all woke, and the lowest had never heard of the one that lived: two rings for a moment",
    58: "as 2",
    74: "as 2",
    126: "a copy noted an heir's view that never began, and named that alone as the past was lost",
    240: "who had it went to another place, and counted for nobody: the past stayed unknown",
    270: "as 240",
}


class OwnedGrowingRing(BusyGrowingRing, OwnedRing):
    """A ring that peers come to, in which several own what they posted."""


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    OwnedGrowingRing(seed, monkeypatch).to_the_end(range(4, 12), 7)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.parametrize("seed", seeds(0, 150))
def test_nobody_takes_what_is_anothers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
