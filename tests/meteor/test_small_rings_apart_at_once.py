"""Small rings as in `test_small_rings_at_once`, cut in two as well, with changes on both sides.

At the end all are back and the ring is one: of every record that was promised the latest version
is there, or a later one that was not, and what was deleted is not.
"""

from __future__ import annotations

import pytest

from tests.meteor.small_ring_world import CUT_PAUSES_S, CutAtTimes
from tests.meteor.test_small_rings_apart import SETTLED_S
from tests.meteor.test_small_rings_at_once import BusyRing

FOUND = {
    428: "an heir fell before it began: a copy that it had told was taken to have moved on",
    2019: "a giver was counted as two copies, of two of its lives",
    987: "a giver that was no copy of the taker kept nothing, and the taker fell before it began",
}


class BusyCutRing(CutAtTimes, BusyRing):
    """A ring that is cut at times."""

    sizes, is_apart = (4, 5, 6, 6, 7, 8), True

    def cut_or_heal(self) -> None:
        super().cut_or_heal()
        self.look()


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = BusyCutRing(seed, monkeypatch)
    ring.to_the_end(range(4, 12), 6, (0.01, 0.1, *CUT_PAUSES_S), SETTLED_S)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 151))
def test_what_was_promised_is_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
