"""Small rings as in `test_small_rings_at_once`, which peers join, and in which peers move.

All that is promised there is promised here.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from tests.meteor.small_ring_world import GrowsAtTimes
from tests.meteor.test_small_rings_at_once import BusyRing

FOUND = {
    25: "the simulated start of who was crashed meanwhile ended the test",
    124: "a past found that another ring had lost: what that acknowledged since was left out",
    125: "a peer moved that had given all to who fell before it began: it came under another name",
    164: "the same, with falls in between",
    419: "all were back at once, and one of them had moved: two rings, and each answered",
    562: "replaced in part, deleted where it had been, and seen where it went for a moment",
}


class BusyGrowingRing(GrowsAtTimes, BusyRing):
    """A ring that peers come to while much is asked."""

    peers_max = 9

    def beside(self, *work: Coroutine[Any, Any, object]) -> None:
        super().beside(*work)
        self.look()


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    BusyGrowingRing(seed, monkeypatch).to_the_end(range(4, 12), 7)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 151))
def test_answers_are_right_as_it_grows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
