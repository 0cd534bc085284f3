"""Small rings as in `test_small_rings_that_notify_at_once`, cut in two as well: what came on either
side is told once, when the ring is one again if not before.  Each side goes by what it knows."""

from __future__ import annotations

import pytest

from tests.meteor.notified_world import AFTERWARDS_S, SETTLED_S
from tests.meteor.small_ring_world import CUT_PAUSES_S, CutAtTimes
from tests.meteor.test_small_rings_that_notify_at_once import BusyNoticesRing


class CutBusyRing(CutAtTimes, BusyNoticesRing):
    """A ring that is cut at times."""

    sizes = (5, 6, 6, 7, 8)

    def look(self) -> None:
        """On the side that has fewer."""
        awake = [one for one in self.overlay.living if not one.runtime.paused]
        count = len(awake)
        if self.cut is not None:
            on_one = sum(one.address in self.side for one in awake)
            count = min(on_one, count - on_one)
        for number, fewest in self.fewest.items():
            self.fewest[number] = min(fewest, count)


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = CutBusyRing(seed, monkeypatch)
    print(f"{ring.size} peers")
    ring.play(range(3, 10), 10, (0, 0, 0.1, *CUT_PAUSES_S))
    ring.heal()
    ring.bring_back()
    ring.settle()
    for asked in ring.asked:  # a side that was not told goes on as it was
        asked.is_told_of_all()
    until_s = ring.overlay.kernel.now() + SETTLED_S
    while ring.found() and ring.overlay.kernel.now() < until_s:
        ring.overlay.run_for(1.0)
    ring.overlay.run_for(AFTERWARDS_S)
    wrong = ring.found()
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 101))
def test_all_is_told_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
